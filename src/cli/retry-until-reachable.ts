import { PharosError } from '../core/errors.ts'
import { systemClock } from '../fetch/clock.ts'
import type { Log } from '../http/ports.ts'

/** Delay between attempts. */
const RETRY_DELAY_MS = 2000

/** Retries until the library is reachable, and logs the first failure. */
export async function retryUntilReachable<T>(log: Log, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      const result = await work()
      if (tries > 1) log.info('the library can be reached again')
      return result
    } catch (error) {
      if (!(error instanceof PharosError) || error.code !== 'LIBRARY_UNREACHABLE') throw error
      if (tries === 1) log.warn(`${error.message}; retrying every ${RETRY_DELAY_MS / 1000} s`)
    }
    await systemClock.sleep(RETRY_DELAY_MS, signal)
  }
}
