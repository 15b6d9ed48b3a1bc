import { countOf, writeNumber } from '../../core/text/count.ts'
import { writeDuration } from '../../core/text/duration.ts'
import { writeTime } from '../../core/text/iso-time.ts'
import type { PageMention, Passage, SimilarPage } from '../search.ts'
import { labelOf, type Source } from '../source.ts'
import type { WaitingHost } from '../sources/source-status.ts'

/** Writes a time, or null. */
export function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : writeTime(ms)
}

/** Writes counts such as `Pages: 0 crawled, 10 skipped (unchanged), 0 errors, 48 not read` */
export function writePageCounts(
  counts: Readonly<Record<'indexed' | 'unchanged' | 'failed' | 'unread', number>>,
): string {
  const { indexed, unchanged, failed, unread } = counts
  const read = `${writeNumber(indexed)} crawled, ${writeNumber(unchanged)} skipped (unchanged)`
  return `Pages: ${read}, ${countOf(failed, 'error')}${unread === 0 ? '' : `, ${writeNumber(unread)} not read`}`
}

/** `Waiting: docs.example is paused until 2026-02-20T10:30:00Z, for 5m (network, the connection was refused)` */
export function writeWaiting(waiting: readonly WaitingHost[]): string[] {
  return waiting.map(({ host, until, leftMs, cause }) => {
    const left = writeDuration(Math.ceil(leftMs / 1000) * 1000)
    return oneLine(
      `Waiting: ${host} is paused until ${writeTime(until)}, for ${left}${cause === null ? '' : ` (${cause})`}`,
    )
  })
}

/** Writes why a recrawl kept the pages that it did not find. */
export function writeIncomplete(incomplete: string | null): string[] {
  return incomplete === null ? [] : [`missing pages were kept, because ${incomplete}`]
}

/** Puts untrusted text on one line, so that it cannot start another. */
export function oneLine(text: string): string {
  return (ODD_SPACE.test(text) ? text.replace(SPACE, ' ') : text).trim()
}

/** Puts untrusted text on one line in quotes, so that it cannot be mistaken for output of the program. */
export function quote(text: string): string {
  return JSON.stringify(oneLine(text))
}

/** Puts an untrusted name or address on one line, in quotes if it has spaces, so that it cannot pass for several facts of a line. */
export function quoteSpaced(text: string): string {
  const line = oneLine(text)
  return BLANK.test(line) ? JSON.stringify(line) : line
}

/** The name of a source, with its version if it has one, for a text: in quotes if it has spaces. */
export function writeLabel(source: Pick<Source, 'name' | 'version'>): string {
  return quoteSpaced(labelOf(source))
}

const SPACE = /[\s\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu
/** Matches everything in SPACE except single spaces, which nearly every text has. */
const ODD_SPACE = /[^\S ]| {2}|[\p{Cc}\u202a-\u202e\u2066-\u2069]/u
/** Quotes, and everything that looks like a space. */
const BLANK = /["\s\p{DI}\u2800]/u

/** Origin of a text, with everything needed to cite and request it again. */
export interface Citation {
  readonly title: string
  readonly url: string
  readonly headingPath: readonly string[]
  readonly startLine: number
  readonly endLine: number
  /** Name of the source, with its version if there is one. */
  readonly source: string
  /** Name for `get_chunk`; null if the text is not a chunk. */
  readonly chunk: string | null
  readonly version?: string | null
  /** Web page of the package version, for a page that has no web address. */
  readonly packagePage?: string | undefined
  /** Similar pages that are not shown themselves: the page of this text represents them. */
  readonly similar?: readonly SimilarPage[]
}

/**
 * Writes a citation such as `"Guide" > "Install" — https://… (chunk guide@2.0/12ab34cd56ef, lines 3-9)`, to be placed in a block of its own
 * before the unchanged text. Of a package it also names the version that was read and its web page.
 */
export function writeCitation({ startLine, endLine, ...place }: Citation): string {
  const lines = startLine === endLine ? `line ${startLine}` : `lines ${startLine}-${endLine}`
  return `${writeAddress(place)} (${writeName(place)}, ${lines})${writePackage(place)}${writeAlso(place)}`
}

/** Writes the line for a mentioned page, with matching words if given. */
export function writeMention(page: Omit<PageMention, 'sourceId' | 'score'>): string {
  const words = page.line === '' ? '' : ` — ${quote(page.line)}`
  return `${writeAddress(page)} (${writeName(page)})${writePackage(page)}${writeAlso(page)}${words}`
}

/** ` — version 19.1.0, https://www.npmjs.com/package/react/v/19.1.0`; a version that the source label has is left out. */
function writePackage(place: Pick<Citation, 'source' | 'version' | 'packagePage'>): string {
  const facts = listPackageFacts(place)
  return facts.length === 0 ? '' : ` — ${facts.join(', ')}`
}

/** Lists the version of a package that was read, unless the source label has it, and its web page. */
export function listPackageFacts({
  source,
  version = null,
  packagePage,
}: Pick<Citation, 'source' | 'version' | 'packagePage'>): readonly string[] {
  const isUnlabelled = version !== null && !source.endsWith(`@${version}`)
  return [
    ...(isUnlabelled ? [`version ${quoteSpaced(version)}`] : []),
    ...(packagePage === undefined ? [] : [quoteSpaced(packagePage)]),
  ]
}

function writeAlso({ similar = [], source, version = null }: Pick<Citation, 'similar' | 'source' | 'version'>): string {
  return similar.length === 0 ? '' : ` — ${writeSimilar(similar, { source, version })}`
}

function writeAddress({ title, url, headingPath }: Pick<Citation, 'title' | 'url' | 'headingPath'>): string {
  return `${listHeadings({ title, headingPath }).map(quote).join(' > ')} — ${quoteSpaced(url)}`
}

function writeName({ source, chunk }: Pick<Citation, 'source' | 'chunk'>): string {
  return chunk === null ? quoteSpaced(source) : `chunk ${quoteSpaced(shortenChunk(chunk))}`
}

/** Lists the page title and the headings above a text; the title is left out if the first heading repeats it. */
export function listHeadings({ title, headingPath }: Pick<Citation, 'title' | 'headingPath'>): readonly string[] {
  const [first = ''] = headingPath
  const repeatsTitle = headingPath.length > 0 && (title === '' || (first !== '' && title.startsWith(first)))
  return repeatsTitle ? headingPath : [title, ...headingPath]
}

/** The name of a chunk with a shortened id that still finds it: `guide@2.0/12ab34cd56ef` */
export function shortenChunk(chunk: string): string {
  return chunk.slice(0, chunk.lastIndexOf('/') + 1 + SHORT_ID_CHARS)
}

const SHORT_ID_CHARS = 12

/** Lists similar pages by what distinguishes them: `also: v1.0, de, fr, mirror` */
export function writeSimilar(similar: readonly SimilarPage[], shown: Pick<Passage, 'source' | 'version'>): string {
  const names = similar.map(({ url, source, version, language, isTranslation }) => {
    const isVersion = version !== null && shown.version !== null && version !== shown.version
    const facts = [
      ...(isVersion ? [version.replace(/^v?(?=\d)/, 'v')] : []),
      ...(isTranslation === true ? [language ?? ''] : []),
    ]
    return facts.map(quoteSpaced).join(' ') || quoteSpaced(source === shown.source ? url : source)
  })
  const [...all] = new Set(names)
  const rest = all.length - MAX_SIMILAR
  return `also: ${all.slice(0, MAX_SIMILAR).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

const MAX_SIMILAR = 10
