import type { Context } from 'hono'
import { html, raw } from 'hono/html'
import { kindOf } from '../../core/chunk/kind.ts'
import { PharosError } from '../../core/errors.ts'
import type { Section } from '../../core/model.ts'
import { countOf, writeNumber } from '../../core/text/count.ts'
import { clipText, splitLines } from '../../core/text/lines.ts'
import { readAnchor, writeReaderUrl } from '../../core/url/reader-url.ts'
import { isWebPageUrl } from '../../core/url/tree-url.ts'
import { comparePage } from '../../library/changes/compare-page.ts'
import type { Library } from '../../library/library.ts'
import { isMarkdownPage } from '../../library/search/display-links.ts'
import { type FoundPage, findPage } from '../../library/search/find-page.ts'
import { findRelatedPages, type RelatedPage, type RelatedPages } from '../../library/search/related-pages.ts'
import { labelOf, versionFieldsOf } from '../../library/source.ts'
import { renderPage } from '../pages/layout.ts'
import {
  clipShowable,
  type Html,
  type Part,
  writeAddressForm,
  writeFacts,
  writeHref,
  writeMoment,
  writeOutsideLink,
  writeText,
} from '../pages/parts.ts'
import { readNumber, readText } from '../pages/query.ts'
import { cutParts, type PagePart } from './cut-parts.ts'
import { writePageChange } from './page-change.ts'
import { readAnchors, resolvePageLinks } from './reader-links.ts'
import { type LineRange, type ParsedMarkdown, parseMarkdown, renderCode, renderMarkdown } from './render-markdown.ts'

/** A rendered page, and whether the library has the page that was asked for (otherwise the status is 404). */
export interface ReaderPage {
  readonly isKnown: boolean
  readonly page: Html
}

/** Entries of the outline; a longer one is cut. */
const MAX_OUTLINE = 400
/** Characters of one line that are shown. */
const MAX_LINE_CHARS = 20_000

/** `/read?source=…&url=…&lines=3-9`: a stored page, rendered, with its outline and the passage highlighted. */
export async function renderReader(c: Context, library: Library): Promise<ReaderPage> {
  const [url, source] = [readText(c, 'url'), readText(c, 'source')]
  if (url === undefined) return { isKnown: true, page: renderForm() }
  let page: FoundPage
  try {
    page = await findPage(library, { url, source })
  } catch (error) {
    if (error instanceof PharosError && error.code === 'PAGE_UNKNOWN') return renderUnknown(url, error)
    throw error
  }
  return { isKnown: true, page: await renderFound(library, page, readView(c, page, url)) }
}

/** `/read.md`: the Markdown of a stored page, as it is stored. */
export async function answerMarkdown(c: Context, library: Library): Promise<Response> {
  const { markdown, title } = await findPage(library, { url: readText(c, 'url') ?? '', source: readText(c, 'source') })
  const words = title.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '')
  const name = clipText(words, 80) || 'page'
  return new Response(markdown, {
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `inline; filename="page.md"; filename*=UTF-8''${encodeURIComponent(name)}.md`,
      'cache-control': 'no-cache',
    },
  })
}

/** What of a page is shown. */
interface View {
  readonly lines: readonly string[]
  readonly parts: readonly PagePart[]
  /** The index of the shown part. */
  readonly at: number
  readonly passage: LineRange | null
  readonly isMarkdown: boolean
  /** The lines of the anchors of the page. */
  readonly anchors: ReadonlyMap<string, number>
}

