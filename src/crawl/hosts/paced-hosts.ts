import type { CrawlEvent, HostProgress } from '../events.ts'
import type { Ledger } from '../ledger.ts'
import type { Reason } from '../ledger-reasons.ts'
import type { Clock } from '../ports.ts'
import type { CrawlLimits } from '../run.ts'
import { endSlowdown, type HostClock, MAX_INTERVAL_MS, nextRequestAt, openClock, setFloor } from './host-clock.ts'
import { HostStats } from './host-stats.ts'
import { readStoredCrawlDelay } from './stored-robots.ts'

/** A host that asks for a longer wait than this gets no more requests in this crawl. */
export const MAX_RETRY_AFTER_MS = 600_000
/** Random spread of a back-off, as a share up or down. */
export const BACK_OFF_JITTER = 0.1
/** Maximum number of hosts in a progress report. */
const MAX_REPORTED_HOSTS = 100

/** Options of {@link PacedHosts}. */
export interface PacedHostsOptions {
  readonly ledger: Pick<Ledger, 'readClock' | 'readClockFor' | 'changeClock' | 'readRobots'>
  readonly clock: Clock
  readonly limits: Pick<CrawlLimits, 'intervalMs' | 'loopbackIntervalMs' | 'startIntervalMs' | 'jitterMs' | 'holdsMs'>
  readonly tell?: (event: Extract<CrawlEvent, { type: 'held' | 'parked' | 'paced' }>) => void
}

/** The hosts of a crawl: their clocks, which the ledger shares with other processes, statistics of this process, and which are parked. */
export class PacedHosts {
  readonly #options: PacedHostsOptions
  readonly #hostStats = new Map<string, HostStats>()
  /** Parked hosts with the reason. */
  readonly #parked = new Map<string, string>()

  constructor(options: PacedHostsOptions) {
    this.#options = options
  }

