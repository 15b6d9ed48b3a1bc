import { useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import { writeList } from '../../../src/core/text/list.ts'
import { useSearchKeys } from '../../shared/search-keys.ts'
import type { MentionItem, PassageItem, SearchPage } from '../api.ts'
import { PageLink } from '../external-link.tsx'
import { connection } from '../live.ts'
import { type Refusal, request, writeQuery } from '../request.ts'
import { replaceQuery, route } from '../route.ts'
import { FILTERS, SearchFilters } from './filters.tsx'
import { PassageCard } from './passage-card.tsx'
import { SimilarPages } from './similar-pages.tsx'

/** The results so far: the first response and the pages loaded after it. */
interface SearchResults {
  readonly passages: readonly PassageItem[]
  readonly mentions: readonly MentionItem[]
  readonly page: SearchPage
}

/** Debounce delay for typing. */
const DEBOUNCE_MS = 300

/** The search page. */
export function Search(): JSX.Element {
  const { query } = route.value
  const typed = useSignal(query.get('q') ?? '')
  const found = useSignal<SearchResults | null>(null)
  const refusal = useSignal<Refusal | null>(null)
  const isBusy = useSignal(false)
  const box = useRef<HTMLInputElement>(null)
  const results = useRef<HTMLDivElement>(null)
  const timer = useRef(0)
  /** Identifies the latest query, so that late responses to older ones are dropped. */
  const latestRequest = useRef(0)

  const search = async (cursor: string | null) => {
    const number = ++latestRequest.current
    const values = Object.fromEntries(['q', ...FILTERS.map(({ name }) => name)].map((name) => [name, query.get(name)]))
    if (!values['q']) {
      found.value = null
      refusal.value = null
      isBusy.value = false
      return
    }
    isBusy.value = true
    const answer = await request<SearchPage>(`/api/search${writeQuery({ ...values, explain: 1, cursor })}`)
    if (number !== latestRequest.current) return
    isBusy.value = false
    refusal.value = 'refusal' in answer ? answer.refusal : null
    if ('refusal' in answer) return
    const page = answer.value
    const before = cursor === null ? null : found.value
    found.value = {
      passages: [...(before?.passages ?? []), ...page.passages],
      mentions: page.more,
      page,
    }
  }
  useEffect(() => void search(null), [query.toString()])
  useEffect(() => () => clearTimeout(timer.current), [])
  useSignalEffect(() => {
    // Repeats a query that failed because the server was unreachable.
    if (connection.value === 'open' && refusal.peek()?.code === 'UNREACHABLE') void search(null)
  })
  useSignalEffect(() => {
    // The back and forward buttons change the query in the address.
    const inAddress = route.value.query.get('q') ?? ''
    if (inAddress !== typed.peek().trim()) typed.value = inAddress
  })

  useSearchKeys(box, results)
  useEffect(() => box.current?.focus(), [])

  return (
    <>
      <div class="head">
        <h1>Search</h1>
        <span class="quiet small keys">
          <kbd>/</kbd> to search, <kbd>↑</kbd> <kbd>↓</kbd> to move, <kbd>Enter</kbd> to open
        </span>
      </div>
      <search>
        <form
          class="search-form"
          onSubmit={(event) => {
            event.preventDefault()
            clearTimeout(timer.current)
            replaceQuery({ q: typed.value.trim() })
          }}
        >
          <input
            ref={box}
            type="search"
            name="q"
            class="search-box"
            aria-label="What to look for"
            placeholder="What would an agent ask?"
            autocomplete="off"
            value={typed.value}
            onInput={(event) => {
              typed.value = event.currentTarget.value
              clearTimeout(timer.current)
              timer.current = setTimeout(() => replaceQuery({ q: typed.value.trim() }), DEBOUNCE_MS)
            }}
          />
          <button type="submit" class="primary">
            Search
          </button>
        </form>
        <SearchFilters />
      </search>
      {refusal.value === null ? null : (
        <p class="field-problem" role="alert">
          {refusal.value.message}
        </p>
      )}
      <div ref={results} class={isBusy.value ? 'results busy' : 'results'} aria-busy={isBusy.value}>
        {found.value === null ? null : <Results found={found.value} onMore={(cursor) => void search(cursor)} />}
      </div>
    </>
  )
}

function Results({
  found,
  onMore,
}: {
  readonly found: SearchResults
  readonly onMore: (cursor: string) => void
}): JSX.Element {
  const { passages, mentions, page } = found
  const { cursor, notices, searchedCount, tokens, widen } = page
  return (
    <>
      <p class="quiet small" aria-live="polite">
        {countOf(passages.length, 'passage')}, {countOf(tokens, 'token')}, {countOf(searchedCount, 'source')} searched
        by {writeList(page.engines)}
      </p>
      {/* The notice of an empty library is for programs; this page has a link instead. */}
      {searchedCount > 0 &&
        notices.map((notice) => (
          <p key={notice} class="panel notice small">
            {notice.replace(/\b(duplicates|language)=(\w+)/g, 'the filter “$1: $2”')}
          </p>
        ))}
      {passages.length === 0 && mentions.length === 0 ? (
        <div class="panel empty">
          {searchedCount === 0 && widen.length === 0 ? (
            <>
              <p>There is nothing to search yet.</p>
              <p>
                <a href="#/sources?add=1">Add a source</a> to the library.
              </p>
            </>
          ) : (
            <p>Nothing was found.</p>
          )}
          {widen.map(({ filter, value, pages, instead }) => (
            <p key={filter}>
              {pages > 0
                ? `${countOf(pages, 'page')} without ${filter} “${value}”`
                : `no pages for ${filter} “${value}”`}
              {instead.length === 0 ? '' : `; available: ${instead.join(', ')}`}
            </p>
          ))}
        </div>
      ) : null}
      {passages.map((passage) => (
        <PassageCard key={passage.chunk} passage={passage} />
      ))}
      {mentions.length === 0 ? null : (
        <section aria-label="Other matching pages">
          <h2>
            Also <span class="quiet">{writeNumber(mentions.length)}</span>
          </h2>
          <ul class="mentions panel">
            {mentions.map(({ chunk, title, url, headingPath, line, source, similar }) => (
              <li key={chunk}>
                <PageLink
                  url={url}
                  source={source}
                  words={[title, ...headingPath.slice(-1)].filter(Boolean).join(' › ')}
                  class="hit"
                />
                <span class="quiet small"> {source}</span>
                <p class="small cut">{line}</p>
                <SimilarPages similar={similar} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {cursor === null ? null : (
        <p class="more">
          <button type="button" onClick={() => onMore(cursor)}>
            More
          </button>
        </p>
      )}
    </>
  )
}
