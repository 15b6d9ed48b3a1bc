import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Kind } from '../../../src/core/model.ts'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import { MarkedText } from '../../shared/marked-text.tsx'
import { SearchForm } from '../../shared/search-form.tsx'
import { useSearchKeys } from '../../shared/search-keys.ts'
import { useTypedQuestion } from '../../shared/typed-question.ts'
import { ErrorBox } from '../parts/error-box.tsx'
import { indexHref, replaceQuery, route } from '../route.ts'
import { isReturning } from '../scroll-restoration.ts'
import type { ShownHit } from '../work/operations.ts'
import { FILTERS, hasQuery, isSearching, keyOf, type QueryResults, queryResults, search } from './query-results.ts'
import { SearchFilters } from './search-filters.tsx'

/** The index and the current query. */
export interface SearchInput {
  readonly id: string
  readonly query: URLSearchParams
  readonly files: number
  readonly kinds: readonly Kind[]
}

/** Debounce delay for typing. */
const DEBOUNCE_MS = 150

/** Number of hits per request. */
const HITS_PER_REQUEST = 50

/** The search box, its filters and the results. */
export function SearchView({ id, query, files, kinds }: SearchInput): JSX.Element {
  const question = useTypedQuestion({
    read: () => (route.value.page === 'index' ? (route.value.query.get('q') ?? '') : ''),
    write: (q) => replaceQuery({ q }),
    delayMs: DEBOUNCE_MS,
  })
  const hitLimit = useSignal(HITS_PER_REQUEST)
  const box = useRef<HTMLInputElement>(null)
  const results = useRef<HTMLDivElement>(null)
  const key = keyOf(id, query)
  useEffect(() => {
    const cached = queryResults.peek()
    // If the results are still in memory, all of them are shown again.
    hitLimit.value = cached?.key === key ? Math.max(HITS_PER_REQUEST, cached.hits.length) : HITS_PER_REQUEST
    if (cached?.key !== key) void search(id, query, HITS_PER_REQUEST)
  }, [key])
  useSearchKeys(box, results)
  useEffect(() => {
    // When the user returns to the page, the previous position is restored instead.
    if (!isReturning()) box.current?.focus({ preventScroll: true })
  }, [])
  return (
    <section aria-labelledby="search-title">
      <h2 id="search-title" class="unseen">
        Search
      </h2>
      <search>
        <SearchForm {...{ question, box }} label="Search this index" placeholder={`Search ${countOf(files, 'file')}`} />
        <SearchFilters query={query} kinds={kinds} />
      </search>
      <div ref={results} class={isSearching.value ? 'results busy' : 'results'} aria-busy={isSearching.value}>
        <Results
          id={id}
          query={query}
          answer={queryResults.value}
          onMore={() => {
            hitLimit.value += HITS_PER_REQUEST
            void search(id, query, hitLimit.value)
          }}
        />
      </div>
    </section>
  )
}

interface ResultsInput {
  readonly id: string
  readonly query: URLSearchParams
  readonly answer: QueryResults | null
  readonly onMore: () => void
}

function Results({ id, query, answer, onMore }: ResultsInput): JSX.Element {
  const shown = hasQuery(query) ? answer : null
  return (
    <>
      <p class="quiet small" role="status" id="result-count">
        {shown === null ? (hasQuery(query) ? 'Searching…' : 'Results appear as you type.') : writeCount(shown, query)}
      </p>
      {shown?.completion ? (
        <p class="quiet small" id="completion">
          No text contains the word “{shown.completion.beginning}”; the results have words that begin with it:{' '}
          {shown.completion.terms.slice(0, 4).join(', ')}
          {shown.completion.terms.length > 4 ? ' and others.' : '.'}
        </p>
      ) : null}
      {shown?.doubt ? (
        <p class="panel notice" id="doubt">
          {shown.doubt}
        </p>
      ) : null}
      <ErrorBox error={shown?.error ?? null} />
      {shown === null || shown.hits.length === 0 ? null : (
        <ol class="hits" aria-label="Results">
          {shown.hits.map((hit) => (
            <li key={hit.chunkRef}>
              <HitCard id={id} hit={hit} query={query} />
            </li>
          ))}
        </ol>
      )}
      {shown !== null && shown.hits.length < shown.total ? (
        <p class="more">
          <button type="button" onClick={onMore}>
            Show more
          </button>
        </p>
      ) : null}
    </>
  )
}

function writeCount({ hits, total }: QueryResults, query: URLSearchParams): string {
  const isFiltered = FILTERS.some((name) => query.has(name))
  if (total === 0) return `Nothing was found.${isFiltered ? ' The filters may exclude too much.' : ' Try other words.'}`
  if (hits.length === total) return countOf(total, 'result')
  return `${query.has('q') ? 'The best ' : 'The first '}${writeNumber(hits.length)} of ${countOf(total, 'result')}`
}

function HitCard(props: { readonly id: string; readonly hit: ShownHit; readonly query: URLSearchParams }): JSX.Element {
  const { chunkRef, path, startLine, endLine, headingPath, symbol, snippet, terms, missing, kind } = props.hit
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
            {/* The name of a definition begins with the names that enclose it. */}
            {symbol === null ? (
              <MarkedText text={headingPath.join(' › ')} terms={terms} />
            ) : (
              <code>
                <MarkedText text={symbol} terms={terms} />
              </code>
            )}
          </p>
        )}
        {missing === null ? <p class="quiet small">by meaning alone</p> : null}
      </header>
      <div class={`passage-text kind-${kind}`}>
        {/* The `#` markers are removed, because the snippet is shown below its heading. */}
        <MarkedText text={kind === 'markdown' ? snippet.replace(/^#{1,6} /, '') : snippet} terms={terms} />
      </div>
    </article>
  )
}
