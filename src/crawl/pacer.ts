import { DURATION_ENDS, type DurationCounts, durationGroup } from '../core/durations.ts'
import type { CrawlEvent, HostProgress } from './events.ts'
import {
  easeClock,
  endSlowdown,
  FREE_CLOCK,
  type Hold,
  type HostClock,
  holdClock,
  MOST_INTERVAL_MS,
  openClock,
  opensAt,
  recoverClock,
  retakeSlot,
  type Slowdown,
  setFloor,
  slowClock,
  takeSlot,
} from './host-clock.ts'
import { readKeptDelay } from './kept-robots.ts'
import type { Ledger, Reason } from './ledger.ts'
import type { Clock, FetchOutcome, FetchRequest } from './ports.ts'
import type { CrawlLimits } from './run.ts'

/** Whoever asks for more patience than this is left alone for the rest of the crawl. */
const MOST_PATIENCE_MS = 600_000
/** A host that failed is left alone for a time that differs by this share, up or down. */
const HOLD_SPREAD = 0.1
/** A slot may be used as late as this: that much the jitter makes up for. */
const LATE_MS = 25
/** So much later may a slot be used that is taken instead of one that has passed, and twice as much each time it passes again. */
const ROOM_MS = 100
/** No more room is given at once, however late a request was. */
const MOST_ROOM_MS = 2000
/** Whoever is late by more may have lost the host meanwhile. */
const LOST_MS = 1000
/** So many answers in a row that are quick, or all within so long, make the pause a step shorter. */
const QUICK_ANSWERS = 10
const QUICK_MS = 10_000
/** The step for a host that took long for a while. */
const RELIEF = 0.5
/** Different addresses that fail in a row, without a success between, before the host is slowed down: fewer are a matter of those pages. */
const IN_TROUBLE = 3
/** Different addresses that fail in a row before a host is left alone that has answered no page yet. */
const KEEPS_FAILING = 8
/** Growth of the pause each time a host is left alone because it fails: the first answer afterwards tells whether it is back. */
const HELD_FACTOR = 4
/** Pages that a host answered last, to be requested again before it is left alone. */
const MAX_GOOD_URLS = 2
/** Longest pause because of errors of a host that does answer. */
const MOST_FOR_ERRORS_MS = 2000
/**
 * Growth of the pause when a second address asks to slow down: less where Retry-After says how long, because the host is held that long
 * anyway. The pause grows once a minute at most, and gets shorter step by step.
 */
const REFUSED_FACTOR = 4
const REFUSED_FACTOR_WITH_TIME = 2
const REFUSED_AGAIN_MS = 60_000
/** Stands for all lists of a site among the addresses that fail: those that a site does not have are often refused one and all. */
const LISTS = 'lists'
/** Hosts that are named in one report. */
const MOST_REPORTED = 100
/** An answer is slow when it takes so many times, and so much, longer than it took this host at its best. */
const SLOW_FACTOR = 3
const SLOW_MS = 500
/** Answers before anything is said about how quick a host is, and the weight of each new one. */
const LEAST_ANSWERS = 5
const WEIGHT = 0.2

/** What a pacer works with. */
export interface PacerOptions {
  readonly ledger: Pick<Ledger, 'readClock' | 'readClockFor' | 'changeClock' | 'readRobots'>
  readonly clock: Clock
  /** Number from 0 up to 1, for jitter. */
  readonly random: () => number
  readonly limits: Pick<CrawlLimits, 'intervalMs' | 'loopbackIntervalMs' | 'startIntervalMs' | 'jitterMs' | 'holdsMs'>
  /** Asks once more for an address that a host has answered. Without it, addresses that fail in a row are enough to suspect the host. */
  readonly probe?: (url: string, leave: Leave) => Promise<FetchOutcome>
  /** Ends the wait for a probe. */
  readonly signal?: AbortSignal
  readonly tell?: (event: Extract<CrawlEvent, { type: 'held' | 'parked' | 'paced' }>) => void
}

