import { PharosError } from '../../core/errors.ts'
import type { CrawlEvent } from '../../crawl/events.ts'
import type { Library } from '../library.ts'
import type { Source } from '../source.ts'
import { type EmbedInput, embedLibrary } from './embed-library.ts'

/** Embeds the pages of a crawl while it runs. */
export interface ArrivalEmbedding {
  /** Told of what happens in the crawl. */
  note(event: CrawlEvent): void
  /** Ends it. What has no vector yet is left to a later run. Never rejects. */
  stop(): Promise<void>
}

/** How often it looks whether pages have arrived and the crawl leaves time for them. */
const LOOK_MS = 250
/** Chunks that the built-in model embeds at once beside a crawl: as many as one thread takes. */
const FEW = 8
/** Above this share of time at work, a process has none to spare. */
const BUSY = 0.5

/**
 * Starts to embed what a crawl of a source brings, in the time the crawl waits for its hosts: while it keeps this process busy, embedding
 * rests, and the right to embed is given back. Undefined where what is read is not embedded by itself.
 */
export function embedArrivals(library: Library, source: Source): ArrivalEmbedding | undefined {
  if (library.embedsNew !== true || library.vectors === undefined || library.openEmbedder === undefined)
    return undefined
  const stop = new AbortController()
  const { signal } = stop
  let hasNews = false
  const isBusy = (): boolean => (library.load?.() ?? 0) > BUSY
  const work = async (): Promise<void> => {
    for (;;) {
      await library.clock.sleep(LOOK_MS, signal)
      if (!hasNews || isBusy()) continue
      hasNews = false
      for await (const _ of embedLibrary(library, { ...besideCrawl(library), sourceIds: [source.id], signal })) {
        // Others may go on with the rest meanwhile.
        if (isBusy()) {
          hasNews = true
          break
        }
      }
    }
  }
  // A model that fails now is tried again after the crawl, by those who tell what is wrong with it.
  const working = work().catch(() => undefined)
  return {
    note(event) {
      if (event.type === 'settled' && event.chunks > 0) hasNews = true
    },
    async stop() {
      stop.abort(new PharosError('INTERRUPTED'))
      await working
    },
  }
}

/**
 * Embeds some chunks of a source that has no vector yet, so that servers and workers go on with it: they leave sources alone that were
 * never begun. Rejects as {@link embedLibrary} does.
 */
export async function beginEmbedding(library: Library, source: Source, signal?: AbortSignal): Promise<void> {
  if (library.embedsNew !== true || library.vectors === undefined || library.openEmbedder === undefined) return
  const input = { ...besideCrawl(library), sourceIds: [source.id], ...(signal === undefined ? {} : { signal }) }
  let seen = 0
  for await (const { embedded, refused } of embedLibrary(library, input)) {
    // The first count comes before anything is embedded; after it, a run that waits for another process is not waited for.
    if (embedded + refused > 0 || seen++ > 0) return
  }
}

/** A service is asked as ever: it has processors of its own. */
function besideCrawl({ wantsVectors = false }: Library): Pick<EmbedInput, 'batch'> {
  return wantsVectors ? {} : { batch: FEW }
}
