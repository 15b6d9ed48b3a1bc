import { compareUtf8 } from '../../core/text/order.ts'
import { DAY_WORDS, MONTHS } from '../../core/url/calendar-words.ts'

/**
 * A shape is a pattern of addresses that differ only in numbers, query values, repeated folders or a foreign host name (see `shapeOf`). It
 * becomes a trap after this many consecutive identical pages.
 */
const MIN_IDENTICAL_PAGES = 25
/** Number of consecutive pages that make their shape a trap if they are empty or differ only in numbers. */
const MIN_SIMILAR_PAGES = 50
/** Both limits are multiplied by this factor once a page of the shape has differed. */
const CAUTION_FACTOR = 4
/** A shape whose pages changed more often than this is never a trap. */
const MAX_CHANGES = 10
/**
 * Pages that differ only in numbers may be the numbered pages of a finite list, which are all at the same depth. An endless sequence links
 * from page to page, so it spans at least this many depths; where a query varies, fewer are enough.
 */
const MIN_DEPTHS = 10
const MIN_QUERY_DEPTHS = 2
/** Limits of remembered shapes, and of shapes known only to be diverse; the oldest are evicted first. */
const MAX_SHAPES = 2000
const MAX_DIVERSE = 500_000
/** Maximum number of characters and links of a page that are compared. */
const MAX_TEXT = 200_000
const MAX_LINKS = 2000

/** The current run of consecutive similar pages of one shape. */
interface SimilarRun {
  pages: number
  /** Whether the pages are identical, including their numbers. */
  isSame: boolean
  readonly isEmpty: boolean
  readonly first: Fingerprint
  readonly depths: Set<number>
  /** How often a page differed from the ones before. */
  readonly changes: number
}

/** Hashes for comparing pages: `whole` is equal for identical pages, `form` for pages that differ only in numbers and dates. */
interface Fingerprint {
  readonly whole: number
  readonly form: number
}

/** The parts of a page that are compared. */
export interface PageContent {
  /** Empty if the response has no content. */
  readonly text: string
  /** Absolute addresses. */
  readonly links: readonly string[]
}

/**
 * Detects, within one run, that a site repeats its content under endless addresses. Addresses that differ only in numbers, query values,
 * repeated folders or the name of a foreign host have one shape. Once enough consecutive pages of a shape do not differ, the rest of the
 * shape is a trap. If a page has differed before, as months with events do in a calendar, more pages are needed. A reference with thousands
 * of small pages is no trap, because their words or the names of their links differ. The order of the responses affects only which pages of
 * a trap are read.
 */
export class ContentTraps {
  readonly #hosts: ReadonlySet<string>
  /** The current run of each shape. */
  readonly #runs = new Map<string, SimilarRun>()
  readonly #traps = new Set<string>()
  /** Hashes of shapes whose pages differ. */
  readonly #diverse = new Set<number>()

  /** `hosts` are the hosts of the site with their ports; the caller may add more later. */
  constructor(hosts: ReadonlySet<string>) {
    this.#hosts = hosts
  }