/** Leave to ask a host, in a slot of it. */
export interface Leave {
  readonly host: string
  readonly slot: number
  /** So much later than any other it may be used. */
  readonly roomMs: number
  /** Of the visit that it is for, if it is for one. */
  readonly lease: string | undefined
  /** When it was given, and when the host had last been asked before. */
  readonly givenAt: number
  readonly askedBefore: number
}

/** What became of a wish to ask a host. `later`: not in this slot. `parked`: not in this crawl. */
export type Turn = Leave | 'later' | 'parked'

/** Fetches what there is leave for. */
export interface PacedFetcher {
  fetch(request: FetchRequest, leave: Leave): Promise<FetchOutcome>
}

/** Stands for the answer of a host that is left alone. */
export const LEFT_ALONE: FetchOutcome = {
  type: 'failed',
  status: null,
  reason: 'host-parked',
  detail: 'its host is left alone',
  isTransient: false,
  retryAfterMs: null,
}

/** Stands for an answer that is asked for later, from the beginning. */
export const POSTPONED: FetchOutcome = { ...LEFT_ALONE, isTransient: true }

/** Whether nobody was asked. */
export function isUnsent(outcome: FetchOutcome): boolean {
  return outcome === LEFT_ALONE || outcome === POSTPONED
}

/**
 * Keeps the pace at which each host is asked: evenly spaced, gentle at first, quicker while answers stay quick, slower when the host
 * struggles, not at all while it wants to be left alone. The clock of a host is in the ledger, where everybody shares it; how
 * the answers of this process came is kept here.
 */
export class Pacer {
  readonly #options: PacerOptions
  readonly #watches = new Map<string, Watch>()
  /** Hosts that are left alone for the rest of the crawl, and why. */
  readonly #parked = new Map<string, string>()
  readonly #latencies = new Array<number>(DURATION_ENDS.length + 1).fill(0)
  #latencySumMs = 0

  constructor(options: PacerOptions) {
    this.#options = options
  }

  /** Milliseconds by which the next slot of a host is late. */
  readonly jitter = (): number => {
    const [least, most] = this.#options.limits.jitterMs
    return least + this.#options.random() * (most - least)
  }

  /** Waits for a slot of a host. */
  async takeTurn(host: string, signal?: AbortSignal): Promise<Leave | 'parked'> {
    await this.#open(host)
    for (;;) {
      if (await this.parkIfHeld(host)) return 'parked'
      const turn = await this.#takeNext(host, signal)
      if (turn !== 'later') return turn
    }
  }

