/** An absolute address without credentials; undefined when it is invalid or not on the web. */
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
    // An address that cannot be parsed leads nowhere.
    return undefined
  }
}

/**
 * Resolves addresses of one document like {@link resolveHttp}, without their fragments; '' for invalid ones. Most links of a page lead to
 * few others, so each address is resolved once.
 */
export function createResolver(base: string): (href: string) => string {
  const known = new Map<string, string>()
  return (href) => {
    const end = href.indexOf('#')
    // A space before the fragment belongs to the address only while the fragment follows.
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
