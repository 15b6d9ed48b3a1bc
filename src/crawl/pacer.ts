import { DURATION_BUCKETS_MS, type DurationHistogram, findDurationBucket } from '../core/duration-histogram.ts'
import type { CrawlEvent, HostProgress } from './events.ts'
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
import type { Ledger, Reason } from './ledger.ts'
import type { Clock, FetchOutcome, FetchRequest } from './ports.ts'
import type { CrawlLimits } from './run.ts'
import { readStoredCrawlDelay } from './stored-robots.ts'

/** A host that asks for a longer wait than this gets no more requests in this crawl. */
const MAX_RETRY_AFTER_MS = 600_000
/** Random spread of a back-off, as a share up or down. */
const BACK_OFF_JITTER = 0.1
/** Maximum delay within a slot; the jitter compensates for it. */
const MAX_SLOT_DELAY_MS = 25
/** Extra delay allowed for a slot that replaces a missed one; doubled each time it is missed again. */
const EXTRA_DELAY_MS = 100
/** Maximum extra delay, however late a request was. */
const MAX_EXTRA_DELAY_MS = 2000
/** After a longer delay the process may have lost the host. */
const LEASE_RECHECK_DELAY_MS = 1000
/** The interval shrinks by one step after this many consecutive quick responses, or after responses that cover this time. */
const QUICK_RESPONSE_COUNT = 10
const QUICK_RESPONSE_SPAN_MS = 10_000
/** Step factor for a host whose interval grew only because of slow responses. */
const SLOW_HOST_STEP_FACTOR = 0.5
/** Different addresses that must fail in a row before the host is slowed down: fewer failures are attributed to the pages. */
const SLOWDOWN_FAILURE_COUNT = 3
/** Different addresses that must fail in a row before a back-off, for a host that has not responded with a page yet. */
const BACK_OFF_FAILURE_COUNT = 8
/** Factor on the interval for each back-off after failures: the first response afterwards shows whether the host has recovered. */
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
/** Stands for all lists of a site among the failing addresses: servers often refuse every list that they do not have. */
const LISTS = 'lists'
/** Maximum number of hosts in a progress report. */
const MAX_REPORTED_HOSTS = 100
/** A response is slow if it takes longer than the best latency of the host by both this factor and this time. */
const SLOW_FACTOR = 3
const SLOW_MARGIN_MS = 500
/** Responses before the best latency counts, and the weight of each new response in the average. */
const MIN_LATENCY_SAMPLES = 5
const LATENCY_WEIGHT = 0.2

/** Options of a pacer. */
export interface PacerOptions {
  readonly ledger: Pick<Ledger, 'readClock' | 'readClockFor' | 'changeClock' | 'readRobots'>
  readonly clock: Clock
  /** Random number from 0 up to 1, for jitter. */
  readonly random: () => number
  readonly limits: Pick<CrawlLimits, 'intervalMs' | 'loopbackIntervalMs' | 'startIntervalMs' | 'jitterMs' | 'holdsMs'>
  /** Requests an address again that the host has responded to. Without it, consecutive failing addresses are enough to suspect the host. */
  readonly probe?: (url: string, leave: SendPermit) => Promise<FetchOutcome>
  /** Cancels the wait for a probe. */
  readonly signal?: AbortSignal
  readonly tell?: (event: Extract<CrawlEvent, { type: 'held' | 'parked' | 'paced' }>) => void
}

/** Permission to send a request to a host in a slot. */
export interface SendPermit {
  readonly host: string
  readonly slot: number
  /** Extra delay allowed beyond the usual one. */
  readonly roomMs: number
  /** Lease of the visit, if the permission is for a visit. */
  readonly lease: string | undefined
  /** When the permission was given, and the last request to the host before it. */
  readonly givenAt: number
  readonly askedBefore: number
}

/** Result of waiting for a host. `later`: not in this slot. `parked`: not in this crawl. */
export type Turn = SendPermit | 'later' | 'parked'

/** Sends requests with a permission of the pacer. */
export interface PacedFetcher {
  fetch(request: FetchRequest, leave: SendPermit): Promise<FetchOutcome>
}

