import { type Signal, signal } from '@preact/signals'
import { KINDS } from '../../../src/core/model.ts'
import { ask, meaning, opened } from '../desk.ts'
import { type Told, tell } from '../trouble.ts'
import type { Answer } from '../work/operations.ts'
import { latestOnly } from './latest-only.ts'

/** What was found, and for what. */
export interface Found extends Answer {
  readonly key: string
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

/** Asks what the address says. While one question is being answered only the latest of the others waits. */
export function search(id: string, query: URLSearchParams, most: number): Promise<void> {
  return askLatest({ id, query, most })
}

const askLatest = latestOnly(async (question: Question) => {
  isSearching.value = true
  found.value = await answer(question)
  isSearching.value = false
})

/** Whether the address asks for anything: words, or what has certain properties. */
export function hasQuestion(query: URLSearchParams): boolean {
  return ['q', ...FILTERS].some((name) => query.has(name))
}

/** By what an answer is known: the index as it is now, and what the address asks of it. */
export function keyOf(id: string, query: URLSearchParams): string {
  // What was found by words alone is looked for again once that can be done by meaning too.
  const isWhole = meaning.value?.state === 'whole'
  return JSON.stringify([
    id,
    opened.value?.kept.indexId,
    isWhole,
    ...['q', ...FILTERS].map((name) => query.get(name) ?? ''),
  ])
}

async function answer({ id, query, most }: Question): Promise<Found | null> {
  if (!hasQuestion(query)) return null
  const key = keyOf(id, query)
  const kind = query.get('kind')
  try {
    const answer = await ask('search', {
      query: query.get('q')?.trim() ?? '',
      options: {
        limit: most,
        pathPrefix: query.get('path') ?? undefined,
        kind: KINDS.find((one) => one === kind),
        headingPrefix: query.get('heading') ?? undefined,
        symbolPrefix: query.get('symbol') ?? undefined,
        // Most questions are asked before they are typed to the end.
        completes: true,
      },
    })
    return { key, ...answer, trouble: null }
  } catch (error) {
    return { key, hits: [], total: 0, completion: null, trouble: tell(error) }
  }
}
