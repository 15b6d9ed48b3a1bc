/**
 * When a host may be asked, and how often. There is one record of a host, for everybody who asks it; what follows is all that ever
 * changes it.
 */
export interface HostClock {
  /** When the next slot begins. */
  readonly nextAt: number
  /** Pause after each request, as it is now. */
  readonly intervalMs: number
  /** The shortest pause it may have: ours, or what its robots.txt asks for; less than 0 while nobody has said so. */
  readonly floorMs: number
  /** No slot begins before: the host asked to be left alone, or kept failing. */
  readonly heldUntil: number
  /** Since when it is as slow as it is. Answers to what was asked before say nothing new, and slots from before are void. */
  readonly slowedAt: number
  /** How often in a row it had to be left alone. */
  readonly strikes: number
}

/** The clock of a host that nobody has asked yet. */
export const FREE_CLOCK: HostClock = { nextAt: 0, intervalMs: 0, floorMs: -1, heldUntil: 0, slowedAt: 0, strikes: 0 }

/** The longest pause between two requests that a host is granted, or gets because it struggles. */
export const MOST_INTERVAL_MS = 60_000
/** Nobody reserves slots this far ahead, not even behind the longest time for which a host that failed is left alone. */
export const ASTRAY_MS = 1_200_000
/** Nobody is left alone for longer. */
export const MOST_HOLD_MS = 86_400_000
/** A host that was not asked for so long is met like a new one. */
const FORGOTTEN_MS = 3_600_000
/** A pause that grows has at least this length before it does. */
const LEAST_SLOW_MS = 125
/** Each step towards the shortest pause, unless a larger one is asked for; the last one is not drawn out. */
const EASE = 0.8
const LEAST_STEP_MS = 20

/** A clock as it is to be read: what points further ahead than anybody reserves was written by a clock that was wrong. */
export function mendClock(clock: HostClock, now: number): HostClock {
  const isAstray = clock.nextAt - now > ASTRAY_MS
  const isHeldAstray = clock.heldUntil - now > MOST_HOLD_MS
  const isSlowedAstray = clock.slowedAt - now > ASTRAY_MS
  if (!isAstray && !isHeldAstray && !isSlowedAstray) return clock
  return {
    ...clock,
    nextAt: isAstray ? now : clock.nextAt,
    heldUntil: isHeldAstray ? now : clock.heldUntil,
    slowedAt: isSlowedAstray ? now : clock.slowedAt,
  }
}

/** The earliest moment at which a host may be asked; it may be past. */
export function opensAt({ nextAt, heldUntil }: HostClock): number {
  return Math.max(nextAt, heldUntil)
}

/** Takes the next slot. The one after it begins a pause and the jitter later. */
export function takeSlot(clock: HostClock, now: number, jitterMs = 0): { slot: number; clock: HostClock } {
  const mended = mendClock(clock, now)
  const slot = Math.max(now, opensAt(mended))
  const pause = mended.intervalMs > 0 ? mended.intervalMs + jitterMs : 0
  return { slot, clock: { ...mended, nextAt: slot + pause } }
}

/**
 * Takes another slot instead of one that has passed. That is now where nobody has taken one after it; otherwise the next that is
 * free, because those who have theirs rely on the pause before it. `mostJitterMs` is what the pause after the one that has passed may have had
 * on top.
 */
export function retakeSlot(
  clock: HostClock,
  passed: number,
  now: number,
  jitterMs: number,
  mostJitterMs: number,
): { slot: number; clock: HostClock } {
  const mended = mendClock(clock, now)
  const isLast = mended.nextAt <= passed + mended.intervalMs + mostJitterMs
  return takeSlot(isLast ? { ...mended, nextAt: passed } : mended, now, jitterMs)
}

/** Meets a host: a new one begins gently, at `startMs`; one that is known goes on as it is. */
export function openClock(clock: HostClock, floorMs: number, startMs: number, now: number): HostClock {
  const mended = mendClock(clock, now)
  const isKnown = mended.floorMs >= 0 && now - opensAt(mended) <= FORGOTTEN_MS
  if (isKnown) return mended
  const intervalMs = Math.max(floorMs, startMs)
  return { ...mended, intervalMs, floorMs, strikes: 0, slowedAt: intervalMs > 0 ? now : 0 }
}

/**
 * Sets the shortest pause of a host, once it is known what it wants. One that had to be slowed down keeps its pace. With a shorter
 * pause it is free no later than that pause from now, or from the last slot that somebody has.
 */
