import type { Address } from './address.ts'

/** A section of a site: the addresses with the same first segment. */
export interface SiteSection {
  readonly name: string
  /** Number of addresses in the section. */
  readonly count: number
  /** Number of links to the section on the home page. */
  readonly homeLinkCount: number
  /** The front page of the section, when it is known to exist. */
  readonly frontUrl: string | null
}

type MutableSection = { -readonly [K in keyof SiteSection]: SiteSection[K] }

/** Names of service pages that every site has. */
const SERVICE_PAGES: ReadonlySet<string> = new Set(
  'about about-us contact contact-us privacy privacy-policy terms terms-of-use cookies cookie-policy help faq advertising advertise sitemap account login signin signup register logout subscribe subscription newsletter newsletters careers jobs legal imprint impressum datenschutz kontakt mentions-legales aviso-legal static assets images img css js media files feed rss amp api search tag tags author authors'.split(
    ' ',
  ),
)

/** Limit of sections that are reported and used as seeds. */
const MAX_SECTIONS = 24
const MAX_TRACKED_SECTIONS = 2000
const MIN_ADDRESSES = 3
const LANGUAGE_SEGMENT = /^[a-z]{2}(?:-[a-z]{2})?$/

/** Learns the sections of a site. */
export class SectionIndex {
  readonly #sections = new Map<string, MutableSection>()
  /** Number of path segments of the start URL that precede the name of the section. */
  readonly #base: number
  /** Number of known front pages, and of those whose URL ends in a slash. */
  #fronts = 0
  #slashes = 0

  constructor(base: number) {
    this.#base = base
  }

  /** Records an address. */
  note(address: Address): void {
    const found = this.#locate(address)
    if (found === undefined) return
    const { name, isFront } = found
    let section = this.#sections.get(name)
    if (section === undefined) {
      if (this.#sections.size >= MAX_TRACKED_SECTIONS) return
      section = { name, count: 0, homeLinkCount: 0, frontUrl: null }
      this.#sections.set(name, section)
    }
    section.count++
    if (isFront && section.frontUrl === null) {
      section.frontUrl = address.url
      this.#fronts++
      if (address.hasTrailingSlash) this.#slashes++
    }
  }

  /** Records that the home page links to an address. */
  noteHomeLink(address: Address): void {
    const section = this.#sections.get(this.#locate(address)?.name ?? '')
    if (section !== undefined) section.homeLinkCount++
  }

  /** Whether an address is the front page of a section. */
  isFront(address: Address): boolean {
    const found = this.#locate(address)
    return found?.isFront === true && (this.#sections.get(found.name)?.count ?? 0) >= MIN_ADDRESSES
  }

  /** The sections, those with the most links on the home page first. */
  list(): SiteSection[] {
    return [...this.#sections.values()]
      .filter(({ count }) => count >= MIN_ADDRESSES)
      .sort((a, b) => b.homeLinkCount - a.homeLinkCount || b.count - a.count || (a.name < b.name ? -1 : 1))
      .slice(0, MAX_SECTIONS)
  }

  /**
   * Guesses the fronts of sections without a known one. A site that has fronts for most sections may have them for all; otherwise nothing
   * is guessed.
   */
  guessFronts(origin: string): string[] {
    const sections = this.list()
    const withoutFront = sections.filter(({ frontUrl, count }) => frontUrl === null && count >= MIN_GUESS_ADDRESSES)
    const known = sections.filter(({ frontUrl }) => frontUrl !== null).length
    if (known < MIN_KNOWN_FRONTS || known < sections.length / 2) return []
    const slash = this.#slashes * 2 > this.#fronts ? '/' : ''
    return withoutFront.map(({ name }) => `${origin}/${name}${slash}`)
  }

  #locate({ segments, hasQuery, isPagination }: Address): { name: string; isFront: boolean } | undefined {
    const first = segments[this.#base]
    const isLanguage = first !== undefined && LANGUAGE_SEGMENT.test(first.word) && segments.length > this.#base + 1
    const at = this.#base + Number(isLanguage)
    const segment = segments[at]
    if (segment === undefined || segment.form !== 'word' || SERVICE_PAGES.has(segment.word)) return undefined
    const isLast = segments.length === at + 1
    // The name has no file extension, so that `/world.html` is the front of the section `/world/`.
    const name = segments
      .slice(0, at + 1)
      .map(({ raw, ending }) => (ending === '' ? raw : raw.slice(0, -ending.length)))
      .join('/')
    return { name, isFront: isLast && !hasQuery && !isPagination }
  }
}

const MIN_KNOWN_FRONTS = 3
const MIN_GUESS_ADDRESSES = 5
