import type { JSX } from 'preact'
import { writeSentence } from '../../../src/core/text/capitalize.ts'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import { writeList } from '../../../src/core/text/list.ts'
import { Pill } from '../../shared/pill.tsx'
import type { MentionItem, PassageItem, SearchPage } from '../api.ts'
import { PageLink } from '../external-link.tsx'
import { replaceQuery, route } from '../route.ts'
import { CopyButtons } from './copy-buttons.tsx'
import { SEARCH_PARAMETERS } from './filters.tsx'
import { PassageCard } from './passage-card.tsx'
import { RelevanceNote } from './relevance-note.tsx'
import { SimilarPages } from './similar-pages.tsx'

/** The results so far: the first response and the pages loaded after it. */
export interface SearchResults {
  readonly passages: readonly PassageItem[]
  readonly mentions: readonly MentionItem[]
  /** The last response. */
  readonly page: SearchPage
  /** The sums of all responses. */
  readonly tokens: number
  readonly tookMs: number
}

/** The names of the engines. */
const ENGINES: Readonly<Record<string, string>> = { words: 'words', vectors: 'meaning', reranker: 'a reranker' }

/** The answer to a search. */
export function Results({
  found,
  onMore,
}: {
  readonly found: SearchResults
  readonly onMore: (cursor: string) => void
}): JSX.Element {
  const { passages, mentions, page, tokens, tookMs } = found
  const { cursor, notices, searchedCount } = page
  const engines = page.engines.map((engine) => ENGINES[engine] ?? engine)
  const isEmpty = passages.length === 0 && mentions.length === 0
  return (
    <>
      {isEmpty ? null : (
        <p class="result-facts quiet small" aria-live="polite">
          {page.relevance === 'strong' ? <Pill word="good match" tone="good" /> : null}
          <span>
            {countOf(passages.length, 'passage')}, {countOf(tokens, 'token')}
          </span>
          <span>
            {countOf(searchedCount, 'source')} searched by {writeList(engines)}
          </span>
          <span>{Math.round(tookMs)} ms</span>
          <CopyButtons forms={{ 'MCP call': writeCall() }} />
        </p>
      )}
      {searchedCount === 0 ? null : <RelevanceNote page={page} />}
      {isEmpty ? <NothingFound page={page} /> : null}
      {/* The notice of an empty library is for programs; this page has a link instead. */}
      {searchedCount > 0 && !isEmpty && notices.length > 0 ? (
        <ul class="panel notice small">
          {notices.map((notice) => (
            <li key={notice}>
              {writeSentence(notice.replace(/\b(duplicates|language)=(\w+)/g, 'the filter “$1: $2”'))}
            </li>
          ))}
        </ul>
      ) : null}
      {passages.map((passage) => (
        <PassageCard key={passage.chunk} passage={passage} />
      ))}
      {mentions.length === 0 ? null : <Mentions mentions={mentions} />}
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

/** The search as an agent makes it. */
function writeCall(): string {
  const { query } = route.value
  const given = SEARCH_PARAMETERS.flatMap((name) => {
    const value = query.getAll(name).join(',')
    if (value === '') return []
    // The tool calls the question `query`.
    return [[name === 'q' ? 'query' : name, value]]
  })
  const args = Object.fromEntries(given)
  return JSON.stringify({ method: 'tools/call', params: { name: 'search_docs', arguments: args } })
}

/** What else to try; nothing when the note above says all there is to say. */
function NothingFound({ page }: { readonly page: SearchPage }): JSX.Element | null {
  const { searchedCount, widen, relevance } = page
  if (widen.length === 0) {
    if (searchedCount === 0) return <EmptyLibrary />
    if (relevance !== 'strong') return null
  }
  return (
    <div class="panel empty">
      <p>Nothing was found.</p>
      {widen.map(({ filter, value, pages, instead }) => (
        <p key={filter}>
          {pages > 0 ? `${countOf(pages, 'page')} without ${filter} “${value}”` : `no pages for ${filter} “${value}”`}
          {instead.length === 0 ? '' : `; available: ${instead.join(', ')}`}
          {pages > 0 && filter !== 'query' ? (
            <>
              {' '}
              <button
                type="button"
                class="link"
                onClick={() => replaceQuery({ [filter === 'sources' ? 'source' : filter]: '' })}
              >
                Search without it
              </button>
            </>
          ) : null}
        </p>
      ))}
    </div>
  )
}

/** Shown while there is nothing to search. */
export function EmptyLibrary(): JSX.Element {
  return (
    <div class="panel empty">
      <p>There is nothing to search yet.</p>
      <p>
        <a href="#/sources?add=1">Add a source</a> to the library.
      </p>
    </div>
  )
}

function Mentions({ mentions }: { readonly mentions: readonly MentionItem[] }): JSX.Element {
  return (
    <section aria-label="Other matching pages">
      <h2>
        Also <span class="quiet">{writeNumber(mentions.length)}</span>
      </h2>
      <ul class="mentions panel">
        {mentions.map(({ chunk, title, url, headingPath, line, source, sourceId, similar }) => (
          <li key={chunk}>
            <PageLink
              url={url}
              source={sourceId}
              words={[...new Set([title, ...headingPath.slice(-1)])].filter(Boolean).join(' › ')}
              class="hit"
            />
            <span class="quiet small"> {source}</span>
            <p class="small cut">{line.replaceAll(/`|\*\*/g, '')}</p>
            <SimilarPages similar={similar} />
          </li>
        ))}
      </ul>
    </section>
  )
}
