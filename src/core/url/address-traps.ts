import { MONTHS } from './calendar-words.ts'
import { decodePart } from './decode-part.ts'
import { splitQuery } from './query.ts'

/** A path with more segments is a trap. */
const MAX_SEGMENTS = 30
/** No site repeats a segment, or a sequence of several, this often in a row on purpose. */
const TRAP_REPEATS = 4
const TRAP_SEQUENCE_REPEATS = 3
/** No legitimate path contains the same segment this often, even with others in between. */
const TRAP_SAME_SEGMENTS = 5

/** The reason why an address looks like part of an endless series. */
export interface AddressTrap {
  readonly reason: 'path-trap' | 'calendar-trap'
  /** The reason in words: too many segments, a repetition, or a date far away. */
  readonly pattern: string
}

/** Finds a trap in an address. Without `now`, in milliseconds since 1970, calendars are not checked. */
export function findAddressTrap(url: URL, path: string, now: number | undefined): AddressTrap | undefined {
  const repeated = findPathTrap(path)
  if (repeated !== undefined) return { reason: 'path-trap', pattern: repeated }
  const date = now === undefined ? undefined : findCalendarTrap(url, path, now)
  return date === undefined ? undefined : { reason: 'calendar-trap', pattern: date }
}

/**
 * Describes why a path looks endless: it has too many segments or repeats some too often. Relative links that lead ever deeper cause such
 * paths. Numbers may repeat, as in the coordinates of `/tiles/0/0/0/0`. Undefined for other paths.
 */
export function findPathTrap(path: string): string | undefined {
  const count = measureSegments(path)
  if (count > MAX_SEGMENTS) return `more than ${MAX_SEGMENTS} segments`
  for (let length = 1; length * trapRepeatsOf(length) <= count; length++) {
    // Equal segments have equal lengths, so this check rules out almost every path.
    if (!mayHaveRepeats(lengths, count, length)) continue
    const segments = path.split('/').slice(1)
    const end = findRepeats(segments, length)
    if (end === undefined) continue
    return `${segments.slice(end - length, end).join('/')}/ ${trapRepeatsOf(length)} times in a row`
  }
  return count >= TRAP_SAME_SEGMENTS ? findFrequentSegment(path) : undefined
}

/** A segment that occurs too often anywhere in a path, with its count. Mixed relative links cause such paths. */
function findFrequentSegment(path: string): string | undefined {
  const counts = new Map<string, number>()
  for (const segment of path.split('/')) {
    const times = (counts.get(segment) ?? 0) + 1
    if (times >= TRAP_SAME_SEGMENTS && segment !== '' && !isNumber(segment)) return `${segment}/ ${times} times`
    counts.set(segment, times)
  }
  return undefined
}

/** Lengths of the segments of the checked path. Reused, because every address that is found is checked. */
const lengths = new Int32Array(MAX_SEGMENTS)

/** Counts the segments of a path, up to one more than the limit, and measures them. */
function measureSegments(path: string): number {
  let count = 0
  let start = path.indexOf('/') + 1
  for (;;) {
    const end = path.indexOf('/', start)
    if (count < MAX_SEGMENTS) lengths[count] = (end < 0 ? path.length : end) - start
    count++
    if (end < 0 || count > MAX_SEGMENTS) return count
    start = end + 1
  }
}

function trapRepeatsOf(length: number): number {
  return length === 1 ? TRAP_REPEATS : TRAP_SEQUENCE_REPEATS
}

/** Whether a sequence of `length` segments may occur too often in a row, judged by sizes. */
function mayHaveRepeats(sizes: Int32Array, count: number, length: number): boolean {
  const needed = length * (trapRepeatsOf(length) - 1)
  let same = 0
  for (let i = length; i < count; i++) {
    same = sizes[i] === sizes[i - length] ? same + 1 : 0
    if (same >= needed) return true
  }
  return false
}

/** The index after a sequence of `length` segments that occurs too often in a row and is not only numbers. */
function findRepeats(segments: readonly string[], length: number): number | undefined {
  const needed = length * (trapRepeatsOf(length) - 1)
  let same = 0
  for (let i = length; i < segments.length; i++) {
    same = segments[i] === segments[i - length] ? same + 1 : 0
    if (same >= needed && !segments.slice(i + 1 - length, i + 1).every(isNumber)) return i + 1
  }
  return undefined
}

function isNumber(segment: string): boolean {
  return /^\d+$/.test(segment)
}

/**
 * The reason why an address is a page of an endless calendar, in words: its date is more than a year ahead, or before 1970. Only addresses
 * with a word for a calendar, or a query key for dates, count: numbers and dates occur in addresses for many reasons, and pages about the
 * past and about plans are common.
 * `now` is in milliseconds since 1970. Undefined for every other address.
 */