  /** Records the content of an address; `depth` is its distance from the start in links. */
  note(url: string, depth: number, content: PageContent): void {
    const name = shapeOf(url, this.#hosts)
    if (name === undefined || this.#traps.has(name) || this.#diverse.has(hashOf(name))) return
    const host = hostOf(url)
    const found = fingerprint(content, this.#hosts.has(host) ? undefined : shapeOfHost(host))
    const known = this.#runs.get(name)
    const isChange = known !== undefined && found.form !== known.first.form
    const changes = (known?.changes ?? 0) + (isChange ? 1 : 0)
    this.#runs.delete(name)
    if (changes > MAX_CHANGES) {
      this.#diverse.add(hashOf(name))
      forgetOldest(this.#diverse, MAX_DIVERSE)
      return
    }
    const run = isChange || known === undefined ? startRun(found, changes, content.text === '') : known
    run.pages++
    run.isSame &&= found.whole === run.first.whole
    if (run.depths.size < MIN_DEPTHS) run.depths.add(depth)
    if (isTrap(name, run)) {
      this.#traps.add(name)
      forgetOldest(this.#traps, MAX_SHAPES)
      return
    }
    this.#runs.set(name, run)
    forgetOldest(this.#runs, MAX_SHAPES)
  }

  /** Returns the shape of an address if it is a trap. */
  find(url: string): string | undefined {
    if (this.#traps.size === 0) return undefined
    const name = shapeOf(url, this.#hosts)
    return name !== undefined && this.#traps.has(name) ? name : undefined
  }
}

function startRun(first: Fingerprint, changes: number, isEmpty: boolean): SimilarRun {
  return { pages: 0, isSame: true, isEmpty, first, depths: new Set(), changes }
}

function isTrap(name: string, { pages, isSame, isEmpty, depths, changes }: SimilarRun): boolean {
  const caution = changes === 0 ? 1 : CAUTION_FACTOR
  if (isSame) return pages >= (isEmpty ? MIN_SIMILAR_PAGES : MIN_IDENTICAL_PAGES) * caution
  const minDepths = name.includes('?') ? MIN_QUERY_DEPTHS : MIN_DEPTHS
  return pages >= MIN_SIMILAR_PAGES * caution && depths.size >= minDepths
}

function forgetOldest<T>(
  remembered: { readonly size: number; keys(): Iterator<T>; delete(key: T): boolean },
  maxSize: number,
) {
  if (remembered.size <= maxSize) return
  const oldest = remembered.keys().next()
  if (oldest.done !== true) remembered.delete(oldest.value)
}

/**
 * Returns the shape that an address shares with others: `docs.example/list/#?page=*` for `https://docs.example/list/7?page=2`, and
 * `*.docs.example/` for `https://k3j9.docs.example/` if that is no host of the site. Undefined if nothing in the address varies. A version
 * segment is not replaced by `#`: otherwise the index pages of several versions could become a trap, and they are the only way to the pages
 * of their versions.
 */
export function shapeOf(url: string, hosts: ReadonlySet<string>): string | undefined {
  const start = url.indexOf('//') + 2
  const query = url.indexOf('?', start)
  const address = query < 0 ? url.slice(start) : url.slice(start, query)
  const [name = '', ...segments] = address.split('/')
  const host = hosts.has(name) ? name : shapeOfHost(name)
  const names = segments.map((segment) => (DIGIT.test(segment) && !VERSION.test(segment) ? '#' : segment))
  const path = writePath(names)
  const search = query < 0 ? '' : shapeOfQuery(url.slice(query + 1))
  const isVaried = host !== name || search !== '' || path.endsWith(REPEATED_SUFFIX) || names.includes('#')
  return isVaried ? `${host}/${path}${search}` : undefined
}

const DIGIT = /\d/
/** Matches `v2`, `1.2`, `v1.2.3-rc.1`, `release-2.0`, but not a plain number, which may be anything. */
const VERSION = /^(?:v\d+|(?:[a-z]+-)?v?\d+(?:\.(?:\d+|x))+(?:[-.+]?[a-z]+[.\d]*)?)$/i
/** Suffix of a path with a repeated folder. */
const REPEATED_SUFFIX = '…'

/** The host of an absolute address, with its port. */
function hostOf(url: string): string {
  const start = url.indexOf('//') + 2
  const end = url.indexOf('/', start)
  return end < 0 ? url.slice(start) : url.slice(start, end)
}

/** The shape of a host, with a wildcard for the subdomain. An IP address, or a name without a dot, has no subdomain. */
function shapeOfHost(host: string): string {
  const dot = host.indexOf('.')
  return dot < 0 || IP_ADDRESS.test(host) ? host : `*${host.slice(dot)}`
}

const IP_ADDRESS = /^(?:\d+(?:\.\d+){3}(?::\d+)?$|\[)/

/** Writes a path. A path with a repeated folder is reduced to the sorted set of its folders. */
function writePath(names: readonly string[]): string {
  const words = names.filter((name) => name !== '' && name !== '#')
  const known = new Set(words)
  return known.size === words.length ? names.join('/') : `{${[...known].sort(compareUtf8).join(',')}}${REPEATED_SUFFIX}`
}

function shapeOfQuery(query: string): string {
  const keys = query.split('&').map((pair) => {
    const equals = pair.indexOf('=')
    const name = equals < 0 ? pair : pair.slice(0, equals)
    return `${DIGIT.test(name) ? '#' : name}${equals < 0 ? '' : '=*'}`
  })
  return `?${keys.join('&')}`
}

/**
 * Returns the fingerprint of a page. Of each link target, only words without digits count; date words and query values are ignored, and so
 * is a host with the shape `hostShape`.
 */
function fingerprint({ text, links }: PageContent, hostShape: string | undefined): Fingerprint {
  let whole = OFFSET
  let form = OFFSET
  scanWords(text.slice(0, MAX_TEXT).replace(ADDRESS, ' '), (word, isVariable) => {
    whole = mix(whole, word)
    if (!isVariable) form = mix(form, word)
  })
  const words = new Set<number>()
  for (const link of links.slice(0, MAX_LINKS)) {
    const host = hostShape === undefined ? undefined : hostOf(link)
    const compared =
      host !== undefined && shapeOfHost(host) === hostShape ? link.slice(link.indexOf(host) + host.length) : link
    scanWords(compared.replace(VALUE, ' '), (word, isVariable) => {
      if (!isVariable) words.add(word)
    })
  }
  let names = 0
  for (const word of words) names = (names + word) >>> 0
  return { whole: join(whole, names), form: join(form, names) }
}

const ADDRESS = /https?:\/\/[^\s<>()]*/g
const VALUE = /=[^&]*/g

/**
 * Calls `visit` with the hash of each word, and whether the word contains a digit or is the name of a month or day. It copies no words,
 * because every page whose address varies is scanned. Only ASCII letters are case-folded; every character beyond ASCII counts as a letter.
 */
function scanWords(text: string, visit: (word: number, isVariable: boolean) => void): void {
  let hash = OFFSET
  let isInside = false
  let hasDigit = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const lower = code | 0x20
    const isDigit = code >= 0x30 && code <= 0x39
    if (isDigit || (lower >= 0x61 && lower <= 0x7a) || code > 0x7f) {
      hash = mix(hash, code > 0x7f || isDigit ? code : lower)
      hasDigit ||= isDigit
      isInside = true
      continue
    }
    if (isInside) visit(hash, hasDigit || DATE_WORDS.has(hash))
    hash = OFFSET
    isInside = false
    hasDigit = false
  }
  if (isInside) visit(hash, hasDigit || DATE_WORDS.has(hash))
}

/** Constants of the hash function FNV-1a. */
const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

function mix(hash: number, part: number): number {
  return Math.imul(hash ^ part, PRIME) >>> 0
}

/** Combines two 32-bit numbers into one; the low bits of the second are dropped. */
function join(a: number, b: number): number {
  return a * 2 ** 21 + (b >>> 11)
}

/** Hashes of the names of months and days. */
const DATE_WORDS: ReadonlySet<number> = new Set([...MONTHS.keys(), ...DAY_WORDS].map(hashOf))

function hashOf(word: string): number {
  let hash = OFFSET
  for (let i = 0; i < word.length; i++) hash = mix(hash, word.charCodeAt(i))
  return hash
}
