import { writeDuration } from '../../src/core/text/duration.ts'

const NUMBER = new Intl.NumberFormat('en')
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const MINUTE = 60_000

/** `12,345`. */
export function writeCount(count: number): string {
  return NUMBER.format(count)
}

/** `1 page`, `12 pages`. */
export function countOf(count: number, noun: string): string {
  return `${writeCount(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** `0`, `0.4`, `12`: enough to see how fast it goes. */
export function writeRate(perSecond: number): string {
  if (perSecond < 0.05) return '0'
  return perSecond < 10 ? perSecond.toFixed(1) : NUMBER.format(Math.round(perSecond))
}

/** `820 B`, `4.2 MB`. */
export function writeBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

/** How long ago something was: `just now`, `4m ago`, `3d ago`. */
export function writeAgo(at: number, now: number): string {
  const age = now - at
  if (age < MINUTE) return 'just now'
  const [largest = ''] = writeDuration(age).split(' ')
  return `${largest} ago`
}

/** Date and time as people here write them. */
export function writeMoment(at: number): string {
  return MOMENT.format(at)
}

/** How long something took or takes: `4s`, `3m 12s`. */
export function writeSpan(ms: number): string {
  return writeDuration(Math.floor(Math.max(0, ms) / 1000) * 1000)
}
