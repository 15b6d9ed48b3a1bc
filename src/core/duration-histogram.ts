/** Upper bounds of the buckets for durations, in milliseconds; a last bucket holds longer durations. */
export const DURATION_BUCKETS_MS: readonly number[] = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000,
]

/** Counts of durations by bucket, and their sum. */
export interface DurationHistogram {
  /** Number of durations in each bucket of {@link DURATION_BUCKETS_MS}, then in the last bucket. */
  readonly counts: readonly number[]
  /** Sum of all durations. */
  readonly sumMs: number
}

/** The index of the bucket for a duration. */
export function findDurationBucket(ms: number): number {
  const at = DURATION_BUCKETS_MS.findIndex((end) => ms <= end)
  return at < 0 ? DURATION_BUCKETS_MS.length : at
}