/** Outcome for a host that gets no more requests. */
export const HOST_PARKED_OUTCOME: FetchOutcome = {
  type: 'failed',
  status: null,
  reason: 'host-parked',
  detail: 'its host is left alone',
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
    const [least, most] = this.#options.limits.jitterMs
    return least + this.#options.random() * (most - least)
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
    const turn = await this.#enter({ host, slot, roomMs: 0, lease }, EXTRA_DELAY_MS, signal)
    if (typeof turn !== 'string') this.#countRequest(this.#statsOf(host))
    return turn
  }

  /**
   * Sends a request in its slot. Opening a connection may take long, or the process may be suspended. A request that misses its slot is
   * sent in another one, with a growing allowance for delay. If the request has to wait longer or the process has lost the host, an
   * `isPatient` request waits for another turn; for any other the outcome is {@link POSTPONED_OUTCOME}.
   */
  async send(
    leave: SendPermit,
    send: (isInTime: () => boolean) => Promise<FetchOutcome>,
    signal?: AbortSignal,
    isPatient: boolean = leave.lease === undefined,
  ): Promise<FetchOutcome> {
    for (let own = leave; ; ) {
      let lateMs: number | undefined
      const outcome = await send(() => {
        lateMs = this.#isInTime(own) ? undefined : this.#options.clock.now() - own.slot
        return lateMs === undefined
      })
      if (lateMs === undefined) return outcome
      const renewed = await this.#renew(own, lateMs, signal)
      const turn = renewed === 'later' && isPatient ? await this.takeTurn(own.host, signal) : renewed
      if (typeof turn === 'string') return turn === 'parked' ? HOST_PARKED_OUTCOME : POSTPONED_OUTCOME
      own = turn
    }
  }

  /** Whether the request may be sent now, as far as this process knows. */
  #isInTime({ host, slot, roomMs }: SendPermit): boolean {
    const watch = this.#statsOf(host)
    const now = this.#options.clock.now()
    const { heldUntil, intervalMs, slowedAt } = watch.clock
    if (this.#parked.has(host) || heldUntil > now) return false
    if (intervalMs > 0 && (slot < slowedAt || now - slot > MAX_SLOT_DELAY_MS + roomMs)) return false
    watch.askedAt = now
    return true
  }

  /** Gets a new permission for a request that was not sent. */
  async #renew(leave: SendPermit, lateMs: number, signal?: AbortSignal): Promise<Turn> {
    const { host, roomMs, givenAt, askedBefore } = leave
    const watch = this.#statsOf(host)
    if (watch.askedAt === givenAt) watch.askedAt = askedBefore
    // The connection is open now. If it closes before the next slot, opening another takes as long again, so the allowance covers that.
    const nextRoomMs = roomMs === 0 ? EXTRA_DELAY_MS : Math.min(lateMs, MAX_EXTRA_DELAY_MS)
    return this.#enter(leave, nextRoomMs, signal)
  }

  async #enter(
    { host, slot, roomMs, lease }: Pick<SendPermit, 'host' | 'slot' | 'roomMs' | 'lease'>,
    nextRoomMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Turn> {
    const { clock } = this.#options
    const watch = this.#statsOf(host)
    let own = { slot, roomMs }
    for (let isKnown = false; ; ) {
      const known = isKnown ? watch.clock : await this.#read(host, lease)
      // The process that holds the host now makes the same request.
      if (known === undefined) return 'later'
      watch.clock = known
      isKnown = false
      // Read the clock only after the ledger has responded: this process may have been suspended meanwhile.
      const now = clock.now()
      const { heldUntil, intervalMs, slowedAt } = watch.clock
      if (this.#parked.has(host)) return 'parked'
      if (heldUntil > now) return (await this.parkIfHeld(host)) ? 'parked' : 'later'
      if (intervalMs <= 0) break
      if (own.slot < slowedAt) return 'later'
      // A late timer, or a slot from before the interval grew, must not bring two requests closer together.
      const wait = Math.max(own.slot, watch.askedAt + intervalMs) - now
      if (wait > 0) {
        await clock.sleep(wait, signal)
        continue
      }
      // The same holds for requests of different processes. Where every timer is late, no slot would ever be met, so a replacement slot
      // allows more delay, and the interval after it grows by the same amount.
      const lateMs = now - own.slot
      if (lateMs <= MAX_SLOT_DELAY_MS + own.roomMs) break
      own = await this.#retake(watch, own, Math.max(nextRoomMs, 2 * own.roomMs))
      // Reading the clock again would cause another delay. But the clock does not tell whether the host has been lost.
      isKnown = lease === undefined || lateMs < LEASE_RECHECK_DELAY_MS
    }
    const askedBefore = watch.askedAt
    const givenAt = clock.now()
    watch.askedAt = givenAt
    return { host, ...own, lease, givenAt, askedBefore }
  }

  /**
   * Learns from the outcome of a request sent at `askedAt`. One failing address says nothing about its host. Several different ones in a
   * row, or one that fails again without a success between, make the host suspect: then known good pages are requested as probes. If these
   * fail too, the host gets a back-off. If one responds, only 502, 503 and 504 slow the host down. One success ends a back-off. Retry-After
   * applies to the whole host, for exactly that time.
   */
  async noteOutcome(url: string, outcome: FetchOutcome, askedAt: number, isPage = true): Promise<void> {
    const watch = this.#statsOf(new URL(url).host)
    // The timeout of one address says nothing about the latency of the others.
    if (outcome.type !== 'failed' || outcome.reason !== 'timeout') watch.noteLatency(outcome.latencyMs)
    this.#countLatency(outcome.latencyMs)
    if (outcome.type !== 'failed') {
      if (isPage) watch.noteGood(url)
      return this.#noteAnswer(watch, askedAt)
    }
    if (!mayBlameHost(outcome)) return
    const { reason, status } = outcome
    watch.quick = 0
    watch.isOnlySlow = false
    const address = isPage ? url : LISTS
    const isFurther = watch.noteFailure(address)
    if (isRateLimit(outcome)) return this.#noteRefusal(watch, address, outcome, askedAt, isPage)
    // A host in back-off needs no further decision.
    if (watch.clock.heldUntil > this.#options.clock.now()) return
    const isBusy = status === 502 || status === 503 || status === 504
    const isOverload = isBusy || reason === 'timeout' || reason === 'network'
    const isInTrouble = watch.failing.size >= SLOWDOWN_FAILURE_COUNT
    if (!isInTrouble && (isFurther || !isOverload)) return
    const answeredAt = await this.#probe(watch)
    if (typeof answeredAt === 'number') {
      watch.failing.clear()
      const isSlowed = isBusy && isInTrouble
      return isSlowed ? this.#slow(watch, askedAt, MAX_ERROR_INTERVAL_MS) : this.#noteAnswer(watch, answeredAt)
    }
    if (isOverload && (answeredAt === 'down' || watch.failing.size >= BACK_OFF_FAILURE_COUNT))
      return this.#hold(watch, outcome, askedAt, { factor: BACK_OFF_INTERVAL_FACTOR, isPage })
    if (isFurther && isInTrouble) await this.#slow(watch, askedAt, isOverload ? MAX_INTERVAL_MS : MAX_ERROR_INTERVAL_MS)
  }

  /** Applies the request of a host to slow down. */
  async #noteRefusal(
    watch: HostStats,
    address: string,
    outcome: Failure,
    askedAt: number,
    isPage: boolean,
  ): Promise<void> {
    const now = this.#options.clock.now()
    const factor = watch.noteRefusal(address, outcome.retryAfterMs !== null, now)
    if (outcome.retryAfterMs !== null || watch.failing.size >= SLOWDOWN_FAILURE_COUNT)
      return this.#hold(watch, outcome, askedAt, { factor, isPage })
    await this.#change(watch, (clock) => slowClock(clock, askedAt, now, { factor }))
  }

  /** Ends slow-downs caused by failures, so that the next crawl measures the host itself. Back-offs stay. */
  async endSlowdowns(): Promise<void> {
    for (const watch of this.#hostStats.values()) {
      const { slowdown } = watch
      if (slowdown === null) continue
      watch.slowdown = null
      await this.#change(watch, (known) => endSlowdown(known, this.#options.clock.now(), slowdown))
    }
  }

  /** Sets the crawl delay that the robots.txt of an origin asks for, if any. A host gets the longest delay of its origins. */
  readonly setDelay = async (origin: string, delayMs: number | null): Promise<void> => {
    const { host } = new URL(origin)
    const watch = this.#statsOf(host)
    const granted = Math.min(delayMs ?? 0, MAX_INTERVAL_MS)
    if (watch.delays.get(origin) === granted) return
    watch.delays.set(origin, granted)
    await this.#setFloor(watch, origin)
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
    const watch = this.#statsOf(host)
    watch.clock = await ledger.readClock(host, now)
    const { heldUntil, strikes } = watch.clock
    // The crawl waits for a back-off that Pharos chose because of failures, even if it is longer.
    const gotMs = backOffMsOf(limits.holdsMs, strikes) * (1 + BACK_OFF_JITTER)
    if (heldUntil - now > Math.max(MAX_RETRY_AFTER_MS, gotMs)) {
      const until = new Date(heldUntil).toISOString().replace(/\.\d+/, '')
      this.park(host, 'rate-limited', `it asked to wait until ${until}`)
    } else if (heldUntil > now && watch.toldUntil !== heldUntil) {
      watch.toldUntil = heldUntil
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
    const watches = [...this.#hostStats.values()]
    const busiest = watches.length > MAX_REPORTED_HOSTS ? watches.sort((a, b) => b.requests - a.requests) : watches
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
    const group = findDurationBucket(ms)
    this.#latencies[group] = (this.#latencies[group] ?? 0) + 1
    this.#latencySumMs += ms
  }

  async #noteAnswer(watch: HostStats, askedAt: number): Promise<void> {
    watch.noteSuccess()
    if ((watch.clock.strikes > 0 || watch.slowdown !== null) && askedAt > watch.clock.slowedAt) {
      const { slowdown } = watch
      watch.slowdown = null
      await this.#change(watch, (known) => recoverClock(known, askedAt, this.#options.clock.now(), slowdown))
    }
    const { latency } = watch
    if (latency !== null && watch.isSlow()) {
      watch.quick = 0
      // A host gets requests no faster than it responds.
      if (watch.clock.intervalMs >= latency) return
      const how = { factor: 2, mostMs: latency }
      await this.#change(watch, (known) => slowClock(known, askedAt, this.#options.clock.now(), how))
      watch.isOnlySlow = true
      return
    }
    // Quick responses from before the slow-down do not count.
    if (askedAt < watch.clock.slowedAt || watch.clock.intervalMs <= watch.clock.floorMs) return
    // At a long interval few responses come, so fewer of them are enough.
    const enough = Math.min(QUICK_RESPONSE_COUNT, Math.ceil(QUICK_RESPONSE_SPAN_MS / watch.clock.intervalMs))
    // A host that was only slow speeds up after half as many quick responses.
    if (++watch.quick < (watch.isOnlySlow ? enough / 2 : enough)) return
    watch.quick = 0
    await this.#change(watch, (known) => easeClock(known, watch.isOnlySlow ? SLOW_HOST_STEP_FACTOR : undefined))
  }

  /**
   * Requests pages that a suspected host responded to before, until one responds or enough different addresses have failed. Returns the
   * time of the successful request. Returns undefined if no such page is known, or the host is in back-off by now.
   */
  #probe(watch: HostStats): Promise<number | 'down' | undefined> {
    watch.probing ??= this.#probeInTurn(watch).finally(() => {
      watch.probing = undefined
    })
    return watch.probing
  }

  async #probeInTurn(watch: HostStats): Promise<number | 'down' | undefined> {
    const { probe, clock, signal } = this.#options
    const { successes } = watch
    let verdict: 'down' | undefined
    for (const url of probe === undefined ? [] : [...watch.goodUrls].reverse()) {
      // A worker that waited here would be missing for other hosts.
      if ((await this.parkIfHeld(watch.host)) || watch.clock.heldUntil > clock.now()) return undefined
      const turn = await this.#takeNext(watch.host, signal)
      if (typeof turn === 'string') return undefined
      const askedAt = clock.now()
      const outcome = (await probe?.(url, turn)) ?? POSTPONED_OUTCOME
      if (isUnsent(outcome)) return undefined
      // Another page may have been received while the probe was in progress.
      const isAnswered = outcome.type !== 'failed' || !mayBlameHost(outcome) || watch.successes > successes
      if (isAnswered) return askedAt
      if (outcome.retryAfterMs !== null) {
        await this.#noteRefusal(watch, url, outcome, askedAt, true)
        return undefined
      }
      verdict = 'down'
      watch.noteFailure(url)
      if (watch.failing.size >= SLOWDOWN_FAILURE_COUNT) break
    }
    return verdict
  }

  /** Doubles the interval of a host because addresses fail, until one responds. */
  #slow(watch: HostStats, askedAt: number, mostMs: number): Promise<void> {
    const how = { factor: 2, mostMs }
    return this.#backOff(watch, (known) => slowClock(known, askedAt, this.#options.clock.now(), how))
  }

  /** Changes the clock of a host because addresses fail. The next success restores the interval. */
  async #backOff(watch: HostStats, change: (clock: HostClock) => HostClock): Promise<void> {
    const before = watch.slowdown
    await this.#change(watch, (known) => {
      const changed = change(known)
      const fromMs = before !== null && known.intervalMs <= before.toMs ? before.fromMs : known.intervalMs
      if (changed.intervalMs > known.intervalMs) watch.slowdown = { fromMs, toMs: changed.intervalMs }
      return changed
    })
  }

  async #hold(
    watch: HostStats,
    outcome: Failure,
    askedAt: number,
    how: Pick<BackOff, 'factor' | 'isPage'>,
  ): Promise<void> {
    const { reason, detail, retryAfterMs } = outcome
    const { clock, random, limits, tell } = this.#options
    const { holdsMs } = limits
    const spread = 1 - BACK_OFF_JITTER + random() * 2 * BACK_OFF_JITTER
    const holdMsOf = (strikes: number) => retryAfterMs ?? backOffMsOf(holdsMs, strikes) * spread
    let before = 0
    const hold = (known: HostClock): HostClock => {
      before = known.strikes
      return backOffClock(known, askedAt, clock.now(), { holdMsOf, ...how })
    }
    await (isRateLimit(outcome) ? this.#change(watch, hold) : this.#backOff(watch, hold))
    const { strikes, heldUntil } = watch.clock
    watch.toldUntil = heldUntil
    if (retryAfterMs !== null && retryAfterMs > MAX_RETRY_AFTER_MS) {
      this.park(watch.host, reason, `Retry-After ${Math.ceil(retryAfterMs / 1000)}`)
    } else if (strikes > holdsMs.length) {
      this.park(watch.host, reason, `${strikes} times in a row: ${detail}`)
    } else if (strikes !== before) {
      tell?.({ type: 'held', host: watch.host, untilMs: heldUntil, reason, strikes })
    }
  }

  /** Takes a new slot in place of a missed one, with an allowance for delay. */
  async #retake(
    watch: HostStats,
    passed: { readonly slot: number; readonly roomMs: number },
    roomMs: number,
  ): Promise<{ readonly slot: number; readonly roomMs: number }> {
    const [, mostJitterMs] = this.#options.limits.jitterMs
    let { slot } = passed
    await this.#change(watch, (known) => {
      const now = this.#options.clock.now()
      const taken = retakeSlot(known, passed.slot, now, this.jitter() + roomMs, mostJitterMs + passed.roomMs)
      slot = taken.slot
      return taken.clock
    })
    return { slot, roomMs }
  }

  #read(host: string, lease: string | undefined): Promise<HostClock | undefined> {
    const { ledger, clock } = this.#options
    if (lease === undefined || ledger.readClockFor === undefined) return ledger.readClock(host, clock.now())
    return ledger.readClockFor({ host, lease }, clock.now())
  }

  async #open(host: string): Promise<void> {
    const watch = this.#statsOf(host)
    const { floorMs, startMs } = this.#leastOf(watch)
    watch.opening ??= this.#change(watch, (known) =>
      openClock(known, floorMs, startMs, this.#options.clock.now()),
    ).then(() => {
      // If an earlier run left the host slowed down, the first success ends that. While other processes use the host, the interval belongs
      // to them too.
      const toMs = watch.clock.intervalMs
      const fromMs = Math.max(floorMs, startMs)
      const isIdle = this.#options.clock.now() > nextRequestAt(watch.clock) + toMs
      if (isIdle && toMs > fromMs) watch.slowdown = { fromMs, toMs }
    })
    await watch.opening
  }

  /**
   * Sets the minimum interval of a host from an origin. Before shortening it, reads the stored robots.txt of the other origin, which
   * another process may have fetched.
   */
  async #setFloor(watch: HostStats, origin: string): Promise<void> {
    const { clock, ledger } = this.#options
    const { floorMs, startMs } = this.#leastOf(watch)
    let isShorter = false
    await this.#change(watch, (known) => {
      isShorter = known.floorMs > floorMs
      return isShorter ? known : setFloor(known, floorMs, startMs, clock.now())
    })
    if (!isShorter) return
    const other = siblingOf(origin)
    const kept = watch.delays.has(other) ? undefined : await ledger.readRobots(other)
    const delayMs = Math.min(readStoredCrawlDelay(kept, clock.now()), MAX_INTERVAL_MS)
    await this.#change(watch, (known) => setFloor(known, Math.max(floorMs, delayMs), startMs, clock.now()))
  }

  /** The minimum interval of a host as known to this process, and the initial one. */
  #leastOf({ host, delays }: HostStats): { readonly floorMs: number; readonly startMs: number } {
    const { intervalMs, loopbackIntervalMs, startIntervalMs } = this.#options.limits
    const isOwn = isLoopback(host)
    const leastMs = isOwn ? loopbackIntervalMs : intervalMs
    return { floorMs: Math.max(leastMs, ...delays.values()), startMs: isOwn ? leastMs : startIntervalMs }
  }

  async #change(watch: HostStats, change: (clock: HostClock) => HostClock): Promise<void> {
    const { ledger, clock } = this.#options
    watch.clock = await ledger.changeClock(watch.host, clock.now(), change)
  }

  #countRequest(watch: HostStats): void {
    watch.requests++
    watch.recent.add(this.#options.clock.now())
  }

  #statsOf(host: string): HostStats {
    const known = this.#hostStats.get(host)
    if (known !== undefined) return known
    const watch = new HostStats(host)
    this.#hostStats.set(host, watch)
    return watch
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
  /** Time of the last request. */
  askedAt = Number.NEGATIVE_INFINITY
  /** End of the last reported back-off. */
  toldUntil = 0
  /** Consecutive quick responses. */
  quick = 0
  /** Different addresses that failed since the last success, at most {@link BACK_OFF_FAILURE_COUNT}. */
  readonly failing: Set<string> = new Set()
  /** The last pages received, at most {@link MAX_GOOD_URLS}. */
  readonly goodUrls: Set<string> = new Set()
  probing: Promise<number | 'down' | undefined> | undefined
  /** Number of successful responses. */
  successes = 0
  /** The first address that recently asked to slow down, and the number of successes at the last such response. */
  #refusing: string | undefined
  #successesBefore = 0
  /** When the interval last grew because addresses asked to slow down. */
  #refusedAt = Number.NEGATIVE_INFINITY
  /** The increase of the interval by failures, until a success ends it. */
  slowdown: Slowdown | null = null
  /** Whether the interval grew only because of slow responses. */
  isOnlySlow = false
  /** Average latency, and the best one. */
  latency: number | null = null
  #best = Number.POSITIVE_INFINITY
  #answers = 0

  constructor(host: string) {
    this.host = host
  }

  noteLatency(ms: number | undefined): void {
    if (ms === undefined) return
    this.latency = this.latency === null ? ms : this.latency * (1 - LATENCY_WEIGHT) + ms * LATENCY_WEIGHT
    if (++this.#answers >= MIN_LATENCY_SAMPLES) this.#best = Math.min(this.#best, this.latency)
  }

  /** Records a failed address. Returns whether it is a new one since the last success. */
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
    if (++this.successes - this.#successesBefore >= QUICK_RESPONSE_COUNT) this.#refusing = undefined
  }

  /**
   * Records an address that asks to slow down. Returns the factor on the interval: a second address shows that the pace is the cause, not
   * the page.
   */
  noteRefusal(address: string, hasTime: boolean, now: number): number {
    this.#successesBefore = this.successes
    this.#refusing ??= address
    if (this.#refusing === address || now - this.#refusedAt < RATE_LIMIT_COOLDOWN_MS) return 1
    this.#refusedAt = now
    this.slowdown = null
    return hasTime ? RETRY_AFTER_FACTOR : RATE_LIMIT_FACTOR
  }

  isSlow(): boolean {
    return this.latency !== null && this.latency > Math.max(this.#best * SLOW_FACTOR, this.#best + SLOW_MARGIN_MS)
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

/** Whether the host may have caused a failure. A failed service may not have contacted the host at all. */
function mayBlameHost({ reason, isTransient }: Failure): boolean {
  return reason !== 'service-failed' && (isTransient || reason === 'timeout')
}

/** Whether a host asks to slow down. */
function isRateLimit({ reason, retryAfterMs }: Failure): boolean {
  return reason === 'rate-limited' || retryAfterMs !== null
}

/** Duration of a back-off, by the number of consecutive ones. */
function backOffMsOf(holdsMs: readonly number[], strikes: number): number {
  return holdsMs[Math.min(strikes, holdsMs.length) - 1] ?? 0
}

/** The origin with the other scheme on the same host. */
function siblingOf(origin: string): string {
  return origin.startsWith('https:') ? origin.replace('https:', 'http:') : origin.replace('http:', 'https:')
}

/** Whether a host name refers to this machine. */
function isLoopback(host: string): boolean {
  return /^(?:localhost|[\w.-]+\.localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/.test(host)
}