export function setFloor(clock: HostClock, floorMs: number, startMs: number, now: number): HostClock {
  const mended = openClock(clock, floorMs, startMs, now)
  const gentle = Math.max(floorMs, startMs)
  if (floorMs === mended.floorMs) return mended
  // At its shortest pause it was as quick as it might be: there it begins anew.
  const wasSlow = mended.intervalMs > mended.floorMs
  const intervalMs = wasSlow ? Math.max(mended.intervalMs, floorMs) : gentle
  if (intervalMs === mended.intervalMs) return { ...mended, floorMs }
  const change = intervalMs < mended.intervalMs ? shorten : lengthen
  return { ...mended, floorMs, ...change(mended, intervalMs, now) }
}

/** Makes the pause longer because of the answer to something asked at `askedAt`. */
export function slowClock(
  clock: HostClock,
  askedAt: number,
  now: number,
  { factor, mostMs = MOST_INTERVAL_MS }: { readonly factor: number; readonly mostMs?: number },
): HostClock {
  if (factor <= 1) return clock
  const intervalMs = Math.min(Math.max(clock.intervalMs, LEAST_SLOW_MS) * factor, Math.max(mostMs, clock.floorMs))
  if (askedAt < clock.slowedAt || intervalMs <= clock.intervalMs) return clock
  return { ...clock, ...lengthen(clock, intervalMs, now) }
}

/** How a host is left alone. */
export interface Hold {
  /** How long, by how often in a row it had to be. */
  readonly holdMsOf: (strikes: number) => number
  /** How much longer its pause gets. @default 1 */
  readonly factor?: number
  /** Whether it was a page that was asked for: further lists are no further strike. @default true */
  readonly isPage?: boolean
}

/** Leaves a host alone. Those who asked it before it was told to be left alone are no further strike. */
export function holdClock(
  clock: HostClock,
  askedAt: number,
  now: number,
  { holdMsOf, factor = 1, isPage = true }: Hold,
): HostClock {
  const isSameBurst = askedAt <= clock.slowedAt && clock.strikes > 0
  const isCounted = isPage || clock.strikes === 0
  const strikes = isSameBurst || !isCounted ? clock.strikes : clock.strikes + 1
  const heldUntil = Math.max(clock.heldUntil, now + Math.min(holdMsOf(strikes), MOST_HOLD_MS))
  if (isSameBurst) return { ...clock, heldUntil }
  const isSlowed = factor > 1 && isCounted && askedAt >= clock.slowedAt
  const longer = isSlowed ? Math.max(clock.intervalMs, LEAST_SLOW_MS) * factor : clock.intervalMs
  const intervalMs = Math.min(longer, Math.max(MOST_INTERVAL_MS, clock.floorMs))
  return { ...clock, ...lengthen(clock, intervalMs, now), heldUntil, strikes }
}

/** Makes the pause a step shorter. */
export function easeClock(clock: HostClock, factor: number = EASE): HostClock {
  const { intervalMs, floorMs } = clock
  const next = intervalMs * factor
  return { ...clock, intervalMs: next - floorMs < LEAST_STEP_MS ? floorMs : next }
}

/** A pause that failures made longer. */
export interface Slowdown {
  readonly fromMs: number
  readonly toMs: number
}

/** Makes a pause as short again as it was before a slow-down. One that has grown further since, for another reason, stays. */
export function endSlowdown(clock: HostClock, now: number, { fromMs, toMs }: Slowdown): HostClock {
  const intervalMs = Math.max(fromMs, clock.floorMs)
  if (clock.intervalMs > toMs || intervalMs >= clock.intervalMs) return clock
  return { ...clock, ...shorten(clock, intervalMs, now) }
}

/**
 * Ends the back-off of a host that answered a request sent at `askedAt`: no strikes are left, and the slow-down is over. An answer to a
 * request sent before the back-off began ends nothing.
 */
export function recoverClock(clock: HostClock, askedAt: number, now: number, slowdown: Slowdown | null): HostClock {
  if (askedAt <= clock.slowedAt) return clock
  return { ...(slowdown === null ? clock : endSlowdown(clock, now, slowdown)), strikes: 0 }
}

function lengthen(clock: HostClock, intervalMs: number, now: number): Partial<HostClock> {
  return { intervalMs, nextAt: Math.max(clock.nextAt, now + intervalMs), slowedAt: now }
}

function shorten(clock: HostClock, intervalMs: number, now: number): Partial<HostClock> {
  const behindLast = clock.nextAt - (clock.intervalMs - intervalMs)
  return { intervalMs, nextAt: Math.min(clock.nextAt, Math.max(now + intervalMs, behindLast)) }
}
