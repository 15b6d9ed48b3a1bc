import { setTimeout } from 'node:timers/promises'
import { DownloadError } from '../library/download.ts'

/** Maximum number of attempts of a download that may succeed later. */
const MAX_TRIES = 4
/** First back-off in milliseconds; it doubles with each attempt. */
const FIRST_WAIT = 500
/** Longest wait; beyond it the caller gets the error. */
const LONGEST_WAIT = 30_000

/** Downloads completely, with retries when the server is busy or the connection breaks. */
export async function retryDownload<T>(step: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await step()
    } catch (error) {
      const wait = waitAfter(error, tries)
      if (wait === undefined) throw error
      await setTimeout(wait, undefined, signal === undefined ? {} : { signal })
    }
  }
}

function waitAfter(error: unknown, tries: number): number | undefined {
  if (!(error instanceof DownloadError) || error.problem !== 'busy' || tries >= MAX_TRIES) return undefined
  const wait = error.retryAfterMs ?? FIRST_WAIT * 2 ** (tries - 1)
  return wait > LONGEST_WAIT ? undefined : wait
}
