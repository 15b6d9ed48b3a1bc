import { DURATION_BUCKETS_MS, type DurationHistogram, findDurationBucket } from '../../core/duration-histogram.ts'
import type { CrawlEvent, HostProgress } from '../events.ts'
import type { Ledger, Reason } from '../ledger.ts'
import type { Clock, Fetcher, FetchOutcome, FetchRequest } from '../ports.ts'
import type { CrawlLimits } from '../run.ts'
import {
  type BackOff,
  backOffClock,
  easeClock,
  endSlowdown,
  type HostClock,
  MAX_INTERVAL_MS,
  NEW_HOST_CLOCK,
  nextRequestAt,
  openClock,
  recoverClock,
  retakeSlot,
  type Slowdown,
  setFloor,
  slowClock,
  takeSlot,
} from './host-clock.ts'
import { readStoredCrawlDelay } from './stored-robots.ts'

/** A host that asks for a longer wait than this gets no more requests in this crawl. */
const MAX_RETRY_AFTER_MS = 600_000
/** Random spread of a back-off, as a share up or down. */
const BACK_OFF_JITTER = 0.1
/** Maximum delay of a request within its slot. The jitter, by default at least as long, keeps the interval to the next slot. */
const MAX_SLOT_DELAY_MS = 25
/** Extra delay allowed for a slot that replaces a missed one; doubled each time a replacement is missed too. */
const EXTRA_DELAY_MS = 100
/** Maximum extra delay that is derived from how late a request was. */
const MAX_EXTRA_DELAY_MS = 2000
/** After a delay of at least this length the lease is checked again, because another process may hold the host by then. */
const LEASE_RECHECK_DELAY_MS = 1000
/** Number of consecutive quick responses after which the interval shrinks by one step. */
const QUICK_RESPONSE_COUNT = 10
/** At a long interval, as many quick responses as fit into this time are enough. */
const QUICK_RESPONSE_SPAN_MS = 10_000
/** Factor of each step towards the minimum interval, for a host whose interval grew only because of slow responses. */
const SLOW_HOST_STEP_FACTOR = 0.5
/** Different addresses that must fail in a row before the host is slowed down: fewer failures are attributed to the pages. */
const SLOWDOWN_FAILURE_COUNT = 3
/** Different addresses that must fail in a row before a back-off, for a host that has not responded with a page yet. */
const BACK_OFF_FAILURE_COUNT = 8
/** Factor on the interval for each back-off after failures. The next success restores the interval. */
const BACK_OFF_INTERVAL_FACTOR = 4
/** Number of recent good pages to request again as a probe before a back-off. */
const MAX_GOOD_URLS = 2
/** Maximum interval caused by server errors of a host that responds. */
const MAX_ERROR_INTERVAL_MS = 2000
/**
 * Factor on the interval when a second address asks to slow down: smaller with Retry-After, because the host gets a back-off of that length
 * anyway. The interval grows at most once a minute, and shrinks step by step.
 */
const RATE_LIMIT_FACTOR = 4
const RETRY_AFTER_FACTOR = 2
const RATE_LIMIT_COOLDOWN_MS = 60_000
/** Stands for all lists of a site, such as sitemaps, in `failing`: servers often refuse every list that they do not have. */
const LISTS = 'lists'
/** Maximum number of hosts in a progress report. */
const MAX_REPORTED_HOSTS = 100
/** A host is slow if its average latency exceeds its best one by both this factor and this time. */
const SLOW_FACTOR = 3
const SLOW_MARGIN_MS = 500
/** Number of responses after which the average latency can become the best one. */
const MIN_LATENCY_SAMPLES = 5
/** Weight of each new response in the average latency. */
const LATENCY_WEIGHT = 0.2

