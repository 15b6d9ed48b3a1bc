import { setFlagsFromString } from 'node:v8'
import type { Library } from '../library/library.ts'

/**
 * Keeps the nursery of the heap as it is and lets the rest grow slowly. A server stands by for days beside the programs that ask
 * it; left to itself, what each answer throws away would have doubled its memory after two hundred of them.
 */
export function staySmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=20')
}

/** How long it waits for new chunks, for a model, or for what went wrong to be mended. */
const REST_MS = 30_000

/** What a server does while nobody asks it anything: first the words of chunks, and then their meanings. */
export async function workInBackground(library: Library, signal: AbortSignal): Promise<void> {
  await library.store.tendIndex(signal)
  await embedInBackground(library, signal)
}

/** Gives vectors to chunks that have none, for as long as the server runs. */
async function embedInBackground(library: Library, signal: AbortSignal): Promise<void> {
  if (library.openEmbedder === undefined || library.vectors === undefined) return
  const { embedLibrary } = await import('../library/operations/embed-library.ts')
  while (!signal.aborted) {
    try {
      for await (const _ of embedLibrary(library, { signal })) {
        // Every batch lets the requests that came meanwhile go first.
        await library.clock.sleep(0, signal)
      }
    } catch {
      // There may be no model yet, or one that fails: searches say so, and the next try finds what was installed meanwhile.
    }
    await library.clock.sleep(REST_MS, signal)
  }
}
