import { batch, type Signal, signal } from '@preact/signals'
import type { UrlItem, UrlPage } from '../api.ts'
import { type Refusal, request, writeQuery } from '../request.ts'

/** Selects the addresses to list. */
export interface UrlFilter {
  readonly source: string
  readonly state: string
  readonly reason: string
  readonly text: string
  /** Whether links that lead out of the scope are listed. */
  readonly hasOutside: boolean
}

/** A list of addresses that is loaded as the user scrolls. */
export interface UrlList {
  /** The row at an index; undefined until it is loaded. */
  rowAt(index: number): UrlItem | undefined
  /** The number of rows, as far as it is known. */
  readonly total: Signal<number>
  readonly isLoading: Signal<boolean>
  readonly refusal: Signal<Refusal | null>
  /** Loads the rows from `first` up to but not including `last`. */
  load(first: number, last: number): void
  close(): void
}

const PAGE_SIZE = 500

/** Larger pages reach rows that are far from the loaded ones with fewer requests. */
const LARGE_PAGE_SIZE = 5000

/** The rows loaded from one end of the list. */
interface LoadedEnd {
  readonly order: 'newest' | 'oldest'
  rows: readonly UrlItem[]
  cursor: string | null
}

/**
 * Starts loading. The API only pages in order, so a list of known length is loaded from both ends: jumping to the end then does not load
 * everything in between.
 */
export function createUrlList(filter: UrlFilter, count: number | null): UrlList {
  const total = signal(count ?? 0)
  const isLoading = signal(false)
  const refusal = signal<Refusal | null>(null)
  const changes = signal(0)
  const abort = new AbortController()
  const head: LoadedEnd = { order: 'newest', rows: [], cursor: null }
  const tail: LoadedEnd = { order: 'oldest', rows: [], cursor: null }
  const requested = { first: 0, last: 1 }
  let isComplete = false

  /** Chooses the end from which the missing rows are reached sooner, and the number of rows that this takes. */
  const chooseNext = (): { readonly side: LoadedEnd; readonly rows: number } | undefined => {
    if (isComplete) return undefined
    if (head.rows.length === 0) return { side: head, rows: PAGE_SIZE }
    const from = Math.max(requested.first, head.rows.length)
    const to = Math.min(requested.last, total.value - tail.rows.length)
    if (from >= to) return undefined
    const [fromHead, fromTail] = [to - head.rows.length, total.value - tail.rows.length - from]
    return count === null || fromHead <= fromTail ? { side: head, rows: fromHead } : { side: tail, rows: fromTail }
  }
  const addPage = (side: LoadedEnd, { items, cursor, total: counted }: UrlPage) => {
    side.rows = side.rows.concat(items)
    side.cursor = cursor
    if (side === head && cursor === null) {
      isComplete = true
      total.value = head.rows.length
    } else if (count === null) total.value = Math.max(counted, head.rows.length + 1)
    else if (head.rows.length + tail.rows.length >= total.value || items.length === 0) isComplete = true
    changes.value++
  }
  const read = async (): Promise<void> => {
    isLoading.value = true
    for (let next = chooseNext(); next !== undefined; next = chooseNext()) {
      const { side, rows } = next
      const { text, hasOutside, ...others } = filter
      const limit = rows > PAGE_SIZE ? LARGE_PAGE_SIZE : PAGE_SIZE
      const query = writeQuery({
        ...others,
        q: text,
        inScope: hasOutside ? null : 1,
        order: side.order,
        limit,
        cursor: side.cursor,
      })
      const answer = await request<UrlPage>(`/api/urls${query}`, { signal: abort.signal })
      if (abort.signal.aborted) return
      if ('refusal' in answer) {
        refusal.value = answer.refusal
        break
      }
      batch(() => {
        refusal.value = null
        addPage(side, answer.value)
      })
    }
    isLoading.value = false
  }

  return {
    rowAt(index) {
      // Subscribes the caller to changes, so that it renders again when more rows arrive.
      changes.value
      return head.rows[index] ?? (index < total.value ? tail.rows[total.value - 1 - index] : undefined)
    },
    total,
    isLoading,
    refusal,
    load(first, last) {
      Object.assign(requested, { first, last })
      if (!isLoading.value && chooseNext() !== undefined) void read()
    },
    close: () => abort.abort(),
  }
}
