/** A timestamp in ISO 8601. */
export function isoOf(time: number): string {
  return new Date(time).toISOString()
}

/** Like {@link isoOf}, for a value that may be null. */
export function isoOrNull(time: number | null): string | null {
  return time === null ? null : isoOf(time)
}
