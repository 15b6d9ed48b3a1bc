import { compareUtf8 } from '../text/order.ts'
import { keyPath, parseHttp } from './key.ts'

/**
 * Orders two keys of the same content, the one to keep first: without a query, https, fewer segments, a shorter path, and finally by
 * characters. The order is total, so the same key is kept in any order of discovery.
 */
export function compareKeyPreference(a: string, b: string): number {
  return (
    Number(a.includes('?')) - Number(b.includes('?')) ||
    Number(isHttp(a)) - Number(isHttp(b)) ||
    countSegments(a) - countSegments(b) ||
    pathOf(a).length - pathOf(b).length ||
    compareUtf8(a, b)
  )
}

/**
 * Whether two addresses look like spellings of one: they differ at most in query, fragment, scheme, `www.`, case of the path, trailing
 * slash, `index.html` or similar, and `.html`, `.htm` or `.md`.
 */
export function isSpellingOf(a: string, b: string): boolean {
  const bare = bareAddress(a)
  return bare !== undefined && bare === bareAddress(b)
}

function bareAddress(text: string): string | undefined {
  const url = parseHttp(text)
  if (url === undefined) return undefined
  const path = keyPath(url)
    .toLowerCase()
    // The Markdown form of a page may carry both endings: `page.html.md`.
    .replace(/(?<=[^/])(?:\.html?)?(?:\.md|\.html?)$/, '')
    .replace(/\/index(?:\.(?:xhtml|shtml|php|aspx?|jsp|mdx|markdown))?$/, '')
    .replace(/(?<!\/)\/+$/, '')
  return url.host.replace(/^www\./, '') + path
}

function isHttp(key: string): boolean {
  return key.startsWith('http:')
}

function pathOf(key: string): string {
  const start = key.indexOf('/', key.indexOf('//') + 2)
  const end = key.indexOf('?')
  return key.slice(start, end < 0 ? key.length : end)
}

/** The root has no segments. */
function countSegments(key: string): number {
  const path = pathOf(key)
  return path === '/' ? 0 : path.split('/').length - 1
}
