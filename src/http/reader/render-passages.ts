import type { Library } from '../../library/library.ts'
import { writeCitation } from '../../library/search/display-text.ts'
import type { Passage } from '../../library/search.ts'
import { resolvePageLinks } from './reader-links.ts'
import { type ParsedMarkdown, parseMarkdown, renderCode, renderMarkdown, withoutHeading } from './render-markdown.ts'

/** A passage as it is shown to a user. */
export interface RenderedPassage extends Passage {
  /** Its text as HTML, with the matching words marked. */
  readonly html: string
  readonly citation: string
}

/** Below the title of a hit, which is on the second level. */
const HEADING_LEVEL = 3

/** Renders the passages of an answer. Their links lead to the reader where the library has the page. */
export async function renderPassages(
  library: Pick<Library, 'store' | 'trees'>,
  passages: readonly Passage[],
): Promise<RenderedPassage[]> {
  const sources = new Map((await library.store.listSources()).map((source) => [source.id, source]))
  const parsed = passages.map((passage) => {
    if (!isMarkdown(passage)) return undefined
    return withoutHeading(parseMarkdown(passage.text), [passage.title, ...passage.headingPath])
  })
  const pages = passages.flatMap(({ sourceId, url }, i) => {
    const source = sources.get(sourceId)
    // A source that was removed since the search has no pages to lead to.
    return source === undefined ? [] : [{ passage: i, source, url, hrefs: parsed[i]?.hrefs ?? new Set<string>() }]
  })
  const resolved = await resolvePageLinks(library, pages)
  return passages.map((passage, i) => {
    const resolveLink = resolved[pages.findIndex((page) => page.passage === i)] ?? (() => null)
    const options = { headingLevel: HEADING_LEVEL, terms: passage.terms, resolveLink }
    return { ...passage, html: render(passage, parsed[i], options), citation: writeCitation(passage) }
  })
}

function render(
  { text, kind }: Passage,
  parsed: ParsedMarkdown | undefined,
  options: Parameters<typeof renderMarkdown>[1],
): string {
  return parsed === undefined ? renderCode(text, kind, options) : renderMarkdown(parsed, options)
}

function isMarkdown({ kind }: Passage): boolean {
  return kind === 'markdown' || kind === 'html'
}
