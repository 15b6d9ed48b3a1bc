import {
  type GrownPassage,
  type GrowResult,
  type LineRange,
  type PassageBudget,
  PassageGrower,
  type PassagePage,
} from '../../core/retrieval/passages.ts'
import type { PageExcerpt, Store } from '../ports/store.ts'
import { resolveDisplayLinks } from './display-links.ts'
import type { GroupedHit } from './group-hits.ts'
import type { HitSources } from './hit-sources.ts'

/** A page with hits, and the parts of it that have been read. */
interface OpenPage {
  readonly parts: OpenPart[]
  /** Lines already shown, in this answer or an earlier one. */
  readonly taken: LineRange[]
}

/** A hit with the part of the page it is in. */
export interface OpenHit {
  readonly page: OpenPage
  readonly part: OpenPart
}

/** A part of a page, read from the store. */
interface OpenPart {
  readonly excerpt: PageExcerpt
  /** The line numbers of the grower count from the start of the part. */
  readonly grower: PassageGrower
}

/** Returns a function that finds a hit in its page; parts of pages are read once. Null if the page was removed or replaced since. */
export function createHitOpener(store: Store, origins: HitSources): (hit: GroupedHit) => Promise<OpenHit | null> {
  const pages = new Map<string, OpenPage>()
  return async (hit) => {
    const { pageKey, sourceId, chunk } = hit
    const page = pages.get(pageKey) ?? { parts: [], taken: [] }
    pages.set(pageKey, page)
    const known = page.parts.find(({ excerpt: { usableChunks } }) =>
      isBetween(chunk.chunkIndex, usableChunks.first, usableChunks.last),
    )
    if (known !== undefined) return { page, part: known }
    const stored = await store.readExcerpt(sourceId, chunk.path, chunk.chunkIndex)
    if (stored === undefined || !hasChunk(stored, hit)) return null
    // Resolves links before measuring, because full addresses are longer than relative ones.
    const excerpt = { ...stored, markdown: showLinks(hit, stored.markdown, origins) }
    const part = { excerpt, grower: new PassageGrower(toPassagePage(excerpt)) }
    page.parts.push(part)
    return { page, part }
  }
}

/** Whether an excerpt still holds the chunk of a hit as it was found; a chunk may overlap the end of the previous one. */
function hasChunk({ first, spans }: PageExcerpt, { chunk }: GroupedHit): boolean {
  const span = spans[chunk.chunkIndex - first]
  return (
    span !== undefined && isBetween(span.startLine, chunk.startLine, chunk.endLine) && span.endLine === chunk.endLine
  )
}

/** Returns the Markdown of a page with its links resolved to full addresses. */
function showLinks({ sourceId, url, chunk }: GroupedHit, markdown: string, origins: HitSources): string {
  const source = origins.sourceOf(sourceId)
  if (source === undefined || chunk.kind !== 'markdown') return markdown
  return resolveDisplayLinks(source, { url, key: chunk.path, markdown })
}

/** Converts an excerpt to a page of its own, with line numbers from its start. */
function toPassagePage({ markdown, linesBefore, spans }: PageExcerpt): PassagePage {
  return { markdown, chunks: spans.map((span) => ({ headingPath: span.headingPath, ...shift(span, -linesBefore) })) }
}

function shift({ startLine, endLine }: LineRange, lines: number): LineRange {
  return { startLine: startLine + lines, endLine: endLine + lines }
}

/** Grows a hit into a passage; returned lines count from the start of the page. */
export function growHit({ page, part }: OpenHit, { chunk, terms }: GroupedHit, room: PassageBudget): GrowResult {
  const { first, linesBefore } = part.excerpt
  const found = {
    chunkIndex: chunk.chunkIndex - first,
    content: chunk.content,
    isMarkdown: chunk.kind === 'markdown',
    terms,
  }
  const taken = page.taken.map((range) => shift(range, -linesBefore))
  const grown = part.grower.grow(found, room, taken)
  return typeof grown === 'string' ? grown : { ...grown, ...shift(grown, linesBefore) }
}

/** Merges two passages of a part; lines count from the start of the page. */
export function joinPassages(
  { excerpt, grower }: OpenPart,
  a: GrownPassage,
  b: GrownPassage,
  maxTokens: number,
): GrownPassage | undefined {
  const { linesBefore } = excerpt
  const inPart = (grown: GrownPassage) => ({ ...grown, ...shift(grown, -linesBefore) })
  const joined = grower.join(inPart(a), inPart(b), maxTokens)
  return joined && { ...joined, ...shift(joined, linesBefore) }
}

function isBetween(place: number, first: number, last: number): boolean {
  return first <= place && place <= last
}
