import { setTimeout } from 'node:timers/promises'
import { DownloadError } from '../library/download.ts'

/** So often something is tried that may be had later. */
const MAX_TRIES = 4
/** What is waited at first, in milliseconds; each time twice as long. */
const FIRST_WAIT = 500
/** Nobody waits longer: whoever asked is told. */
const LONGEST_WAIT = 30_000

/** Downloads something whole, once more where the server was busy or the connection broke. */
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
