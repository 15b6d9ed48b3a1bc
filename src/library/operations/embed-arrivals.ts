import { PharosError } from '../../core/errors.ts'
import type { CrawlEvent } from '../../crawl/events.ts'
import type { Library } from '../library.ts'
import type { Source } from '../source.ts'
import { type EmbedInput, embedLibrary } from './embed-library.ts'

/** Embeds the pages of a crawl while it runs. */
export interface ArrivalEmbedding {
  /** Receives the events of the crawl. */
  note(event: CrawlEvent): void
  /** Stops embedding; a later run does the rest. Never rejects. */
  stop(): Promise<void>
}

/** Poll interval for new pages and for idle time of the crawl. */
const LOOK_MS = 250
/** Batch size of the built-in model beside a crawl: the work of one thread. */
const FEW = 8
/** Above this load, the process counts as busy. */
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
        // Releases the lease, so that another process can continue meanwhile.
        if (isBusy()) {
          hasNews = true
          break
        }
      }
    }
  }
  // A failure is not reported here: the run after the crawl tries again and reports it.
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
    // The first progress comes before any embedding. A second one without vectors means that another process has the lease.
    if (embedded + refused > 0 || seen++ > 0) return
  }
}

/** A service keeps its own batch size: it has processors of its own. */
function besideCrawl({ wantsVectors = false }: Library): Pick<EmbedInput, 'batch'> {
  return wantsVectors ? {} : { batch: FEW }
}
