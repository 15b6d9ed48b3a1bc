/** When a host is free, and the pause it wants after each request. */
export interface HostClock {
  /** When the next slot begins. */
  readonly nextAt: number
  readonly intervalMs: number
}

/** Nobody reserves slots this far ahead. */
export const ASTRAY_MS = 3_600_000

/** A clock as it is to be read: one that points further ahead than anybody reserves was written by a clock that was wrong. */
export function mendClock(clock: HostClock, now: number): HostClock {
  return clock.nextAt - now > ASTRAY_MS ? { ...clock, nextAt: now } : clock
}

/** A clock with another pause. With a shorter one the host is free no later than that pause from now. */
export function lowerClock(clock: HostClock, intervalMs: number, now: number): HostClock {
  const { nextAt } = mendClock(clock, now)
  return { nextAt: intervalMs < clock.intervalMs ? Math.min(nextAt, now + intervalMs) : nextAt, intervalMs }
}
