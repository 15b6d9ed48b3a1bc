import { withoutFragment } from '../../core/extract/resolve.ts'
import { clipText } from '../../core/text/lines.ts'
import { findAddressTrap } from '../../core/url/address-traps.ts'
import { findDefaultExclude, findHardExclude, LLMS_TXT } from '../../core/url/excludes.ts'
import { dropSlash, fullPath, keyInScope, parseHttp, trimPath, writeKey } from '../../core/url/key.ts'
import { createPathTest } from '../../core/url/path-patterns.ts'
import { hasSuperfluous, stripSuperfluousQuery } from '../../core/url/query.ts'
import { createReachTest } from '../../core/url/reach.ts'
import type { Scope } from '../../core/url/scope.ts'
import { stripSession } from '../../core/url/session.ts'
import type { Refusal } from '../ledger.ts'
import { isTrapReason, type Reason } from '../ledger-reasons.ts'
import type { ContentTraps } from './content-traps.ts'
import type { Spellings } from './spellings.ts'

/** The decision about an address. */
export interface AddressDecision {
  /** The address as written, but without fragment and credentials. */
  readonly url: string
  /** Key of the address in the ledger; with `stripped`, the key of the stripped address, because only that one is offered. */
  readonly key: string
  /** Empty if the address is not a web address. */
  readonly host: string
  /** Null if the address is admitted. */
  readonly refusal: Refusal | null
  /** If superfluous parameters or a session id are the reason for the refusal: the address without it, to be judged instead. */
  readonly stripped: string | null
}

/** Judges addresses by the scope of a source. */
export interface AddressFilter {
  /**
   * Judges an absolute address; `depth` is the number of links between the start and the address. With `isNoTrap` the trap guards do not
   * apply: a user gave the address, or the address holds a page.
   */
  judge(url: string, depth: number, isNoTrap?: boolean): AddressDecision
  /** Returns the key of an address in this source; undefined if it is not a web address. */
  keyOf(url: string): string | undefined
}

/** Options of {@link createAddressFilter}. */
export interface AddressFilterOptions {
  /** The start as the user gave it. Exclusions (except that of llms.txt), reach and globs do not apply to it. */
  readonly startUrl: string
  /** The start with the scheme and host it redirects to. */
  readonly siteUrl: string
  readonly scope: Scope
  /** Current time for detecting endless calendars, in milliseconds since 1970. Without it, calendars are not checked. */
  readonly now?: number
  /** Traps that were detected by the content of pages so far. @default none */
  readonly contentTraps?: Pick<ContentTraps, 'find'>
  /** Addresses that need not be fetched because a preferred spelling has the same content, as learned so far. @default none */
  readonly spellings?: Pick<Spellings, 'find'>
}

/** Maximum length of an address. */
const MAX_URL = 2000

/** Maximum number of cached decisions. Pages repeat their navigation, so most addresses are judged many times. */
const MAX_CACHED = 50_000

/**
 * Creates the filter that every address passes. It checks in this order: parse, scheme, exclusions, reach, block globs, allow globs, query
 * policy, trap guards, depth. The first refusal counts. robots.txt and the page cap are checked later, before an address is fetched.
 */
export function createAddressFilter(options: AddressFilterOptions): AddressFilter {
  const { scope, contentTraps, spellings } = options
  const starts = new Set([options.startUrl, options.siteUrl].map((url) => dropSlash(keyInScope(scope, url) ?? url)))
  const judgeAddress = createJudge(options, starts)
  const cache = new Map<string, AddressDecision>()

  /** Returns the decision about the address alone, which never changes. */
  const judgeCached = (text: string): AddressDecision => {
    const known = cache.get(text)
    if (known !== undefined) return known
    const verdict = judgeAddress(text)
    if (cache.size >= MAX_CACHED) cache.clear()
    if (text.length <= MAX_URL) cache.set(text, verdict)
    return verdict
  }

  return {
    keyOf: (url) => keyInScope(scope, url),
    judge(url, depth, isNoTrap = false) {
      const decision = judgeCached(url)
      const isGuarded =
        decision.refusal === null && scope.trapGuards && !isNoTrap && !starts.has(dropSlash(decision.key))
      const trap = isGuarded ? contentTraps?.find(decision.url) : undefined
      if (trap !== undefined) return { ...decision, refusal: refuse('same-content', trap) }
      const spelling = isGuarded ? spellings?.find(decision.key) : undefined
      if (spelling !== undefined) return { ...decision, refusal: { reason: 'spelling', ...spelling } }
      const verdict =
        isNoTrap && isTrapReason(decision.refusal?.reason ?? null)
          ? { ...decision, refusal: null, stripped: null }
          : decision
      if (verdict.refusal !== null || scope.maxDepth === null || depth <= scope.maxDepth) return verdict
      return { ...verdict, refusal: refuse('max-depth', String(scope.maxDepth)) }
    },
  }
}

