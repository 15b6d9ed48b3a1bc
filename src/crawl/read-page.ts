import { chunkPage } from '../core/chunk/chunk-page.ts'
import { extractPage } from '../core/extract/extract-page.ts'
import { withoutFragment } from '../core/extract/resolve.ts'
import type { Link, Sha256, Snapshot } from '../core/model.ts'
import type { PageReading } from './ports.ts'

/** Most links of one page that are followed and kept. */
const MAX_LINKS = 20_000

/** Reads a snapshot: page, chunks and the links to follow. */
export function readPage(snapshot: Snapshot, key: string, sha256?: Sha256): PageReading {
  const options = sha256 === undefined ? {} : { sha256 }
  const extraction = extractPage(snapshot, options)
  if (extraction.type === 'no-page') return { extraction, record: null }
  const { page } = extraction
  const links = page.robots.follow ? listLinks(page.links) : []
  return { extraction, record: { page, chunks: chunkPage(page, key, options), links } }
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
