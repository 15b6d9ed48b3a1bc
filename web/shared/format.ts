import { writeNumber } from '../../src/core/text/count.ts'
import { writeDuration } from '../../src/core/text/duration.ts'

const DATE_TIME_FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const TIME_FORMAT = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const MINUTE_MS = 60_000

/** Formats a rate: `0`, `0.4`, `12`. */
export function writeRate(perSecond: number): string {
  if (perSecond < 0.05) return '0'
  return perSecond < 10 ? perSecond.toFixed(1) : writeNumber(Math.round(perSecond))
}

/** Formats an age: `just now`, `4m ago`, `3d ago`. */
export function writeAgo(at: number, now: number): string {
  const age = now - at
  if (age < MINUTE_MS) return 'just now'
  const [largest = ''] = writeDuration(age).split(' ')
  return `${largest} ago`
}

/** Formats a date and time in the locale of the user. */
export function writeMoment(at: number): string {
  return DATE_TIME_FORMAT.format(at)
}

/** Formats a time of day: `22:04`. */
export function writeClockTime(at: number): string {
  return TIME_FORMAT.format(at)
}
