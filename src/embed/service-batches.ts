/** Limits of one request to a service. */
export interface BatchLimits {
  readonly count: number
  /** Size of the texts as JSON. */
  readonly bytes: number
}

/** Splits texts into batches, in order. A text that exceeds the limit by itself is sent alone. */
export function splitBatches(texts: readonly string[], limits: BatchLimits): string[][] {
  const batches: string[][] = []
  let bytes = 0
  for (const text of texts) {
    // Includes the comma after it.
    const size = Buffer.byteLength(JSON.stringify(text)) + 1
    const batch = batches.at(-1)
    if (batch === undefined || batch.length >= limits.count || bytes + size > limits.bytes) {
      batches.push([text])
      bytes = size
    } else {
      batch.push(text)
      bytes += size
    }
  }
  return batches
}

/**
 * Processes a few batches at a time and returns their results in order. When one fails, the others are aborted, and the function waits
 * until all have ended.
 */
export async function mapConcurrently<T, R>(
  batches: readonly T[],
  most: number,
  signal: AbortSignal | undefined,
  work: (batch: T, signal: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const failed = new AbortController()
  const both = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal])
  const made: R[] = []
  const queue = batches.entries()
  const goThrough = async (): Promise<void> => {
    for (const [index, batch] of queue) {
      try {
        made[index] = await work(batch, both)
      } catch (error) {
        failed.abort(error)
      }
      both.throwIfAborted()
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: Math.min(most, batches.length) }, goThrough))
  // All of them reject with the reason of the first.
  for (const one of ended) if (one.status === 'rejected') throw one.reason
  return made
}
