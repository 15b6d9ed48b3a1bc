import { correctClock, type HostClock, NEW_HOST_CLOCK } from '../../src/crawl/hosts/host-clock.ts'
import type { RobotsRecord } from '../../src/crawl/ledger.ts'

/** Clocks and robots.txt files of hosts. They are shared by all sources, so that all requests to a host obey one clock. */
export class Hosts {
  readonly #clocks = new Map<string, HostClock>()
  readonly #robots = new Map<string, RobotsRecord>()

  readClock(host: string, now: number): HostClock {
    return correctClock(this.#clocks.get(host) ?? NEW_HOST_CLOCK, now)
  }

  writeClock(host: string, clock: HostClock): void {
    this.#clocks.set(host, { ...clock })
  }

  readRobots(origin: string): RobotsRecord | undefined {
    const record = this.#robots.get(origin)
    return record && { ...record }
  }

  writeRobots(record: RobotsRecord): void {
    this.#robots.set(record.origin, { ...record })
  }
}
