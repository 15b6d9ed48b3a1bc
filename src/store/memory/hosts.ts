import type { RobotsRecord } from '../../crawl/ledger.ts'

/** The clocks of hosts and their robots.txt files. They belong to no source: whoever asks a host waits for one clock. */
export class Hosts {
  readonly #clocks = new Map<string, HostClock>()
  readonly #robots = new Map<string, RobotsRecord>()

  /** The earliest moment at which a host may be asked, as far as is known; it may be past. */
  nextAt(host: string): number {
    return this.#clockOf(host).nextAt
  }

  /** Takes the next free slot of a host and returns its moment. */
  reserveSlot(host: string, now: number): number {
    const { nextAt, intervalMs } = this.#clockOf(host)
    const slot = Math.max(now, nextAt)
    this.#clocks.set(host, { nextAt: slot + intervalMs, intervalMs })
    return slot
  }

  /** Sets the pause after a slot; one that is reserved already keeps the pause it had. */
  setInterval(host: string, intervalMs: number): void {
    this.#clocks.set(host, { ...this.#clockOf(host), intervalMs })
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

interface HostClock {
  /** When the next slot begins. */
  readonly nextAt: number
  readonly intervalMs: number
}
