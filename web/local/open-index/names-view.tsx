import type { JSX } from 'preact'
import { ask } from '../desk.ts'
import { LongList } from '../parts/long-list.tsx'
import { MatchField } from '../parts/match-field.tsx'
import { TroubleBox } from '../parts/trouble-box.tsx'
import { indexHref } from '../route.ts'
import type { Part, Total } from '../work/operations.ts'
import { usePart } from './use-part.ts'

interface Names extends Total {
  readonly names: readonly string[]
}

interface NameList {
  readonly title: string
  readonly noun: string
  readonly none: string
  /** The filter that leads to one of them, and the words to look for. */
  readonly filter: string
  readonly wordsOf: (name: string) => string
  readonly read: (part: Part) => Promise<Names>
}

/** What the two lists differ in. */
const LISTS: Readonly<Record<'outline' | 'symbols', NameList>> = {
  outline: {
    title: 'Outline',
    noun: 'heading',
    none: 'There are no headings here.',
    filter: 'heading',
    wordsOf: (name) => name.slice(name.lastIndexOf('/') + 1) || name,
    read: async (part) => {
      const { headings, total } = await ask('outline', part)
      return { names: headings, total }
    },
  },
  symbols: {
    title: 'Symbols',
    noun: 'symbol',
    none: 'There is no code here whose definitions are known.',
    filter: 'symbol',
    wordsOf: (name) => name,
    read: async (part) => {
      const { symbols, total } = await ask('symbols', part)
      return { names: symbols, total }
    },
  },
}

/** Headings or symbols, each leading to where it stands. */
export function NamesView({ id, what }: { readonly id: string; readonly what: 'outline' | 'symbols' }): JSX.Element {
  const { title, noun, none, filter, wordsOf, read } = LISTS[what]
  const { match, answer, trouble, onMore } = usePart(read)
  return (
    <section aria-labelledby="names-title">
      <h2 id="names-title">{title}</h2>
      {answer?.total === 0 && match.value === '' ? (
        <p class="quiet">{none}</p>
      ) : (
        <MatchField match={match} noun={noun} total={answer?.total ?? null} />
      )}
      <TroubleBox told={trouble} />
      {answer === null || answer.total === 0 ? null : (
        <LongList items={answer.names} total={answer.total} noun={noun} keyOf={(name) => name} onMore={onMore}>
          {(name) => (
            <a class="grow" href={indexHref(id, 'search', { q: wordsOf(name), [filter]: name })}>
              {what === 'outline' ? name.replaceAll('/', ' › ') : name}
            </a>
          )}
        </LongList>
      )}
    </section>
  )
}
