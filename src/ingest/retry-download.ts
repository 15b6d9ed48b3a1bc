import { setTimeout } from 'node:timers/promises'
import { DownloadError } from '../library/ports/download.ts'

/** Maximum number of attempts of a download that may succeed later. */
const MAX_TRIES = 4
/** First back-off in milliseconds; it doubles with each attempt. */
const FIRST_RETRY_DELAY_MS = 500
/** Longest wait. If the server asks for a longer one, the caller gets the error. */
const MAX_RETRY_DELAY_MS = 30_000

/** Runs a download step, and runs it again when the server is busy or the connection breaks. */
export async function retryDownload<T>(step: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await step()
    } catch (error) {
      const delayMs = retryDelayAfter(error, tries)
      if (delayMs === undefined) throw error
      await setTimeout(delayMs, undefined, signal === undefined ? {} : { signal })
    }
  }
}

function retryDelayAfter(error: unknown, tries: number): number | undefined {
  if (!(error instanceof DownloadError) || error.problem !== 'busy' || tries >= MAX_TRIES) return undefined
  const delayMs = error.retryAfterMs ?? FIRST_RETRY_DELAY_MS * 2 ** (tries - 1)
  return delayMs > MAX_RETRY_DELAY_MS ? undefined : delayMs
}
