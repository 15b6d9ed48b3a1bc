import { useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { countOf } from '../../../src/core/text/count.ts'
import { MarkedText } from '../../shared/marked-text.tsx'
import { useSearchKeys } from '../../shared/search-keys.ts'
import { TroubleBox } from '../parts/trouble-box.tsx'
import { indexHref, replaceQuery, route } from '../route.ts'
import type { ShownHit } from '../work/operations.ts'
import { type Found, found, isSearching, keyOf, search } from './found.ts'
import { SearchFilters } from './search-filters.tsx'

/** What the search is given: the index, and what the address asks. */
export interface SearchInput {
  readonly id: string
  readonly query: URLSearchParams
  readonly files: number
}

/** Typing is over when nothing was typed for so long. */
const PAUSE_MS = 150

/** As many hits at a time. */
const HITS = 50

/** The box, its filters, and what was found. */
export function SearchView({ id, query, files }: SearchInput): JSX.Element {
  const typed = useSignal(query.get('q') ?? '')
  const most = useSignal(HITS)
  const box = useRef<HTMLInputElement>(null)
  const results = useRef<HTMLDivElement>(null)
  const timer = useRef(0)
  const key = keyOf(id, query)
  useEffect(() => {
    most.value = HITS
    if (found.peek()?.key !== key) void search(id, query, HITS)
  }, [key])
  useEffect(() => () => clearTimeout(timer.current), [])
  useSignalEffect(() => {
    // The address can change under us, by the buttons of the browser.
    const { value } = route
    const now = value.page === 'index' ? (value.query.get('q') ?? '') : ''
    if (now !== typed.peek().trim()) typed.value = now
  })
  useSearchKeys(box, results)
  useEffect(() => box.current?.focus(), [])
  const take = () => {
    clearTimeout(timer.current)
    replaceQuery({ q: typed.value.trim() })
  }
  return (
    <section aria-labelledby="search-title">
      <h2 id="search-title" class="unseen">
        Search
      </h2>
      <search>
        <form
          class="search-form"
          onSubmit={(event) => {
            event.preventDefault()
            take()
          }}
        >
          <input
            ref={box}
            id="search-box"
            type="search"
            class="search-box"
            aria-label="Search this index"
            placeholder={`Search ${countOf(files, 'file')}`}
            autocomplete="off"
            spellcheck={false}
            value={typed.value}
            onInput={(event) => {
              typed.value = event.currentTarget.value
              clearTimeout(timer.current)
              timer.current = setTimeout(take, PAUSE_MS)
            }}
          />
        </form>
        <SearchFilters query={query} />
      </search>
      <div ref={results} class={isSearching.value ? 'results busy' : 'results'} aria-busy={isSearching.value}>
        <Results
          id={id}
          query={query}
          answer={found.value}
          onMore={() => {
            most.value += HITS
            void search(id, query, most.value)
          }}
        />
      </div>
    </section>
  )
}

interface ResultsInput {
  readonly id: string
  readonly query: URLSearchParams
  readonly answer: Found | null
  readonly onMore: () => void
}

function Results({ id, query, answer, onMore }: ResultsInput): JSX.Element {
  const hasQuestion = (query.get('q') ?? '') !== ''
  const isFiltered = query.size > (query.has('q') ? 1 : 0)
  const shown = hasQuestion ? answer : null
  return (
    <>
      <p class="quiet small" role="status" id="result-count">
        {shown === null
          ? hasQuestion
            ? 'Searching…'
            : 'Results appear as you type.'
          : shown.hits.length === 0
            ? `Nothing was found.${isFiltered ? ' The filters may leave out too much.' : ' Try other words.'}`
            : `${shown.isCut ? 'The best ' : ''}${countOf(shown.hits.length, 'result')}`}
      </p>
      <TroubleBox told={shown?.trouble ?? null} />
      {shown === null || shown.hits.length === 0 ? null : (
        <ol class="hits" aria-label="Results">
          {shown.hits.map((hit) => (
            <li key={hit.chunkRef}>
              <HitCard id={id} hit={hit} query={query} />
            </li>
          ))}
        </ol>
      )}
      {shown?.isCut ? (
        <p class="more">
          <button type="button" onClick={onMore}>
            Show more
          </button>
        </p>
      ) : null}
    </>
  )
}

function HitCard(props: { readonly id: string; readonly hit: ShownHit; readonly query: URLSearchParams }): JSX.Element {
  const { chunkRef, path, startLine, endLine, headingPath, symbol, snippet, terms, kind } = props.hit
  return (
    <article class="panel passage">
      <header>
        <h3>
          <a class="hit" href={indexHref(props.id, 'chunk', { ...Object.fromEntries(props.query), ref: chunkRef })}>
            {path}
            <span class="quiet">
              :{startLine}-{endLine}
            </span>
          </a>
        </h3>
        {headingPath.length === 0 && symbol === null ? null : (
          <p class="heading-path quiet small">
            <MarkedText text={headingPath.join(' › ')} terms={terms} />
            {symbol === null ? null : (
              <code>
                <MarkedText text={symbol} terms={terms} />
              </code>
            )}
          </p>
        )}
      </header>
      <div class={`passage-text kind-${kind}`}>
        <MarkedText text={snippet} terms={terms} />
      </div>
    </article>
  )
}
