import type { ComponentChildren, JSX, Key } from 'preact'
import { ErrorBox } from '../parts/error-box.tsx'
import { LongList } from '../parts/long-list.tsx'
import { MatchField } from '../parts/match-field.tsx'
import type { ListQuery } from '../work/operations.ts'
import { type ListPrefix, useListPage } from './use-list-page.ts'

/** A list of an index, with its texts. */
interface ListViewInput<T> {
  readonly title: string
  /** The noun for one entry. */
  readonly noun: string
  /** Shown in place of the filter when the whole list is empty. */
  readonly none?: string
  readonly read: (part: ListQuery) => Promise<ListPrefix<T>>
  readonly keyOf: (item: T) => Key
  /** An entry, and the one before it on the page. */
  readonly children: (item: T, before: T | undefined) => ComponentChildren
}

/** A list of an index that can be very long, with a filter. */
export function ListView<T>({ title, noun, none, read, keyOf, children }: ListViewInput<T>): JSX.Element {
  const { match, page, error, onMove } = useListPage(read)
  const id = `${noun}s-title`
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {none !== undefined && page?.total === 0 && match.value === '' ? (
        <p class="quiet">{none}</p>
      ) : (
        <MatchField match={match} noun={noun} total={page?.total ?? null} />
      )}
      <ErrorBox error={error} />
      {page === null || page.total === 0 ? null : (
        <LongList page={page} noun={noun} keyOf={keyOf} onMove={onMove}>
          {children}
        </LongList>
      )}
    </section>
  )
}