/** Options of a pacer. */
export interface PacerOptions {
  readonly ledger: Pick<Ledger, 'readClock' | 'readClockFor' | 'changeClock' | 'readRobots'>
  readonly clock: Clock
  /** Random number from 0 up to 1, for jitter. */
  readonly random: () => number
  readonly limits: Pick<CrawlLimits, 'intervalMs' | 'loopbackIntervalMs' | 'startIntervalMs' | 'jitterMs' | 'holdsMs'>
  /** Requests an address again to which the host has responded. Without it, consecutive failing addresses are enough for a back-off. */
  readonly probe?: (url: string, permit: SendPermit) => Promise<FetchOutcome>
  /** Cancels the wait for a probe. */
  readonly signal?: AbortSignal
  readonly tell?: (event: Extract<CrawlEvent, { type: 'held' | 'parked' | 'paced' }>) => void
}

/** Permission to send a request to a host in a slot. */
export interface SendPermit {
  readonly host: string
  readonly slot: number
  /** Extra delay allowed beyond the usual one. */
  readonly extraDelayMs: number
  /** Lease of the visit, if the permission is for a visit. */
  readonly lease: string | undefined
  /** When the permission was given. */
  readonly givenAt: number
  /** Time of the last request to the host before the permission was given. */
  readonly previousRequestAt: number
}

/** Result of waiting for a host. `later`: not in this slot. `parked`: not in this crawl. */
export type Turn = SendPermit | 'later' | 'parked'

/** Sends requests with a permission of the pacer. */
export interface PacedFetcher {
  fetch(request: FetchRequest, permit: SendPermit): Promise<FetchOutcome>
}

/** A request that was sent in a slot, or not at all (`isUnsent`). */
export interface SentRequest {
  readonly outcome: FetchOutcome
  readonly sentAt: number
}

/** Outcome for a host that gets no more requests. */
export const HOST_PARKED_OUTCOME: FetchOutcome = {
  type: 'failed',
  status: null,
  reason: 'host-parked',
  detail: 'its host gets no more requests for now',
  isTransient: false,
  retryAfterMs: null,
}

/** Outcome of a request that must be repeated later from the beginning. */
export const POSTPONED_OUTCOME: FetchOutcome = { ...HOST_PARKED_OUTCOME, isTransient: true }

/** Whether no request was sent. */
export function isUnsent(outcome: FetchOutcome): boolean {
  return outcome === HOST_PARKED_OUTCOME || outcome === POSTPONED_OUTCOME
}

/**
 * Controls the request rate of each host: evenly spaced, slow at first, faster while responses are quick, slower when the host struggles,
 * and none during a back-off. The clock of a host is in the ledger, shared by all processes; statistics of the responses are kept here.
 */
export class Pacer {
  readonly #options: PacerOptions
  readonly #hostStats = new Map<string, HostStats>()
  /** Parked hosts with the reason. */
  readonly #parked = new Map<string, string>()
  readonly #latencies = new Array<number>(DURATION_BUCKETS_MS.length + 1).fill(0)
  #latencySumMs = 0

  constructor(options: PacerOptions) {
    this.#options = options
  }

  /** Random jitter for the next slot of a host, in milliseconds. */
  readonly jitter = (): number => {
    const [min, max] = this.#options.limits.jitterMs
    return min + this.#options.random() * (max - min)
  }

  /** Waits for a slot of a host. */
  async takeTurn(host: string, signal?: AbortSignal): Promise<SendPermit | 'parked'> {
    await this.#open(host)
    for (;;) {
      if (await this.parkIfHeld(host)) return 'parked'
      const turn = await this.#takeNext(host, signal)
      if (turn !== 'later') return turn
    }
  }