function createJudge(
  { startUrl, siteUrl, scope, now }: AddressFilterOptions,
  starts: ReadonlySet<string>,
): (text: string) => AddressDecision {
  const start = parseStart(startUrl)
  const site = parseStart(siteUrl)
  const reach = createReachTest(scope.reach, start, site)
  const findPathRefusal = createPathTest(scope)

  const findRefusal = (url: URL, path: string, key: string): Refusal | null => {
    // An llms.txt is not a page, not even as the start. The crawl reads it with the other lists.
    if (starts.has(dropSlash(key)) && findHardExclude(path) !== LLMS_TXT) return null
    const excluded = findExclude(url, path, scope)
    if (excluded !== undefined) return refuse('excluded', excluded)
    const position = reach.locate(url, path)
    if (position !== 'inside') return refuse(position === 'outside' ? 'out-of-scope' : 'off-site', reach.pattern)
    const refusal = findPathRefusal(path)
    return refusal && { ...refusal, target: null }
  }

  /** Refuses an address that looks like part of an endless sequence. The start is never refused. */
  const findTrap = (url: URL, path: string, key: string): Refusal | null => {
    if (!scope.trapGuards || starts.has(dropSlash(key))) return null
    const trap = findAddressTrap(url, path, now)
    return trap === undefined ? null : { ...trap, target: null }
  }

  return (text) => {
    const isLong = withoutFragment(text).length > MAX_URL
    const parsed = isLong ? null : URL.parse(text)
    if (parsed === null) return refuseText(text, refuse('bad-url', isLong ? TOO_LONG : null))
    const url = serialize(parsed)
    if (url.length > MAX_URL) return refuseText(url, refuse('bad-url', TOO_LONG))
    const session = scope.trapGuards ? stripSession(url) : null
    if (parseHttp(parsed) === undefined) return refuseText(url, refuse('scheme', parsed.protocol))
    const { host } = parsed
    const full = fullPath(parsed, session === null)
    const path = trimPath(full)
    const key = writeKey(parsed, full, { keepsQuery: scope.allowQueryUrls, keepsSession: session === null })
    const refusal = findRefusal(parsed, path, key)
    if (refusal !== null) return { url, key, host, refusal, stripped: null }
    if (session !== null) {
      const skip: Refusal = { reason: 'session-id', pattern: session.name, target: key }
      return { url, key, host, refusal: skip, stripped: session.stripped }
    }
    if (!scope.allowQueryUrls && hasSuperfluous(parsed.search)) {
      const skip: Refusal = { reason: 'query-skip', pattern: parsed.search, target: key }
      return { url, key, host, refusal: skip, stripped: stripSuperfluousQuery(url) }
    }
    return { url, key, host, refusal: findTrap(parsed, path, key), stripped: null }
  }
}

const TOO_LONG = `longer than ${MAX_URL} characters`

function parseStart(text: string): URL {
  const url = parseHttp(text)
  if (url === undefined) throw new TypeError(`Expected an http or https address to start from, got "${text}"`)
  return url
}

function findExclude(url: URL, path: string, scope: Scope): string | undefined {
  // A path with a trailing slash is a folder, so its extension does not count.
  const file = url.pathname.endsWith('/') ? `${path}/` : path
  return findHardExclude(file) ?? (scope.useDefaultExcludes ? findDefaultExclude(file) : undefined)
}

function refuse(reason: Reason, pattern: string | null): Refusal {
  return { reason, pattern, target: null }
}

/** Refuses a text that is not a web address; the text is its key. */
function refuseText(text: string, refusal: Refusal): AddressDecision {
  const clipped = clipText(text.replace(/\/\/[^/?#]*@/, '//'), MAX_URL)
  return { url: clipped, key: clipped, host: '', refusal, stripped: null }
}

function serialize(url: URL): string {
  const { href, username, password } = url
  if (username === '' && password === '') return withoutFragment(href)
  const start = href.indexOf('//') + 2
  return withoutFragment(href.slice(0, start) + href.slice(href.indexOf('@', start) + 1))
}
