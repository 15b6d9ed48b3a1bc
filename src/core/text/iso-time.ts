/** A time as ISO text. */
export function isoOf(time: number): string {
  return new Date(time).toISOString()
}

/** A time as ISO text; null if there is none. */
export function isoOrNull(time: number | null): string | null {
  return time === null ? null : isoOf(time)
}

/** A time as ISO text without the milliseconds, for readers. */
export function writeTime(time: number): string {
  return `${isoOf(time).slice(0, -'.000Z'.length)}Z`
}
