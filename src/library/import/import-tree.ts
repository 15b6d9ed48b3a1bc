import { runCooperatively } from '../cooperative-task.ts'
import type { Library } from '../library.ts'
import type { OpenTree } from '../ports/tree.ts'
import { createImportedPage, groupPages, type ImportedPage } from './import-pages.ts'
import type { ChunkImport } from './parse-import.ts'

/** The pages of an import as a tree, which replaces an earlier import of the same source. */
export interface ImportTree extends OpenTree {
  /** The import that the tree was created from. */
  readonly chunkImport: ChunkImport
  /** Pages by key. */
  readonly pages: ReadonlyMap<string, ImportedPage>
}

/** Creates the tree of an import. */
export async function createImportTree(
  { sha256, clock }: Pick<Library, 'sha256' | 'clock'>,
  given: ChunkImport,
  signal?: AbortSignal,
): Promise<ImportTree> {
  const pages = await runCooperatively(groupPages(given.chunks, sha256), clock, signal)
  return {
    url: given.sourceUrl,
    name: given.sourceUrl,
    folderId: 'import',
    discovery: 'manual',
    chunkImport: given,
    pages,
    addressOf: (key) => pages.get(key)?.url ?? key,
    async *walk() {
      for (const path of pages.keys()) yield { type: 'file', path }
    },
    async read({ path, part }, known) {
      // Yields, because reading from memory would otherwise block other work.
      await clock.sleep(0)
      const page = pages.get(path)
      if (page === undefined || part !== null) return { type: 'missing' }
      const { version } = page
      const common = { version, stamp: null, detail: null }
      if (known.version === version) return { type: 'unchanged', ...common, bytes: 0 }
      const record = createImportedPage(page, sha256)
      return { type: 'page', record, isRecut: true, ...common, bytes: record.page.markdown.length }
    },
    close: async () => {},
  }
}
