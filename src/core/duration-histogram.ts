/** Upper bounds of the groups for durations, in milliseconds; a last group holds longer ones. */
export const DURATION_BUCKETS_MS: readonly number[] = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000,
]

/** Counts of durations by group, and their sum. */
export interface DurationHistogram {
  /** Number of durations in each group of {@link DURATION_BUCKETS_MS}. */
  readonly counts: readonly number[]
  /** Sum of all durations. */
  readonly sumMs: number
}

/** The group of a duration. */
export function findDurationBucket(ms: number): number {
  const at = DURATION_BUCKETS_MS.findIndex((end) => ms <= end)
  return at < 0 ? DURATION_BUCKETS_MS.length : at
}
