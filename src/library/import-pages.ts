import { classifyPage } from '../analysis/classify-page.ts'
import { identify } from '../core/chunk/identify.ts'
import { slugify } from '../core/chunk/slug.ts'
import { measureMarkdown } from '../core/extract/measure.ts'
import { cleanLine, MAX_TITLE } from '../core/extract/metadata/line.ts'
import { withoutFragment } from '../core/extract/resolve.ts'
import { cleanText } from '../core/extract/write/escape.ts'
import { createSections, type PlacedHeading } from '../core/extract/write/sections.ts'
import { parseBlocks } from '../core/markdown/blocks.ts'
import type { Sha256 } from '../core/model.ts'
import { contentTypeOf } from '../core/retrieval/content-type.ts'
import { withLikeness } from '../core/retrieval/with-likeness.ts'
import { splitLines } from '../core/text/lines.ts'
import { decodePath } from '../core/url/tree-url.ts'
import type { PageRecord } from '../crawl/ledger.ts'
import type { Turns } from './in-turns.ts'
import type { GivenChunk } from './parse-import.ts'
import { importKey } from './tree.ts'

/** A page of an import. */
export interface ImportedPage {
  /** What it is known by. */
  readonly key: string
  /** Where a reader opens it. */
  readonly url: string
  /** In the order in which they were given. */
  readonly chunks: readonly GivenChunk[]
  /** What tells it from other states of itself. */
  readonly version: string
}

/** How pages are made of chunks; those that were made in another way are made anew. */
const RECIPE = 2

/** The hash of a page of an import: of its address too, since two pages that say the same are two pages to whoever imports them. */
export function hashImported(url: string, markdown: string, sha256: Sha256): string {
  return sha256(`${url}\n${markdown}`)
}

/** So many chunks are handled before others have their turn. */
const TURN = 200

/** The pages of an import by their keys, in the order of their first chunks. */
export function* groupPages(chunks: readonly GivenChunk[], sha256: Sha256): Turns<Map<string, ImportedPage>> {
  const groups = new Map<string, GivenChunk[]>()
  for (const [i, chunk] of chunks.entries()) {
    if (i % TURN === TURN - 1) yield
    const key = importKey(chunk.sourceUrl) ?? chunk.sourceUrl
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [chunk])
    else group.push(chunk)
  }
  const pages = new Map<string, ImportedPage>()
  let handled = 0
  for (const [key, group] of groups) {
    const url = withoutFragment(group[0]?.sourceUrl ?? key)
    pages.set(key, { key, url, chunks: group, version: sha256(JSON.stringify([RECIPE, url, group])) })
    handled += group.length
    if (handled < TURN) continue
    handled = 0
    yield
  }
  return pages
}

/**
 * Makes a page of its chunks. Its Markdown is their texts, one after the other with a blank line between, so that each chunk is what
 * stands in its lines. Only what nobody sees is left out of them, and code that is not marked as such gets a fence.
 */
export function createImportedPage({ key, url, chunks }: ImportedPage, sha256: Sha256): PageRecord {
  const placed = placeChunks(chunks)
  const lines = placed.flatMap(({ text }, i) => (i === 0 ? text : ['', ...text]))
  const headings = placed.flatMap(listHeadings)
  const titles = new Map(headings.toReversed().map(({ title }) => [slugify(title), title]))
  const titleOf = (slug: string): string => (slugify(slug) === NO_SLUG ? slug : (titles.get(slugify(slug)) ?? slug))
  const markdown = `${lines.join('\n')}\n`
  const sections = chunks.some(({ sectionPath }) => sectionPath !== '') ? placeSections(placed, titleOf) : headings
  const heading = headings.find(({ level }) => level === 1) ?? headings[0]
  const page = withLikeness({
    url,
    title: cleanLine(heading?.title ?? nameOf(url), MAX_TITLE) ?? url,
    description: null,
    author: null,
    publishedAt: null,
    modifiedAt: findLast(chunks),
    language: chunks.find(({ language }) => language !== null)?.language ?? null,
    canonical: null,
    alternates: [],
    robots: { index: true, follow: true },
    generator: null,
    markdown,
    sections: createSections(lines, sections),
    links: [],
    ...measureMarkdown(markdown, sha256),
    contentHash: hashImported(url, markdown, sha256),
    hiddenChars: placed.reduce((sum, { hiddenChars }) => sum + hiddenChars, 0),
  })
  const pieces = placed.map(({ text, startLine, endLine, path }) => ({
    startLine,
    endLine,
    content: text.join('\n'),
    headingPath: path.map(titleOf),
  }))
  const identified = identify({ path: key, kind: 'markdown' }, pieces, sha256)
  return { page, chunks: identified, links: [], classification: classifyPage(page) }
}

