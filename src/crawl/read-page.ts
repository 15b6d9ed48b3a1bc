import { chunkPage } from '../core/chunk/chunk-page.ts'
import { type ChunkProfile, sizesOf } from '../core/chunk/profiles.ts'
import { extractPage } from '../core/extract/extract-page.ts'
import { withoutFragment } from '../core/extract/resolve.ts'
import type { Extraction, Link, Sha256, Snapshot } from '../core/model.ts'
import { withPageSignature } from '../core/retrieval/with-page-signature.ts'
import { PageDefect } from './page-defect.ts'
import type { PageReading } from './ports.ts'

/** Maximum number of links of a page that are followed and stored. */
const MAX_LINKS = 20_000
/** Maximum number of links of a page that are examined; those not followed are recorded with a reason. */
const MAX_EXAMINED_LINKS = 50_000
/** Maximum length of the Markdown of a page: 20 MB of text, with room for escapes. */
const MAX_MARKDOWN = 30_000_000
/** Maximum number of chunks; 20 MB of text have fewer. */
const MAX_CHUNKS = 25_000

/** Reads a snapshot: page, chunks and the links to follow. */
export function readPage(snapshot: Snapshot, key: string, sha256?: Sha256, profile?: ChunkProfile): PageReading {
  const extraction = extractPage(snapshot, sha256 === undefined ? {} : { sha256 })
  if (extraction.type === 'no-page') return { extraction, record: null }
  return recordPage(extraction, key, sha256, profile)
}

/** Creates the record to store from an extracted page. */
export function recordPage(
  extraction: Extract<Extraction, { type: 'page' }>,
  key: string,
  sha256?: Sha256,
  profile: ChunkProfile = 'library',
): PageReading {
  const clippedPage = { ...extraction.page, links: extraction.page.links.slice(0, MAX_EXAMINED_LINKS) }
  // A small page can expand without limit: a long base address lengthens each short link, and each heading becomes a chunk.
  if (clippedPage.markdown.length > MAX_MARKDOWN) throw new PageDefect(`has more than ${MAX_MARKDOWN} characters`)
  const page = withPageSignature(clippedPage)
  const chunks = chunkPage(page, key, { ...(sha256 === undefined ? {} : { sha256 }), sizes: sizesOf(profile) })
  if (chunks.length > MAX_CHUNKS) throw new PageDefect(`has more than ${MAX_CHUNKS} chunks`)
  return {
    extraction: { ...extraction, page },
    record: { page, chunks, links: page.robots.follow ? listLinks(page.links) : [] },
  }
}

/** The distinct targets of links without fragments; nofollow links are left out. */
export function listLinks(links: readonly Link[]): string[] {
  const urls = new Set<string>()
  for (const link of links) {
    if (urls.size >= MAX_LINKS) break
    if (isFollowed(link)) urls.add(withoutFragment(link.url))
  }
  return [...urls]
}

/** Whether the result of `listLinks` has all links of a page. A list of maximum length may be truncated. */
export function hasAllLinks(links: readonly string[]): boolean {
  return links.length < MAX_LINKS
}

/** Whether a link may be followed, that is, is not marked as nofollow. */
export function isFollowed({ rel }: Link): boolean {
  return !rel.includes('nofollow')
}
