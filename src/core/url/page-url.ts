import type { PageClass } from '../model.ts'
import { MONTHS } from './calendar-words.ts'
import { decodePart } from './decode-part.ts'
import { splitQuery } from './query.ts'

/** What the address of a page suggests about the page. */
export interface PageUrl {
  /** The likeliest class of the page; `unknown` if the address gives no sign. */
  readonly kind: PageClass | 'unknown'
  /** Whether the address is one page of a paginated list: `?page=2`, `/page/2`, `-p2`. */
  readonly isPagination: boolean
  /** Whether the address names a day or a month, as addresses of news and archives do. */
  readonly hasDate: boolean
  /** The date in the address, as precise as it is given: `2024-03-05`, `2024-03`. */
  readonly date?: string
  /** Whether the address contains a headline, or is under a word for articles. */
  readonly hasArticleWords: boolean
  /** The segments of the path that are not empty, decoded and in lower case. */
  readonly segments: readonly string[]
}

/** Classifies an absolute address by its words. It runs for every link of every page, so the address is only split, not parsed. */
export function classifyUrl(address: string): PageUrl {
  const { host, path, search } = cutAddress(address)
  const segments = segmentsOf(path)
  const isPagination = hasPageNumber(path, search)
  const date = findDate(INDEX.test(segments.at(-1) ?? '') ? segments.slice(0, -1) : segments)
  const hasArticleWords = date?.rest !== 0 && (hasHeadline(segments) || hasArticleWord(segments))
  return {
    kind: kindOf({ host, segments, search, isPagination, date, hasArticleWords }),
    isPagination,
    hasDate: date !== undefined,
    ...(date === undefined ? {} : { date: date.text }),
    hasArticleWords,
    segments,
  }
}

/** Whether an address most likely leads to an article. Faster than `classifyUrl`, since most links are too short for an article. */
export function isArticleUrl(address: string): boolean {
  return mayBeArticle(address) && classifyUrl(address).kind === 'article'
}

/** Whether an address has four digits in a row, as a year has, or a segment of three words. */
function mayBeArticle(address: string): boolean {
  let separators = 0
  let digits = 0
  for (let i = address.indexOf('//') + 2; i < address.length; i++) {
    const unit = address.charCodeAt(i)
    digits = unit >= ZERO && unit <= NINE ? digits + 1 : 0
    if (unit === SLASH) separators = 0
    else if (unit === HYPHEN || unit === UNDERSCORE) separators++
    if (separators >= 2 || digits >= 4) return true
  }
  return false
}

/** The address of the first page of a paginated list; any other address is returned unchanged. */
export function foldPagination(address: string): string {
  const { origin, path, search } = cutAddress(address)
  if (!hasPageNumber(path, search)) return address
  const kept = splitQuery(search).filter((pair) => !isPagePair(pair, path))
  const folded = path.replace(PAGE_PATH, '$1').replace(PAGE_SUFFIX, '$1')
  return `${origin}${folded === '' ? '/' : folded}${kept.length === 0 ? '' : `?${kept.join('&')}`}`
}

/** The parts of an absolute address. */
interface AddressParts {
  readonly origin: string
  readonly host: string
  readonly path: string
  /** With its `?`; '' if there is none. */
  readonly search: string
}

function cutAddress(address: string): AddressParts {
  const hash = address.indexOf('#')
  const end = hash < 0 ? address.length : hash
  const scheme = address.indexOf('//')
  const hostStart = scheme < 0 ? 0 : scheme + 2
  let pathStart = address.indexOf('/', hostStart)
  let query = address.indexOf('?', hostStart)
  if (query < 0 || query > end) query = end
  if (pathStart < 0 || pathStart > query) pathStart = query
  return {
    origin: address.slice(0, pathStart),
    host: address.slice(hostStart, pathStart),
    path: address.slice(pathStart, query),
    search: address.slice(query, end),
  }
}

function segmentsOf(path: string): string[] {
  const segments: string[] = []
  for (const segment of path.split('/')) if (segment !== '') segments.push(decodePart(segment).toLowerCase())
  return segments
}

/** The parsed parts and signs of an address. */
interface UrlFeatures {
  readonly host: string
  readonly segments: readonly string[]
  readonly search: string
  readonly isPagination: boolean
  readonly date: PathDate | undefined
  readonly hasArticleWords: boolean
}

