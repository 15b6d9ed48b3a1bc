import { decodePlain } from '../../core/extract/decode-html.ts'
import { clipRobots, parseRobots, type Robots } from '../../core/robots/robots.ts'
import type { Ledger, RobotsRecord } from '../ledger.ts'
import type { Reason } from '../ledger-reasons.ts'
import type { Clock } from '../ports.ts'
import type { ResourceFetcher, RobotsDecision } from '../resource.ts'
import { MAX_ROBOTS_AGE_MS } from './stored-robots.ts'

/** Options of {@link RobotsRules}. */
export interface RobotsRulesOptions {
  /** Must not check robots.txt itself. */
  readonly fetchResource: ResourceFetcher
  readonly ledger: Pick<Ledger, 'readRobots' | 'writeRobots'>
  readonly clock: Clock
  /** Called with the crawl delay of an origin, or null, before its rules are used. */
  readonly setDelay?: (origin: string, delayMs: number | null) => Promise<void>
  /** How long a fetched robots.txt is used. @default 1 hour */
  readonly maxAgeMs?: number
  /** Copies fetched before this time are fetched again. @default none */
  readonly since?: number
  /** Whether robots.txt is fetched again before a refusal, if the copy is older than a minute or than this instance. @default false */
  readonly rereadsRefusals?: boolean
}

const DEFAULT_MAX_AGE_MS = 3_600_000
/** Retry interval for an unreachable robots.txt. */
const UNREACHABLE_RETRY_MS = 60_000
/** Age after which a refusing copy is fetched again, with `rereadsRefusals`. */
const REFUSAL_MAX_AGE_MS = 60_000
/** Retry interval while visits wait for an unreachable robots.txt. */
const RETRY_DELAY_MS = 5000
/** Number of attempts while visits wait; after that, waiting does not help. */
const MAX_ATTEMPTS = 2
/** Timeout of an attempt: the file is small, and all visits of the origin wait for it. */
const TIMEOUT_MS = 10_000
/** Number of origins whose parsed rules stay in memory; the ledger has the rest. */
const MAX_KNOWN = 1000
/** Larger than the part of a robots.txt that counts, so that the last line of that part is complete. The rest is not fetched. */
const MAX_BYTES = 1024 * 1024

/**
 * The robots.txt files of all visited origins: each is fetched once, kept in memory and in the ledger, and fetched again when it is too
 * old. Without a robots.txt (4xx, or more than five redirects) everything is allowed. While the server fails, the last known rules apply;
 * without any, nothing is allowed (RFC 9309, 2.3.1).
 */
export class RobotsRules {
  readonly #fetchResource: ResourceFetcher
  readonly #ledger: RobotsRulesOptions['ledger']
  readonly #clock: Clock
  readonly #setDelay: RobotsRulesOptions['setDelay']
  readonly #maxAgeMs: number
  readonly #since: number
  readonly #rereadsRefusals: boolean
  readonly #openedAt: number
  readonly #known = new Map<string, KnownRobots>()
  readonly #loading = new Map<string, RobotsLoad>()

  constructor(options: RobotsRulesOptions) {
    const { fetchResource, ledger, clock, setDelay, maxAgeMs = DEFAULT_MAX_AGE_MS, since = -Infinity } = options
    this.#rereadsRefusals = options.rereadsRefusals ?? false
    this.#openedAt = clock.now()
    this.#fetchResource = fetchResource
    this.#ledger = ledger
    this.#clock = clock
    this.#setDelay = setDelay
    this.#maxAgeMs = maxAgeMs
    this.#since = since
  }

