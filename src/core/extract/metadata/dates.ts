/*
 * Parses dates as pages write them, independent of the clock, the time zone and the language of the machine. A time keeps its offset; a
 * time without an offset is ambiguous, so only its date is kept.
 */

const MAX_DATE = 100

/** A date as ISO 8601 (`2024-03-03`, `2024-03-03T10:00:00+01:00`); null for an invalid or ambiguous one. */
export function parseDate(text: string): string | null {
  if (text.length > MAX_DATE) return null
  const line = text.trim()
  return readNumeric(line) ?? readWords(line) ?? readTimestamp(line)
}

const TIME = String.raw`(?:[T\s,]+(?:at\s+)?(\d{1,2}):?(\d{2})(?::?(\d{2})(?:[.,]\d+)?)?\s*([AP]M)?\s*(.*))?$`
const YEAR_FIRST = new RegExp(String.raw`^(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})` + TIME, 'i')
const YEAR_LAST = new RegExp(String.raw`^(\d{1,2})([/.])(\d{1,2})\2(\d{4})` + TIME, 'i')

function readNumeric(line: string): string | undefined {
  const [, year, separator, month = '', day = '', ...time] = YEAR_FIRST.exec(line) ?? []
  if (year !== undefined) {
    if (separator === '' && (month.length !== 2 || day.length !== 2)) return undefined
    return writeDate(year, Number(month), Number(day), time)
  }
  const [, first, mark, second, lastYear, ...rest] = YEAR_LAST.exec(line) ?? []
  if (lastYear === undefined) return undefined
  const a = Number(first)
  const b = Number(second)
  // With dots the day comes first. With slashes the order depends on the country: it is clear if a number exceeds 12 or both are equal.
  if (mark === '.' || a > 12) return writeDate(lastYear, b, a, rest)
  return b > 12 || a === b ? writeDate(lastYear, a, b, rest) : undefined
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const MONTH = String.raw`(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?`
const WEEKDAY = String.raw`^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?`
const DAY = String.raw`(\d{1,2})(?:st|nd|rd|th)?`
/** `Sun, 03 Mar 2024 10:00:00 +0100`, `3rd of March 2024` */
const DAY_FIRST = new RegExp(String.raw`${WEEKDAY}${DAY}[\s-]+(?:of\s+)?${MONTH},?[\s-]+(\d{4})${TIME}`, 'i')
/** `March 3, 2024`, `Sun Mar 03 2024 10:00:00 GMT+0100 (CET)` */
const MONTH_FIRST = new RegExp(String.raw`${WEEKDAY}${MONTH}\s+${DAY},?\s+(\d{4})${TIME}`, 'i')

function readWords(line: string): string | undefined {
  const [, day, month, year, ...time] = DAY_FIRST.exec(line) ?? []
  if (year !== undefined) return writeDate(year, monthOf(month), Number(day), time)
  const [, firstMonth, secondDay, lastYear, ...rest] = MONTH_FIRST.exec(line) ?? []
  return lastYear === undefined ? undefined : writeDate(lastYear, monthOf(firstMonth), Number(secondDay), rest)
}

function monthOf(name: string | undefined): number {
  return MONTHS.indexOf((name ?? '').toLowerCase()) + 1
}

/** Reads a number of seconds or milliseconds since 1970. */
function readTimestamp(line: string): string | null {
  if (!/^1\d{9}(?:\d{3})?$/.test(line)) return null
  const moment = new Date(line.length === 10 ? Number(line) * 1000 : Number(line))
  return moment.toISOString().replace(/\.\d+Z$/, 'Z')
}

/** An earlier year is a default value of some program, not a date. */
const MIN_YEAR = 1500

function writeDate(
  year: string,
  month: number,
  day: number,
  [hour, minute, second = '00', meridiem, zone = '']: readonly (string | undefined)[],
): string | undefined {
  if (Number(year) < MIN_YEAR || month < 1 || month > 12 || day < 1 || day > daysIn(Number(year), month)) {
    return undefined
  }
  const date = `${year}-${padTwoDigits(month)}-${padTwoDigits(day)}`
  const offset = offsetOf(zone)
  if (hour === undefined || minute === undefined || offset === undefined) return date
  const isAfternoon = meridiem?.toLowerCase() === 'pm'
  const hours = meridiem === undefined ? Number(hour) : (Number(hour) % 12) + (isAfternoon ? 12 : 0)
  if (hours > 23 || Number(minute) > 59 || Number(second) > 60) return date
  return `${date}T${padTwoDigits(hours)}:${minute}:${second}${offset}`
}

function padTwoDigits(value: number): string {
  return String(value).padStart(2, '0')
}

function daysIn(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  if (month === 2) return isLeap ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** Offsets of UTC and of the time zones that RFC 2822 names. */
const ZONES: Readonly<Record<string, string>> = {
  z: 'Z',
  ut: 'Z',
  utc: 'Z',
  gmt: 'Z',
  est: '-05:00',
  edt: '-04:00',
  cst: '-06:00',
  cdt: '-05:00',
  mst: '-07:00',
  mdt: '-06:00',
  pst: '-08:00',
  pdt: '-07:00',
}

function offsetOf(zone: string): string | undefined {
  const plain = zone.replace(/\(.*$/, '').trim().toLowerCase()
  const [, sign, hours, minutes = '00'] = /^(?:gmt|utc)?\s*([+-])(\d{2}):?(\d{2})?$/.exec(plain) ?? []
  if (sign !== undefined) return Number(hours) > 14 || Number(minutes) > 59 ? undefined : `${sign}${hours}:${minutes}`
  return Object.hasOwn(ZONES, plain) ? ZONES[plain] : undefined
}
