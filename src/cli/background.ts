import { setFlagsFromString } from 'node:v8'
import { messageOf } from '../core/errors.ts'
import type { CatchUpOptions } from '../library/catch-up.ts'
import type { Library } from '../library/library.ts'

/**
 * Limits the growth of the heap. A server runs for days beside the programs that use it, and with the defaults its memory would double
 * after about two hundred requests.
 */
export function staySmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=20')
}

/** The background work of a server: it maintains the text index, then compares pages, and then embeds chunks. */
export async function workInBackground(library: Library, signal: AbortSignal, options?: CatchUpOptions): Promise<void> {
  await library.store.tendIndex(signal)
  // Loaded on demand, so that the first request does not wait for them.
  const { comparePages } = await import('../library/operations/compare-pages.ts')
  await comparePages(library, signal).catch((error: unknown) => {
    // Searches report that the comparison is incomplete; the next start tries again.
    options?.log?.warn(`pages of an older version could not be compared: ${messageOf(error)}`)
  })
  const { keepEmbedding } = await import('../library/catch-up.ts')
  await keepEmbedding(library, signal, options)
}