function kindOf({ host, segments, search, isPagination, date, hasArticleWords }: UrlFeatures): PageUrl['kind'] {
  const last = segments.at(-1) ?? ''
  const isFront = segments.length === 0 || (segments.length === 1 && INDEX.test(last))
  if (isFront && (search === '' || isPagination)) return OTHER_HOST.test(host) ? 'unknown' : 'nav'
  if (OTHER_HOST.test(host) || isThread(segments, search) || segments.some(isOtherWord)) return 'other'
  if (isPagination) return 'nav'
  if (date !== undefined && date.rest > 0) return 'article'
  const isListed = LIST_WORDS.has(segments[0] ?? '') || LIST_WORDS.has(segments.at(-2) ?? '') || LIST_WORDS.has(last)
  if (date !== undefined || isListed || YEAR.test(last)) return 'nav'
  if (hasArticleWords) return 'article'
  return SITE_PAGE_WORDS.has(last) ? 'other' : 'unknown'
}

/** Names of the default page of a folder. */
const INDEX = /^(?:index|default|home)(?:\.[a-z]{3,5})?$/

/** Words in the addresses of lists: as the first segment, the last, or the one before the last. */
const LIST_WORDS: ReadonlySet<string> = new Set(
  `tag tags category categories cat topic topics section sections archive archives author authors latest list lists all
  collections`.split(/\s+/),
)

/** Hosts of manuals, forums and wikis. */
const OTHER_HOST =
  /^(?:docs?|documentation|developers?|devdocs|api|forums?|community|discuss(?:ions?)?|boards?|bbs|wiki|manual|man|help|support)\./

/** Words of manuals, forums and wikis, at any position in a path. */
const OTHER_WORDS: ReadonlySet<string> = new Set(
  `docs doc documentation reference api apidocs javadoc handbook man-pages manpages wiki manual manuals userguide
  forum forums thread threads showthread.php viewtopic.php viewthread questions discussion discussions
  search login signin sign-in signup sign-up register account cart checkout`.split(/\s+/),
)

function isOtherWord(segment: string): boolean {
  return OTHER_WORDS.has(segment)
}

/** Words of pages that a site has about itself, as the last segment of a path. */
const SITE_PAGE_WORDS: ReadonlySet<string> = new Set(
  `about about-us contact contact-us privacy privacy-policy terms terms-of-use terms-of-service cookies cookie-policy
  imprint impressum legal subscribe newsletter newsletters careers jobs accessibility faq help advertise
  advertising feed rss sitemap`.split(/\s+/),
)

/** `/t/slug/123` of Discourse, `/topic/123-slug` of Invision and NodeBB, `/r/name/comments/…`, `/d/123-slug`, `?topic=5.0` */
function isThread(segments: readonly string[], search: string): boolean {
  for (let i = 0; i + 1 < segments.length; i++) {
    const next = segments[i + 1] ?? ''
    switch (segments[i]) {
      case 't':
        return NUMBER.test(segments[i + 2] ?? '')
      case 'topic':
      case 'd':
        return NUMBERED.test(next)
      case 'r':
        return segments[i + 2] === 'comments'
    }
  }
  return search !== '' && TOPIC_QUERY.test(search)
}

const NUMBER = /^\d+$/
const NUMBERED = /^\d+(?:-|$)/
const TOPIC_QUERY = /[?&](?:topic|tid|showtopic)=\d|^\?\/topic\//

/** Words for one article: the next segment is its name. */
const SINGLE_ARTICLE_WORDS: ReadonlySet<string> = new Set(['article', 'story', 'post', 'press-release', 'editorial'])

/** Words in the paths of articles, and of lists of articles as well. */
const ARTICLE_WORDS: ReadonlySet<string> = new Set(
  `articles stories news blog blogs posts opinion comment feature features press press-releases releases insights guides
  newsroom`.split(/\s+/),
)

/** Whether the last segment is under a word for one article, or under a word for articles and longer than the name of a section. */
function hasArticleWord(segments: readonly string[]): boolean {
  const last = segments.at(-1) ?? ''
  const isNamed = ID.test(last) || countWords(last) >= 3
  for (let i = 0; i + 1 < segments.length; i++) {
    const segment = segments[i] ?? ''
    if (SINGLE_ARTICLE_WORDS.has(segment) || (isNamed && ARTICLE_WORDS.has(segment))) return true
  }
  return false
}

/** Whether the last segment, or the segment before a final number, has as many words as a headline. */
function hasHeadline(segments: readonly string[]): boolean {
  const last = segments.at(-1) ?? ''
  const slug = ID.test(last) ? (segments.at(-2) ?? '') : last
  const words = countWords(slug)
  // A long number at the end is typical of article ids.
  return words >= HEADLINE_WORDS || (words >= 3 && (slug !== last || LONG_ID.test(last)))
}