  /** Waits for the next slot of a host; returns `later` if a back-off or slow-down began meanwhile. */
  async #takeNext(host: string, signal: AbortSignal | undefined): Promise<Turn> {
    const { ledger, clock } = this.#options
    let slot = 0
    await ledger.changeClock(host, clock.now(), (known) => {
      const taken = takeSlot(known, clock.now(), this.jitter())
      slot = taken.slot
      return taken.clock
    })
    const wait = slot - clock.now()
    if (wait > 0) await clock.sleep(wait, signal)
    signal?.throwIfAborted()
    return this.enterSlot(host, slot, signal)
  }

  /**
   * Checks whether a reserved slot may be used now, and waits for the remaining time. With the lease of a visit, also checks whether this
   * process still holds the host.
   */
  async enterSlot(host: string, slot: number, signal?: AbortSignal, lease?: string): Promise<Turn> {
    await this.#open(host)
    const turn = await this.#enter({ host, slot, extraDelayMs: 0, lease }, EXTRA_DELAY_MS, signal)
    if (typeof turn !== 'string') this.#countRequest(this.#statsOf(host))
    return turn
  }

  /**
   * Sends a request in its slot. Opening a connection may take long, or the process may be suspended. A request that misses its slot is
   * sent in another one, with a growing allowance for delay. If the request has to wait longer or the process has lost the host, an
   * `isPatient` request waits for another turn; for any other the outcome is {@link POSTPONED_OUTCOME}.
   */
  async send(
    permit: SendPermit,
    fetcher: Fetcher,
    request: FetchRequest,
    isPatient: boolean = permit.lease === undefined,
  ): Promise<SentRequest> {
    const { clock } = this.#options
    const { signal } = request
    for (let current = permit; ; ) {
      let lateMs: number | undefined
      const isInTime = () => {
        lateMs = this.#isInTime(current) ? undefined : clock.now() - current.slot
        return lateMs === undefined
      }
      const sentAt = clock.now()
      const outcome = await fetcher.fetch({ ...request, isInTime })
      if (lateMs === undefined) return { outcome, sentAt }
      const renewed = await this.#renew(current, lateMs, signal)
      const turn = renewed === 'later' && isPatient ? await this.takeTurn(current.host, signal) : renewed
      if (typeof turn === 'string')
        return { outcome: turn === 'parked' ? HOST_PARKED_OUTCOME : POSTPONED_OUTCOME, sentAt }
      current = turn
    }
  }

  /** Whether the request may be sent now, as far as this process knows. */
  #isInTime({ host, slot, extraDelayMs }: SendPermit): boolean {
    const stats = this.#statsOf(host)
    const now = this.#options.clock.now()
    const { heldUntil, intervalMs, slowedAt } = stats.clock
    if (this.#parked.has(host) || heldUntil > now) return false
    if (intervalMs > 0 && (slot < slowedAt || now - slot > MAX_SLOT_DELAY_MS + extraDelayMs)) return false
    stats.lastRequestAt = now
    return true
  }

  /** Gets a new permission for a request that was not sent. */
  async #renew(permit: SendPermit, lateMs: number, signal?: AbortSignal): Promise<Turn> {
    const { host, extraDelayMs, givenAt, previousRequestAt } = permit
    const stats = this.#statsOf(host)
    if (stats.lastRequestAt === givenAt) stats.lastRequestAt = previousRequestAt
    // The connection is open now. If it closes before the next slot, opening another takes as long again, so the allowance covers that.
    const nextExtraDelayMs = extraDelayMs === 0 ? EXTRA_DELAY_MS : Math.min(lateMs, MAX_EXTRA_DELAY_MS)
    return this.#enter(permit, nextExtraDelayMs, signal)
  }

  async #enter(
    { host, slot, extraDelayMs, lease }: Pick<SendPermit, 'host' | 'slot' | 'extraDelayMs' | 'lease'>,
    nextExtraDelayMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Turn> {
    const { clock } = this.#options
    const stats = this.#statsOf(host)
    let current = { slot, extraDelayMs }
    for (let isClockFresh = false; ; ) {
      const known = isClockFresh ? stats.clock : await this.#read(host, lease)
      // Another process holds the host now, and makes the same request.
      if (known === undefined) return 'later'
      stats.clock = known
      isClockFresh = false
      // Read the clock only after the ledger has responded: this process may have been suspended meanwhile.
      const now = clock.now()
      const { heldUntil, intervalMs, slowedAt } = stats.clock
      if (this.#parked.has(host)) return 'parked'
      if (heldUntil > now) return (await this.parkIfHeld(host)) ? 'parked' : 'later'
      if (intervalMs <= 0) break
      if (current.slot < slowedAt) return 'later'
      // A late timer, or a slot from before the interval grew, must not bring two requests closer together.
      const wait = Math.max(current.slot, stats.lastRequestAt + intervalMs) - now
      if (wait > 0) {
        await clock.sleep(wait, signal)
        continue
      }
      // A late request must not come too close to the next one of another process either, so it takes a replacement slot. Where every timer
      // is late, no slot would ever be met, so a replacement slot allows more delay, and the interval after it grows by the same amount.
      const lateMs = now - current.slot
      if (lateMs <= MAX_SLOT_DELAY_MS + current.extraDelayMs) break
      current = await this.#retake(stats, current, Math.max(nextExtraDelayMs, 2 * current.extraDelayMs))
      // Reading the host clock again would cause another delay, so the lease is checked only after a long delay.
      isClockFresh = lease === undefined || lateMs < LEASE_RECHECK_DELAY_MS
    }
    const previousRequestAt = stats.lastRequestAt
    const givenAt = clock.now()
    stats.lastRequestAt = givenAt
    return { host, ...current, lease, givenAt, previousRequestAt }
  }

  /**
   * Learns from the outcome of a request sent at `sentAt`. One failing address says nothing about its host. Several different ones in a
   * row, or one that fails again without a success between, make the host suspect: then known good pages are requested as probes. If these
   * fail too, the host gets a back-off. If one responds, only 502, 503 and 504 slow the host down. One success ends a back-off. Retry-After
   * applies to the whole host, for exactly that time.
   */
  async noteOutcome(url: string, outcome: FetchOutcome, sentAt: number, isPage = true): Promise<void> {
    const stats = this.#statsOf(new URL(url).host)
    // The timeout of one address says nothing about the latency of the others.
    if (outcome.type !== 'failed' || outcome.reason !== 'timeout') stats.noteLatency(outcome.latencyMs)
    this.#countLatency(outcome.latencyMs)
    if (outcome.type !== 'failed') {
      if (isPage) stats.noteGood(url)
      return this.#noteAnswer(stats, sentAt)
    }
    if (!mayBlameHost(outcome)) return
    const { reason, status } = outcome
    stats.quickCount = 0
    stats.isOnlySlow = false
    const address = isPage ? url : LISTS
    const isNewAddress = stats.noteFailure(address)
    if (isRateLimit(outcome)) return this.#noteRefusal(stats, address, outcome, sentAt, isPage)
    // A host in back-off needs no further decision.
    if (stats.clock.heldUntil > this.#options.clock.now()) return
    const isBusy = status === 502 || status === 503 || status === 504
    const isOverload = isBusy || reason === 'timeout' || reason === 'network'
    const isInTrouble = stats.failing.size >= SLOWDOWN_FAILURE_COUNT
    if (!isInTrouble && (isNewAddress || !isOverload)) return
    const probeResult = await this.#probe(stats)
    if (typeof probeResult === 'number') {
      stats.failing.clear()
      const isSlowed = isBusy && isInTrouble
      return isSlowed ? this.#slow(stats, sentAt, MAX_ERROR_INTERVAL_MS) : this.#noteAnswer(stats, probeResult)
    }
    if (isOverload && (probeResult === 'down' || stats.failing.size >= BACK_OFF_FAILURE_COUNT))
      return this.#hold(stats, outcome, sentAt, { factor: BACK_OFF_INTERVAL_FACTOR, isPage })
    const maxMs = isOverload ? MAX_INTERVAL_MS : MAX_ERROR_INTERVAL_MS
    if (isNewAddress && isInTrouble) await this.#slow(stats, sentAt, maxMs)
  }

  /** Applies the request of a host to slow down. */
  async #noteRefusal(
    stats: HostStats,
    address: string,
    outcome: Failure,
    sentAt: number,
    isPage: boolean,
  ): Promise<void> {
    const now = this.#options.clock.now()
    const factor = stats.noteRefusal(address, outcome.retryAfterMs !== null, now)
    if (outcome.retryAfterMs !== null || stats.failing.size >= SLOWDOWN_FAILURE_COUNT)
      return this.#hold(stats, outcome, sentAt, { factor, isPage })
    await this.#change(stats, (clock) => slowClock(clock, sentAt, now, { factor }))
  }

  /** Ends slow-downs caused by failures, so that the next crawl measures the host itself. Back-offs stay. */
  async endSlowdowns(): Promise<void> {
    for (const stats of this.#hostStats.values()) {
      const { slowdown } = stats
      if (slowdown === null) continue
      stats.slowdown = null
      await this.#change(stats, (known) => endSlowdown(known, this.#options.clock.now(), slowdown))
    }
  }

  /** Sets the crawl delay that the robots.txt of an origin asks for, if any. A host gets the longest delay of its origins. */
  readonly setDelay = async (origin: string, delayMs: number | null): Promise<void> => {
    const { host } = new URL(origin)
    const stats = this.#statsOf(host)
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
    const stats = this.#statsOf(host)
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

  /** Distribution of the time to first byte. */
  get latencies(): DurationHistogram {
    return { counts: [...this.#latencies], sumMs: this.#latencySumMs }
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

  #countLatency(ms: number | undefined): void {
    if (ms === undefined) return
    const bucket = findDurationBucket(ms)
    this.#latencies[bucket] = (this.#latencies[bucket] ?? 0) + 1
    this.#latencySumMs += ms
  }

  async #noteAnswer(stats: HostStats, sentAt: number): Promise<void> {
    stats.noteSuccess()
    if ((stats.clock.strikes > 0 || stats.slowdown !== null) && sentAt > stats.clock.slowedAt) {
      const { slowdown } = stats
      stats.slowdown = null
      await this.#change(stats, (known) => recoverClock(known, sentAt, this.#options.clock.now(), slowdown))
    }
    const { latency } = stats
    if (latency !== null && stats.isSlow()) {
      stats.quickCount = 0
      // A host gets requests no faster than it responds.
      if (stats.clock.intervalMs >= latency) return
      const options = { factor: 2, maxMs: latency }
      await this.#change(stats, (known) => slowClock(known, sentAt, this.#options.clock.now(), options))
      stats.isOnlySlow = true
      return
    }
    // Quick responses from before the slow-down do not count.
    if (sentAt < stats.clock.slowedAt || stats.clock.intervalMs <= stats.clock.floorMs) return
    // At a long interval few responses come, so fewer of them are enough.
    const enough = Math.min(QUICK_RESPONSE_COUNT, Math.ceil(QUICK_RESPONSE_SPAN_MS / stats.clock.intervalMs))
    // A host that was only slow speeds up after half as many quick responses.
    if (++stats.quickCount < (stats.isOnlySlow ? enough / 2 : enough)) return
    stats.quickCount = 0
    await this.#change(stats, (known) => easeClock(known, stats.isOnlySlow ? SLOW_HOST_STEP_FACTOR : undefined))
  }

  /**
   * Requests pages that a suspected host responded to before, until one responds or enough different addresses have failed. Returns the
   * time of the successful request, or `down` if all failed. Returns undefined if no such page is known, or no probe could be sent now.
   */
  #probe(stats: HostStats): Promise<number | 'down' | undefined> {
    stats.probing ??= this.#probeInTurn(stats).finally(() => {
      stats.probing = undefined
    })
    return stats.probing
  }

  async #probeInTurn(stats: HostStats): Promise<number | 'down' | undefined> {
    const { probe, clock, signal } = this.#options
    const { successes } = stats
    let verdict: 'down' | undefined
    for (const url of probe === undefined ? [] : [...stats.goodUrls].reverse()) {
      // Does not wait for the end of a back-off, because other hosts need the worker.
      if ((await this.parkIfHeld(stats.host)) || stats.clock.heldUntil > clock.now()) return undefined
      const turn = await this.#takeNext(stats.host, signal)
      if (typeof turn === 'string') return undefined
      const sentAt = clock.now()
      const outcome = (await probe?.(url, turn)) ?? POSTPONED_OUTCOME
      if (isUnsent(outcome)) return undefined
      // Another page may have been received while the probe was in progress.
      const isAnswered = outcome.type !== 'failed' || !mayBlameHost(outcome) || stats.successes > successes
      if (isAnswered) return sentAt
      if (outcome.retryAfterMs !== null) {
        await this.#noteRefusal(stats, url, outcome, sentAt, true)
        return undefined
      }
      verdict = 'down'
      stats.noteFailure(url)
      if (stats.failing.size >= SLOWDOWN_FAILURE_COUNT) break
    }
    return verdict
  }

  /** Doubles the interval of a host because addresses fail, until one responds. */
  #slow(stats: HostStats, sentAt: number, maxMs: number): Promise<void> {
    const options = { factor: 2, maxMs }
    return this.#backOff(stats, (known) => slowClock(known, sentAt, this.#options.clock.now(), options))
  }

  /** Changes the clock of a host because addresses fail. The next success restores the interval. */
  async #backOff(stats: HostStats, change: (clock: HostClock) => HostClock): Promise<void> {
    const before = stats.slowdown
    await this.#change(stats, (known) => {
      const changed = change(known)
      const fromMs = before !== null && known.intervalMs <= before.toMs ? before.fromMs : known.intervalMs
      if (changed.intervalMs > known.intervalMs) stats.slowdown = { fromMs, toMs: changed.intervalMs }
      return changed
    })
  }

  async #hold(
    stats: HostStats,
    outcome: Failure,
    sentAt: number,
    options: Pick<BackOff, 'factor' | 'isPage'>,
  ): Promise<void> {
    const { reason, detail, retryAfterMs } = outcome
    const { clock, random, limits, tell } = this.#options
    const { holdsMs } = limits
    const spread = 1 - BACK_OFF_JITTER + random() * 2 * BACK_OFF_JITTER
    const holdMsOf = (strikes: number) => retryAfterMs ?? backOffMsOf(holdsMs, strikes) * spread
    let strikesBefore = 0
    const hold = (known: HostClock): HostClock => {
      strikesBefore = known.strikes
      return backOffClock(known, sentAt, clock.now(), { holdMsOf, ...options })
    }
    await (isRateLimit(outcome) ? this.#change(stats, hold) : this.#backOff(stats, hold))
    const { strikes, heldUntil } = stats.clock
    stats.reportedUntil = heldUntil
    if (retryAfterMs !== null && retryAfterMs > MAX_RETRY_AFTER_MS) {
      this.park(stats.host, reason, `Retry-After ${Math.ceil(retryAfterMs / 1000)}`)
    } else if (strikes > holdsMs.length) {
      this.park(stats.host, reason, `${strikes} times in a row: ${detail}`)
    } else if (strikes !== strikesBefore) {
      tell?.({ type: 'held', host: stats.host, untilMs: heldUntil, reason, strikes })
    }
  }

  /** Takes a new slot in place of a missed one, with an allowance for delay. */
  async #retake(
    stats: HostStats,
    missed: { readonly slot: number; readonly extraDelayMs: number },
    extraDelayMs: number,
  ): Promise<{ readonly slot: number; readonly extraDelayMs: number }> {
    const [, maxJitterMs] = this.#options.limits.jitterMs
    let { slot } = missed
    await this.#change(stats, (known) => {
      const now = this.#options.clock.now()
      const taken = retakeSlot(known, missed.slot, now, this.jitter() + extraDelayMs, maxJitterMs + missed.extraDelayMs)
      slot = taken.slot
      return taken.clock
    })
    return { slot, extraDelayMs }
  }

  #read(host: string, lease: string | undefined): Promise<HostClock | undefined> {
    const { ledger, clock } = this.#options
    if (lease === undefined || ledger.readClockFor === undefined) return ledger.readClock(host, clock.now())
    return ledger.readClockFor({ host, lease }, clock.now())
  }

  async #open(host: string): Promise<void> {
    const stats = this.#statsOf(host)
    const { floorMs, startMs } = this.#intervalsOf(stats)
    stats.opening ??= this.#change(stats, (known) =>
      openClock(known, floorMs, startMs, this.#options.clock.now()),
    ).then(() => {
      // If an earlier run left the host slowed down, the first success ends that. While other processes use the host, the interval belongs
      // to them too.
      const toMs = stats.clock.intervalMs
      const fromMs = Math.max(floorMs, startMs)
      const isIdle = this.#options.clock.now() > nextRequestAt(stats.clock) + toMs
      if (isIdle && toMs > fromMs) stats.slowdown = { fromMs, toMs }
    })
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
    await this.#change(stats, (known) => {
      isShorter = known.floorMs > floorMs
      return isShorter ? known : setFloor(known, floorMs, startMs, clock.now())
    })
    if (!isShorter) return
    const other = otherOriginOf(origin)
    const stored = stats.delays.has(other) ? undefined : await ledger.readRobots(other)
    const delayMs = Math.min(readStoredCrawlDelay(stored, clock.now()), MAX_INTERVAL_MS)
    await this.#change(stats, (known) => setFloor(known, Math.max(floorMs, delayMs), startMs, clock.now()))
  }

  /** The minimum interval of a host as known to this process, and its initial interval. */
  #intervalsOf({ host, delays }: HostStats): { readonly floorMs: number; readonly startMs: number } {
    const { intervalMs, loopbackIntervalMs, startIntervalMs } = this.#options.limits
    const isLocal = isLoopback(host)
    const minMs = isLocal ? loopbackIntervalMs : intervalMs
    return { floorMs: Math.max(minMs, ...delays.values()), startMs: isLocal ? minMs : startIntervalMs }
  }

  async #change(stats: HostStats, change: (clock: HostClock) => HostClock): Promise<void> {
    const { ledger, clock } = this.#options
    stats.clock = await ledger.changeClock(stats.host, clock.now(), change)
  }

  #countRequest(stats: HostStats): void {
    stats.requests++
    stats.recent.add(this.#options.clock.now())
  }

  #statsOf(host: string): HostStats {
    const known = this.#hostStats.get(host)
    if (known !== undefined) return known
    const stats = new HostStats(host)
    this.#hostStats.set(host, stats)
    return stats
  }
}

/** Statistics of one host in this process. */
class HostStats {
  readonly host: string
  /** The host clock as last read. */
  clock: HostClock = NEW_HOST_CLOCK
  opening: Promise<void> | undefined
  /** Granted crawl delays by origin. */
  readonly delays: Map<string, number> = new Map()
  requests = 0
  readonly recent: MinuteCount = new MinuteCount()
  lastRequestAt = Number.NEGATIVE_INFINITY
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

type Failure = Extract<FetchOutcome, { type: 'failed' }>

/** Whether the host may have caused a failure. A fetch service that failed may not have contacted the host at all. */
function mayBlameHost({ reason, isTransient }: Failure): boolean {
  return reason !== 'service-failed' && (isTransient || reason === 'timeout')
}

/** Whether a host asks to slow down. */
function isRateLimit({ reason, retryAfterMs }: Failure): boolean {
  return reason === 'rate-limited' || retryAfterMs !== null
}

/** Duration of a back-off, by the number of consecutive back-offs. */
function backOffMsOf(holdsMs: readonly number[], strikes: number): number {
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
