/**
 * When a host may get its next request, and at which interval. All processes share one record per host; only the functions below change it.
 */
export interface HostClock {
  /** Start of the next free slot. */
  readonly nextAt: number
  /** Current interval between requests. */
  readonly intervalMs: number
  /** Minimum interval: the configured one, or the crawl delay of robots.txt; negative while unknown. */
  readonly floorMs: number
  /** No slot begins before this time: the host asked for a back-off, or kept failing. */
  readonly heldUntil: number
  /** When the interval last grew. Responses to earlier requests are ignored, and earlier slots are void. */
  readonly slowedAt: number
  /** Number of consecutive back-offs. */
  readonly strikes: number
}

/** The clock of a host without any request so far. */
export const NEW_HOST_CLOCK: HostClock = {
  nextAt: 0,
  intervalMs: 0,
  floorMs: -1,
  heldUntil: 0,
  slowedAt: 0,
  strikes: 0,
}

/** Maximum interval between two requests, whether robots.txt asks for it or failures cause it. */
export const MAX_INTERVAL_MS = 60_000
/** Limit for valid slots: no process reserves so far ahead, even after the longest back-off of a failing host. */
export const MAX_SLOT_AHEAD_MS = 1_200_000
/** Maximum back-off. */
export const MAX_BACK_OFF_MS = 86_400_000
/** A host without requests for this long is treated like a new one. */
const IDLE_RESET_MS = 3_600_000
/** A shorter interval is raised to this before it is multiplied. */
const MIN_SLOWED_INTERVAL_MS = 125
/** Factor of each step towards the minimum interval. */
const EASE_FACTOR = 0.8
/** A step that comes closer to the minimum interval than this goes to the minimum. */
const MIN_STEP_MS = 20

/** Corrects a stored clock: values further ahead than any process reserves come from a machine with a wrong time. */
export function correctClock(clock: HostClock, now: number): HostClock {
  const isNextAtWrong = clock.nextAt - now > MAX_SLOT_AHEAD_MS
  const isHeldUntilWrong = clock.heldUntil - now > MAX_BACK_OFF_MS
  const isSlowedAtWrong = clock.slowedAt - now > MAX_SLOT_AHEAD_MS
  if (!isNextAtWrong && !isHeldUntilWrong && !isSlowedAtWrong) return clock
  return {
    ...clock,
    nextAt: isNextAtWrong ? now : clock.nextAt,
    heldUntil: isHeldUntilWrong ? now : clock.heldUntil,
    slowedAt: isSlowedAtWrong ? now : clock.slowedAt,
  }
}

/** The earliest moment for a request; it may be in the past. */
export function nextRequestAt({ nextAt, heldUntil }: HostClock): number {
  return Math.max(nextAt, heldUntil)
}

/** Takes the next slot. The following slot begins one interval and the jitter later. */
export function takeSlot(clock: HostClock, now: number, jitterMs = 0): { slot: number; clock: HostClock } {
  const corrected = correctClock(clock, now)
  const slot = Math.max(now, nextRequestAt(corrected))
  const pause = corrected.intervalMs > 0 ? corrected.intervalMs + jitterMs : 0
  return { slot, clock: { ...corrected, nextAt: slot + pause } }
}

/**
 * Takes a new slot in place of a missed one. The slot is now if no later slot was taken; otherwise the next free one, because owners of
 * later slots rely on the interval before theirs. `maxJitterMs` is the maximum jitter that the missed slot may have added.
 */
export function retakeSlot(
  clock: HostClock,
  missedSlot: number,
  now: number,
  jitterMs: number,
  maxJitterMs: number,
): { slot: number; clock: HostClock } {
  const corrected = correctClock(clock, now)
  const isLast = corrected.nextAt <= missedSlot + corrected.intervalMs + maxJitterMs
  return takeSlot(isLast ? { ...corrected, nextAt: missedSlot } : corrected, now, jitterMs)
}

/** Opens the clock of a host: a new host starts at `startMs`; a known host continues at its pace. */
export function openClock(clock: HostClock, floorMs: number, startMs: number, now: number): HostClock {
  const corrected = correctClock(clock, now)
  const isKnown = corrected.floorMs >= 0 && now - nextRequestAt(corrected) <= IDLE_RESET_MS
  if (isKnown) return corrected
  const intervalMs = Math.max(floorMs, startMs)
  return { ...corrected, intervalMs, floorMs, strikes: 0, slowedAt: intervalMs > 0 ? now : 0 }
}

/**
 * Sets the minimum interval of a host once it is known. A host that was slowed down keeps its pace. With a shorter interval, the next slot
 * moves forward to one interval after now or after the last reserved slot.
 */
