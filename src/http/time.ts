/** A moment as everybody reads it. */
export function isoOf(time: number): string {
  return new Date(time).toISOString()
}

/** The same where there may be none. */
export function isoOrNull(time: number | null): string | null {
  return time === null ? null : isoOf(time)
}
