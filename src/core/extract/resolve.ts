/** Resolves a link to an absolute address without credentials; undefined if it is invalid or not an HTTP address. */
export function resolveHttp(href: string, base: string): string | undefined {
  const url = parseAddress(href, base)
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  if (url.username !== '') url.username = ''
  if (url.password !== '') url.password = ''
  return url.href
}

function parseAddress(href: string, base: string): URL | undefined {
  try {
    return new URL(href, base)
  } catch {
    // `new URL` throws for an invalid address.
    return undefined
  }
}

/**
 * Resolves addresses of one document like {@link resolveHttp}, without their fragments; '' for invalid ones. Many links of a page have
 * the same address, so each is resolved once.
 */
export function createResolver(base: string): (href: string) => string {
  const known = new Map<string, string>()
  return (href) => {
    const end = href.indexOf('#')
    // A space before the fragment is part of the address. Without the fragment, the parser would trim the space.
    const plain = end > 0 && href.charCodeAt(end - 1) > 0x20 ? href.slice(0, end) : href
    const resolved = known.get(plain)
    if (resolved !== undefined) return resolved
    const url = withoutFragment(resolveHttp(plain, base) ?? '')
    known.set(plain, url)
    return url
  }
}

/** An address without its fragment. */
export function withoutFragment(url: string): string {
  const end = url.indexOf('#')
  return end < 0 ? url : url.slice(0, end)
}
