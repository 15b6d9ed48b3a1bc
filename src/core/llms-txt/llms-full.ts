import { withoutFragment } from '../extract/resolve.ts'
import { isBlank, splitLines } from '../text/lines.ts'
import { siteHostOf } from '../url/key.ts'
import { type LlmsFullFile, type PageMark, pageUrl, titleKey, titleText } from './page-mark.ts'
import { markFences, readHeading, scanLinks } from './scan.ts'
import { findTags } from './tag-marks.ts'

/** An llms-full.txt cut into the pages it was made from. */
export interface LlmsFull {
  readonly pages: readonly LlmsFullPage[]
  /** Addresses of pages for which the file has no content. */
  readonly urlsWithoutContent: readonly string[]
  /** Text that could not be assigned to a page; '' if there is none. */
  readonly remainder: string
}

/** One page of an llms-full.txt. */
export interface LlmsFullPage {
  /** The address of the page, without a fragment. The file is untrusted, so the caller must check that the address is in scope. */
  readonly url: string
  readonly title: string
  readonly markdown: string
}

/**
 * Cuts an llms-full.txt found at `url` where its sections say which page they come from:
 *
 *     # Title                     <doc title="…" url="…">     ---             ## [Title](https://…)
 *     Source: https://…           … </doc>                    url: https://…
 *                                                             ---
 *
 * A file is cut by one form only: the most frequent of the first three, otherwise the last. If there is none of them, the file is cut at
 * headings that are titles in the llms.txt (`titles` maps them to addresses). A file is never cut inside a code fence. Everything but the
 * separators and white space is in exactly one page or in the remainder. Sections with the same address become one page. A page that has
 * only a heading is left out.
 */
export function splitLlmsFull(text: string, url: string, titles: ReadonlyMap<string, string>): LlmsFull {
  const lines = splitLines(text.replace(/^\ufeff/, ''))
  const file: LlmsFullFile = { lines, fences: markFences(lines), url, titles: indexTitles(titles) }
  const marks = findMarks(file)
  return assemble(file, marks)
}

function findMarks(file: LlmsFullFile): readonly PageMark[] {
  const [best = []] = [findTags(file), findFrontMatter(file), findSourceLines(file)].sort((a, b) => b.length - a.length)
  if (best.length > 0) return best
  const linkMarks = findLinkHeadings(file)
  return linkMarks.length > 0 ? linkMarks : findTitles(file)
}

function assemble({ lines }: LlmsFullFile, marks: readonly PageMark[]): LlmsFull {
  const keptLines: (string | undefined)[] = [...lines]
  for (const { edits } of marks) {
    for (const [line, text] of edits) {
      keptLines[line] = isBlank(text) ? undefined : text
      // Keeps only one of the blank lines around a separator.
      const isBetweenBlanks = isBlank(lines[line - 1] ?? '') && isBlank(lines[line + 1] ?? '')
      if (keptLines[line] === undefined && isBetweenBlanks && line + 1 < lines.length) keptLines[line + 1] = undefined
    }
  }
  const pages = new Map<string, { title: string; parts: string[] }>()
  const urlsWithoutContent = new Set<string>()
  const remainder: string[] = []
  let at = 0
  marks.forEach((mark, i) => {
    remainder.push(joinLines(keptLines, at, mark.start))
    at = mark.end ?? marks[i + 1]?.start ?? lines.length
    const markdown = joinLines(keptLines, mark.start, at)
    if (!hasText(markdown)) {
      remainder.push(markdown)
      urlsWithoutContent.add(mark.url)
      return
    }
    const page = pages.get(mark.url) ?? { title: mark.title, parts: [] }
    page.parts.push(markdown)
    pages.set(mark.url, page)
  })
  remainder.push(joinLines(keptLines, at, lines.length))
  return {
    pages: [...pages].map(([url, { title, parts }]) => {
      const markdown = parts.join('\n\n')
      return { url, title: title === '' ? firstHeading(markdown) : title, markdown }
    }),
    urlsWithoutContent: [...urlsWithoutContent].filter((url) => !pages.has(url)),
    remainder: remainder.filter((part) => part !== '').join('\n\n'),
  }
}

/** Joins lines without separators and without blank lines at either end. */
function joinLines(lines: readonly (string | undefined)[], from: number, to: number): string {
  const kept = lines.slice(from, to).filter((line) => line !== undefined)
  const start = kept.findIndex((line) => !isBlank(line))
  const end = kept.findLastIndex((line) => !isBlank(line))
  return start < 0 ? '' : kept.slice(start, end + 1).join('\n')
}

