import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { PAGE_SIZE } from '../parts/long-list.tsx'
import { replaceQuery, route } from '../route.ts'
import { describeError, type ErrorMessage } from '../user-error.ts'
import type { ListQuery } from '../work/operations.ts'
import { latestOnly } from './latest-only.ts'

/** The entries of a list up to some index, and the total count. */
export interface ListPrefix<T> {
  readonly items: readonly T[]
  readonly total: number
}

/** A page of a long list, and the filter. */
export interface FilteredList<T> {
  readonly match: Signal<string>
  /** Null until the first response. */
  readonly page: ListPage<T> | null
  readonly error: ErrorMessage | null
  readonly onMove: (from: number) => void
}

/** The entries of the current page. */
export interface ListPage<T> extends ListPrefix<T> {
  /** The index of the first entry. */
  readonly from: number
}

interface ListPosition {
  readonly letters: string
  readonly first: number
}

/** Loads a page of a list, filtered by the typed letters. */
export function useListPage<T>(read: (part: ListQuery) => Promise<ListPrefix<T>>): FilteredList<T> {
  const match = useSignal(readParameter('has'))
  /** The position in the list and the filter it belongs to; another filter starts from the top. */
  const position = useSignal<ListPosition>({ letters: match.peek(), first: Number(readParameter('from')) || 0 })
  const page = useSignal<ListPage<T> | null>(null)
  const error = useSignal<ErrorMessage | null>(null)
  const load = useMemo(
    () =>
      latestOnly(async ({ letters, first }: ListPosition) => {
        try {
          const { items, total } = await read({ match: letters, most: first + PAGE_SIZE })
          page.value = { items: items.slice(first), total, from: first }
          error.value = null
        } catch (cause) {
          error.value = describeError(cause)
        }
      }),
    [],
  )
  const letters = match.value
  const first = position.value.letters === letters ? position.value.first : 0
  useEffect(() => {
    void load({ letters, first })
    // The address keeps filter and position, so that going back restores them.
    const timer = setTimeout(
      () => replaceQuery({ has: letters, from: first === 0 ? '' : String(first) }),
      ADDRESS_UPDATE_DELAY_MS,
    )
    return () => clearTimeout(timer)
  }, [letters, first])
  return {
    match,
    page: page.value,
    error: error.value,
    onMove: (to) => {
      position.value = { letters, first: to }
    },
  }
}

function readParameter(name: string): string {
  const { value } = route
  return value.page === 'index' ? (value.query.get(name) ?? '') : ''
}

/** Delay of address updates, because browsers rate-limit them. */
const ADDRESS_UPDATE_DELAY_MS = 150
