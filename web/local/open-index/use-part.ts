import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { STEP } from '../parts/long-list.tsx'
import { replaceQuery, route } from '../route.ts'
import { type Told, tell } from '../trouble.ts'
import type { Part } from '../work/operations.ts'
import { latestOnly } from './latest-only.ts'

/** The entries of a list up to some index, and the total count. */
export interface Beginning<T> {
  readonly items: readonly T[]
  readonly total: number
}

/** A page of a long list, and the filter. */
export interface PartOf<T> {
  readonly match: Signal<string>
  /** Null until the first response. */
  readonly page: PageOf<T> | null
  readonly trouble: Told | null
  readonly onMove: (from: number) => void
}

/** The entries of the current page. */
export interface PageOf<T> extends Beginning<T> {
  /** The index of the first entry. */
  readonly from: number
}

interface Place {
  readonly letters: string
  readonly first: number
}

/** Loads a page of a list, filtered by the typed letters. */
export function usePart<T>(read: (part: Part) => Promise<Beginning<T>>): PartOf<T> {
  const match = useSignal(askedOf('has'))
  /** The position in the list and the filter it belongs to; another filter starts from the top. */
  const place = useSignal<Place>({ letters: match.peek(), first: Number(askedOf('from')) || 0 })
  const page = useSignal<PageOf<T> | null>(null)
  const trouble = useSignal<Told | null>(null)
  const ask = useMemo(
    () =>
      latestOnly(async ({ letters, first }: Place) => {
        try {
          const { items, total } = await read({ match: letters, most: first + STEP })
          page.value = { items: items.slice(first), total, from: first }
          trouble.value = null
        } catch (error) {
          trouble.value = tell(error)
        }
      }),
    [],
  )
  const letters = match.value
  const first = place.value.letters === letters ? place.value.first : 0
  useEffect(() => {
    void ask({ letters, first })
    // Kept in the address, so that going back restores it.
    const timer = setTimeout(() => replaceQuery({ has: letters, from: first === 0 ? '' : String(first) }), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [letters, first])
  return {
    match,
    page: page.value,
    trouble: trouble.value,
    onMove: (to) => {
      place.value = { letters, first: to }
    },
  }
}

function askedOf(name: string): string {
  const { value } = route
  return value.page === 'index' ? (value.query.get(name) ?? '') : ''
}

/** Browsers rate-limit changes of the address. */
const PAUSE_MS = 150
