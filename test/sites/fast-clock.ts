import { isPostgres } from '../../src/core/url/postgres-address.ts'
import type { Clock } from '../../src/crawl/ports.ts'
import type { OpenLibrary } from '../../src/open-library.ts'

/** Speed-up by kind of store. A database server answers in real time, which is long on a fast clock, so its factor is smaller. */
const SPEED_UP = { file: 25, server: 5 }

/**
 * A library with a faster clock, so that tests do not wait for its pauses. Processes that share a library must agree on the start of the
 * speed-up, because the clock of a later process would otherwise be behind.
 */
export function withFastClock(
  library: OpenLibrary,
  factor: number = SPEED_UP[isPostgres(library.store.location) ? 'server' : 'file'],
  startedAt: number = library.clock.now(),
): OpenLibrary {
  const clock: Clock = {
    now: () => Math.round(startedAt + (library.clock.now() - startedAt) * factor),
    sleep: (ms, signal) => library.clock.sleep(ms / factor, signal),
  }
  return { ...library, clock }
}
