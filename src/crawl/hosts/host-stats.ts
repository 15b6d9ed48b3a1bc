import { type HostClock, NEW_HOST_CLOCK, type Slowdown } from './host-clock.ts'

/** Different addresses that must fail in a row before a back-off, for a host that has not responded with a page yet. */
export const BACK_OFF_FAILURE_COUNT = 8
/** Number of consecutive quick responses after which the interval shrinks by one step. */
export const QUICK_RESPONSE_COUNT = 10
/** Number of recent good pages to request again as a probe before a back-off. */
const MAX_GOOD_URLS = 2
/**
 * Factor on the interval when a second address asks to slow down: smaller with Retry-After, because the host gets a back-off of that length
 * anyway. The interval grows at most once a minute, and shrinks step by step.
 */
const RATE_LIMIT_FACTOR = 4
const RETRY_AFTER_FACTOR = 2
const RATE_LIMIT_COOLDOWN_MS = 60_000
/** A host is slow if its average latency exceeds its best one by both this factor and this time. */
const SLOW_FACTOR = 3
const SLOW_MARGIN_MS = 500
/** Number of responses after which the average latency can become the best one. */
const MIN_LATENCY_SAMPLES = 5
/** Weight of each new response in the average latency. */
const LATENCY_WEIGHT = 0.2

/** Statistics of one host in this process. */
export class HostStats {
  readonly host: string
  /** The host clock as last read. */
  clock: HostClock = NEW_HOST_CLOCK
  opening: Promise<void> | undefined
  /** Granted crawl delays by origin. */
  readonly delays: Map<string, number> = new Map()
  requests = 0
  readonly recent: MinuteCount = new MinuteCount()
  lastRequestAt: number = Number.NEGATIVE_INFINITY
  /** End of the last reported back-off. */
  reportedUntil = 0
  /** Consecutive quick responses. */
  quickCount = 0
  /** Different addresses that failed since the last success, at most {@link BACK_OFF_FAILURE_COUNT}. */
  readonly failing: Set<string> = new Set()
  /** The last pages received, at most {@link MAX_GOOD_URLS}. */
  readonly goodUrls: Set<string> = new Set()
  probing: Promise<number | 'down' | undefined> | undefined
  /** Number of successful responses. */
  successes = 0
  /** The first address that recently asked to slow down. */
  #firstRefusing: string | undefined
  /** Number of successes when an address last asked to slow down. */
  #successesBefore = 0
  /** When the interval last grew because addresses asked to slow down. */
  #refusedAt = Number.NEGATIVE_INFINITY
  /** The increase of the interval by failures, until a success ends it. */
  slowdown: Slowdown | null = null
  /** Whether the interval grew only because of slow responses. */
  isOnlySlow = false
  /** Average latency. */
  latency: number | null = null
  #bestLatency = Number.POSITIVE_INFINITY
  #latencySamples = 0

  constructor(host: string) {
    this.host = host
  }

  noteLatency(ms: number | undefined): void {
    if (ms === undefined) return
    this.latency = this.latency === null ? ms : this.latency * (1 - LATENCY_WEIGHT) + ms * LATENCY_WEIGHT
    if (++this.#latencySamples >= MIN_LATENCY_SAMPLES) this.#bestLatency = Math.min(this.#bestLatency, this.latency)
  }

  /** Records a failed address. Returns whether the address had not failed since the last success. */
  noteFailure(address: string): boolean {
    const before = this.failing.size
    if (before < BACK_OFF_FAILURE_COUNT) this.failing.add(address)
    return this.failing.size > before
  }

  /** Records a received page. */
  noteGood(url: string): void {
    this.goodUrls.delete(url)
    this.goodUrls.add(url)
    const [oldest] = this.goodUrls
    if (this.goodUrls.size > MAX_GOOD_URLS && oldest !== undefined) this.goodUrls.delete(oldest)
  }

  /** Records a success. Enough successes show that the pace was not too fast. */
  noteSuccess(): void {
    this.failing.clear()
    if (++this.successes - this.#successesBefore >= QUICK_RESPONSE_COUNT) this.#firstRefusing = undefined
  }

  /**
   * Records an address that asks to slow down. Returns the factor on the interval: a second address shows that the pace is the cause, not
   * the page.
   */
  noteRefusal(address: string, hasRetryAfter: boolean, now: number): number {
    this.#successesBefore = this.successes
    this.#firstRefusing ??= address
    if (this.#firstRefusing === address || now - this.#refusedAt < RATE_LIMIT_COOLDOWN_MS) return 1
    this.#refusedAt = now
    this.slowdown = null
    return hasRetryAfter ? RETRY_AFTER_FACTOR : RATE_LIMIT_FACTOR
  }

  isSlow(): boolean {
    const best = this.#bestLatency
    return this.latency !== null && this.latency > Math.max(best * SLOW_FACTOR, best + SLOW_MARGIN_MS)
  }
}

/** Counts events of the last minute, by the second. */
class MinuteCount {
  readonly #counts = new Array<number>(60).fill(0)
  #second = 0

  add(now: number): void {
    this.#advance(now)
    const index = this.#second % 60
    this.#counts[index] = (this.#counts[index] ?? 0) + 1
  }

  count(now: number): number {
    this.#advance(now)
    return this.#counts.reduce((sum, count) => sum + count, 0)
  }

  #advance(now: number): void {
    const second = Math.floor(now / 1000)
    for (let at = Math.max(this.#second + 1, second - 59); at <= second; at++) this.#counts[at % 60] = 0
    this.#second = Math.max(this.#second, second)
  }
}
