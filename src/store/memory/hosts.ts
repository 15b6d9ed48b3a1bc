import { type HostClock, lowerClock, mendClock } from '../../crawl/host-clock.ts'
import type { RobotsRecord } from '../../crawl/ledger.ts'

/** The clocks of hosts and their robots.txt files. They belong to no source: whoever asks a host waits for one clock. */
export class Hosts {
  readonly #clocks = new Map<string, HostClock>()
  readonly #robots = new Map<string, RobotsRecord>()

  /** The earliest moment at which a host may be asked, as far as is known; it may be past. */
  nextAt(host: string, now: number): number {
    return mendClock(this.#clockOf(host), now).nextAt
  }

  /** Takes the next free slot of a host and returns its moment. */
  reserveSlot(host: string, now: number): number {
    const { nextAt, intervalMs } = mendClock(this.#clockOf(host), now)
    const slot = Math.max(now, nextAt)
    this.#clocks.set(host, { nextAt: slot + intervalMs, intervalMs })
    return slot
  }

  /** Sets the pause after a slot. One that is reserved already keeps the pause it had, unless the new one is shorter. */
  setInterval(host: string, intervalMs: number, now: number): void {
    this.#clocks.set(host, lowerClock(this.#clockOf(host), intervalMs, now))
  }

  readRobots(origin: string): RobotsRecord | undefined {
    const record = this.#robots.get(origin)
    return record && { ...record }
  }

  writeRobots(record: RobotsRecord): void {
    this.#robots.set(record.origin, { ...record })
  }

  #clockOf(host: string): HostClock {
    return this.#clocks.get(host) ?? { nextAt: 0, intervalMs: 0 }
  }
}