function readView(c: Context, page: FoundPage, asked: string): View {
  const lines = splitLines(page.markdown)
  const isMarkdown = isMarkdownPage(page)
  const parts = cutParts(lines, isMarkdown)
  const anchors = readAnchors(page.sections)
  const passage = readRange(readText(c, 'lines')) ?? readRange(/#L(\d+)(?:-L?\d+)?$/.exec(asked)?.[1]) ?? null
  const line = passage?.start ?? anchors.get(readAnchor(asked)) ?? 1
  // A page of a file with several pages has its name where other addresses have an anchor, so that a chosen part comes first.
  const part = passage === null ? readNumber(c, 'part') : undefined
  const chosen = part === undefined ? parts.filter(({ end }) => end < line).length : part - 1
  return { lines, parts, at: Math.min(Math.max(chosen, 0), parts.length - 1), passage, isMarkdown, anchors }
}

/** `3-9` or `3` as a range. */
function readRange(text: string | undefined): LineRange | undefined {
  const [, first = '', last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(text ?? '') ?? []
  return first === '' ? undefined : { start: Number(first), end: Math.max(Number(first), Number(last)) }
}

async function renderFound(library: Library, page: FoundPage, view: View): Promise<Html> {
  const [related, change, content] = await Promise.all([
    findRelatedPages(library, page),
    comparePage(library, page),
    renderContent(library, page, view),
  ])
  const outline = writeOutline(page, view)
  const title = page.title === '' ? page.url : page.title
  return renderPage({
    title,
    section: 'Search',
    body: html`<link rel="stylesheet" href="/pages/reader.css">
${writeHead(page, view, related)}
${writePageChange(change, (line) => lineHref(page, view, line))}
<div class="reader${outline === '' ? '' : ' with-outline'}">${outline}
<article class="page" aria-label="${clipShowable(title)}">
${writePartLinks(page, view)}
<div class="rendered">${raw(content)}</div>
${writePartLinks(page, view)}
</article></div>`,
  })
}

async function renderContent(library: Library, page: FoundPage, view: View): Promise<string> {
  const part = view.parts[view.at] ?? { start: 1, end: 1, fence: null }
  const lines = view.lines.slice(part.start - 1, part.end)
  const text = [...(part.fence === null ? [] : [part.fence]), ...lines]
    .map((line) => (isLong(line) ? `${line.slice(0, MAX_LINE_CHARS)} …` : line))
    .join('\n')
  const parsed: ParsedMarkdown | undefined = view.isMarkdown ? parseMarkdown(text) : undefined
  const anchorsByLine = new Map<number, string[]>()
  for (const [anchor, line] of view.anchors) {
    const anchors = anchorsByLine.get(line)
    if (anchors === undefined) anchorsByLine.set(line, [anchor])
    else anchors.push(anchor)
  }
  const findAnchor = (anchor: string) => {
    const line = view.anchors.get(anchor)
    return line === undefined ? undefined : lineHref(page, view, line)
  }
  const hrefs = parsed?.hrefs ?? new Set<string>()
  const [resolveLink = () => null] = await resolvePageLinks(library, [{ ...page, hrefs, findAnchor }])
  const options = {
    headingLevel: 2,
    terms: [],
    resolveLink,
    lines: {
      first: part.fence === null ? part.start : part.start - 1,
      passage: view.passage,
      anchorsAt: (line: number) => anchorsByLine.get(line) ?? [],
      title: page.title,
    },
  }
  return parsed === undefined ? renderCode(text, kindOf(page.key), options) : renderMarkdown(parsed, options)
}

function isLong(line: string): boolean {
  return line.length > MAX_LINE_CHARS
}

/** Where the page comes from, its versions and languages, and what can be done with it. */
function writeHead(page: FoundPage, { lines, parts, at }: View, { versions, languages }: RelatedPages): Html {
  const { source, url, checkedAt, changedAt } = page
  const { packagePage } = versionFieldsOf(source, url)
  const query = { source: source.id, url }
  const part = parts.length === 1 ? '' : `, part ${at + 1} of ${parts.length}`
  return html`<p class="origin"><a href="/#/sources/${encodeURIComponent(source.id)}">${clipShowable(labelOf(source))}</a> <span class="quiet">${writeDisplayUrl(url)}</span></p>
<nav class="page-actions" aria-label="This page">${
    isWebPageUrl(packagePage ?? url)
      ? html`<a class="button" href="${packagePage ?? url}" rel="noopener noreferrer nofollow">Original page</a>`
      : ''
  }<a class="button" href="${writeHref('/read.md', query)}">Raw Markdown</a><a class="button" href="${writeHref('/read.md', query)}" download>Download</a><a class="button" href="${writeHref('/url', { url })}">Why is it here?</a></nav>
${writeSwitch('Version', versions, page)}${writeSwitch('Language', languages, page)}
<p class="quiet facts-line">${countOf(lines.length, 'line')}${part}${checkedAt === changedAt ? '' : html` · checked ${writeMoment(checkedAt)}`} · changed ${writeMoment(changedAt)}${lines.some(isLong) ? ' · long lines are cut, the raw Markdown has all of them' : ''}</p>`
}

/** Links to the same page in its other versions or languages. */
function writeSwitch(label: string, pages: readonly RelatedPage[], shown: FoundPage): Part {
  if (pages.length < 2) return ''
  const links = pages.map(({ source, url, label: name }) => {
    const isShown = source.id === shown.source.id && url === shown.url
    return html`<li><a class="chip" href="${writeReaderUrl({ sourceId: source.id, url })}"${isShown ? raw(' aria-current="true"') : ''}>${clipShowable(name)}</a></li>`
  })
  return html`<nav class="switch" aria-label="${label}"><span class="quiet">${label}</span><ul>${links}</ul></nav>`
}

/** The headings of the page, or the definitions of a file, linked to their lines. */
function writeOutline(page: FoundPage, view: View): Html | '' {
  const entries = page.sections.length > 0 ? listSections(page.sections, 0) : listDefinitions(page)
  if (entries.length < 2) return ''
  const shown = entries.slice(0, MAX_OUTLINE)
  const rest = entries.length - shown.length
  const links = shown.map(({ title, line, depth }) => {
    return html`<li class="depth-${depth}"><a href="${lineHref(page, view, line)}">${clipShowable(title)}</a></li>`
  })
  return html`<nav class="page-outline" aria-label="Outline" tabindex="0"><h2>On this page</h2><ul>${links}</ul>${rest > 0 ? html`<p class="quiet">and ${writeNumber(rest)} more</p>` : ''}</nav>`
}

interface OutlineEntry {
  readonly title: string
  readonly line: number
  readonly depth: number
}

/** Deeper headings are left out, so that the outline stays readable. */
const MAX_DEPTH = 3

function listSections(sections: readonly Section[], depth: number): OutlineEntry[] {
  if (depth >= MAX_DEPTH) return []
  const [only] = sections
  // A single heading around all others is the title of the page.
  if (depth === 0 && sections.length === 1 && only !== undefined && only.children.length > 1) {
    return listSections(only.children, 0)
  }
  return sections.flatMap(({ title, startLine, children }) => [
    { title, line: startLine, depth },
    ...listSections(children, depth + 1),
  ])
}

function listDefinitions({ chunks }: FoundPage): OutlineEntry[] {
  return chunks.flatMap(({ symbol, startLine }) =>
    symbol === null ? [] : [{ title: symbol, line: startLine, depth: 0 }],
  )
}

/** The address of a line: an anchor in the shown part, otherwise the part that has the line. */
function lineHref({ source, url }: FoundPage, { parts, at }: View, line: number): string {
  const index = parts.findIndex(({ end }) => line <= end)
  if (index === at) return `#L${line}`
  return writeReaderUrl({ sourceId: source.id, url, part: index + 1, line })
}

/** Links to the neighboring parts of a long page. */
function writePartLinks({ source, url }: FoundPage, { parts, at }: View): Part {
  if (parts.length === 1) return ''
  const step = (to: number, label: string, rel: string): Html =>
    parts[to] === undefined
      ? html`<span class="off">${label}</span>`
      : html`<a href="${writeReaderUrl({ sourceId: source.id, url, part: to + 1 })}" rel="${rel}">${label}</a>`
  const { start, end } = parts[at] ?? { start: 1, end: 1 }
  return html`<div class="pager">${step(at - 1, '← Previous part', 'prev')}${step(at + 1, 'Next part →', 'next')}<span class="quiet">lines ${writeNumber(start)}–${writeNumber(end)}</span></div>`
}

/** An address for display; a file address becomes a path. */
function writeDisplayUrl(url: string): Html {
  try {
    return writeText(decodeURI(url).replace(/^file:\/\//, ''))
  } catch {
    // The address is not valid percent-encoding.
    return writeText(url)
  }
}

function renderForm(): Html {
  return renderPage({
    title: 'Read a page',
    section: 'Search',
    body: html`<p>Enter the address of a page that the library holds.</p><div class="controls">${writeAddressForm('/read', '')}</div>`,
  })
}

function renderUnknown(url: string, { details: { known = '', nearest = '' } }: PharosError): ReaderPage {
  const similar = /^, did you mean (.+)\?$/s.exec(String(nearest))?.[1]
  const facts: readonly (readonly [string, Part])[] = [
    ['Address', writeOutsideLink(url)],
    ['State', known === '' ? null : writeText(String(known).replace(/^: /, ''))],
    [
      'Similar',
      similar === undefined
        ? null
        : html`<a href="${writeHref('/read', { url: similar })}">${clipShowable(similar)}</a>`,
    ],
  ]
  return {
    isKnown: false,
    page: renderPage({
      title: 'Not in the library',
      section: 'Search',
      body: html`<div class="panel notice"><p>The library holds no text of this page.</p>${writeFacts(facts)}
<p><a href="${writeHref('/url', { url })}">Why?</a> · <a href="/#/sources?add=1">Add a source</a></p></div><div class="controls">${writeAddressForm('/read', url)}</div>`,
    }),
  }
}
