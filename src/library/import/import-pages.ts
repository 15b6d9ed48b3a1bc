import { createChunks } from '../../core/chunk/create-chunks.ts'
import { slugify } from '../../core/chunk/slug.ts'
import { classifyPage } from '../../core/classify/classify-page.ts'
import { measureMarkdown } from '../../core/extract/measure.ts'
import { cleanLine, MAX_TITLE } from '../../core/extract/metadata/line.ts'
import { withoutFragment } from '../../core/extract/resolve.ts'
import { cleanText, fenceFor } from '../../core/extract/write/escape.ts'
import { createSections, type HeadingPosition } from '../../core/extract/write/sections.ts'
import { parseBlocks } from '../../core/markdown/blocks.ts'
import type { Sha256 } from '../../core/model.ts'
import { contentTypeOf } from '../../core/retrieval/content-type.ts'
import { withPageSignature } from '../../core/retrieval/with-page-signature.ts'
import { splitLines } from '../../core/text/lines.ts'
import { decodePart } from '../../core/url/decode-part.ts'
import type { PageRecord } from '../../crawl/settlement.ts'
import type { CooperativeTask } from '../cooperative-task.ts'
import { importKey } from '../ports/tree.ts'
import type { GivenChunk } from './parse-import.ts'

/** A page of an import. */
export interface ImportedPage {
  /** Key of the page in the ledger. */
  readonly key: string
  /** Address at which a user can open the page. */
  readonly url: string
  /** Chunks in the order given. */
  readonly chunks: readonly GivenChunk[]
  /** Hash that changes with the address, the chunks or the page format. */
  readonly version: string
}

/** Version of the page format; pages made with another version are made again. */
const FORMAT_VERSION = 2

/** Hash of an imported page. It includes the address, because equal pages at different addresses are separate pages of an import. */
export function hashImported(url: string, markdown: string, sha256: Sha256): string {
  return sha256(`${url}\n${markdown}`)
}

/** Number of chunks processed before yielding to other work. */
const CHUNKS_PER_YIELD = 200

/** Groups chunks into pages by key, in the order of their first chunks. */
export function* groupPages(chunks: readonly GivenChunk[], sha256: Sha256): CooperativeTask<Map<string, ImportedPage>> {
  const groups = new Map<string, GivenChunk[]>()
  for (const [i, chunk] of chunks.entries()) {
    if (i % CHUNKS_PER_YIELD === CHUNKS_PER_YIELD - 1) yield
    const key = importKey(chunk.sourceUrl) ?? chunk.sourceUrl
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [chunk])
    else group.push(chunk)
  }
  const pages = new Map<string, ImportedPage>()
  let handled = 0
  for (const [key, group] of groups) {
    const url = withoutFragment(group[0]?.sourceUrl ?? key)
    pages.set(key, { key, url, chunks: group, version: sha256(JSON.stringify([FORMAT_VERSION, url, group])) })
    handled += group.length
    if (handled < CHUNKS_PER_YIELD) continue
    handled = 0
    yield
  }
  return pages
}

/**
 * Creates a page from its chunks. The Markdown joins their texts with blank lines, so that each chunk equals its lines. Only invisible
 * characters are removed, and unmarked code gets a fence.
 */
export function createImportedPage({ key, url, chunks }: ImportedPage, sha256: Sha256): PageRecord {
  const placedChunks = placeChunks(chunks)
  const pageLines = placedChunks.flatMap(({ lines }, i) => (i === 0 ? lines : ['', ...lines]))
  const headings = placedChunks.flatMap(listHeadings)
  const titles = new Map(headings.toReversed().map(({ title }) => [slugify(title), title]))
  const titleOf = (slug: string): string => (slugify(slug) === NO_SLUG ? slug : (titles.get(slugify(slug)) ?? slug))
  const markdown = `${pageLines.join('\n')}\n`
  const hasSectionPaths = chunks.some(({ sectionPath }) => sectionPath !== '')
  const sections = hasSectionPaths ? placeSections(placedChunks, titleOf) : headings
  const heading = headings.find(({ level }) => level === 1) ?? headings[0]
  const page = withPageSignature({
    url,
    title: cleanLine(heading?.title ?? nameOf(url), MAX_TITLE) ?? url,
    description: null,
    author: null,
    publishedAt: null,
    modifiedAt: findLatestUpdate(chunks),
    language: chunks.find(({ language }) => language !== null)?.language ?? null,
    canonical: null,
    alternates: [],
    robots: { index: true, follow: true },
    generator: null,
    markdown,
    sections: createSections(pageLines, sections),
    links: [],
    ...measureMarkdown(markdown, sha256),
    contentHash: hashImported(url, markdown, sha256),
    hiddenChars: placedChunks.reduce((sum, { hiddenChars }) => sum + hiddenChars, 0),
  })
  const pieces = placedChunks.map(({ lines, startLine, endLine, path }) => ({
    startLine,
    endLine,
    content: lines.join('\n'),
    headingPath: path.map(titleOf),
  }))
  const chunksWithIds = createChunks({ path: key, kind: 'markdown' }, pieces, sha256)
  return { page, chunks: chunksWithIds, links: [], classification: classifyPage(page) }
}

