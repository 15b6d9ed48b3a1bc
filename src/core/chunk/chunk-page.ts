import { sha256 as portableSha256 } from '../hash.ts'
import type { Chunk, Page, Sha256 } from '../model.ts'
import { splitLines } from '../text/lines.ts'
import { createChunks } from './create-chunks.ts'
import { cutMarkdown } from './markdown.ts'
import type { ChunkSizes } from './piece.ts'
import { LIBRARY_SIZES } from './profiles.ts'

/** Cuts the Markdown of a page into chunks. `key` is their path: the address of the page within its source. */
export function chunkPage(
  page: Pick<Page, 'markdown'>,
  key: string,
  { sizes = LIBRARY_SIZES, sha256 = portableSha256 }: { readonly sizes?: ChunkSizes; readonly sha256?: Sha256 } = {},
): Chunk[] {
  return createChunks({ path: key, kind: 'markdown' }, cutMarkdown(splitLines(page.markdown), sizes), sha256)
}
