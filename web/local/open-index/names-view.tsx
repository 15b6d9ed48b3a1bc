import type { JSX } from 'preact'
import { ask } from '../page-state.ts'
import { ErrorBox } from '../parts/error-box.tsx'
import { LongList } from '../parts/long-list.tsx'
import { MatchField } from '../parts/match-field.tsx'
import { indexHref } from '../route.ts'
import type { NamedLocation } from '../work/operations.ts'
import { useListPage } from './use-list-page.ts'

/** The texts of the two lists. */
const LISTS = {
  outline: { title: 'Outline', noun: 'heading', none: 'No headings were found.' },
  symbols: { title: 'Symbols', noun: 'symbol', none: 'No definitions were found in code.' },
}

/** Selects the list of headings or symbols. */
export interface NamesInput {
  readonly id: string
  readonly what: 'outline' | 'symbols'
  readonly isCompact: boolean
}

/** Headings or symbols, each with a link to its chunk. */
export function NamesView({ id, what, isCompact }: NamesInput): JSX.Element {
  const { title, noun, none } = LISTS[what]
  const { match, page, error, onMove } = useListPage(async (part) => {
    const { places, total } = await ask(what, part)
    return { items: places, total }
  })
  const isUnknown = isCompact && what === 'symbols'
  return (
    <section aria-labelledby="names-title">
      <h2 id="names-title">{title}</h2>
      {page?.total === 0 && match.value === '' ? (
        <p class="quiet">{isUnknown ? 'A compact pack does not say which definitions its code has.' : none}</p>
      ) : (
        <MatchField match={match} noun={noun} total={page?.total ?? null} />
      )}
      <ErrorBox error={error} />
      {page === null || page.total === 0 ? null : (
        <LongList
          page={{ ...page, items: markFiles(page.items) }}
          noun={noun}
          keyOf={({ ref, names }) => `${ref} ${names.join(' ')}`}
          onMove={onMove}
        >
          {(place) => (what === 'outline' ? <Heading id={id} place={place} /> : <Definition id={id} place={place} />)}
        </LongList>
      )}
    </section>
  )
}

/** A location, and whether it is the first one of its file. */
interface ListedLocation extends NamedLocation {
  readonly isFirst: boolean
}

function markFiles(places: readonly NamedLocation[]): ListedLocation[] {
  return places.map((place, i) => ({ ...place, isFirst: places[i - 1]?.path !== place.path }))
}

function Heading({ id, place }: { readonly id: string; readonly place: ListedLocation }): JSX.Element {
  const { names, path, line, ref, isFirst } = place
  return (
    <>
      {isFirst ? (
        <a class="path file-head" href={indexHref(id, 'files', { path })}>
          {path}
        </a>
      ) : null}
      <a
        class="grow"
        style={{ paddingLeft: `${Math.min(names.length - 1, MAX_INDENT)}rem` }}
        title={names.join(' › ')}
        href={indexHref(id, 'chunk', { ref })}
      >
        {names.at(-1)}
      </a>
      <span class="quiet small number">line {line}</span>
    </>
  )
}

/** Maximum indentation; deeper headings are not indented further. */
const MAX_INDENT = 5

function Definition({ id, place }: { readonly id: string; readonly place: NamedLocation }): JSX.Element {
  const { names, path, line, ref } = place
  return (
    <>
      <a class="grow path" href={indexHref(id, 'chunk', { ref })}>
        {names.at(-1)}
      </a>
      <span class="quiet small path where">
        {path}:{line}
      </span>
    </>
  )
}
