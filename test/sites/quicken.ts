import { isPostgres } from '../../src/core/url/postgres-address.ts'
import type { Clock } from '../../src/crawl/ports.ts'
import type { OpenLibrary } from '../../src/open-library.ts'

/** A server is asked in real time, which is long where time runs fast. */
const FACTOR = { file: 25, server: 5 }

/**
 * A library whose time runs faster, so that nobody has to wait for its pauses. Processes that use one library agree on the moment
 * from which it does: for one that began later it would else be earlier.
 */
export function quicken(
  library: OpenLibrary,
  factor: number = FACTOR[isPostgres(library.store.location) ? 'server' : 'file'],
  began: number = library.clock.now(),
): OpenLibrary {
  const clock: Clock = {
    now: () => Math.round(began + (library.clock.now() - began) * factor),
    sleep: (ms, signal) => library.clock.sleep(ms / factor, signal),
  }
  return { ...library, clock }
}
