import { messageOf } from '../../core/errors.ts'
import type { Library } from '../library.ts'
import type { BackgroundEmbeddingOptions } from './background-embedding.ts'

/** The background work of a server: completes the text index, then the signatures that find duplicate pages, then embeds chunks. */
export async function workInBackground(
  library: Library,
  signal: AbortSignal,
  options?: BackgroundEmbeddingOptions,
): Promise<void> {
  await library.store.indexMissingChunks(signal)
  // Both modules are loaded on demand, so that the first request does not wait for them.
  const { fillPageSignatures } = await import('../crawl/fill-page-signatures.ts')
  await fillPageSignatures(library, signal).catch((error: unknown) => {
    // Searches report that the comparison is incomplete; the next start tries again.
    options?.log?.warn(`pages of an older version could not be checked for duplicates: ${messageOf(error)}`)
  })
  const { keepEmbedding } = await import('./background-embedding.ts')
  await keepEmbedding(library, signal, options)
}
