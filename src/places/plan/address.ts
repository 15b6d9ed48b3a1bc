import { decodePart } from '../../core/url/decode-part.ts'
import { classifyUrl } from '../../core/url/page-url.ts'

/** The form of a path segment, judged by its characters alone. */
export type SegmentForm = 'word' | 'headline' | 'id' | 'number' | 'year' | 'month' | 'day'

/** One segment of a path. */
export interface Segment {
  /** As written in the address. */
  readonly raw: string
  /** Decoded, without a file extension. */
  readonly text: string
  /** `text` in lower case. */
  readonly word: string
  /** The file extension, such as `.html`, or empty. */
  readonly ending: string
  readonly form: SegmentForm
}

/** An address as the planner reads it. */
export interface Address {
  readonly url: string
  readonly origin: string
  readonly host: string
  readonly segments: readonly Segment[]
  /** Whether the path ends in a slash; always true for a path without segments. */
  readonly hasTrailingSlash: boolean
  /** Whether it has a query with more than a page number. */
  readonly hasQuery: boolean
  readonly isPagination: boolean
  /** `2024-03-05` or `2024-03` when the path contains a date. */
  readonly date: string | null
  /** The kind of page that the words of the address suggest. */
  readonly kind: 'article' | 'nav' | 'other' | 'unknown'
  /** Whether it lies below a segment for tags or authors. */
  readonly isTag: boolean
}

/** Parses a URL; undefined for one that is not http or https. */
export function parseAddress(url: string): Address | undefined {
  const parsed = URL.parse(url)
  if (parsed === null || (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')) return undefined
  const { kind, isPagination, date = null } = classifyUrl(url)
  const { pathname, search, origin, host } = parsed
  const segments = readSegments(pathname)
  return {
    ...{ url, origin, host, segments, kind, isPagination, date },
    hasTrailingSlash: pathname.endsWith('/'),
    hasQuery: search !== '' && !isPagination,
    isTag: segments.some(({ word }, i) => i < segments.length - 1 && TAG_WORDS.has(word)),
  }
}

const TAG_WORDS: ReadonlySet<string> = new Set(
  'tag tags keyword keywords label labels schlagwort schlagworte etiqueta etiquetas mot-cle author authors autor autoren'.split(
    ' ',
  ),
)

function readSegments(pathname: string): Segment[] {
  const segments: Segment[] = []
  let isInDate = false
  for (const raw of pathname.split('/')) {
    if (raw === '') continue
    const whole = raw.includes('%') ? decodePart(raw) : raw
    const dot = whole.lastIndexOf('.')
    const ending = dot > 0 && PAGE_EXTENSION.test(whole.slice(dot)) ? whole.slice(dot) : ''
    const text = ending === '' ? whole : whole.slice(0, dot)
    const word = text.toLowerCase()
    const form = formOf(word, isInDate, segments.at(-1)?.form)
    isInDate = form === 'year' || form === 'month'
    segments.push({ raw, text, word, ending, form })
  }
  return segments
}

/** File extensions of pages; any other dot is part of a name. */
const PAGE_EXTENSION = /^\.(?:html?|php|aspx?|jsp|cfm|shtml|xhtml|md)$/i
const YEAR = /^(?:19|20)\d\d$/
const WHOLE_DATE = /^(?:19|20)\d\d[-_]?[01]\d[-_]?[0-3]\d$/
const MONTH_WORD = /^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*$/
const DIGITS = /^\d+$/
/** Minimum number of words of a headline. */
const MIN_HEADLINE_WORDS = 5
const MAX_WORD_LENGTH = 60

function formOf(word: string, isInDate: boolean, before: SegmentForm | undefined): SegmentForm {
  const first = word.charCodeAt(0)
  const hasDigit = /\d/.test(word)
  if (hasDigit && first >= 0x30 && first <= 0x39) {
    if (YEAR.test(word)) return 'year'
    if (WHOLE_DATE.test(word)) return 'day'
    if (DIGITS.test(word)) {
      if (isInDate && word.length <= 2) return before === 'year' ? 'month' : 'day'
      return 'number'
    }
  }
  if (isInDate && before === 'year' && MONTH_WORD.test(word)) return 'month'
  if (hasDigit && (/\d{4}/.test(word) || /^[0-9a-f-]{16,}$/.test(word))) return 'id'
  if (word.length > MAX_WORD_LENGTH || countWords(word) >= MIN_HEADLINE_WORDS) return 'headline'
  return 'word'
}

function countWords(word: string): number {
  let count = 1
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i)
    if (code === 0x2d || code === 0x5f || code === 0x20 || code === 0x2b) count++
  }
  return count
}
