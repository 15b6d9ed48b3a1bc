import { dropSuperfluous } from './query.ts'
import type { Scope } from './scope.ts'
import { dropPathSession, dropQuerySession } from './session.ts'

/**
 * The key of an address, equal for spellings that lead to the same page. Undefined for text that is not a web address.
 * Scheme and host are in lower case and without a default port. Credentials, fragment, superfluous query keys, an empty query,
 * session ids and all but one of the slashes at the end are dropped. Percent-encoding is in upper case and only where it is
 * needed. Servers may answer differently with and without a slash at the end, so both forms have keys of their own. The key is
 * itself an address in ASCII, and its own key. Addresses are fetched as they were written, never by their key. With `keepsQuery`
 * all keys of the query are kept; with `keepsSession` session ids are kept.
 */
export function urlKey(url: URL | string, options: KeyOptions = {}): string | undefined {
  const parsed = parseHttp(url)
  return parsed && writeKey(parsed, fullPath(parsed, options.keepsSession), options)
}

/** The key of an address in a scope. A scope that allows queries keeps them whole; a scope with trap guards drops session ids. */
export function keyInScope(
  { allowQueryUrls, trapGuards }: Pick<Scope, 'allowQueryUrls' | 'trapGuards'>,
  url: URL | string,
): string | undefined {
  return urlKey(url, { keepsQuery: allowQueryUrls, keepsSession: !trapGuards })
}

/** The key of a web address; any other text, such as a path, is its own key. */
export function keyOrText(url: string): string {
  return urlKey(url) ?? url
}

/** A key for comparing typed addresses: a trailing slash makes no difference. */
export function looseKey(url: string): string {
  return dropSlash(keyOrText(url))
}

/** A key without the slash at the end of its path, unless it is that of the root. */
export function dropSlash(key: string): string {
  const query = key.indexOf('?')
  const end = query < 0 ? key.length : query
  const isFolder = key.charCodeAt(end - 1) === SLASH && key.indexOf('/', key.indexOf('//') + 2) < end - 1
  return isFolder ? key.slice(0, end - 1) + key.slice(end) : key
}

/** A key with its trailing slash added or removed; undefined for the root. */
export function toggleSlash(key: string): string | undefined {
  const bare = dropSlash(key)
  if (bare !== key) return bare
  const query = key.indexOf('?')
  const end = query < 0 ? key.length : query
  return key.charCodeAt(end - 1) === SLASH ? undefined : `${key.slice(0, end)}/${key.slice(end)}`
}

/** The key of a web address whose `fullPath` is known. */
export function writeKey(url: URL, path: string, { keepsQuery = false, keepsSession = false }: KeyOptions): string {
  const whole = normalizePercent(url.search)
  const search = keepsSession ? whole : dropQuerySession(whole)
  return `${url.protocol}//${url.host}${path}${keepsQuery ? search : dropSuperfluous(search)}`
}

/** The optional parts of an address that count for its key. */
export interface KeyOptions {
  readonly keepsQuery?: boolean
  readonly keepsSession?: boolean
}

/** The path of an address as in its key. */
export function fullPath(url: URL, keepsSession = false): string {
  const whole = normalizePercent(url.pathname)
  const path = keepsSession ? whole : dropPathSession(whole) || '/'
  let end = path.length
  while (end > 1 && path.charCodeAt(end - 1) === SLASH && path.charCodeAt(end - 2) === SLASH) end--
  return end === path.length ? path : path.slice(0, end)
}

/** The path of an address without a trailing slash, by which scopes are judged. */
export function keyPath(url: URL, keepsSession = false): string {
  return trimPath(fullPath(url, keepsSession))
}

/** A full path without the slash at its end, unless it is that of the root. */
export function trimPath(path: string): string {
  return path.length > 1 && path.charCodeAt(path.length - 1) === SLASH ? path.slice(0, -1) : path
}

/** Host in lower case, with its port unless that is the default. The request times of a crawl are kept by this name. */
export function hostOf(url: URL | string): string | undefined {
  return parseHttp(url)?.host
}

/** Name of a host without `www.` and port, which all parts of one site share. */
export function siteHostOf(url: URL | string): string | undefined {
  return parseHttp(url)?.hostname.replace(/^www\./, '')
}

/** Parses a web address; undefined for any other text. */
export function parseHttp(url: URL | string): URL | undefined {
  const parsed = typeof url === 'string' ? URL.parse(url) : url
  return parsed?.protocol === 'https:' || parsed?.protocol === 'http:' ? parsed : undefined
}

/**
 * Decodes unreserved characters (RFC 3986, 2.3), writes the others in upper case (6.2.2.1), and encodes a literal `%`: otherwise `%4%31`
 * would become `%41`, and then `A` when it is normalized again.
 */
export function normalizePercent(text: string): string {
  if (!text.includes('%')) return text
  return text.replace(/%([0-9a-f]{2})?/gi, (sequence: string, hex: string | undefined) => {
    if (hex === undefined) return '%25'
    const char = String.fromCharCode(Number.parseInt(hex, 16))
    return UNRESERVED.test(char) ? char : sequence.toUpperCase()
  })
}

const SLASH = 0x2f

const UNRESERVED = /^[A-Za-z0-9._~-]$/
