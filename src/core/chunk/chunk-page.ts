import { sha256 as portableSha256 } from '../hash.ts'
import type { Chunk, Page, Sha256 } from '../model.ts'
import { splitLines } from '../text/lines.ts'
import { identify } from './identify.ts'
import { cutMarkdown } from './markdown.ts'
import type { ChunkSizes } from './piece.ts'

/** Sizes for pages of a library: a passage that answers one question. */
export const LIBRARY_SIZES: ChunkSizes = { targetChars: 1200, maxChars: 2400 }

/** Cuts the Markdown of a page into chunks. `key` is the path they are known by: the address as its source knows it. */
export function chunkPage(
  page: Pick<Page, 'markdown'>,
  key: string,
  options: { readonly sizes?: ChunkSizes; readonly sha256?: Sha256 } = {},
): Chunk[] {
  const pieces = cutMarkdown(splitLines(page.markdown), options.sizes ?? LIBRARY_SIZES)
  return identify({ path: key, kind: 'markdown' }, pieces, options.sha256 ?? portableSha256)
}
