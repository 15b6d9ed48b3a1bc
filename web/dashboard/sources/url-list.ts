import { batch, type Signal, signal } from '@preact/signals'
import type { UrlItem, UrlPage } from '../api.ts'
import { type Refusal, request, writeQuery } from '../request.ts'

/** Which addresses are shown. */
export interface UrlFilter {
  readonly source: string
  readonly state: string
  readonly reason: string
  readonly text: string
}

/** Addresses, read page by page as far as somebody looks. */
export interface UrlList {
  /** Those that were read, from the first on. */
  readonly rows: Signal<readonly UrlItem[]>
  /** How many there are; at least those that were read. */
  readonly total: Signal<number>
  readonly isLoading: Signal<boolean>
  readonly refusal: Signal<Refusal | null>
  /** Reads on until the row at this place is there. */
  want(place: number): void
  close(): void
}

const PAGE_SIZE = 500

/** Far from what was read, larger pages get there sooner. */
const LARGE_PAGE_SIZE = 5000

/** Begins to read. */
export function createUrlList(filter: UrlFilter): UrlList {
  const rows = signal<readonly UrlItem[]>([])
  const total = signal(0)
  const isLoading = signal(false)
  const refusal = signal<Refusal | null>(null)
  const abort = new AbortController()
  let cursor: string | null = null
  let isAtEnd = false
  let wanted = 0

  const read = async (): Promise<void> => {
    isLoading.value = true
    while (!isAtEnd && rows.value.length <= wanted) {
      const limit = wanted - rows.value.length > PAGE_SIZE ? LARGE_PAGE_SIZE : PAGE_SIZE
      const { text, ...others } = filter
      const query = writeQuery({ ...others, q: text, limit, cursor })
      const answer = await request<UrlPage>(`/api/urls${query}`, { signal: abort.signal })
      if (abort.signal.aborted) return
      if ('refusal' in answer) {
        refusal.value = answer.refusal
        break
      }
      const { items } = answer.value
      cursor = answer.value.cursor
      isAtEnd = cursor === null || items.length === 0
      batch(() => {
        refusal.value = null
        rows.value = rows.value.concat(items)
        total.value = isAtEnd ? rows.value.length : Math.max(answer.value.total, rows.value.length + 1)
      })
    }
    isLoading.value = false
  }

  return {
    rows,
    total,
    isLoading,
    refusal,
    want(place) {
      wanted = place
      if (!isLoading.value && !isAtEnd && place >= rows.value.length) void read()
    },
    close: () => abort.abort(),
  }
}
