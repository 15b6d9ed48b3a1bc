import { chunkPage } from '../../core/chunk/chunk-page.ts'
import { DEFAULT_LIMITS } from '../../core/limits.ts'
import type { ChunkedFile } from '../../core/model.ts'
import { splitLines } from '../../core/text/lines.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import type { Library } from '../library.ts'
import { isTree } from '../ports/tree.ts'
import type { Source } from '../source.ts'

/** Number of pages chunked before yielding to other work. */
const PAGES_AT_ONCE = 16

/** Converts the pages of a source to files of a pack, with the chunk sizes of packs. */
export async function chunkSource(
  library: Pick<Library, 'clock' | 'sha256' | 'store' | 'trees'>,
  source: Source,
  sizes: { readonly targetChars: number; readonly maxChars: number } = DEFAULT_LIMITS,
): Promise<ChunkedFile[]> {
  const { store, sha256, trees, clock } = library
  const files: ChunkedFile[] = []
  const isFile = isTree(source) && treeKindOf(source.url) !== 'import'
  for await (const { key, page } of store.listPages(source.id)) {
    // Yields, because a store in memory never waits and would block signals and other requests until the end.
    if (files.length % PAGES_AT_ONCE === 0) await clock.sleep(0)
    // Documents and imports are stored as Markdown; other files are stored verbatim and have no sections.
    if (isFile && trees?.keepsLines(key) === true && page.sections.length === 0) {
      files.push(await trees.chunkText(key, page.markdown, sizes))
      continue
    }
    const { markdown } = page
    const bytes = new TextEncoder().encode(markdown).length
    const lineCount = Math.max(1, splitLines(markdown).length)
    const file = { path: key, kind: 'markdown' as const, bytes, sha256: sha256(markdown), lineCount }
    files.push({ file, chunks: chunkPage(page, key, { sizes, sha256 }), warnings: [] })
  }
  return files
}
