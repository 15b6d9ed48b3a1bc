import { resolveHttp } from '../extract/resolve.ts'
import { splitLines } from '../text/lines.ts'

/** The user agent whose rules this program follows. The rules for `*` apply only if robots.txt does not name it. */
export const PRODUCT_TOKEN = 'pharos'

/** RFC 9309, 2.5: a crawler must read at least this much, and need not read more. */
const MAX_BYTES = 500 * 1024

/** The rules of a robots.txt for this program. */
export interface Robots {
  /** Whether an address of the same origin may be fetched, and the deciding rule; null if none applies. */
  judge(url: string): RobotsDecision
  /** The requested pause between two requests; null if there is none. */
  readonly crawlDelayMs: number | null
  /** Absolute addresses of the sitemaps that the file names, in file order, each once. */
  readonly sitemaps: readonly string[]
}

/** The decision of a robots.txt about one address. */
export interface RobotsDecision {
  readonly allowed: boolean
  /** The rule as it was written (`Disallow: /private`). */
  readonly rule: string | null
}

/**
 * Parses a robots.txt by RFC 9309. Only its first 500 KiB count. Parsing takes linear time, and judging one address takes at most the
 * number of rules times the length of the address. The package `robots-parser` 3.0.1 is not used: it does not decode `%62` before it
 * compares, lets a `Sitemap:` line cut a group in two, lets `/robots.txt` itself be forbidden, and takes seconds for one address on
 * patterns like `*a*a*a*…b`.
 */
export function parseRobots(body: string, url: string): Robots {
  const ownGroup: Group = { rules: new Map(), crawlDelayMs: null }
  const defaultGroup: Group = { rules: new Map(), crawlDelayMs: null }
  const sitemaps = new Set<string>()
  let isNamed = false
  let current: Group[] = []
  let isReadingNames = false
  for (const { name, value } of readRecords(clipRobots(body))) {
    if (name === 'user-agent') {
      if (!isReadingNames) current = []
      isReadingNames = true
      const token = readToken(value)
      if (token === PRODUCT_TOKEN) isNamed = true
      const group = token === PRODUCT_TOKEN ? ownGroup : token === '*' ? defaultGroup : undefined
      if (group !== undefined) current.push(group)
    } else if (name === 'allow' || name === 'disallow') {
      isReadingNames = false
      for (const group of current) addRule(group, name, value)
    } else if (name === 'crawl-delay') {
      // Crawl-delay is not in the RFC; in practice it is in a group like a rule.
      isReadingNames = false
      for (const group of current) addDelay(group, value)
    } else if (name === 'sitemap') {
      const address = value === '' ? undefined : resolveHttp(value, url)
      if (address !== undefined) sitemaps.add(address)
    }
  }
  const group = isNamed ? ownGroup : defaultGroup
  const rules = [...group.rules.values()].sort(byPrecedence)
  return {
    judge: (address) => judge(rules, address),
    crawlDelayMs: group.crawlDelayMs,
    sitemaps: [...sitemaps],
  }
}

/** The part of a robots.txt that counts: whole lines within its first 500 KiB. */
export function clipRobots(body: string): string {
  if (body.length * 3 <= MAX_BYTES) return body
  const { read } = new TextEncoder().encodeInto(body, new Uint8Array(MAX_BYTES))
  if (read === body.length) return body
  // A truncated line may mean something else than the whole one.
  const end = Math.max(body.lastIndexOf('\n', read - 1), body.lastIndexOf('\r', read - 1))
  return body.slice(0, end + 1)
}

/** The rules for one user agent. All groups with its name are merged. */
interface Group {
  /** Rules by kind and pattern, so that a rule repeated a thousand times is tried once. */
  readonly rules: Map<string, Rule>
  crawlDelayMs: number | null
}

interface Rule {
  readonly isAllow: boolean
  readonly written: string
  /** Number of octets of the pattern. The longest pattern that matches decides. */
  readonly length: number
  /** The texts between the asterisks of the pattern. */
  readonly pieces: readonly PatternPart[]
  /** Whether the address must end where the pattern does. */
  readonly isAnchored: boolean
}

function* readRecords(body: string): Generator<{ name: string; value: string }> {
  for (const line of splitLines(body)) {
    const [record = ''] = line.split('#', 1)
    const colon = record.indexOf(':')
    if (colon < 0) continue
    // Trimming also removes a byte order mark.
    yield { name: record.slice(0, colon).trim().toLowerCase(), value: record.slice(colon + 1).trim() }
  }
}

/** The product token in `Pharos/1.0 (a robot)`, in lower case. */
function readToken(value: string): string | undefined {
  return /^(?:\*(?!\S)|[\w-]+)/.exec(value)?.[0].toLowerCase()
}

