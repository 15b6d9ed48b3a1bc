import { endBackOff } from '../../crawl/hosts/host-clock.ts'
import type { Library } from '../library.ts'
import type { Source } from '../source.ts'

/** Ends the back-off of all hosts that a source waits for, so that crawls request them again now. Returns these hosts. */
export async function endPauses(
  { store, clock }: Pick<Library, 'clock' | 'store'>,
  { id }: Pick<Source, 'id'>,
): Promise<readonly string[]> {
  const now = clock.now()
  const hosts = await store.listHeldHosts(id, now, now)
  for (const host of hosts) {
    await store.changeClock(host, now, (held) => endBackOff(held, now))
    await store.clearDelays(id, host)
  }
  return hosts
}
