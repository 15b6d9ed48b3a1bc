import { decodePlain } from '../core/extract/decode-html.ts'
import { clipRobots, parseRobots, type Robots } from '../core/robots/robots.ts'
import type { Ledger, RobotsRecord } from './ledger.ts'
import type { Clock } from './ports.ts'
import type { FetchResource, RobotsJudgement } from './resource.ts'

/** What the rules work with. */
export interface RobotsRulesOptions {
  /** Must not ask robots.txt itself. */
  readonly fetchResource: FetchResource
  readonly ledger: Pick<Ledger, 'readRobots' | 'writeRobots'>
  readonly clock: Clock
  /** How long a robots.txt that was read is used. @default 1 hour */
  readonly maxAgeMs?: number
}

const HOUR = 3_600_000
/** After this time an unreachable robots.txt is asked for again. */
const UNREACHABLE_MS = 60_000
/** More than is read of it, so that a large file is not taken for an unreachable one. */
const MAX_BYTES = 5 * 1024 * 1024

/**
 * The robots.txt files of all origins that are visited: each is fetched once, kept in memory and in the ledger, and
 * fetched again when it is too old. Without one (4xx, or more than five redirects) everything is allowed; while the server
 * fails, nothing is (RFC 9309, 2.3.1).
 */
export class RobotsRules {
  readonly #fetchResource: FetchResource
  readonly #ledger: RobotsRulesOptions['ledger']
  readonly #clock: Clock
  readonly #maxAgeMs: number
  readonly #known = new Map<string, Known>()
  readonly #loading = new Map<string, Loading>()

  constructor({ fetchResource, ledger, clock, maxAgeMs = HOUR }: RobotsRulesOptions) {
    this.#fetchResource = fetchResource
    this.#ledger = ledger
    this.#clock = clock
    this.#maxAgeMs = maxAgeMs
  }

  /** Tells whether an address may be fetched, and which rule forbids it. Rejects only when the signal is aborted. */
  async judge(url: string, signal?: AbortSignal): Promise<RobotsJudgement> {
    const { origin } = new URL(url)
    const { record, robots, isRefused } = await this.#load(origin, signal)
    if (robots === undefined) {
      return isRefused
        ? { allowed: false, reason: 'address-refused', pattern: null }
        : { allowed: false, reason: 'robots-unreachable', pattern: describe(record) }
    }
    const { allowed, rule } = robots.judge(url)
    return allowed ? { allowed } : { allowed, reason: 'robots-disallow', pattern: rule }
  }

  /** The pause the robots.txt of an origin asks for; null where it asks for none. */
  async crawlDelayMs(origin: string, signal?: AbortSignal): Promise<number | null> {
    return (await this.#load(new URL(origin).origin, signal)).robots?.crawlDelayMs ?? null
  }

  /** The sitemaps the robots.txt of an origin names. */
  async sitemaps(origin: string, signal?: AbortSignal): Promise<readonly string[]> {
    return (await this.#load(new URL(origin).origin, signal)).robots?.sitemaps ?? []
  }

  async #load(origin: string, signal: AbortSignal | undefined): Promise<Known> {
    signal?.throwIfAborted()
    const known = this.#known.get(origin)
    if (known !== undefined && this.#isFresh(known.record)) return known
    const loading = this.#loading.get(origin) ?? this.#startLoading(origin)
    // The fetch is everybody's: it is given up when the last who waits for it has gone.
    loading.waiting++
    try {
      return await untilAborted(loading.result, signal)
    } finally {
      loading.waiting--
      if (loading.waiting === 0) loading.controller.abort()
    }
  }

  #startLoading(origin: string): Loading {
    const controller = new AbortController()
    const result = this.#find(origin, controller.signal)
      .then(({ record, isRefused }) => {
        const robots = record.type === 'unreachable' ? undefined : parseRobots(record.body, `${origin}/robots.txt`)
        const known = { record, robots, isRefused }
        this.#known.set(origin, known)
        return known
      })
      .finally(() => {
        if (this.#loading.get(origin) === loading) this.#loading.delete(origin)
      })
    const loading: Loading = { result, controller, waiting: 0 }
    this.#loading.set(origin, loading)
    controller.signal.addEventListener('abort', () => {
      // Whoever asks from now on must not wait for what has been given up.
      if (this.#loading.get(origin) === loading) this.#loading.delete(origin)
    })
    return loading
  }

  async #find(origin: string, signal: AbortSignal): Promise<Found> {
    const stored = await this.#ledger.readRobots(origin)
    if (stored !== undefined && this.#isFresh(stored)) return { record: stored, isRefused: false }
    const found = await this.#fetch(origin, signal)
    // Not reached from here may mean that this process may not: others find out for themselves.
    if (found.record.type !== 'unreachable') await this.#ledger.writeRobots(found.record)
    return found
  }

  async #fetch(origin: string, signal: AbortSignal): Promise<Found> {
    const resource = await this.#fetchResource(`${origin}/robots.txt`, {
      accept: 'text/plain, */*;q=0.8',
      maxBytes: MAX_BYTES,
      signal,
    })
    const base = { origin, fetchedAt: this.#clock.now(), body: '' }
    switch (resource.type) {
      case 'found': {
        const { body, headers, status = 200 } = resource.snapshot
        const text = decodePlain(body, headers?.['content-type'] ?? '')
        return { record: { ...base, type: 'rules', body: clipRobots(text), status }, isRefused: false }
      }
      case 'missing':
        return { record: { ...base, type: 'none', status: resource.status }, isRefused: false }
      case 'failed': {
        // RFC 9309, 2.3.1.2: a file that is not reached within five redirects may be taken for missing.
        const type = resource.reason === 'redirect-loop' ? 'none' : 'unreachable'
        return { record: { ...base, type, status: resource.status }, isRefused: resource.reason === 'address-refused' }
      }
    }
  }

  #isFresh({ type, fetchedAt }: RobotsRecord): boolean {
    const age = this.#clock.now() - fetchedAt
    const maxAge = type === 'unreachable' ? Math.min(UNREACHABLE_MS, this.#maxAgeMs) : this.#maxAgeMs
    return age >= 0 && age < maxAge
  }
}

interface Found {
  readonly record: RobotsRecord
  /** Whether the network guard forbids the host, so that there is nothing to wait for. */
  readonly isRefused: boolean
}

interface Known extends Found {
  /** Undefined while it cannot be reached. */
  readonly robots: Robots | undefined
}

interface Loading {
  readonly result: Promise<Known>
  readonly controller: AbortController
  waiting: number
}

function describe({ status }: RobotsRecord): string {
  return status === null ? 'robots.txt could not be fetched' : `robots.txt answered ${status}`
}

/** Waits for a promise as long as the signal is not aborted. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
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
