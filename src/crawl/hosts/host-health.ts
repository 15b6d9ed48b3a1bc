import { DURATION_BUCKETS_MS, type DurationHistogram, findDurationBucket } from '../../core/duration-histogram.ts'
import type { FetchOutcome } from '../ports.ts'
import {
  type BackOff,
  backOffClock,
  easeClock,
  type HostClock,
  MAX_INTERVAL_MS,
  recoverClock,
  slowClock,
} from './host-clock.ts'
import { BACK_OFF_FAILURE_COUNT, type HostStats, QUICK_RESPONSE_COUNT } from './host-stats.ts'
import {
  BACK_OFF_JITTER,
  backOffMsOf,
  MAX_RETRY_AFTER_MS,
  type PacedHosts,
  type PacedHostsOptions,
} from './paced-hosts.ts'
import { isUnsent, POSTPONED_OUTCOME, type SendPermit, type Turn } from './send-permit.ts'

/** At a long interval, as many quick responses as fit into this time are enough. */
const QUICK_RESPONSE_SPAN_MS = 10_000
/** Factor of each step towards the minimum interval, for a host whose interval grew only because of slow responses. */
const SLOW_HOST_STEP_FACTOR = 0.5
/** Different addresses that must fail in a row before the host is slowed down: fewer failures are attributed to the pages. */
const SLOWDOWN_FAILURE_COUNT = 3
/** Factor on the interval for each back-off after failures. The next success restores the interval. */
const BACK_OFF_INTERVAL_FACTOR = 4
/** Maximum interval caused by server errors of a host that responds. */
const MAX_ERROR_INTERVAL_MS = 2000
/** Stands for all lists of a site, such as sitemaps, in `failing`: servers often refuse every list that they do not have. */
const LISTS = 'lists'

/** Options of {@link HostHealth}. */
export interface HostHealthOptions extends Pick<PacedHostsOptions, 'clock' | 'limits' | 'tell'> {
  /** Random number from 0 up to 1, for jitter. */
  readonly random: () => number
  /** Requests an address again to which the host has responded. Without it, consecutive failing addresses are enough for a back-off. */
  readonly probe?: (url: string, permit: SendPermit) => Promise<FetchOutcome>
  /** Cancels the wait for a probe. */
  readonly signal?: AbortSignal
  /** Waits for the next slot of a host. */
  readonly takeNext: (host: string, signal: AbortSignal | undefined) => Promise<Turn>
}

/** Learns from responses how well each host copes, and changes the pace of the host or gives it a back-off. */
export class HostHealth {
  readonly #hosts: PacedHosts
  readonly #options: HostHealthOptions
  readonly #latencies = new Array<number>(DURATION_BUCKETS_MS.length + 1).fill(0)
  #latencySumMs = 0

  constructor(hosts: PacedHosts, options: HostHealthOptions) {
    this.#hosts = hosts
    this.#options = options
  }

  /** Distribution of the time to first byte. */
  get latencies(): DurationHistogram {
    return { counts: [...this.#latencies], sumMs: this.#latencySumMs }
  }

  /**
   * Learns from the outcome of a request sent at `sentAt`. One failing address says nothing about its host. Several different ones in a
   * row, or one that fails again without a success between, make the host suspect: then known good pages are requested as probes. If these
   * fail too, the host gets a back-off. If one responds, only 502, 503 and 504 slow the host down. One success ends a back-off. Retry-After
   * applies to the whole host, for exactly that time.
   */
  async noteOutcome(url: string, outcome: FetchOutcome, sentAt: number, isPage = true): Promise<void> {
    const stats = this.#hosts.statsOf(new URL(url).host)
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
      return this.#hold(stats, outcome, sentAt, { factor: BACK_OFF_INTERVAL_FACTOR })
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
    await this.#hosts.change(stats, (clock) => slowClock(clock, sentAt, now, { factor }))
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
      await this.#hosts.change(stats, (known) => recoverClock(known, sentAt, this.#options.clock.now(), slowdown))
    }
    const { latency } = stats
    if (latency !== null && stats.isSlow()) {
      stats.quickCount = 0
      // A host gets requests no faster than it responds.
      if (stats.clock.intervalMs >= latency) return
      const options = { factor: 2, maxMs: latency }
      await this.#hosts.change(stats, (known) => slowClock(known, sentAt, this.#options.clock.now(), options))
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
    await this.#hosts.change(stats, (known) => easeClock(known, stats.isOnlySlow ? SLOW_HOST_STEP_FACTOR : undefined))
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
      if ((await this.#hosts.parkIfHeld(stats.host)) || stats.clock.heldUntil > clock.now()) return undefined
      const turn = await this.#options.takeNext(stats.host, signal)
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
    await this.#hosts.change(stats, (known) => {
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
    await (isRateLimit(outcome) ? this.#hosts.change(stats, hold) : this.#backOff(stats, hold))
    const { strikes, heldUntil } = stats.clock
    stats.reportedUntil = heldUntil
    if (retryAfterMs !== null && retryAfterMs > MAX_RETRY_AFTER_MS) {
      this.#hosts.park(stats.host, reason, `Retry-After ${Math.ceil(retryAfterMs / 1000)}`)
    } else if (strikes > holdsMs.length) {
      this.#hosts.park(stats.host, reason, `${strikes} times in a row: ${detail}`)
    } else if (strikes !== strikesBefore) {
      tell?.({ type: 'held', host: stats.host, untilMs: heldUntil, reason, strikes })
    }
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
