import { PharosError } from '../../core/errors.ts'
import { embeddedText } from '../embedded-text.ts'
import { createImportedPage } from '../import-pages.ts'
import type { ImportTree } from '../import-tree.ts'
import type { Library } from '../library.ts'
import { canEmbed, checkSpace, takeUpSpace } from './embed-library.ts'

/** Vectors of an import, made before it is written. */
export interface ReadyVectors {
  /** Writes them, once their chunks are stored. */
  keep(sourceId: string): Promise<void>
}

/** Default batch size. */
const BATCH = 16

/**
 * Makes the vectors of the pages of an import that are new or changed, before anything that is there has to go for them: where that
 * fails, nothing has happened. `isKept` tells which pages stay as they are. What the model makes no vector of is left to whoever embeds
 * the library later.
 */
export async function embedImport(
  library: Library,
  { pages }: ImportTree,
  isKept: (key: string, version: string) => boolean,
  { signal, onProgress }: { readonly signal?: AbortSignal; readonly onProgress?: (embedded: number) => void } = {},
): Promise<ReadyVectors> {
  const { vectors, sha256 } = library
  const embedder = await library.openEmbedder?.()
  if (vectors === undefined || embedder === undefined) throw new PharosError('EMBEDDER_MISSING')
  await checkSpace(library, vectors, embedder)
  const { space, batchSize = BATCH } = embedder
  const made: { readonly chunkId: string; readonly vector: Float32Array }[] = []
  for (const imported of pages.values()) {
    if (isKept(imported.key, imported.version)) continue
    const { page, chunks } = createImportedPage(imported, sha256)
    if (!canEmbed(embedder, page.language)) continue
    for (let i = 0; i < chunks.length; i += batchSize) {
      const some = chunks.slice(i, i + batchSize)
      const texts = some.map(({ headingPath, content }) => embeddedText(page.title, headingPath, content))
      const found = await embedder.embed(texts, signal).catch(passRefusal)
      some.forEach(({ id }, at) => {
        const vector = found[at]
        if (vector !== undefined) made.push({ chunkId: id, vector })
      })
      onProgress?.(made.length)
    }
  }
  return {
    async keep(sourceId) {
      await takeUpSpace(library, vectors, embedder)
      for (let i = 0; i < made.length; i += WRITTEN) {
        const some = made.slice(i, i + WRITTEN).map((one) => ({ sourceId, ...one }))
        await vectors.write(space, some, signal)
      }
    },
  }
}

/** Vectors that are written at once. */
const WRITTEN = 256

/** One text of the batch is at fault; the next run over the library finds out which. */
function passRefusal(error: unknown): Float32Array[] {
  if (error instanceof PharosError && error.code === 'EMBED_REFUSED') return []
  throw error
}