  /** Waits for the next slot of a host, and answers `later` where the host was held or slowed down meanwhile. */
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
    return this.enter(host, slot, signal)
  }

  /**
   * Tells whether a host may be asked now, in a slot that was reserved before, and waits for what little is missing. For a visit, its
   * lease says whether the host is still this process's.
   */
  async enter(host: string, slot: number, signal?: AbortSignal, lease?: string): Promise<Turn> {
    await this.#open(host)
    const turn = await this.#enter({ host, slot, roomMs: 0, lease }, ROOM_MS, signal)
    if (typeof turn !== 'string') this.#countRequest(this.#watchOf(host))
    return turn
  }

  /**
   * Sends a request in its slot. A connection may take long to make, and the process may be stopped meanwhile: a request that misses its
   * slot is sent in another one, the last of which is as long as needed. The outcome is {@link POSTPONED} for a visit that has to wait for
   * longer or has lost its host, and for a request that is not `isPatient`.
   */
  async send(
    leave: Leave,
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
      if (typeof turn === 'string') return turn === 'parked' ? LEFT_ALONE : POSTPONED
      own = turn
    }
  }

  /** Whether what there is leave for may be sent now, as far as this process knows. */
  #isInTime({ host, slot, roomMs }: Leave): boolean {
    const watch = this.#watchOf(host)
    const now = this.#options.clock.now()
    const { heldUntil, intervalMs, slowedAt } = watch.clock
    if (this.#parked.has(host) || heldUntil > now) return false
    if (intervalMs > 0 && (slot < slowedAt || now - slot > LATE_MS + roomMs)) return false
    watch.askedAt = now
    return true
  }

  /** Gets leave again for what was not sent. */
  async #renew(leave: Leave, lateMs: number, signal?: AbortSignal): Promise<Turn> {
    const { host, roomMs, givenAt, askedBefore } = leave
    const watch = this.#watchOf(host)
    if (watch.askedAt === givenAt) watch.askedAt = askedBefore
    // The connection that it was waited for is there now. Where it is not any more in the next slot, to make another takes as long again.
    const nextRoomMs = roomMs === 0 ? ROOM_MS : Math.min(lateMs, MOST_ROOM_MS)
    return this.#enter(leave, nextRoomMs, signal)
  }

  async #enter(
    { host, slot, roomMs, lease }: Pick<Leave, 'host' | 'slot' | 'roomMs' | 'lease'>,
    nextRoomMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Turn> {
    const { clock } = this.#options
    const watch = this.#watchOf(host)
    let own = { slot, roomMs }
    for (let isKnown = false; ; ) {
      const known = isKnown ? watch.clock : await this.#read(host, lease)
      // Whoever has it now asks for the same.
      if (known === undefined) return 'later'
      watch.clock = known
      isKnown = false
      // Not before the answer: whoever stood still while it was on its way would take that moment for this one.
      const now = clock.now()
      const { heldUntil, intervalMs, slowedAt } = watch.clock
      if (this.#parked.has(host)) return 'parked'
      if (heldUntil > now) return (await this.parkIfHeld(host)) ? 'parked' : 'later'
      if (intervalMs <= 0) break
      if (own.slot < slowedAt) return 'later'
      // A timer that was late, or a slot of before the pause got longer, must not bring two requests closer together.
      const wait = Math.max(own.slot, watch.askedAt + intervalMs) - now
      if (wait > 0) {
        await clock.sleep(wait, signal)
        continue
      }
      // Nor two of different processes. On a machine where every timer is late nobody would ever get to go, were it not for the room that
      // a slot gets which is taken instead: so much longer is the pause behind it.
      const lateMs = now - own.slot
      if (lateMs <= LATE_MS + own.roomMs) break
      own = await this.#retake(watch, own, Math.max(nextRoomMs, 2 * own.roomMs))
      // To ask for what it was just told would make it late again. Whose the host is by now it was not told.
      isKnown = lease === undefined || lateMs < LOST_MS
    }
    const askedBefore = watch.askedAt
    const givenAt = clock.now()
    watch.askedAt = givenAt
    return { host, ...own, lease, givenAt, askedBefore }
  }

  /**
   * Learns from the outcome of a request that was sent at `askedAt`. One address that fails says nothing about its host. Several different
   * ones in a row, or one that fails again without a success between, make the host suspect: then pages that it answered before are
   * requested again. The host is left alone where these fail too. Where one answers, only 502, 503 and 504 slow the host down. One success
   * ends a back-off. A time in Retry-After holds for the whole host, and no longer than it says.
   */
  async note(url: string, outcome: FetchOutcome, askedAt: number, isPage = true): Promise<void> {
    const watch = this.#watchOf(new URL(url).host)
    // An address that never answers says nothing about how quickly the others do.
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
    if (isRefusal(outcome)) return this.#noteRefusal(watch, address, outcome, askedAt, isPage)
    // A host that is held already needs no further verdict.
    if (watch.clock.heldUntil > this.#options.clock.now()) return
    const isBusy = status === 502 || status === 503 || status === 504
    const isOverload = isBusy || reason === 'timeout' || reason === 'network'
    const isInTrouble = watch.failing.size >= IN_TROUBLE
    if (!isInTrouble && (isFurther || !isOverload)) return
    const answeredAt = await this.#probe(watch)
    if (typeof answeredAt === 'number') {
      watch.failing.clear()
      const isSlowed = isBusy && isInTrouble
      return isSlowed ? this.#slow(watch, askedAt, MOST_FOR_ERRORS_MS) : this.#noteAnswer(watch, answeredAt)
    }
    if (isOverload && (answeredAt === 'down' || watch.failing.size >= KEEPS_FAILING))
      return this.#hold(watch, outcome, askedAt, { factor: HELD_FACTOR, isPage })
    if (isFurther && isInTrouble) await this.#slow(watch, askedAt, isOverload ? MOST_INTERVAL_MS : MOST_FOR_ERRORS_MS)
  }

  /** Obeys a host that asks to slow down. */
  async #noteRefusal(watch: Watch, address: string, outcome: Failure, askedAt: number, isPage: boolean): Promise<void> {
    const now = this.#options.clock.now()
    const factor = watch.noteRefusal(address, outcome.retryAfterMs !== null, now)
    if (outcome.retryAfterMs !== null || watch.failing.size >= IN_TROUBLE)
      return this.#hold(watch, outcome, askedAt, { factor, isPage })
    await this.#change(watch, (clock) => slowClock(clock, askedAt, now, { factor }))
  }

  /** Ends the longer pauses that failures caused: the next crawl finds out for itself how a host is. Holds stay. */
  async forgetFailures(): Promise<void> {
    for (const watch of this.#watches.values()) {
      const { slowdown } = watch
      if (slowdown === null) continue
      watch.slowdown = null
      await this.#change(watch, (known) => endSlowdown(known, this.#options.clock.now(), slowdown))
    }
  }

  /** Sets the pause that the robots.txt of an origin asks for, if any. A host gets the longest that its origins ask for. */
  readonly setDelay = async (origin: string, delayMs: number | null): Promise<void> => {
    const { host } = new URL(origin)
    const watch = this.#watchOf(host)
    const granted = Math.min(delayMs ?? 0, MOST_INTERVAL_MS)
    if (watch.delays.get(origin) === granted) return
    watch.delays.set(origin, granted)
    await this.#setFloor(watch, origin)
    if (delayMs !== null && delayMs > MOST_INTERVAL_MS)
      this.#options.tell?.({ type: 'paced', host, intervalMs: granted, askedMs: delayMs })
  }

  /** Until when a host is left alone; it may be past. */
  heldUntil(host: string): number {
    return this.#watches.get(host)?.clock.heldUntil ?? 0
  }

  /** Hosts that are left alone for the rest of the crawl, each with what it was for. */
  get parked(): ReadonlyMap<string, string> {
    return this.#parked
  }

  /** Leaves a host alone for the rest of the crawl. */
  park(host: string, reason: Reason, detail: string): void {
    if (this.#parked.has(host)) return
    this.#parked.set(host, detail)
    this.#options.tell?.({ type: 'parked', host, reason, detail })
  }

  /**
   * Looks at a host that may be held: one that has asked for more patience than there is is left alone for the rest of the crawl.
   * Tells whether it is.
   */
  async parkIfHeld(host: string): Promise<boolean> {
    const { ledger, clock, limits, tell } = this.#options
    const now = clock.now()
    const watch = this.#watchOf(host)
    watch.clock = await ledger.readClock(host, now)
    const { heldUntil, strikes } = watch.clock
    // What it got because it failed is sat out.
    const gotMs = holdOf(limits.holdsMs, strikes) * (1 + HOLD_SPREAD)
    if (heldUntil - now > Math.max(MOST_PATIENCE_MS, gotMs)) {
      const until = new Date(heldUntil).toISOString().replace(/\.\d+/, '')
      this.park(host, 'rate-limited', `it asked to wait until ${until}`)
    } else if (heldUntil > now && watch.toldUntil !== heldUntil) {
      watch.toldUntil = heldUntil
      tell?.({ type: 'held', host, untilMs: heldUntil, reason: null, strikes })
    }
    return this.#parked.has(host)
  }

  /** How long hosts took to begin their answers. */
  get latencies(): DurationCounts {
    return { counts: [...this.#latencies], sumMs: this.#latencySumMs }
  }

  /** How each host is treated, of many those that are asked most. */
  progress(): HostProgress[] {
    const now = this.#options.clock.now()
    const watches = [...this.#watches.values()]
    const busiest = watches.length > MOST_REPORTED ? watches.sort((a, b) => b.requests - a.requests) : watches
    return busiest.slice(0, MOST_REPORTED).map(({ host, requests, clock, recent, latency }) => {
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
    const group = durationGroup(ms)
    this.#latencies[group] = (this.#latencies[group] ?? 0) + 1
    this.#latencySumMs += ms
  }

  async #noteAnswer(watch: Watch, askedAt: number): Promise<void> {
    watch.noteSuccess()
    if ((watch.clock.strikes > 0 || watch.slowdown !== null) && askedAt > watch.clock.slowedAt) {
      const { slowdown } = watch
      watch.slowdown = null
      await this.#change(watch, (known) => recoverClock(known, askedAt, this.#options.clock.now(), slowdown))
    }
    const { latency } = watch
    if (latency !== null && watch.isSlow()) {
      watch.quick = 0
      // It is asked no more often than it answers.
      if (watch.clock.intervalMs >= latency) return
      const how = { factor: 2, mostMs: latency }
      await this.#change(watch, (known) => slowClock(known, askedAt, this.#options.clock.now(), how))
      watch.isOnlySlow = true
      return
    }
    // That it was quick before it got slow says nothing.
    if (askedAt < watch.clock.slowedAt || watch.clock.intervalMs <= watch.clock.floorMs) return
    // Far from its shortest pause few answers come, and each says more.
    const enough = Math.min(QUICK_ANSWERS, Math.ceil(QUICK_MS / watch.clock.intervalMs))
    // A host that was slow, and nothing else, shows by each answer that it is not any more.
    if (++watch.quick < (watch.isOnlySlow ? enough / 2 : enough)) return
    watch.quick = 0
    await this.#change(watch, (known) => easeClock(known, watch.isOnlySlow ? RELIEF : undefined))
  }

  /**
   * Requests pages that a suspected host answered before, until one answers or enough different addresses have failed. Returns the time
   * of the request that was answered. Returns undefined where no such page is known, or the host is held by now.
   */
  #probe(watch: Watch): Promise<number | 'down' | undefined> {
    watch.probing ??= this.#probeInTurn(watch).finally(() => {
      watch.probing = undefined
    })
    return watch.probing
  }

  async #probeInTurn(watch: Watch): Promise<number | 'down' | undefined> {
    const { probe, clock, signal } = this.#options
    const { successes } = watch
    let verdict: 'down' | undefined
    for (const url of probe === undefined ? [] : [...watch.goodUrls].reverse()) {
      // A worker that sat out a hold here would be missing for other hosts.
      if ((await this.parkIfHeld(watch.host)) || watch.clock.heldUntil > clock.now()) return undefined
      const turn = await this.#takeNext(watch.host, signal)
      if (typeof turn === 'string') return undefined
      const askedAt = clock.now()
      const outcome = (await probe?.(url, turn)) ?? POSTPONED
      if (isUnsent(outcome)) return undefined
      // Another page may have been answered while the probe was under way.
      const isAnswered = outcome.type !== 'failed' || !mayBlameHost(outcome) || watch.successes > successes
      if (isAnswered) return askedAt
      if (outcome.retryAfterMs !== null) {
        await this.#noteRefusal(watch, url, outcome, askedAt, true)
        return undefined
      }
      verdict = 'down'
      watch.noteFailure(url)
      if (watch.failing.size >= IN_TROUBLE) break
    }
    return verdict
  }

  /** Makes the pause of a host twice as long because addresses fail, until one answers. */
  #slow(watch: Watch, askedAt: number, mostMs: number): Promise<void> {
    const how = { factor: 2, mostMs }
    return this.#backOff(watch, (known) => slowClock(known, askedAt, this.#options.clock.now(), how))
  }

  /** Changes the clock of a host because addresses fail. One that answers ends the longer pause. */
  async #backOff(watch: Watch, change: (clock: HostClock) => HostClock): Promise<void> {
    const before = watch.slowdown
    await this.#change(watch, (known) => {
      const changed = change(known)
      const fromMs = before !== null && known.intervalMs <= before.toMs ? before.fromMs : known.intervalMs
      if (changed.intervalMs > known.intervalMs) watch.slowdown = { fromMs, toMs: changed.intervalMs }
      return changed
    })
  }

  async #hold(watch: Watch, outcome: Failure, askedAt: number, how: Pick<Hold, 'factor' | 'isPage'>): Promise<void> {
    const { reason, detail, retryAfterMs } = outcome
    const { clock, random, limits, tell } = this.#options
    const { holdsMs } = limits
    const spread = 1 - HOLD_SPREAD + random() * 2 * HOLD_SPREAD
    const holdMsOf = (strikes: number) => retryAfterMs ?? holdOf(holdsMs, strikes) * spread
    let before = 0
    const hold = (known: HostClock): HostClock => {
      before = known.strikes
      return holdClock(known, askedAt, clock.now(), { holdMsOf, ...how })
    }
    await (isRefusal(outcome) ? this.#change(watch, hold) : this.#backOff(watch, hold))
    const { strikes, heldUntil } = watch.clock
    watch.toldUntil = heldUntil
    if (retryAfterMs !== null && retryAfterMs > MOST_PATIENCE_MS) {
      this.park(watch.host, reason, `Retry-After ${Math.ceil(retryAfterMs / 1000)}`)
    } else if (strikes > holdsMs.length) {
      this.park(watch.host, reason, `${strikes} times in a row: ${detail}`)
    } else if (strikes !== before) {
      tell?.({ type: 'held', host: watch.host, untilMs: heldUntil, reason, strikes })
    }
  }

  /** Takes a slot instead of one that has passed, with room to be late for it. */
  async #retake(
    watch: Watch,
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
    const watch = this.#watchOf(host)
    const { floorMs, startMs } = this.#leastOf(watch)
    watch.opening ??= this.#change(watch, (known) =>
      openClock(known, floorMs, startMs, this.#options.clock.now()),
    ).then(() => {
      // An earlier run left the host slowed down: the first success shows that this is over. While other processes ask the host, its
      // pause is theirs, too.
      const toMs = watch.clock.intervalMs
      const fromMs = Math.max(floorMs, startMs)
      const isIdle = this.#options.clock.now() > opensAt(watch.clock) + toMs
      if (isIdle && toMs > fromMs) watch.slowdown = { fromMs, toMs }
    })
    await watch.opening
  }

  /** Sets the shortest pause of a host, as an origin of it asks. Before it gets shorter, the other origin is heard: another process may have been there. */
  async #setFloor(watch: Watch, origin: string): Promise<void> {
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
    const delayMs = Math.min(readKeptDelay(kept, clock.now()), MOST_INTERVAL_MS)
    await this.#change(watch, (known) => setFloor(known, Math.max(floorMs, delayMs), startMs, clock.now()))
  }

  /** The shortest pause of a host, by what this process knows, and the one it begins with. */
  #leastOf({ host, delays }: Watch): { readonly floorMs: number; readonly startMs: number } {
    const { intervalMs, loopbackIntervalMs, startIntervalMs } = this.#options.limits
    const isOwn = isLoopback(host)
    const leastMs = isOwn ? loopbackIntervalMs : intervalMs
    return { floorMs: Math.max(leastMs, ...delays.values()), startMs: isOwn ? leastMs : startIntervalMs }
  }

  async #change(watch: Watch, change: (clock: HostClock) => HostClock): Promise<void> {
    const { ledger, clock } = this.#options
    watch.clock = await ledger.changeClock(watch.host, clock.now(), change)
  }

  #countRequest(watch: Watch): void {
    watch.requests++
    watch.recent.add(this.#options.clock.now())
  }

  #watchOf(host: string): Watch {
    const known = this.#watches.get(host)
    if (known !== undefined) return known
    const watch = new Watch(host)
    this.#watches.set(host, watch)
    return watch
  }
}

