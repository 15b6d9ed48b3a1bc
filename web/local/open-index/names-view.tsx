import type { JSX } from 'preact'
import { ask } from '../page-state.ts'
import { indexHref } from '../route.ts'
import type { ListQuery, NamedLocation } from '../work/operations.ts'
import { ListView } from './list-view.tsx'

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
  const read = async (part: ListQuery) => {
    const { places, total } = await ask(what, part)
    return { items: places, total }
  }
  const keyOf = ({ ref, names }: NamedLocation) => `${ref} ${names.join(' ')}`
  const isUnknown = isCompact && what === 'symbols'
  const noneWords = isUnknown ? 'A compact pack does not say which definitions its code has.' : none
  return (
    <ListView {...{ title, noun, read, keyOf }} none={noneWords}>
      {(place, before) =>
        what === 'outline' ? (
          <Heading id={id} place={place} isFirst={before?.path !== place.path} />
        ) : (
          <Definition id={id} place={place} />
        )
      }
    </ListView>
  )
}

interface LocationInput {
  readonly id: string
  readonly place: NamedLocation
}

/** A heading; the first one of its file is below the path of the file. */
function Heading({ id, place, isFirst }: LocationInput & { readonly isFirst: boolean }): JSX.Element {
  const { names, path, line, ref } = place
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

function Definition({ id, place }: LocationInput): JSX.Element {
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
