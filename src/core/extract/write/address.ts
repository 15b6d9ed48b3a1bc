const SCHEMES = new Set(['http:', 'https:', 'mailto:', 'tel:', 'ftp:'])
const UNSAFE = /[\s<>\\`]/
const EACH_UNSAFE = /[\s<>\\`]/g
const PLAIN_FRAGMENT = /^[^#]*#[\w.-]+$/
const HAS_SCHEME = /^[a-z][a-z\d+.-]*:/i
/** The base of a page whose relative addresses stay as written. */
export const NO_BASE = ''
const ENTITY = /&(?=#?[A-Za-z0-9]{1,31};)/g

/** Resolves the addresses of one page and caches them, because they repeat a lot. */
export class AddressResolver {
  readonly #base: string
  readonly #cache = new Map<string, string>()

  constructor(base: string) {
    this.#base = base
  }

  /** An address as the destination of a link: absolute and valid in Markdown. '' when it is invalid. */
  resolveLink(address: string): string {
    const known = this.#cache.get(address)
    if (known !== undefined) return known
    const resolved = this.#resolve(address)
    this.#cache.set(address, resolved)
    return resolved
  }

  /**
   * Resolves an address without its plain fragment and then adds the fragment, because a page links to many fragments of few other pages.
   */
  #resolve(address: string): string {
    const start = address.indexOf('#') + 1
    if (start === 0 || start === address.length || !PLAIN_FRAGMENT.test(address)) return resolve(address, this.#base)
    const page = this.resolveLink(address.slice(0, start))
    return page === '' ? '' : page + address.slice(start)
  }

  /** Like `resolveLink`, for a picture: '' unless its address is on the web, or relative on a page whose addresses stay as written. */
  resolveImage(address: string): string {
    const resolved = this.resolveLink(address)
    return resolved.startsWith('http') || (this.#base === NO_BASE && !HAS_SCHEME.test(resolved)) ? resolved : ''
  }
}

function resolve(address: string, base: string): string {
  const trimmed = address.trim()
  if (trimmed === '') return ''
  const url = URL.parse(trimmed, base) ?? URL.parse(trimmed)
  // An address that cannot be opened is not a link; on a page without an address of its own, a relative address stays as written.
  if (url === null) return URL.canParse('/', base) || HAS_SCHEME.test(trimmed) ? '' : writeDestination(trimmed)
  if (!SCHEMES.has(url.protocol)) return ''
  if (trimmed.includes('@') && (url.username !== '' || url.password !== '')) {
    url.username = ''
    url.password = ''
  }
  return writeDestination(url.href)
}

/** An address that is valid in Markdown. */
export function writeDestination(href: string): string {
  let text = UNSAFE.test(href) ? href.replace(EACH_UNSAFE, encodeURIComponent) : href
  if (!hasBalancedParentheses(text)) text = text.replace(/\(/g, '%28').replace(/\)/g, '%29')
  return text.includes('&') ? text.replace(ENTITY, '\\&') : text
}

/** Not every Markdown parser accepts deeper nesting. */
const MAX_PARENTHESES = 3

function hasBalancedParentheses(text: string): boolean {
  if (!text.includes('(') && !text.includes(')')) return true
  let depth = 0
  for (const character of text) {
    if (character === '(' && ++depth > MAX_PARENTHESES) return false
    if (character === ')' && --depth < 0) return false
  }
  return depth === 0
}
