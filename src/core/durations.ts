/** Upper ends of the groups that durations are counted in, in milliseconds; a last group holds what took longer. */
export const DURATION_ENDS: readonly number[] = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000]

/** How many things took how long. */
export interface DurationCounts {
  /** Number of durations in each group of {@link DURATION_ENDS}. */
  readonly counts: readonly number[]
  /** All of them together. */
  readonly sumMs: number
}

/** The group that a duration belongs to. */
export function durationGroup(ms: number): number {
  const at = DURATION_ENDS.findIndex((end) => ms <= end)
  return at < 0 ? DURATION_ENDS.length : at
}