  /** Returns whether an address may be fetched, and which rule forbids it. Rejects only when the signal is aborted. */
  async judge(url: string, signal?: AbortSignal): Promise<RobotsDecision> {
    const { origin } = new URL(url)
    let known = await this.#load(origin, signal)
    if (this.#rereadsRefusals && this.#isOldRefusal(known, url)) known = await this.#load(origin, signal, known)
    const { record, robots, isRefused, failure, detail, attempts, until } = known
    if (robots === undefined) {
      if (isRefused) return { allowed: false, reason: 'address-refused', pattern: detail ?? null }
      const retryAt = attempts < MAX_ATTEMPTS ? until : null
      // Without a connection, the reason is the network failure, not robots.txt.
      if (failure === 'network' || failure === 'tls')
        return { allowed: false, reason: failure, pattern: detail ?? null, retryAt }
      return { allowed: false, reason: 'robots-unreachable', pattern: describeUnreachable(record, detail), retryAt }
    }
    const { allowed, rule } = robots.judge(url)
    return allowed ? { allowed } : { allowed, reason: 'robots-disallow', pattern: rule, readAt: record.fetchedAt }
  }

  /** Whether an old copy refuses an address. False if the copy is old because the server fails, so that it is not fetched again at once. */
  #isOldRefusal({ robots, record, isOutdated }: KnownRobots, url: string): boolean {
    const readAfter = Math.max(this.#openedAt, this.#clock.now() - REFUSAL_MAX_AGE_MS)
    return robots?.judge(url).allowed === false && isOutdated !== true && record.fetchedAt < readAfter
  }

  /** Whether the rules of the origin of an address are known. */
  isKnown(url: string): boolean {
    return this.#known.get(new URL(url).origin)?.robots !== undefined
  }

  /** The sitemaps that the robots.txt of an origin names. */
  async sitemaps(origin: string, signal?: AbortSignal): Promise<readonly string[]> {
    return (await this.#load(new URL(origin).origin, signal)).robots?.sitemaps ?? []
  }

  /** Loads the rules of an origin; fetches them again if the known ones are `outdated`. */
  async #load(origin: string, signal: AbortSignal | undefined, outdated?: KnownRobots): Promise<KnownRobots> {
    signal?.throwIfAborted()
    const known = this.#known.get(origin)
    if (known !== undefined && known !== outdated && this.#isFresh(known)) return known
    const loading = this.#loading.get(origin) ?? this.#startLoading(origin, outdated?.record.fetchedAt)
    // All callers share the fetch, which is aborted when the last waiting caller has aborted.
    loading.waiting++
    try {
      return await rejectOnAbort(loading.result, signal)
    } finally {
      loading.waiting--
      if (loading.waiting === 0) loading.controller.abort()
    }
  }

  #startLoading(origin: string, outdatedAt = Number.NEGATIVE_INFINITY): RobotsLoad {
    const controller = new AbortController()
    const result = this.#find(origin, outdatedAt, controller.signal)
      .then(async (found) => {
        const known = this.#read(origin, found)
        if (known.robots !== undefined) await this.#setDelay?.(origin, known.robots.crawlDelayMs)
        return this.#remember(origin, known)
      })
      .finally(() => {
        if (this.#loading.get(origin) === loading) this.#loading.delete(origin)
      })
    const loading: RobotsLoad = { result, controller, waiting: 0 }
    this.#loading.set(origin, loading)
    controller.signal.addEventListener('abort', () => {
      // New callers must not wait for the aborted fetch.
      if (this.#loading.get(origin) === loading) this.#loading.delete(origin)
    })
    return loading
  }

  #read(origin: string, found: FetchedRobots): KnownRobots {
    const { record, isOutdated } = found
    const now = this.#clock.now()
    if (record.type === 'unreachable') {
      const before = this.#known.get(origin)
      const attempts = (before?.robots === undefined ? (before?.attempts ?? 0) : 0) + 1
      const until = now + Math.min(attempts < MAX_ATTEMPTS ? RETRY_DELAY_MS : UNREACHABLE_RETRY_MS, this.#maxAgeMs)
      return { ...found, robots: undefined, attempts, since: now, until }
    }
    const robots = parseRobots(record.body, `${origin}/robots.txt`)
    const until = isOutdated ? now + Math.min(UNREACHABLE_RETRY_MS, this.#maxAgeMs) : record.fetchedAt + this.#maxAgeMs
    return { ...found, robots, attempts: 0, since: Math.min(now, record.fetchedAt), until }
  }

  /** Remembers the rules of an origin, and evicts the oldest. */
  #remember(origin: string, known: KnownRobots): KnownRobots {
    this.#known.delete(origin)
    this.#known.set(origin, known)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) break
      this.#known.delete(oldest)
    }
    return known
  }

  async #find(origin: string, outdatedAt: number, signal: AbortSignal): Promise<FetchedRobots> {
    const stored = await this.#ledger.readRobots(origin)
    const age = stored === undefined ? Infinity : Math.abs(this.#clock.now() - stored.fetchedAt)
    const isKnown = stored !== undefined && stored.type !== 'unreachable'
    const isRecent = isKnown && age < this.#maxAgeMs && stored.fetchedAt >= this.#since && stored.fetchedAt > outdatedAt
    if (isRecent && stored.fetchedAt <= this.#clock.now()) return { record: stored, isRefused: false }
    const isUsable = isKnown && age < MAX_ROBOTS_AGE_MS
    const found = await this.#fetch(origin, signal)
    if (found.record.type === 'unreachable') {
      // The failure may be local to this process, so it is not stored: other processes try for themselves.
      return isUsable && !found.isRefused ? { record: stored, isRefused: false, isOutdated: true } : found
    }
    await this.#ledger.writeRobots(found.record)
    return found
  }

  async #fetch(origin: string, signal: AbortSignal): Promise<FetchedRobots> {
    const resource = await this.#fetchResource(`${origin}/robots.txt`, {
      maxBytes: MAX_BYTES,
      isClipped: true,
      timeoutMs: TIMEOUT_MS,
      signal,
    })
    const base = { origin, fetchedAt: this.#clock.now(), body: '' }
    switch (resource.type) {
      case 'found': {
        const { body, headers, status = 200 } = resource.snapshot
        const text = decodePlain(body, headers?.['content-type'] ?? '')
        return {
          record: { ...base, type: 'rules', body: withoutCredentials(clipRobots(text)), status },
          isRefused: false,
        }
      }
      case 'unchanged':
        throw new TypeError(`${origin}/robots.txt was reported as unchanged, but the request had no validators`)
      case 'missing':
        return { record: { ...base, type: 'none', status: resource.status }, isRefused: false }
      case 'failed': {
        // RFC 9309, 2.3.1.2: a file that five redirects do not reach may be treated as missing.
        const type = resource.reason === 'redirect-loop' ? 'none' : 'unreachable'
        const { reason, detail, status } = resource
        return { record: { ...base, type, status }, isRefused: reason === 'address-refused', failure: reason, detail }
      }
    }
  }

  #isFresh({ since, until }: KnownRobots): boolean {
    const now = this.#clock.now()
    return since <= now && now < until
  }
}

