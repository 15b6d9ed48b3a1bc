import { Parser } from 'htmlparser2'
import { resolveHttp } from '../extract/resolve.ts'

/** Longer addresses are skipped. */
const MAX_URL = 2000
/** No sitemap or feed is nested deeper than this; reading stops there. */
const MAX_DEPTH = 64
const MAX_DATE = 64

/** One entry of a sitemap. */
export type SitemapEntry =
  | {
      readonly type: 'page'
      readonly url: string
      /** When the page last changed, as the sitemap writes it. */
      readonly lastModified: string | null
    }
  /** A further file to read. */
  | { readonly type: 'sitemap'; readonly url: string }

/** The detected kind of a file; `none` means that it is not a list of addresses. */
export type SitemapKind = 'urlset' | 'index' | 'feed' | 'text' | 'none'

/** How much of a file is read. */
export interface SitemapOptions {
  /** Largest number of entries. @default 50,000, as in the protocol */
  readonly maxEntries?: number
}

/**
 * Reads a sitemap piece by piece: `urlset` and `sitemapindex`, RSS and Atom feeds, and plain lists with an address on each line. Namespace
 * prefixes do not matter. Only the five entities of XML and numeric ones are expanded, and nothing outside the file is read. Broken files
 * give the entries that could be read; an entry truncated at the end is left out.
 */
export class SitemapReader {
  readonly #base: string
  readonly #maxEntries: number
  readonly #parser: Parser
  #kind: SitemapKind | undefined
  #isXml: boolean | undefined
  #isFull = false
  #isEnding = false
  #ignored = 0
  #count = 0
  #entries: SitemapEntry[] = []
  /** Local names of the elements that are open. */
  readonly #open: string[] = []
  #text = ''
  #address = ''
  #date = ''
  /** The beginning of the current line of a plain list; its length shows whether the line is too long. */
  #line = ''

  /** Relative addresses are resolved against `url`, the address of the file. */
  constructor(url: string, { maxEntries = 50_000 }: SitemapOptions = {}) {
    this.#base = url
    this.#maxEntries = maxEntries
    this.#parser = new Parser(
      {
        onopentag: (name, attributes) => this.#openElement(localName(name), attributes),
        ontext: (text) => {
          // Keeps more than the longest allowed address, so that an overlong address is recognized.
          if (this.#text.length <= 2 * MAX_URL) this.#text += text.slice(0, 2 * MAX_URL)
        },
        onclosetag: () => this.#closeElement(),
      },
      { xmlMode: true },
    )
  }

  /** The kind of the file, as far as it has been read. */
  get kind(): SitemapKind {
    return this.#kind ?? 'none'
  }

  /** Whether there were more than `maxEntries`: further pieces are not read. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Number of entries that were not web addresses, or longer than 2,000 characters. */
  get ignored(): number {
    return this.#ignored
  }

