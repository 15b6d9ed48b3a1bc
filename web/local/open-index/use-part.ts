import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { STEP } from '../parts/long-list.tsx'
import { replaceQuery, route } from '../route.ts'
import { type Told, tell } from '../trouble.ts'
import type { Part } from '../work/operations.ts'
import { latestOnly } from './latest-only.ts'

/** A list up to some entry, and how long it is. */
export interface Beginning<T> {
  readonly items: readonly T[]
  readonly total: number
}

/** A part of a long list, and what was asked for. */
export interface PartOf<T> {
  readonly match: Signal<string>
  /** Null while nothing is known. */
  readonly page: PageOf<T> | null
  readonly trouble: Told | null
  readonly onMove: (from: number) => void
}

/** The entries that are shown at once. */
export interface PageOf<T> extends Beginning<T> {
  /** How many come before them. */
  readonly from: number
}

interface Place {
  readonly letters: string
  readonly first: number
}

/** Reads a page of a list, another one when asked, and only what has the letters that are typed. */
export function usePart<T>(read: (part: Part) => Promise<Beginning<T>>): PartOf<T> {
  const match = useSignal(askedOf('has'))
  /** Where somebody went in the list, and with which letters: others make another list. */
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
    // In the address, so that going back leads to the same.
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

/** Browsers count how often an address is changed. */
const PAUSE_MS = 150