/** How one host answers this process. */
class Watch {
  readonly host: string
  /** Its clock as it was last seen. */
  clock: HostClock = FREE_CLOCK
  opening: Promise<void> | undefined
  /** The pauses that the robots.txt files of its origins get. */
  readonly delays: Map<string, number> = new Map()
  requests = 0
  readonly recent: MinuteCount = new MinuteCount()
  /** When it was last asked. */
  askedAt = Number.NEGATIVE_INFINITY
  /** The hold that was last told. */
  toldUntil = 0
  /** Quick answers in a row. */
  quick = 0
  /** Different addresses that failed since the last success, at most {@link KEEPS_FAILING}. */
  readonly failing: Set<string> = new Set()
  /** The last pages that it answered, at most {@link MAX_GOOD_URLS}. */
  readonly goodUrls: Set<string> = new Set()
  probing: Promise<number | 'down' | undefined> | undefined
  /** Answers that were no failures. */
  successes = 0
  /** The first address that asked to slow down lately, and the successes when the last one did. */
  #refusing: string | undefined
  #successesBefore = 0
  /** When the pause last grew because addresses asked to slow down. */
  #refusedAt = Number.NEGATIVE_INFINITY
  /** How failures made the pause longer, until a success ends that. */
  slowdown: Slowdown | null = null
  /** Whether its pause is what it is because answers took long. */
  isOnlySlow = false
  /** How long it takes to answer lately, and took at its best. */
  latency: number | null = null
  #best = Number.POSITIVE_INFINITY
  #answers = 0

