/** A link in the `Link` header of a response. */
export interface HeaderLink {
  readonly href: string
  readonly rel: readonly string[]
  readonly type: string
  readonly language: string
}

/** Number of characters that are read. Servers limit headers to a few thousand. */
const MAX_HEADER = 20_000
const LINK = /<([^<>]*)>((?:\s*;\s*[\w*-]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"]+))?)*)/g
const PARAMETER = /;\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/g

/** Parses a header such as `<https://example.com/a>; rel="canonical", </a.md>; rel=alternate; type="text/markdown"`. */
export function readLinkHeader(header: string): HeaderLink[] {
  return [...header.slice(0, MAX_HEADER).matchAll(LINK)].map(([, href = '', parameters = '']) => {
    const values = new Map<string, string>()
    for (const [, name = '', quoted, plain] of parameters.matchAll(PARAMETER)) {
      if (!values.has(name.toLowerCase())) values.set(name.toLowerCase(), quoted ?? plain ?? '')
    }
    const rel = (values.get('rel') ?? '').toLowerCase().split(/\s+/)
    return { href, rel, type: values.get('type') ?? '', language: values.get('hreflang') ?? '' }
  })
}