/** Whether the text has more than a heading: a page without content must still be fetched. */
function hasText(markdown: string): boolean {
  if (markdown === '') return false
  const [first = '', ...others] = markdown.split('\n')
  return readHeading(first) === undefined || others.some((line) => !isBlank(line) && !isComment(line.trim()))
}

function isComment(line: string): boolean {
  return line.startsWith('<!--') && line.endsWith('-->') && line.indexOf('-->') === line.length - 3
}

function firstHeading(markdown: string): string {
  const lines = markdown.split('\n')
  const fences = markFences(lines)
  for (const [i, line] of lines.entries()) {
    const heading = fences[i] === true ? undefined : readHeading(line)
    if (heading !== undefined) return titleText(heading.text)
  }
  return ''
}

const FIELD = /^([A-Za-z_][\w-]*)\s*:(?:\s+(.*))?$/
const URL_FIELDS = [
  'url',
  'source',
  'source_url',
  'source-url',
  'sourceurl',
  'page_url',
  'canonical',
  'canonical_url',
  'permalink',
  'link',
]
const MAX_FIELDS = 50

/** Blocks of `key: value` between lines of three hyphens. */
function findFrontMatter(file: LlmsFullFile): PageMark[] {
  const { lines, fences } = file
  const marks: PageMark[] = []
  for (let i = 0; i < lines.length; i++) {
    if (fences[i] === true || lines[i]?.trimEnd() !== '---') continue
    const block = readFields(lines, i + 1)
    if (block === undefined) continue
    const candidates = URL_FIELDS.map((key) => pageUrl(block.fields.get(key) ?? '', file.url))
    const url = candidates.find((candidate) => candidate !== undefined)
    if (url === undefined) continue
    const edits: [number, string][] = []
    for (let line = i; line <= block.end; line++) edits.push([line, ''])
    marks.push({ start: i, url, title: titleText(block.fields.get('title') ?? ''), edits })
    i = block.end
  }
  return marks
}

/** Parses fields up to the line that ends them; undefined for other text between two rules. */
function readFields(
  lines: readonly string[],
  from: number,
): { fields: ReadonlyMap<string, string>; end: number } | undefined {
  const fields = new Map<string, string>()
  for (let i = from; i < lines.length && i < from + MAX_FIELDS; i++) {
    const line = (lines[i] ?? '').trimEnd()
    if (line === '---') return fields.size === 0 ? undefined : { fields, end: i }
    const [, key, value = ''] = FIELD.exec(line) ?? []
    if (key !== undefined) fields.set(key.toLowerCase(), unquote(value.trim()))
    // A `#` line may be a comment or a heading; it counts as a heading, so that no heading is lost.
    else if (fields.size === 0 || !/^(?:\s|-\s|$)/.test(line)) return undefined
  }
  return undefined
}

function unquote(value: string): string {
  return /^"[^"]*"$|^'[^']*'$/.test(value) ? value.slice(1, -1) : value
}

const SOURCE = /^\s*(?:>\s*)?[*_]{0,2}(source(?: url)?|page url|url|link)[*_]{0,2}\s*:[*_]{0,2}(.*)$/i
const RULE = /^ {0,3}(?:-{3,}|={3,}|\*{3,}|_{3,}|(?:- ){2,}-|(?:\* ){2,}\*)\s*$/

/** A line with an address below a heading of the first two levels, or between rules. */
function findSourceLines(file: LlmsFullFile): PageMark[] {
  const { lines, fences } = file
  const marks: (PageMark & { level: number })[] = []
  let lastLine = -1
  for (const [i, line] of lines.entries()) {
    if (isBlank(line)) continue
    const lineAbove = lastLine
    lastLine = i
    const url = fences[i] === true ? undefined : readSource(line, file.url)
    if (url === undefined || fences[lineAbove] === true || i - lineAbove > 3) continue
    const mark = markSource(lines, lineAbove, i, url)
    // If two such lines are below one heading, the first names the page, and the second belongs to its text.
    if (mark !== undefined && mark.start > (marks.at(-1)?.start ?? -1)) marks.push(mark)
  }
  return keepHighest(marks)
}

