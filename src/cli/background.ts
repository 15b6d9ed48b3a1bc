import { setFlagsFromString } from 'node:v8'
import { messageOf } from '../core/errors.ts'
import type { BackgroundEmbeddingOptions } from '../library/embed/background-embedding.ts'
import type { Library } from '../library/library.ts'

/**
 * Limits the growth of the heap. A server runs for days beside the programs that use it, and with the defaults its memory would double
 * after about two hundred requests.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=20')
}

/** The background work of a server: completes the text index, then the signatures that find duplicate pages, then embeds chunks. */
export async function workInBackground(
  library: Library,
  signal: AbortSignal,
  options?: BackgroundEmbeddingOptions,
): Promise<void> {
  await library.store.indexMissingChunks(signal)
  // Both modules are loaded on demand, so that the first request does not wait for them.
  const { fillPageSignatures } = await import('../library/crawl/fill-page-signatures.ts')
  await fillPageSignatures(library, signal).catch((error: unknown) => {
    // Searches report that the comparison is incomplete; the next start tries again.
    options?.log?.warn(`pages of an older version could not be checked for duplicates: ${messageOf(error)}`)
  })
  const { keepEmbedding } = await import('../library/embed/background-embedding.ts')
  await keepEmbedding(library, signal, options)
}