const HEADLINE_WORDS = 5
const ID = /^[a-z]{0,4}\d{4,}(?:\.[a-z]{3,5})?$/
const LONG_ID = /[-_]\w{0,4}\d{5,}(?:\.[a-z]{3,5})?$/

function countWords(slug: string): number {
  let words = slug === '' ? 0 : 1
  for (let i = 1; i + 1 < slug.length; i++) {
    const unit = slug.charCodeAt(i)
    if (unit === HYPHEN || unit === UNDERSCORE) words++
  }
  return words
}

const HYPHEN = 0x2d
const SLASH = 0x2f
const ZERO = 0x30
const NINE = 0x39
const UNDERSCORE = 0x5f

/** A date in a path. */
interface PathDate {
  readonly text: string
  /** Number of segments after the date, plus one if its segment has more text; 0 if the date is the whole target. */
  readonly rest: number
}

function findDate(segments: readonly string[]): PathDate | undefined {
  for (let i = 0; i < segments.length; i++) {
    const segment = segments[i] ?? ''
    if (!HAS_YEAR.test(segment)) continue
    const written = WRITTEN_DATE.exec(segment)
    const whole = written === null ? undefined : writeDate(written[1], Number(written[3]), Number(written[4]))
    if (written !== null && whole !== undefined) {
      const isAlone = written[0].length >= segment.replace(ENDING, '').length
      return { text: whole, rest: segments.length - i - (isAlone ? 1 : 0) }
    }
    const month = YEAR.test(segment) ? monthOf(segments[i + 1] ?? '') : undefined
    if (month === undefined) continue
    const day = DAY.test(segments[i + 2] ?? '') ? Number(segments[i + 2]) : undefined
    const text = writeDate(segment, month, day)
    if (text !== undefined) return { text, rest: segments.length - i - (text.length === MONTH_UNITS ? 2 : 3) }
  }
  return undefined
}

const HAS_YEAR = /(?:19|20)\d\d/
const YEAR = /^(?:19|20)\d\d$/
const DAY = /^\d{1,2}$/
const ENDING = /\.[a-z]{3,5}$/
/** `2024-03-05`, `20240305`, `2024-03-05-headline`, `headline-2024-03-05` */
const WRITTEN_DATE = /(?<!\d)((?:19|20)\d\d)([-_]?)(\d\d)\2(\d\d)(?!\d)/
const MONTH_UNITS = '2024-03'.length

function monthOf(segment: string): number | undefined {
  return DAY.test(segment) ? Number(segment) : MONTHS.get(segment)
}

/** Writes a date, without the day if that is invalid; undefined for an invalid month. */
function writeDate(year = '', month = 0, day = 0): string | undefined {
  if (month < 1 || month > 12) return undefined
  const head = `${year}-${String(month).padStart(2, '0')}`
  return day >= 1 && day <= 31 ? `${head}-${String(day).padStart(2, '0')}` : head
}

function hasPageNumber(path: string, search: string): boolean {
  if (search !== '' && splitQuery(search).some((pair) => isPagePair(pair, path))) return true
  return ENDS_IN_NUMBER.test(path) && (PAGE_PATH.test(path) || PAGE_SUFFIX.test(path))
}

/** Whether a query pair is a page number. At the root of a site `p` is the number of an article, as in WordPress. */
function isPagePair(pair: string, path: string): boolean {
  return PAGE_PAIR.test(pair) && !(path.length <= 1 && pair.startsWith('p='))
}

const PAGE_PAIR = /^(?:page|paged|pagina|seite|pg|p|pageno|page_?num(?:ber)?|currentpage)=\d{1,6}$/i
/** A fast check that excludes almost all addresses. */
const ENDS_IN_NUMBER = /\d(?:\.[a-z]{3,5})?\/?$/i
/** `/page/2`, `/p/2`, `/page-2`, `/page2.html`, `/seite/2/` */
const PAGE_PATH = /\/(?:(?:page|pagina|seite)[-_/]?\d{1,5}|(?:p|pg)\/?\d{1,4})(?:\.[a-z]{3,5})?(\/?)$/i
/** `europe-p2`, `europe_page_3`, `europe-page-3.html` */
const PAGE_SUFFIX = /[-_](?:p|page[-_]?)\d{1,4}((?:\.[a-z]{3,5})?\/?)$/i