  constructor(host: string) {
    this.host = host
  }

  noteLatency(ms: number | undefined): void {
    if (ms === undefined) return
    this.latency = this.latency === null ? ms : this.latency * (1 - WEIGHT) + ms * WEIGHT
    if (++this.#answers >= LEAST_ANSWERS) this.#best = Math.min(this.#best, this.latency)
  }

  /** Takes note of an address that failed. Tells whether it is another one than those that failed since the last success. */
  noteFailure(address: string): boolean {
    const before = this.failing.size
    if (before < KEEPS_FAILING) this.failing.add(address)
    return this.failing.size > before
  }

  /** Takes note of a page that answered. */
  noteGood(url: string): void {
    this.goodUrls.delete(url)
    this.goodUrls.add(url)
    const [oldest] = this.goodUrls
    if (this.goodUrls.size > MAX_GOOD_URLS && oldest !== undefined) this.goodUrls.delete(oldest)
  }

  /** Takes note of a success. Many of them show that the pace was not too fast. */
  noteSuccess(): void {
    this.failing.clear()
    if (++this.successes - this.#successesBefore >= QUICK_ANSWERS) this.#refusing = undefined
  }

  /**
   * Takes note of an address that asks to slow down. Returns the growth of the pause: a second address shows that it is the pace, and
   * not the page.
   */
  noteRefusal(address: string, hasTime: boolean, now: number): number {
    this.#successesBefore = this.successes
    this.#refusing ??= address
    if (this.#refusing === address || now - this.#refusedAt < REFUSED_AGAIN_MS) return 1
    this.#refusedAt = now
    this.slowdown = null
    return hasTime ? REFUSED_FACTOR_WITH_TIME : REFUSED_FACTOR
  }

  isSlow(): boolean {
    return this.latency !== null && this.latency > Math.max(this.#best * SLOW_FACTOR, this.#best + SLOW_MS)
  }
}

/** Counts what happened in the last minute, by the second. */
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

/** Whether a failure may be the fault of the host. A service that failed may not have asked the host at all. */
function mayBlameHost({ reason, isTransient }: Failure): boolean {
  return reason !== 'service-failed' && (isTransient || reason === 'timeout')
}

/** Whether a host asks to slow down. */
function isRefusal({ reason, retryAfterMs }: Failure): boolean {
  return reason === 'rate-limited' || retryAfterMs !== null
}

/** How long a host is left alone that had to be so often in a row. */
function holdOf(holdsMs: readonly number[], strikes: number): number {
  return holdsMs[Math.min(strikes, holdsMs.length) - 1] ?? 0
}

/** The other origin that a host may have, by the other scheme. */
function siblingOf(origin: string): string {
  return origin.startsWith('https:') ? origin.replace('https:', 'http:') : origin.replace('http:', 'https:')
}

/** Whether a host is this machine, by its name. */
function isLoopback(host: string): boolean {
  return /^(?:localhost|[\w.-]+\.localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/.test(host)
}
