import { PharosError } from '../../core/errors.ts'
import { createImportedPage } from '../import/import-pages.ts'
import type { ImportTree } from '../import/import-tree.ts'
import type { Library } from '../library.ts'
import { canEmbed, checkSpace, switchSpace } from './embed-library.ts'
import { embeddedText } from './embedded-text.ts'

/** Vectors of an import, computed before it is written. */
export interface ReadyVectors {
  /** Writes the vectors once their chunks are stored. */
  keep(sourceId: string): Promise<void>
}

/** Default batch size. */
const BATCH = 16

/**
 * Embeds new and changed pages of an import before any stored page is replaced, so that a failure changes nothing. `isKept` returns true
 * for unchanged pages. Chunks that the model refuses are left to the next run over the library.
 */
export async function embedImport(
  library: Pick<Library, 'hasEmbeddingService' | 'openEmbedder' | 'sha256' | 'vectors'>,
  { pages }: ImportTree,
  isKept: (key: string, version: string) => boolean,
  { signal, onProgress }: { readonly signal?: AbortSignal; readonly onProgress?: (embedded: number) => void } = {},
): Promise<ReadyVectors> {
  const { vectors, sha256 } = library
  const embedder = await library.openEmbedder?.()
  if (vectors === undefined || embedder === undefined) throw new PharosError('EMBEDDER_MISSING')
  await checkSpace(library, vectors, embedder)
  const { space, batchSize = BATCH } = embedder
  const computed: { readonly chunkId: string; readonly vector: Float32Array }[] = []
  for (const imported of pages.values()) {
    if (isKept(imported.key, imported.version)) continue
    const { page, chunks } = createImportedPage(imported, sha256)
    if (!canEmbed(embedder, page.language)) continue
    for (let i = 0; i < chunks.length; i += batchSize) {
      const batch = chunks.slice(i, i + batchSize)
      const texts = batch.map(({ headingPath, content }) => embeddedText(page.title, headingPath, content))
      const found = await embedder.embed(texts, signal).catch(skipRefusedBatch)
      batch.forEach(({ id }, at) => {
        const vector = found[at]
        if (vector !== undefined) computed.push({ chunkId: id, vector })
      })
      onProgress?.(computed.length)
    }
  }
  return {
    async keep(sourceId) {
      await switchSpace(library, vectors, embedder)
      for (let i = 0; i < computed.length; i += WRITE_BATCH) {
        const batch = computed.slice(i, i + WRITE_BATCH).map((one) => ({ sourceId, ...one }))
        await vectors.write(space, batch, signal)
      }
    },
  }
}

/** Number of vectors written at once. */
const WRITE_BATCH = 256

/** Skips a batch with one bad text; the next run over the library finds out which. */
function skipRefusedBatch(error: unknown): Float32Array[] {
  if (error instanceof PharosError && error.code === 'EMBED_REFUSED') return []
  throw error
}