/** Slug of a text without ASCII letters or digits, which identifies nothing. */
const NO_SLUG = slugify('')

/** A chunk with its lines and their position in the page. */
interface PlacedChunk {
  readonly lines: readonly string[]
  readonly startLine: number
  readonly endLine: number
  readonly hiddenChars: number
  /** Slugs of its section path. */
  readonly path: readonly string[]
  /** Fragment of the chunk's own address. */
  readonly fragment: string
}

function placeChunks(chunks: readonly GivenChunk[]): PlacedChunk[] {
  let line = 1
  return chunks.map(({ text: given, contentType, sectionPath, sourceUrl }) => {
    const cleaned = cleanText(given)
    const lines = trimLines(contentType === 'code' ? fenceCode(cleaned) : splitLines(cleaned))
    const startLine = line
    const endLine = startLine + lines.length - 1
    line = endLine + 2
    const path = listParts(sectionPath)
    const fragment = decodePart(new URL(sourceUrl).hash.slice(1))
    return { lines, startLine, endLine, hiddenChars: given.length - cleaned.length, path, fragment }
  })
}

/** Maximum depth of headings; a deeper section belongs to its ancestor at this depth. */
const MAX_HEADING_DEPTH = 6

function listParts(sectionPath: string): string[] {
  return sectionPath
    .split('/')
    .filter((part) => part.trim() !== '')
    .slice(0, MAX_HEADING_DEPTH)
}

/** Removes blank lines around a chunk, because a blank line separates chunks anyway. */
function trimLines(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.trim() !== '')
  return lines.slice(first, lines.findLastIndex((line) => line.trim() !== '') + 1)
}

/** Fences code that would be read as prose, with a fence longer than any run of backticks in it. */
function fenceCode(text: string): string[] {
  const lines = splitLines(text)
  if (contentTypeOf({ kind: 'markdown', content: text }) === 'code') return lines
  const fence = fenceFor(text, 3)
  return [fence, ...trimLines(lines), fence]
}

/** Lists the headings in a chunk. Each chunk is parsed alone, so an unclosed fence does not hide the headings of others. */
function listHeadings({ lines, startLine }: PlacedChunk): HeadingPosition[] {
  return [...parseBlocks(lines)].flatMap(({ type, text, level, open }) =>
    type === 'heading' ? [{ title: text, level, anchor: null, startLine: startLine + open }] : [],
  )
}

/** Derives sections from the section paths of chunks: each starts with its first chunk and ends where the path changes. */
function placeSections(chunks: readonly PlacedChunk[], titleOf: (slug: string) => string): HeadingPosition[] {
  let previous: Pick<PlacedChunk, 'path' | 'fragment'> = { path: [], fragment: '' }
  return chunks.flatMap((chunk) => {
    const from = countSharedParts(chunk, previous)
    previous = chunk
    const { path, startLine, fragment } = chunk
    return path.slice(from).map((part, i): HeadingPosition => {
      const isLast = from + i === path.length - 1
      const anchor = isLast && fragment !== '' ? fragment : part
      return { title: titleOf(part), level: from + i + 1, anchor, startLine }
    })
  })
}

/**
 * Returns how many leading parts of a chunk's path continue the previous section. A chunk that returns from a subsection, or has a fragment
 * of its own, starts its section again.
 */
function countSharedParts({ path, fragment }: PlacedChunk, previous: Pick<PlacedChunk, 'path' | 'fragment'>): number {
  const firstDifference = path.findIndex((part, depth) => part !== previous.path[depth])
  if (firstDifference >= 0) return firstDifference
  const isSame = path.length === previous.path.length && (fragment === '' || fragment === previous.fragment)
  return isSame ? path.length : Math.max(0, path.length - 1)
}

/** Returns the last path segment of an address, or its host. */
function nameOf(url: string): string {
  const { pathname, host } = new URL(url)
  return decodePart(/([^/]+)\/*$/.exec(pathname)?.[1] ?? '') || host
}

/** Returns the latest update time of the chunks. */
function findLatestUpdate(chunks: readonly GivenChunk[]): string | null {
  const dates = chunks.map(({ lastUpdated }) => lastUpdated)
  return dates.reduce((last, date) => (Date.parse(date) > Date.parse(last) ? date : last), dates[0] ?? '') || null
}