export function findCalendarTrap(url: URL, path: string, now: number): string | undefined {
  const { search } = url
  if (!mayBeFar(path, now) && (search === '' || !mayBeFar(search, now))) return undefined
  const names = namesOf(search)
  const isCalendar = CALENDAR_WORD.test(path) || CALENDAR_WORD.test(names)
  const isStrong = STRONG_WORD.test(path) || STRONG_WORD.test(names)
  const signs: CalendarSigns = {
    isCalendar,
    isStrong,
    mayLeadAhead: isCalendar || DATE_NAME.test(names),
    mayLeadBack: isStrong || SPAN_NAME.test(names),
  }
  if (!signs.mayLeadAhead && !signs.mayLeadBack) return undefined
  for (const date of [...listPathDates(path, isCalendar), ...listQueryDates(search, isCalendar)]) {
    const problem = describeFar(date, now, signs)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Signs of a trap in the words of an address. */
interface CalendarSigns {
  /** Whether the address has a word for a calendar or for its entries. */
  readonly isCalendar: boolean
  /** Whether the address has a word that only means a calendar. */
  readonly isStrong: boolean
  /** Whether a date far ahead would be part of an endless calendar. */
  readonly mayLeadAhead: boolean
  /** Whether a date before 1970 would be part of an endless calendar. */
  readonly mayLeadBack: boolean
}

function describeFar(date: AddressDate, now: number, signs: CalendarSigns): string | undefined {
  const { year, month, isUncertain } = date
  const today = new Date(now)
  const [thisYear, thisMonth] = [today.getUTCFullYear(), today.getUTCMonth() + 1]
  if (year > thisYear + 1 || (year === thisYear + 1 && (month ?? 0) > thisMonth)) {
    const isLikely = year <= LAST_LIKELY_YEAR || (signs.isStrong && !isUncertain)
    return isLikely && signs.mayLeadAhead ? `${writeDate(date)} is more than a year ahead` : undefined
  }
  if (year >= 1970 || (isUncertain && year < FIRST_LIKELY_YEAR) || !signs.mayLeadBack) return undefined
  return `${writeDate(date)} is before 1970`
}

/** A date in an address, which may lack its month. */
interface AddressDate {
  readonly year: number
  /** From 1. */
  readonly month?: number
  /** Whether the date may also be two unrelated numbers. */
  readonly isUncertain: boolean
}

/**
 * Whether a text may contain a date before 1970 or more than a year ahead: such a year, or a number with enough digits for a date or a
 * timestamp. Most addresses have none, and need no parsing.
 */
function mayBeFar(text: string, now: number): boolean {
  if (!FOUR_DIGITS.test(text)) return false
  // The computed year may be off by a few hours around New Year. That is harmless: in December no date of the next year is more than a
  // year ahead, and in January the exact check follows.
  const thisYear = 1970 + Math.floor(now / YEAR_MS)
  let digits = 0
  let number = 0
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - ZERO
    if (digit >= 0 && digit <= 9) {
      number = digits++ === 0 ? digit : number * 10 + digit
      continue
    }
    if (isFar(digits, number, thisYear)) return true
    digits = 0
  }
  return isFar(digits, number, thisYear)
}

function isFar(digits: number, number: number, thisYear: number): boolean {
  return digits === 4 ? number < 1970 || number > thisYear : digits >= 8 && digits <= 10
}

const FOUR_DIGITS = /\d{4}/
const ZERO = 0x30
const YEAR_MS = 365.2425 * 24 * 3_600_000

/**
 * Outside these years an uncertain date is ignored, and after them also any date in an address without a word that only means a calendar.
 * An endless calendar is still stopped, because its links advance in small steps and reach these years first.
 */
const FIRST_LIKELY_YEAR = 1900
const LAST_LIKELY_YEAR = 2199

/** A word for a calendar, as a separate word: `/kalender/`, `cal_month`, `event-date`, not `/today` or `/weekly`. */
const CALENDAR_WORD =
  /(?:^|[^a-z])(?:cal|calendars?|kalender|calendrier|calendario|kalendarz|events?|veranstaltung(?:en)?|termine?|agenda|schedule|tribe|ical|months?|monat|mois|days?|weeks?|woche)(?![a-z])/i

/** A word that only means a calendar: past events and days also have pages outside of calendars. */
const STRONG_WORD =
  /(?:^|[^a-z])(?:cal|calendars?|kalender|calendrier|calendario|kalendarz|agenda|tribe|ical)(?![a-z])/i

/** Query keys whose values are dates, or parts of one. */
const DATE_NAME =
  /[^a-z](?:year|yr|y|jahr|annee|anno|ano|months?|mon|monat|mois|mese|mes|date|datum|days?|weeks?|woche)(?![a-z])/i
/**
 * The keys above that calendars use to step from page to page. `year` and `date` are left out, because archives use them for pages about
 * the past.
 */
const SPAN_NAME = /[^a-z](?:months?|monat|mois|days?|weeks?|woche)(?![a-z])/i

/** The names of a query, without their values. */
function namesOf(search: string): string {
  return search.replace(/=[^&]*/g, '')
}

const YEAR = /^\d{4}$/
const MONTH = /^\d{1,2}$/
/** `2031-05`, `2031-05-07`, optionally followed by a time. */
const ISO_DATE = /^(\d{4})-(\d{1,2})(?:-\d{1,2})?(?:$|[T ])/
const COMPACT_DATE = /^(\d{4})(\d{2})(?:\d{2})$/
const NAMED_MONTH = /^(?:(\d{4})[-_]?([^\d\W_]{3,12})|([^\d\W_]{3,12})[-_]?(\d{4}))$/

/** Lists the dates in a path; with `isCalendar` also numbers that are dates only in a calendar. */
function listPathDates(path: string, isCalendar: boolean): AddressDate[] {
  const segments = path.split('/')
  return segments.flatMap((segment, i) => {
    const next = segments[i + 1] ?? ''
    if (YEAR.test(segment)) {
      // A number after a year is likely a month only with two digits, or in a calendar.
      const isMonth = MONTH.test(next) && (next.length === 2 || isCalendar)
      return dateOf(Number(segment), isMonth ? Number(next) : MONTHS.get(decodePart(next).toLowerCase()), true)
    }
    if (MONTH.test(segment) && YEAR.test(next) && isCalendar) return dateOf(Number(next), Number(segment), true)
    return listWrittenDates(segment, isCalendar)
  })
}

/** Dates that are written as one text: `2031-05`, and in a calendar also `20310507` and `may-2031`. */
function listWrittenDates(text: string, isCalendar: boolean): AddressDate[] {
  const iso = ISO_DATE.exec(text)
  if (iso !== null) return dateOf(Number(iso[1]), Number(iso[2]), false)
  const compact = COMPACT_DATE.exec(text)
  if (compact !== null) return isCalendar ? dateOf(Number(compact[1]), Number(compact[2]), true) : []
  const namedMonth = NAMED_MONTH.exec(decodePart(text))
  const month = namedMonth === null ? undefined : MONTHS.get((namedMonth[2] ?? namedMonth[3] ?? '').toLowerCase())
  return month !== undefined && isCalendar ? dateOf(Number(namedMonth?.[1] ?? namedMonth?.[4]), month, true) : []
}

function listQueryDates(search: string, isCalendar: boolean): AddressDate[] {
  const dates: AddressDate[] = []
  let year: number | undefined
  let month: number | undefined
  for (const pair of splitQuery(search)) {
    const equals = pair.indexOf('=')
    if (equals < 0) continue
    const name = decodePart(pair.slice(0, equals)).toLowerCase()
    const value = decodePart(pair.slice(equals + 1))
    if (YEAR.test(value)) year = YEAR_NAME.test(name) ? Number(value) : year
    else if (MONTH_NAME.test(name) && monthOf(value) !== undefined) month = monthOf(value)
    else if (SECONDS.test(value) && TIME_NAME.test(name) && isCalendar) dates.push(fromSeconds(Number(value)))
    else dates.push(...listWrittenDates(value, isCalendar))
  }
  if (year === undefined) return dates
  // Outside of calendars a year alone may select anything, such as rows of a table.
  if (month === undefined) return isCalendar ? [...dates, { year, isUncertain: true }] : dates
  return [...dates, ...dateOf(year, month, false)]
}

function monthOf(text: string): number | undefined {
  return MONTH.test(text) ? Number(text) : MONTHS.get(text.toLowerCase())
}

const YEAR_NAME = /^(?:.*[^a-z])?(?:year|yr|y|jahr|annee|année|anno|ano|año)$/
const MONTH_NAME = /^(?:.*[^a-z])?(?:month|mon|mo|m|monat|mois|mese|mes)$/
const TIME_NAME = /^(?:.*[^a-z])?(?:time|timestamp|ts|date|start|cal_d|day)$/
/** Timestamps between 1653 and 2286, except near 1970, where every small number would count. */
const SECONDS = /^-?\d{9,10}$/

function fromSeconds(seconds: number): AddressDate {
  const date = new Date(seconds * 1000)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, isUncertain: false }
}

/** The date, if the month is valid. */
function dateOf(year: number, month: number | undefined, isUncertain: boolean): AddressDate[] {
  return month !== undefined && month >= 1 && month <= 12 ? [{ year, month, isUncertain }] : []
}

function writeDate({ year, month }: AddressDate): string {
  const text = String(year).padStart(4, '0')
  return month === undefined ? text : `${text}-${String(month).padStart(2, '0')}`
}
