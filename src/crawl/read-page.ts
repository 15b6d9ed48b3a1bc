import { chunkPage } from '../core/chunk/chunk-page.ts'
import { type ChunkProfile, sizesOf } from '../core/chunk/profiles.ts'
import { extractPage } from '../core/extract/extract-page.ts'
import { withoutFragment } from '../core/extract/resolve.ts'
import type { Extraction, Link, Sha256, Snapshot } from '../core/model.ts'
import { withLikeness } from '../core/retrieval/with-likeness.ts'
import { PageDefect } from './page-defect.ts'
import type { PageReading } from './ports.ts'

/** Most links of one page that are followed and kept. */
const MAX_LINKS = 20_000
/** Most links of one page that are looked at: those that are not followed are at least named. */
const MAX_NAMED = 50_000
/** Most characters of Markdown a page may become: 20 MB of text with room for what is escaped in it. */
const MAX_MARKDOWN = 30_000_000
/** Most chunks it may be cut into: 20 MB of text are fewer. */
const MAX_CHUNKS = 25_000

/** Reads a snapshot: page, chunks and the links to follow. */
export function readPage(snapshot: Snapshot, key: string, sha256?: Sha256, profile?: ChunkProfile): PageReading {
  const extraction = extractPage(snapshot, sha256 === undefined ? {} : { sha256 })
  if (extraction.type === 'no-page') return { extraction, record: null }
  return recordPage(extraction, key, sha256, profile)
}

/** What is stored of a page that was extracted. */
export function recordPage(
  extraction: Extract<Extraction, { type: 'page' }>,
  key: string,
  sha256?: Sha256,
  profile: ChunkProfile = 'library',
): PageReading {
  const found = { ...extraction.page, links: extraction.page.links.slice(0, MAX_NAMED) }
  // A small page can be made to grow without bounds: each short link of it by a long base, each heading to a chunk of its own.
  if (found.markdown.length > MAX_MARKDOWN) throw new PageDefect(`becomes more than ${MAX_MARKDOWN} characters`)
  const page = withLikeness(found)
  const chunks = chunkPage(page, key, { ...(sha256 === undefined ? {} : { sha256 }), sizes: sizesOf(profile) })
  if (chunks.length > MAX_CHUNKS) throw new PageDefect(`is cut into more than ${MAX_CHUNKS} chunks`)
  return {
    extraction: { ...extraction, page },
    record: { page, chunks, links: page.robots.follow ? listLinks(page.links) : [] },
  }
}

/** The addresses links lead to, each once, without fragment. Those the page does not vouch for are left out. */
export function listLinks(links: readonly Link[]): string[] {
  const urls = new Set<string>()
  for (const link of links) {
    if (urls.size >= MAX_LINKS) break
    if (isFollowed(link)) urls.add(withoutFragment(link.url))
  }
  return [...urls]
}

/** Whether links of a page that were listed are all it has; as many as are read may have been more. */
export function hasAllLinks(links: readonly string[]): boolean {
  return links.length < MAX_LINKS
}

/** Whether a page vouches for where a link leads. */
export function isFollowed({ rel }: Link): boolean {
  return !rel.includes('nofollow')
}
