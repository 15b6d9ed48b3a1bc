import { PharosError } from '../../core/errors.ts'
import type { CrawlEvent } from '../../crawl/events.ts'
import type { Library } from '../library.ts'
import type { Source } from '../source.ts'
import { type EmbedInput, embedLibrary } from './embed-library.ts'

/** Embeds the pages of a crawl while it runs. */
export interface CrawlEmbedding {
  /** Receives the events of the crawl. */
  note(event: CrawlEvent): void
  /** Stops embedding; a later run does the rest. Never rejects. */
  stop(): Promise<void>
}

/** Poll interval for new pages and for idle time of the crawl. */
const POLL_INTERVAL_MS = 250
/** Batch size of the built-in model beside a crawl: the work of one thread. */
const SMALL_BATCH = 8
/** Above this load, the process counts as busy. */
const BUSY_LOAD = 0.5

/**
 * Starts to embed new pages of a crawl while the crawl waits for its hosts. While this process is busy, embedding pauses and the lease is
 * released. Returns undefined if new pages are not embedded automatically.
 */
export function embedDuringCrawl(library: Library, source: Source): CrawlEmbedding | undefined {
  if (library.embedsNew !== true || library.vectors === undefined || library.openEmbedder === undefined)
    return undefined
  const stop = new AbortController()
  const { signal } = stop
  let hasNewPages = false
  const isBusy = (): boolean => (library.load?.() ?? 0) > BUSY_LOAD
  const work = async (): Promise<void> => {
    for (;;) {
      await library.clock.sleep(POLL_INTERVAL_MS, signal)
      if (!hasNewPages || isBusy()) continue
      hasNewPages = false
      for await (const _ of embedLibrary(library, { ...limitBatch(library), sourceIds: [source.id], signal })) {
        // Releases the lease, so that another process can continue meanwhile.
        if (isBusy()) {
          hasNewPages = true
          break
        }
      }
    }
  }
  // A failure is not reported here: the run after the crawl tries again and reports it.
  const working = work().catch(() => undefined)
  return {
    note(event) {
      if (event.type === 'settled' && event.chunks > 0) hasNewPages = true
    },
    async stop() {
      stop.abort(new PharosError('INTERRUPTED'))
      await working
    },
  }
}

/**
 * Embeds some chunks of a source that has no vector yet, because servers and workers only continue sources that have one. Rejects as {@link
 * embedLibrary} does.
 */
export async function beginEmbedding(library: Library, source: Source, signal?: AbortSignal): Promise<void> {
  if (library.embedsNew !== true || library.vectors === undefined || library.openEmbedder === undefined) return
  const input = { ...limitBatch(library), sourceIds: [source.id], ...(signal === undefined ? {} : { signal }) }
  let progressCount = 0
  for await (const { embedded, refused } of embedLibrary(library, input)) {
    // The first progress comes before any embedding. A second one without vectors means that another process has the lease.
    if (embedded + refused > 0 || progressCount++ > 0) return
  }
}

/** Limits the batch size of the built-in model. A service has processors of its own and keeps its batch size. */
function limitBatch({ hasEmbeddingService = false }: Pick<Library, 'hasEmbeddingService'>): Pick<EmbedInput, 'batch'> {
  return hasEmbeddingService ? {} : { batch: SMALL_BATCH }
}
