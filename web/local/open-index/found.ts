import { type Signal, signal } from '@preact/signals'
import { KINDS } from '../../../src/core/model.ts'
import { ask, opened } from '../desk.ts'
import { type Told, tell } from '../trouble.ts'
import type { ShownHit } from '../work/operations.ts'

/** What was found, and for what. */
export interface Found {
  readonly key: string
  readonly hits: readonly ShownHit[]
  /** Whether there may be more. */
  readonly isCut: boolean
  readonly trouble: Told | null
}

/** What an answer can be narrowed down to, by the names in the address. */
export const FILTERS = ['path', 'kind', 'heading', 'symbol'] as const

/** The last answer. It outlives the list of hits: a chunk that is shown marks the words that led to it. */
export const found: Signal<Found | null> = signal(null)
export const isSearching: Signal<boolean> = signal(false)

interface Question {
  readonly id: string
  readonly query: URLSearchParams
  readonly most: number
}

let wanted: Question | undefined

/** Asks what the address says. While one question is being answered only the latest of the others waits. */
export async function search(id: string, query: URLSearchParams, most: number): Promise<void> {
  wanted = { id, query, most }
  if (isSearching.value) return
  isSearching.value = true
  for (let next: Question | undefined = wanted; next !== undefined; next = wanted) {
    wanted = undefined
    found.value = await answer(next)
  }
  isSearching.value = false
}

/** By what an answer is known: the index as it is now, and what the address asks of it. */
export function keyOf(id: string, query: URLSearchParams): string {
  return JSON.stringify([id, opened.value?.kept.indexId, ...['q', ...FILTERS].map((name) => query.get(name) ?? '')])
}

async function answer({ id, query, most }: Question): Promise<Found | null> {
  const text = query.get('q')?.trim() ?? ''
  if (text === '') return null
  const key = keyOf(id, query)
  const kind = query.get('kind')
  try {
    const { hits } = await ask('search', {
      query: text,
      options: {
        limit: most,
        pathPrefix: query.get('path') ?? undefined,
        kind: KINDS.find((one) => one === kind),
        headingPrefix: query.get('heading') ?? undefined,
        symbolPrefix: query.get('symbol') ?? undefined,
      },
    })
    return { key, hits, isCut: hits.length === most, trouble: null }
  } catch (error) {
    return { key, hits: [], isCut: false, trouble: tell(error) }
  }
}