export function setFloor(clock: HostClock, floorMs: number, startMs: number, now: number): HostClock {
  const corrected = openClock(clock, floorMs, startMs, now)
  const initialMs = Math.max(floorMs, startMs)
  if (floorMs === corrected.floorMs) return corrected
  // A host at its old minimum was not slowed down, so it starts again at the initial interval.
  const wasSlow = corrected.intervalMs > corrected.floorMs
  const intervalMs = wasSlow ? Math.max(corrected.intervalMs, floorMs) : initialMs
  if (intervalMs === corrected.intervalMs) return { ...corrected, floorMs }
  const change = intervalMs < corrected.intervalMs ? shorten : lengthen
  return { ...corrected, floorMs, ...change(corrected, intervalMs, now) }
}

/** Lengthens the interval after the response to a request sent at `sentAt`. */
export function slowClock(
  clock: HostClock,
  sentAt: number,
  now: number,
  { factor, maxMs = MAX_INTERVAL_MS }: { readonly factor: number; readonly maxMs?: number },
): HostClock {
  if (factor <= 1) return clock
  const intervalMs = Math.min(
    Math.max(clock.intervalMs, MIN_SLOWED_INTERVAL_MS) * factor,
    Math.max(maxMs, clock.floorMs),
  )
  if (sentAt < clock.slowedAt || intervalMs <= clock.intervalMs) return clock
  return { ...clock, ...lengthen(clock, intervalMs, now) }
}

/** A back-off of a host. */
export interface BackOff {
  /** Duration of the back-off, by the number of consecutive ones. */
  readonly holdMsOf: (strikes: number) => number
  /** Factor on the interval. @default 1 */
  readonly factor?: number
  /** Whether the request was for a page. Any other request adds a strike only if there is none yet. @default true */
  readonly isPage?: boolean
}

/** Starts a back-off. Responses to requests sent before the back-off began add no strike. */
export function backOffClock(
  clock: HostClock,
  sentAt: number,
  now: number,
  { holdMsOf, factor = 1, isPage = true }: BackOff,
): HostClock {
  const isSameBurst = sentAt <= clock.slowedAt && clock.strikes > 0
  const isCounted = isPage || clock.strikes === 0
  const strikes = isSameBurst || !isCounted ? clock.strikes : clock.strikes + 1
  const heldUntil = Math.max(clock.heldUntil, now + Math.min(holdMsOf(strikes), MAX_BACK_OFF_MS))
  if (isSameBurst) return { ...clock, heldUntil }
  const isSlowed = factor > 1 && isCounted && sentAt >= clock.slowedAt
  const longer = isSlowed ? Math.max(clock.intervalMs, MIN_SLOWED_INTERVAL_MS) * factor : clock.intervalMs
  const intervalMs = Math.min(longer, Math.max(MAX_INTERVAL_MS, clock.floorMs))
  return { ...clock, ...lengthen(clock, intervalMs, now), heldUntil, strikes }
}

/** Ends a back-off at once, because a user asks for it. The strikes stay: if the host fails again, the next back-off is longer. */
export function endBackOff(clock: HostClock, now: number): HostClock {
  return { ...clock, heldUntil: Math.min(clock.heldUntil, now) }
}

/** Shortens the interval by one step. */
export function easeClock(clock: HostClock, factor: number = EASE_FACTOR): HostClock {
  const { intervalMs, floorMs } = clock
  const next = intervalMs * factor
  return { ...clock, intervalMs: next - floorMs < MIN_STEP_MS ? floorMs : next }
}

/** An increase of the interval caused by failures. */
export interface Slowdown {
  readonly fromMs: number
  readonly toMs: number
}

/** Restores the interval from before a slow-down. An interval that has grown further since, for another reason, stays. */
export function endSlowdown(clock: HostClock, now: number, { fromMs, toMs }: Slowdown): HostClock {
  const intervalMs = Math.max(fromMs, clock.floorMs)
  if (clock.intervalMs > toMs || intervalMs >= clock.intervalMs) return clock
  return { ...clock, ...shorten(clock, intervalMs, now) }
}

/**
 * Ends the back-off of a host that responded to a request sent at `sentAt`: clears its strikes and its slow-down. A request sent before
 * the back-off began changes nothing.
 */
export function recoverClock(clock: HostClock, sentAt: number, now: number, slowdown: Slowdown | null): HostClock {
  if (sentAt <= clock.slowedAt) return clock
  return { ...(slowdown === null ? clock : endSlowdown(clock, now, slowdown)), strikes: 0 }
}

function lengthen(clock: HostClock, intervalMs: number, now: number): Partial<HostClock> {
  return { intervalMs, nextAt: Math.max(clock.nextAt, now + intervalMs), slowedAt: now }
}

function shorten(clock: HostClock, intervalMs: number, now: number): Partial<HostClock> {
  const afterLastSlot = clock.nextAt - (clock.intervalMs - intervalMs)
  return { intervalMs, nextAt: Math.min(clock.nextAt, Math.max(now + intervalMs, afterLastSlot)) }
}