function markSource(
  lines: readonly string[],
  lineAbove: number,
  at: number,
  url: string,
): (PageMark & { level: number }) | undefined {
  const edits: [number, string][] = [[at, '']]
  if (lineAbove < 0) return { start: at, url, title: '', edits, level: 0 }
  const line = lines[lineAbove] ?? ''
  const heading = readHeading(line)
  if (heading !== undefined && heading.level <= 2) {
    edits.push(...ruleBefore(lines, lineAbove))
    return { start: lineAbove, url, title: titleText(heading.text), edits, level: heading.level }
  }
  if (!RULE.test(line)) return undefined
  const isFramed = RULE.test(lines[at + 1] ?? '')
  const headingText = lines[lineAbove - 1] ?? ''
  if (!isFramed && !isBlank(headingText)) {
    // The line is not a rule, but underlines a heading.
    const level = line.includes('=') ? 1 : 2
    return { start: lineAbove - 1, url, title: titleText(headingText), edits, level }
  }
  if (isFramed) edits.push([at + 1, ''])
  edits.push([lineAbove, ''])
  return { start: at, url, title: '', edits, level: 0 }
}

function readSource(line: string, base: string): string | undefined {
  const [, label = '', rest = ''] = SOURCE.exec(line) ?? []
  if (label === '') return undefined
  const value = rest.trim()
  const [link] = scanLinks(value)
  const isLink = link !== undefined && link.start === 0 && link.end === value.length
  const written = isLink ? link.href : value.replace(/^<(.*)>$/, '$1')
  if (!/^https?:\/\/\S+$/i.test(written)) return undefined
  const url = pageUrl(written, base)
  // Pages about APIs use `URL: https://api.…` for other things than themselves.
  return url !== undefined && (/^source/i.test(label) || isSameHost(url, base)) ? url : undefined
}

/** Headings that are a link to a page of the same host, of the highest level that has them. */
function findLinkHeadings(file: LlmsFullFile): PageMark[] {
  const { lines, fences } = file
  const marks: (PageMark & { level: number })[] = []
  for (const [i, line] of lines.entries()) {
    const heading = fences[i] === true ? undefined : readHeading(line)
    if (heading === undefined || heading.level > 3) continue
    const [link] = scanLinks(heading.text)
    if (link === undefined || link.start !== 0 || link.end !== heading.text.length) continue
    const url = pageUrl(link.href, file.url)
    // Change logs link their versions to the code host.
    if (url === undefined || !isSameHost(url, file.url)) continue
    marks.push({ start: i, url, title: titleText(link.title), edits: ruleBefore(lines, i), level: heading.level })
  }
  return keepHighest(marks)
}

/** Finds headings that are titles in the llms.txt: of the first level or, if there are none, of the second. */
function findTitles(file: LlmsFullFile): PageMark[] {
  const { lines, fences, titles } = file
  if (titles.size === 0) return []
  for (const level of [1, 2]) {
    const headings: { line: number; text: string }[] = []
    const counts = new Map<string, number>()
    for (const [line, source] of lines.entries()) {
      const heading = fences[line] === true ? undefined : readHeading(source)
      if (heading === undefined || heading.level > level) continue
      headings.push({ line, text: heading.text })
      const key = titleKey(heading.text)
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    const marks = headings.flatMap(({ line, text }, i): PageMark[] => {
      const key = titleKey(text)
      const url = counts.get(key) === 1 ? titles.get(key) : undefined
      if (url === undefined) return []
      // A heading that is not a title may begin an unlisted page, so its text is assigned to no page.
      const end = headings[i + 1]?.line ?? lines.length
      return [{ start: line, end, url, title: titleText(text), edits: ruleBefore(lines, line) }]
    })
    if (marks.length > 0) return marks
  }
  return []
}

/** The marks whose headings have the highest level among them; lower headings are parts of pages. 0 means no heading. */
function keepHighest(marks: readonly (PageMark & { readonly level: number })[]): PageMark[] {
  const highest = marks.reduce((min, { level }) => (level > 0 ? Math.min(min, level) : min), 7)
  return marks.filter(({ level }) => level === 0 || level === highest)
}

/** The edit that removes the horizontal rule before a page, if there is one. */
function ruleBefore(lines: readonly string[], start: number): [number, string][] {
  let at = start - 1
  while (at >= 0 && isBlank(lines[at] ?? '')) at--
  const isRule = at >= 0 && RULE.test(lines[at] ?? '') && isBlank(lines[at - 1] ?? '')
  return isRule ? [[at, '']] : []
}

function indexTitles(titles: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const index = new Map<string, string>()
  const ambiguous = new Set<string>()
  for (const [title, address] of titles) {
    const key = titleKey(title)
    const url = withoutFragment(address)
    if (key === '' || (index.get(key) ?? url) !== url) ambiguous.add(key)
    index.set(key, url)
  }
  for (const key of ambiguous) index.delete(key)
  return index
}

function isSameHost(a: string, b: string): boolean {
  return siteHostOf(a) === siteHostOf(b)
}