interface FetchedRobots {
  readonly record: RobotsRecord
  /** Whether the network guard forbids the host, so that waiting does not help. */
  readonly isRefused: boolean
  /** Why robots.txt could not be fetched. */
  readonly failure?: Reason
  /** Explains `failure` as text. */
  readonly detail?: string
  /** Whether these are older rules, because new ones could not be fetched. */
  readonly isOutdated?: boolean
}

interface KnownRobots extends FetchedRobots {
  /** Undefined while robots.txt is unreachable. */
  readonly robots: Robots | undefined
  /** Consecutive failed attempts. */
  readonly attempts: number
  /** Valid from `since` up to `until`. */
  readonly since: number
  readonly until: number
}

interface RobotsLoad {
  readonly result: Promise<KnownRobots>
  readonly controller: AbortController
  waiting: number
}

function describeUnreachable({ status }: RobotsRecord, detail: string | undefined): string {
  if (status !== null) return `robots.txt answered ${status}`
  return detail === undefined ? 'robots.txt could not be fetched' : `robots.txt could not be fetched: ${detail}`
}

/** Removes user names and passwords from sitemap addresses before a robots.txt is stored; sitemaps are requested without them anyway. */
function withoutCredentials(body: string): string {
  return body.replace(/^([ \t]*sitemap[ \t]*:[ \t]*\w+:\/\/)[^/?#\s]*@/gim, '$1')
}

/** Waits for a promise; rejects when the signal is aborted. */
async function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  let abort = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort)
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