/** What a text without letters and digits of ASCII becomes: it says nothing. */
const NO_SLUG = slugify('')

/** A chunk with its lines and where they stand in the page. */
interface PlacedChunk {
  readonly text: readonly string[]
  readonly startLine: number
  readonly endLine: number
  readonly hiddenChars: number
  /** Slugs of its headings. */
  readonly path: readonly string[]
  /** Fragment of its own address. */
  readonly fragment: string
}

function placeChunks(chunks: readonly GivenChunk[]): PlacedChunk[] {
  let line = 1
  return chunks.map(({ text: given, contentType, sectionPath, sourceUrl }) => {
    const seen = cleanText(given)
    const text = trimLines(contentType === 'code' ? fenceCode(seen) : splitLines(seen))
    const startLine = line
    const endLine = startLine + text.length - 1
    line = endLine + 2
    const path = listParts(sectionPath)
    const fragment = decodePath(new URL(sourceUrl).hash.slice(1))
    return { text, startLine, endLine, hiddenChars: given.length - seen.length, path, fragment }
  })
}

/** Headings go no deeper; what is deeper stands in the last of them. */
const DEEPEST = 6

function listParts(sectionPath: string): string[] {
  return sectionPath
    .split('/')
    .filter((part) => part.trim() !== '')
    .slice(0, DEEPEST)
}

/** Lines without the blank ones around them: there is one between any two chunks anyway. */
function trimLines(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.trim() !== '')
  return lines.slice(first, lines.findLastIndex((line) => line.trim() !== '') + 1)
}

/** Code that would be read as prose is put into a fence that none of its lines ends. */
function fenceCode(text: string): string[] {
  const lines = splitLines(text)
  if (contentTypeOf({ kind: 'markdown', content: text }) === 'code') return lines
  const longest = Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(Math.max(3, longest + 1))
  return [fence, ...trimLines(lines), fence]
}

/** The headings that stand in a chunk; a fence that it leaves open does not hide those of others. */
function listHeadings({ text: lines, startLine }: PlacedChunk): PlacedHeading[] {
  return [...parseBlocks(lines)].flatMap(({ type, text, level, open }) =>
    type === 'heading' ? [{ title: text, level, anchor: null, startLine: startLine + open }] : [],
  )
}

/** The sections that chunks say they are in: each begins with the first chunk of it, and ends where a chunk is in another. */
function placeSections(chunks: readonly PlacedChunk[], titleOf: (slug: string) => string): PlacedHeading[] {
  let before: Pick<PlacedChunk, 'path' | 'fragment'> = { path: [], fragment: '' }
  return chunks.flatMap((chunk) => {
    const from = findNews(chunk, before)
    before = chunk
    const { path, startLine, fragment } = chunk
    return path.slice(from).map((part, i): PlacedHeading => {
      const isLast = from + i === path.length - 1
      const anchor = isLast && fragment !== '' ? fragment : part
      return { title: titleOf(part), level: from + i + 1, anchor, startLine }
    })
  })
}

/**
 * How much of the path of a chunk is that of the section it goes on. One that comes back from a section inside of its own, or that has a
 * place of its own, begins it once more.
 */
function findNews({ path, fragment }: PlacedChunk, before: Pick<PlacedChunk, 'path' | 'fragment'>): number {
  const other = path.findIndex((part, depth) => part !== before.path[depth])
  if (other >= 0) return other
  const isSame = path.length === before.path.length && (fragment === '' || fragment === before.fragment)
  return isSame ? path.length : Math.max(0, path.length - 1)
}

/** The last segment of the path of an address, or its host. */
function nameOf(url: string): string {
  const { pathname, host } = new URL(url)
  return decodePath(/([^/]+)\/*$/.exec(pathname)?.[1] ?? '') || host
}

/** When the last change of some chunks was. */
function findLast(chunks: readonly GivenChunk[]): string | null {
  const dates = chunks.map(({ lastUpdated }) => lastUpdated)
  return dates.reduce((last, date) => (Date.parse(date) > Date.parse(last) ? date : last), dates[0] ?? '') || null
}
