import { useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { SearchForm } from '../../shared/search-form.tsx'
import { useSearchKeys } from '../../shared/search-keys.ts'
import { useTypedQuestion } from '../../shared/typed-question.ts'
import type { SearchPage, SourceItem, SourceList } from '../api.ts'
import { connection } from '../live.ts'
import { RefusalNote } from '../refusal-note.tsx'
import { type Refusal, request } from '../request.ts'
import { replaceQuery, route } from '../route.ts'
import { SEARCH_PARAMETERS, SearchFilters } from './filters.tsx'
import { EmptyLibrary, Results, type SearchResults } from './results.tsx'
import { SourceChips, VersionChips } from './source-chips.tsx'

/** Debounce delay for typing. An answer takes less than this on an idle machine. */
const DEBOUNCE_MS = 120

/** The search page. It answers while the user types, and the address of the page has the question. */
export function Search(): JSX.Element {
  const { query } = route.value
  const question = useTypedQuestion({
    read: () => route.value.query.get('q') ?? '',
    write: (q) => replaceQuery({ q }),
    delayMs: DEBOUNCE_MS,
  })
  const found = useSignal<SearchResults | null>(null)
  const refusal = useSignal<Refusal | null>(null)
  const isBusy = useSignal(false)
  const sources = useSignal<readonly SourceItem[] | null>(null)
  const box = useRef<HTMLInputElement>(null)
  const results = useRef<HTMLDivElement>(null)
  /** Ends the latest search when another one begins. */
  const latest = useRef(new AbortController())

  const search = async (cursor: string | null) => {
    latest.current.abort()
    const stop = new AbortController()
    latest.current = stop
    const parameters = readParameters(route.value.query)
    if (!parameters.has('q')) {
      found.value = null
      refusal.value = null
      isBusy.value = false
      return
    }
    if (cursor !== null) parameters.set('cursor', cursor)
    isBusy.value = true
    const began = performance.now()
    const answer = await request<SearchPage>(`/api/search?${parameters}&html=1&explain=1`, { signal: stop.signal })
    if (stop.signal.aborted) return
    isBusy.value = false
    refusal.value = 'refusal' in answer ? answer.refusal : null
    if ('refusal' in answer) return
    const page = answer.value
    const before = cursor === null ? null : found.value
    found.value = {
      passages: [...(before?.passages ?? []), ...page.passages],
      mentions: page.more,
      page,
      tokens: (before?.tokens ?? 0) + page.tokens,
      tookMs: (before?.tookMs ?? 0) + performance.now() - began,
    }
  }
  useEffect(() => void search(null), [query.toString()])
  useEffect(() => {
    void request<SourceList>('/api/sources').then((answer) => {
      if ('value' in answer) sources.value = answer.value.items
    })
    box.current?.focus()
    const onKey = ({ key, target }: KeyboardEvent) => {
      if (key === 'Escape' && target instanceof Node && results.current?.contains(target)) box.current?.focus()
    }
    addEventListener('keydown', onKey)
    return () => {
      removeEventListener('keydown', onKey)
      latest.current.abort()
    }
  }, [])
  useSignalEffect(() => {
    // Repeats a query that failed because the server was unreachable.
    if (connection.value === 'open' && refusal.peek()?.code === 'UNREACHABLE') void search(null)
  })
  useSearchKeys(box, results)

  return (
    <>
      {/* The style of rendered text is that of the reader, so the server has it. */}
      <link rel="stylesheet" href="/pages/rendered.css" />
      <div class="head">
        <h1>Search</h1>
        <span class="quiet small keys">
          <kbd>/</kbd> to search, <kbd>↑</kbd> <kbd>↓</kbd> to move, <kbd>Enter</kbd> to read
        </span>
      </div>
      <search>
        <SearchForm {...{ question, box }} label="What to look for" placeholder="What would an agent ask?" />
        <SourceChips sources={sources.value ?? []} />
        <VersionChips sources={sources.value ?? []} />
        <SearchFilters />
      </search>
      <RefusalNote refusal={refusal.value} />
      <div ref={results} class={isBusy.value ? 'results busy' : 'results'} aria-busy={isBusy.value}>
        {found.value === null ? null : <Results found={found.value} onMore={(cursor) => void search(cursor)} />}
        {found.value === null && sources.value?.length === 0 ? <EmptyLibrary /> : null}
        {found.value === null && isBusy.value ? (
          <p class="quiet" role="status">
            Searching…
          </p>
        ) : null}
      </div>
    </>
  )
}

/** The parameters of the search in the address. */
function readParameters(query: URLSearchParams): URLSearchParams {
  const entries = [...query].filter(([name, value]) => SEARCH_PARAMETERS.includes(name) && value !== '')
  return new URLSearchParams(entries)
}
