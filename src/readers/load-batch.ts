import { PharosError } from '../core/errors.ts'
import type { ReaderDocument, ReadFailure } from './document.ts'

/** How a batch of URLs is read. */
export interface BatchOptions {
  /** URLs read at the same time. */
  readonly concurrency: number
  /** Whether the first failure aborts the other reads, which then have neither document nor failure. */
  readonly failOnError: boolean
  readonly signal: AbortSignal
}

/** Result of a batch. */
export interface BatchResult {
  /** One per URL in order; null when it could not be read. */
  readonly documents: (ReaderDocument | null)[]
  /** Failures in the order of the URLs. */
  readonly failures: readonly ReadFailure[]
}

/** Reads URLs with limited concurrency. A URL that is given twice is read twice. */
export async function loadBatch(
  urls: readonly string[],
  { concurrency, failOnError, signal }: BatchOptions,
  read: (url: string, signal: AbortSignal) => Promise<ReaderDocument>,
): Promise<BatchResult> {
  const stopped = new AbortController()
  const readSignal = AbortSignal.any([signal, stopped.signal])
  const slots = new Array<ReaderDocument | PharosError | null>(urls.length).fill(null)
  const waiting = urls.entries()
  const work = async (): Promise<void> => {
    // All workers share one iterator, so that each URL is taken once.
    for (const [index, url] of waiting) {
      signal.throwIfAborted()
      if (stopped.signal.aborted) return
      try {
        slots[index] = await read(url, readSignal)
      } catch (error) {
        signal.throwIfAborted()
        if (stopped.signal.aborted) return
        if (!(error instanceof PharosError)) throw error
        slots[index] = error
        if (failOnError) stopped.abort(error)
      }
    }
  }
  const workers = Array.from({ length: Math.min(concurrency, urls.length) }, work)
  try {
    await Promise.all(workers)
  } catch (error) {
    stopped.abort(error)
    await Promise.allSettled(workers)
    throw error
  }
  const failures = urls.flatMap((url, index) => {
    const slot = slots[index]
    return slot instanceof PharosError ? [{ url, error: slot }] : []
  })
  return { documents: slots.map((slot) => (slot instanceof PharosError ? null : slot)), failures }
}