  /** Ends slow-downs caused by failures, so that the next crawl measures the host itself. Back-offs stay. */
  async endSlowdowns(): Promise<void> {
    for (const stats of this.#hostStats.values()) {
      const { slowdown } = stats
      if (slowdown === null) continue
      stats.slowdown = null
      await this.change(stats, (known) => endSlowdown(known, this.#options.clock.now(), slowdown))
    }
  }

  /** Sets the crawl delay that the robots.txt of an origin asks for, if any. A host gets the longest delay of its origins. */
  readonly setDelay = async (origin: string, delayMs: number | null): Promise<void> => {
    const { host } = new URL(origin)
    const stats = this.statsOf(host)
    const granted = Math.min(delayMs ?? 0, MAX_INTERVAL_MS)
    if (stats.delays.get(origin) === granted) return
    stats.delays.set(origin, granted)
    await this.#setFloor(stats, origin)
    if (delayMs !== null && delayMs > MAX_INTERVAL_MS)
      this.#options.tell?.({ type: 'paced', host, intervalMs: granted, askedMs: delayMs })
  }

  /** End of the back-off of a host; it may be in the past. */
  heldUntil(host: string): number {
    return this.#hostStats.get(host)?.clock.heldUntil ?? 0
  }

  /** Parked hosts with the reason. */
  get parked(): ReadonlyMap<string, string> {
    return this.#parked
  }

  /** Sends no more requests to a host in this crawl. */
  park(host: string, reason: Reason, detail: string): void {
    if (this.#parked.has(host)) return
    this.#parked.set(host, detail)
    this.#options.tell?.({ type: 'parked', host, reason, detail })
  }

  /** Checks a host in back-off, and parks it if it asks for a longer wait than allowed. Returns whether the host is parked. */
  async parkIfHeld(host: string): Promise<boolean> {
    const { ledger, clock, limits, tell } = this.#options
    const now = clock.now()
    const stats = this.statsOf(host)
    stats.clock = await ledger.readClock(host, now)
    const { heldUntil, strikes } = stats.clock
    // The crawl waits for a back-off that Pharos chose because of failures, even if it is longer.
    const chosenMs = backOffMsOf(limits.holdsMs, strikes) * (1 + BACK_OFF_JITTER)
    if (heldUntil - now > Math.max(MAX_RETRY_AFTER_MS, chosenMs)) {
      const until = new Date(heldUntil).toISOString().replace(/\.\d+/, '')
      this.park(host, 'rate-limited', `it asked to wait until ${until}`)
    } else if (heldUntil > now && stats.reportedUntil !== heldUntil) {
      stats.reportedUntil = heldUntil
      tell?.({ type: 'held', host, untilMs: heldUntil, reason: null, strikes })
    }
    return this.#parked.has(host)
  }

  /** Progress of each host; only the busiest if there are many. */
  progress(): HostProgress[] {
    const now = this.#options.clock.now()
    const allStats = [...this.#hostStats.values()]
    const busiest = allStats.length > MAX_REPORTED_HOSTS ? allStats.sort((a, b) => b.requests - a.requests) : allStats
    return busiest.slice(0, MAX_REPORTED_HOSTS).map(({ host, requests, clock, recent, latency }) => {
      const isHeld = clock.heldUntil > now
      return {
        host,
        requests,
        rpm: recent.count(now),
        limitRpm: clock.intervalMs > 0 ? 60_000 / clock.intervalMs : null,
        intervalMs: clock.intervalMs,
        backoffUntil: isHeld ? clock.heldUntil : null,
        backoffMs: isHeld ? clock.heldUntil - now : 0,
        latencyMs: latency,
      }
    })
  }

  /** The clock of a host; undefined if a lease is given and another process holds the host now. */
  read(host: string, lease: string | undefined): Promise<HostClock | undefined> {
    const { ledger, clock } = this.#options
    if (lease === undefined || ledger.readClockFor === undefined) return ledger.readClock(host, clock.now())
    return ledger.readClockFor({ host, lease }, clock.now())
  }

  /** Opens the clock of a host, once. */
  async open(host: string): Promise<void> {
    const stats = this.statsOf(host)
    const { floorMs, startMs } = this.#intervalsOf(stats)
    stats.opening ??= this.change(stats, (known) => openClock(known, floorMs, startMs, this.#options.clock.now())).then(
      () => {
        // If an earlier run left the host slowed down, the first success ends that. While other processes use the host, the interval belongs
        // to them too.
        const toMs = stats.clock.intervalMs
        const fromMs = Math.max(floorMs, startMs)
        const isIdle = this.#options.clock.now() > nextRequestAt(stats.clock) + toMs
        if (isIdle && toMs > fromMs) stats.slowdown = { fromMs, toMs }
      },
    )
    await stats.opening
  }

  /**
   * Sets the minimum interval of a host from an origin. Before shortening it, reads the stored robots.txt of the other origin, which
   * another process may have fetched.
   */
  async #setFloor(stats: HostStats, origin: string): Promise<void> {
    const { clock, ledger } = this.#options
    const { floorMs, startMs } = this.#intervalsOf(stats)
    let isShorter = false
    await this.change(stats, (known) => {
      isShorter = known.floorMs > floorMs
      return isShorter ? known : setFloor(known, floorMs, startMs, clock.now())
    })
    if (!isShorter) return
    const other = otherOriginOf(origin)
    const stored = stats.delays.has(other) ? undefined : await ledger.readRobots(other)
    const delayMs = Math.min(readStoredCrawlDelay(stored, clock.now()), MAX_INTERVAL_MS)
    await this.change(stats, (known) => setFloor(known, Math.max(floorMs, delayMs), startMs, clock.now()))
  }

  /** The minimum interval of a host as known to this process, and its initial interval. */
  #intervalsOf({ host, delays }: HostStats): { readonly floorMs: number; readonly startMs: number } {
    const { intervalMs, loopbackIntervalMs, startIntervalMs } = this.#options.limits
    const isLocal = isLoopback(host)
    const minMs = isLocal ? loopbackIntervalMs : intervalMs
    return { floorMs: Math.max(minMs, ...delays.values()), startMs: isLocal ? minMs : startIntervalMs }
  }

  /** Changes the clock of a host in the ledger. */
  async change(stats: HostStats, change: (clock: HostClock) => HostClock): Promise<void> {
    const { ledger, clock } = this.#options
    stats.clock = await ledger.changeClock(stats.host, clock.now(), change)
  }

  statsOf(host: string): HostStats {
    const known = this.#hostStats.get(host)
    if (known !== undefined) return known
    const stats = new HostStats(host)
    this.#hostStats.set(host, stats)
    return stats
  }
}

/** Duration of a back-off, by the number of consecutive back-offs. */
export function backOffMsOf(holdsMs: readonly number[], strikes: number): number {
  return holdsMs[Math.min(strikes, holdsMs.length) - 1] ?? 0
}

/** The origin with the other scheme on the same host. */
function otherOriginOf(origin: string): string {
  return origin.startsWith('https:') ? origin.replace('https:', 'http:') : origin.replace('http:', 'https:')
}

/** Whether a host name refers to this machine. */
function isLoopback(host: string): boolean {
  return /^(?:localhost|[\w.-]+\.localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/.test(host)
}
