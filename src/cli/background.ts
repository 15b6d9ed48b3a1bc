import { setFlagsFromString } from 'node:v8'
import { messageOf } from '../core/errors.ts'
import type { CatchUpOptions } from '../library/catch-up.ts'
import type { Library } from '../library/library.ts'

/**
 * Keeps the nursery of the heap as it is and lets the rest grow slowly. A server stands by for days beside the programs that ask
 * it; left to itself, what each answer throws away would have doubled its memory after two hundred of them.
 */
export function staySmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=20')
}

/** What a server does while nobody asks it anything: first the words of chunks, then what pages are like, and then what chunks mean. */
export async function workInBackground(library: Library, signal: AbortSignal, options?: CatchUpOptions): Promise<void> {
  await library.store.tendIndex(signal)
  // Loaded when they are needed: the first answer does not wait for them.
  const { comparePages } = await import('../library/operations/compare-pages.ts')
  await comparePages(library, signal).catch((error: unknown) => {
    // Searches say that it is not done; the next start tries again.
    options?.log?.warn(`pages of an older version could not be compared: ${messageOf(error)}`)
  })
  const { keepEmbedding } = await import('../library/catch-up.ts')
  await keepEmbedding(library, signal, options)
}
