import { setFloor, takeSlot } from '../../src/crawl/hosts/host-clock.ts'
import type { Ledger } from '../../src/crawl/ledger.ts'

/** Sets the interval of a host, without a slow start. */
export async function setPause(
  ledger: Pick<Ledger, 'changeClock'>,
  host: string,
  ms: number,
  now: number,
): Promise<void> {
  await ledger.changeClock(host, now, (clock) => setFloor(clock, ms, 0, now))
}

/** Reserves the next slot of a host and returns its time. */
export async function reserveSlot(ledger: Pick<Ledger, 'changeClock'>, host: string, now: number): Promise<number> {
  let moment = now
  await ledger.changeClock(host, now, (known) => {
    const { slot, clock } = takeSlot(known, now)
    moment = slot
    return clock
  })
  return moment
}