  /** Takes the next piece of the file and returns the entries that it completes. */
  write(piece: string): SitemapEntry[] {
    if (this.#isXml === undefined) {
      const beginning = piece.trimStart()
      if (beginning === '') return []
      this.#isXml = beginning.startsWith('<')
      if (!this.#isXml) this.#kind = 'text'
      this.#feed(beginning)
    } else {
      this.#feed(piece)
    }
    return this.#takeEntries()
  }

  /** Ends the file and returns the remaining entries. */
  end(): SitemapEntry[] {
    this.#isEnding = true
    if (this.#isDone) return this.#takeEntries()
    if (this.#isXml === true) this.#parser.end()
    else if (this.#line !== '') this.#endLine()
    return this.#takeEntries()
  }

  #feed(piece: string): void {
    if (this.#isDone) return
    if (this.#isXml === true) this.#parser.write(piece)
    else this.#feedLines(piece)
  }

  get #isDone(): boolean {
    return this.#isFull || this.#kind === 'none'
  }

  /** Stops the parser even within the current piece, because parsing time grows with the square of the nesting depth. */
  #stop(): void {
    if (this.#isXml === true) this.#parser.pause()
  }

  #takeEntries(): SitemapEntry[] {
    const entries = this.#entries
    this.#entries = []
    return entries
  }

  #feedLines(piece: string): void {
    const lines = piece.split(/[\r\n]/)
    lines.forEach((line, i) => {
      if (i > 0) this.#endLine()
      if (this.#line.length <= 2 * MAX_URL) this.#line += line.slice(0, 2 * MAX_URL)
    })
  }

  #endLine(): void {
    const line = this.#line.trim()
    this.#line = ''
    // The number of lines that are not addresses shows whether the text is a list.
    if (/^https?:\/\/\S+$/i.test(line)) this.#add('page', line, null)
    else if (line !== '' && !line.startsWith('#')) this.#ignored++
  }

  #openElement(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.#isDone) return
    if (this.#open.length === 0 && this.#kind === undefined) this.#kind = kindOf(name)
    this.#open.push(name)
    if (this.#open.length > MAX_DEPTH) this.#kind = 'none'
    if (this.#kind === 'none') {
      this.#stop()
      return
    }
    this.#text = ''
    if (ENTRY_ELEMENTS.has(name) && this.#isEntry(name)) {
      this.#address = ''
      this.#date = ''
    } else if (name === 'link' && this.#kind === 'feed' && this.#isInEntry()) {
      // Atom: the alternate is the page itself; other links are enclosures, replies and so on.
      const { href = '', rel = 'alternate' } = attributes
      if (rel === 'alternate' && this.#address === '' && this.#open.at(-2) === 'entry') this.#address = href
    }
  }

  #closeElement(): void {
    if (this.#isDone || this.#isEnding) return
    const name = this.#open.at(-1) ?? ''
    const text = this.#text.trim()
    this.#text = ''
    if (this.#isEntry(name)) this.#endEntry(name)
    else if (this.#isInEntry()) this.#readField(name, text)
    this.#open.pop()
  }

  #readField(name: string, text: string): void {
    if (name === 'loc' && this.#kind !== 'feed') this.#address ||= text
    if (name === 'link' && this.#kind === 'feed') this.#address ||= text
    if (DATE_ELEMENTS.has(name) && text.length <= MAX_DATE) this.#date ||= text
  }

  /** Whether the innermost element is an entry of the file. */
  #isEntry(name: string): boolean {
    switch (this.#kind) {
      case 'urlset':
        return name === 'url' && this.#open.length === 2
      case 'index':
        return name === 'sitemap' && this.#open.length === 2
      case 'feed':
        return (name === 'item' || name === 'entry') && this.#open.length <= 3
      default:
        return false
    }
  }

  /** Whether the innermost element is directly in an entry, which an `image:loc` in `image:image` is not. */
  #isInEntry(): boolean {
    return ENTRY_ELEMENTS.has(this.#open.at(-2) ?? '')
  }

  #endEntry(name: string): void {
    this.#add(name === 'sitemap' ? 'sitemap' : 'page', this.#address, this.#date === '' ? null : this.#date)
    this.#address = ''
    this.#date = ''
  }

  #add(type: SitemapEntry['type'], address: string, lastModified: string | null): void {
    const url = address === '' || address.length > MAX_URL ? undefined : resolveHttp(address, this.#base)
    if (url === undefined || url.length > MAX_URL) {
      this.#ignored++
      return
    }
    if (this.#count === this.#maxEntries) {
      this.#isFull = true
      this.#stop()
      return
    }
    this.#count++
    this.#entries.push(type === 'sitemap' ? { type, url } : { type, url, lastModified })
  }
}

const ENTRY_ELEMENTS: ReadonlySet<string> = new Set(['url', 'sitemap', 'item', 'entry'])
const DATE_ELEMENTS: ReadonlySet<string> = new Set(['lastmod', 'pubdate', 'updated', 'date'])

function kindOf(root: string): SitemapKind {
  switch (root) {
    case 'urlset':
      return 'urlset'
    case 'sitemapindex':
      return 'index'
    case 'rss':
    case 'rdf':
    case 'feed':
      return 'feed'
    default:
      return 'none'
  }
}

/** `sm:urlset` → `urlset`. */
function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1).toLowerCase()
}