function addRule(group: Group, name: 'allow' | 'disallow', value: string): void {
  // A rule without a path has no effect.
  if (value === '') return
  const pattern = normalizeOctets(value, false)
  const key = `${name} ${pattern}`
  if (group.rules.has(key)) return
  const isAnchored = pattern.endsWith('$')
  const plain = isAnchored ? pattern.slice(0, -1) : pattern
  group.rules.set(key, {
    isAllow: name === 'allow',
    written: `${name === 'allow' ? 'Allow' : 'Disallow'}: ${value}`,
    length: pattern.length,
    pieces: plain.split(/\*+/).map((text) => createPatternPart(text.replaceAll('$', '%24'))),
    isAnchored,
  })
}

function addDelay(group: Group, value: string): void {
  const seconds = Number(value)
  if (value === '' || !Number.isFinite(seconds) || seconds < 0) return
  group.crawlDelayMs = Math.max(group.crawlDelayMs ?? 0, Math.round(seconds * 1000))
}

/** The longest pattern first; among equals the allowing one. */
function byPrecedence(a: Rule, b: Rule): number {
  return b.length - a.length || Number(b.isAllow) - Number(a.isAllow)
}

function judge(rules: readonly Rule[], address: string): RobotsDecision {
  const { pathname, search } = new URL(address)
  // RFC 9309, 2.2.2: the file itself may always be read.
  if (pathname === '/robots.txt') return { allowed: true, rule: null }
  const path = normalizeOctets(pathname + search, true)
  const rule = rules.find((candidate) => matchesRule(candidate, path))
  return rule === undefined ? { allowed: true, rule: null } : { allowed: rule.isAllow, rule: rule.written }
}

const UNRESERVED = /^[\w.~-]$/
const ESCAPE_OR_OTHER = /%[\da-f]{2}|[^\w.~\-:/?#[\]@!$&'()*+,;=%]+|[*$]/gi

/**
 * The canonical form for comparing octets (RFC 9309, 2.2.2): unreserved characters unescaped, all others except reserved ones as upper-case
 * escapes. `*` and `$` are special in a pattern and literal in an address; a pattern can write the literals only as `%2A` and `%24`.
 */
function normalizeOctets(text: string, isAddress: boolean): string {
  return text.replace(ESCAPE_OR_OTHER, (part) => {
    if (part === '*' || part === '$') return isAddress ? escapeOctets(part) : part
    if (part.startsWith('%')) {
      const char = String.fromCharCode(Number.parseInt(part.slice(1), 16))
      return UNRESERVED.test(char) ? char : part.toUpperCase()
    }
    return escapeOctets(part)
  })
}

const encoder = new TextEncoder()

function escapeOctets(text: string): string {
  let escaped = ''
  for (const octet of encoder.encode(text)) escaped += `%${octet.toString(16).toUpperCase().padStart(2, '0')}`
  return escaped
}

/** Text to search for, and the fallback after a mismatch at each position (Knuth, Morris and Pratt 1977). */
interface PatternPart {
  readonly text: string
  readonly fallback: Int32Array | undefined
}

/** Up to this length the search of the platform is used: its worst case is a small multiple of the length of the address. */
const MAX_NATIVE_SEARCH_CHARS = 16

function createPatternPart(text: string): PatternPart {
  return { text, fallback: text.length > MAX_NATIVE_SEARCH_CHARS ? fallbackOf(text) : undefined }
}

function fallbackOf(text: string): Int32Array {
  const fallback = new Int32Array(text.length)
  let matched = 0
  for (let i = 1; i < text.length; i++) {
    while (matched > 0 && text[i] !== text[matched]) matched = fallback[matched - 1] ?? 0
    if (text[i] === text[matched]) matched++
    fallback[i] = matched
  }
  return fallback
}

function findPatternPart({ text, fallback }: PatternPart, path: string, from: number): number {
  if (from + text.length > path.length) return -1
  if (fallback === undefined) return path.indexOf(text, from)
  let matched = 0
  for (let i = from; i < path.length; i++) {
    while (matched > 0 && path[i] !== text[matched]) matched = fallback[matched - 1] ?? 0
    if (path[i] === text[matched]) matched++
    if (matched === text.length) return i + 1 - matched
  }
  return -1
}

/** Each piece is matched at its first occurrence, which leaves the most text for the pieces after it. */
function matchesRule({ pieces, isAnchored }: Rule, path: string): boolean {
  const [first, ...others] = pieces
  if (first === undefined || !path.startsWith(first.text)) return false
  let at = first.text.length
  const last = others.pop()
  if (last === undefined) return !isAnchored || at === path.length
  for (const piece of others) {
    const found = findPatternPart(piece, path, at)
    if (found < 0) return false
    at = found + piece.text.length
  }
  return isAnchored
    ? path.length - last.text.length >= at && path.endsWith(last.text)
    : findPatternPart(last, path, at) >= 0
}
