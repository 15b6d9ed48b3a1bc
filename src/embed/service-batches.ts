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
    // Includes the comma after the text.
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
  maxConcurrent: number,
  signal: AbortSignal | undefined,
  work: (batch: T, signal: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const failed = new AbortController()
  const combinedSignal = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal])
  const results: R[] = []
  const queue = batches.entries()
  const runBatches = async (): Promise<void> => {
    for (const [index, batch] of queue) {
      try {
        results[index] = await work(batch, combinedSignal)
      } catch (error) {
        failed.abort(error)
      }
      combinedSignal.throwIfAborted()
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: Math.min(maxConcurrent, batches.length) }, runBatches))
  // All rejections have the same reason: the first failure, or the abort by the caller.
  for (const end of ended) if (end.status === 'rejected') throw end.reason
  return results
}
