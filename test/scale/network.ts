import type { Fetcher, FetchOutcome } from '../../src/crawl/ports.ts'
import { DEFAULT_CRAWL_LIMITS } from '../../src/crawl/run.ts'
import { randomInteger } from './random.ts'
import type { SimulatedTime } from './time.ts'
import { faultAt, type SimulatedHost, type World } from './world.ts'

/** A request that came too early. */
export interface Breach {
  readonly host: string
  readonly at: number
  /** `pause`: too soon after the previous request. `patience`: while the host had asked to wait. */
  readonly kind: 'pause' | 'patience'
  /** Milliseconds since the previous request, or since the host asked to wait. */
  readonly gapMs: number
  /** The required minimum of `gapMs`. */
  readonly leastMs: number
}

/** Totals over all hosts. */
export interface NetworkStats {
  requests: number
  answers: number
  failures: number
  refusals: number
  readonly breaches: Breach[]
  breachCount: number
  /** Histogram of how much longer pauses at hosts were than required: less than 25 ms, 50, 100, 200, and more. */
  readonly slack: number[]
  /** The smallest slack. */
  minSlackMs: number
  /** Requests that were postponed, because their slot had passed when the connection was open. */
  tooLate: number
}

const SLACK_LIMITS = [25, 50, 100, 200]
/** Maximum number of breaches that are listed. */
const MAX_NAMED_BREACHES = 20
/** Response time of a host that is down. */
const DOWN_RESPONSE_MS = 3000
/** Factor for the response time while a host is slow. */
const SLOW_FACTOR = 12
/**
 * Requests already on their way when a host asks to wait, or when its interval grows, do not count as a breach. The tolerance covers a
 * response and two statements.
 */
const IN_FLIGHT_TOLERANCE_MS = 100
/** Idle time after which a connection closes. */
const CONNECTION_IDLE_MS = 4000
/** Share of the response time that opening a connection takes. */
const CONNECT_SHARE = 0.4

/** The network between processes and hosts. Each host checks the pace of its requests. */
export class SimulatedNetwork {
  readonly stats: NetworkStats = {
    requests: 0,
    answers: 0,
    failures: 0,
    refusals: 0,
    breaches: [],
    breachCount: 0,
    slack: new Array<number>(SLACK_LIMITS.length + 1).fill(0),
    minSlackMs: Infinity,
    tooLate: 0,
  }
  readonly #time: SimulatedTime
  readonly #hosts: ReadonlyMap<string, SimulatedHost>
  readonly #random: () => number

  constructor(time: SimulatedTime, world: World, random: () => number) {
    this.#time = time
    this.#hosts = new Map(world.hosts.map((host) => [host.name, host]))
    this.#random = random
  }

  /** The network as seen by one process. A request without a connection waits for one, and is then sent only if it is still in time. */
  open(deliver: (answer: () => void) => void): Fetcher {
    return {
      fetch: ({ url, isInTime }) =>
        new Promise((resolve) => {
          const host = this.#hostOf(url)
          const send = (): void => {
            host.connectedBy = deliver
            host.connectedAt = this.#time.now
            if (isInTime === undefined || isInTime()) {
              this.#request(host, url, (outcome) => deliver(() => resolve(outcome)))
            } else {
              this.stats.tooLate++
              resolve(NOT_SENT)
            }
          }
          if (host.connectedBy === deliver && this.#time.now - host.connectedAt < CONNECTION_IDLE_MS) send()
          else this.#time.at(this.#time.now + host.latencyMs * CONNECT_SHARE, () => deliver(send))
        }),
    }
  }

  #hostOf(url: string): SimulatedHost {
    const name = url.slice('https://'.length, url.indexOf('/', 'https://'.length))
    const host = this.#hosts.get(name)
    if (host === undefined) throw new TypeError(`there is no host ${name}`)
    return host
  }

  #request(host: SimulatedHost, url: string, onOutcome: (outcome: FetchOutcome) => void): void {
    this.#checkPace(host)
    host.inFlight++
    host.maxInFlight = Math.max(host.maxInFlight, host.inFlight)
    const { outcome, afterMs } = this.#answer(host, url.endsWith('/robots.txt'))
    this.#time.at(this.#time.now + afterMs, () => {
      host.inFlight--
      onOutcome(outcome)
    })
  }

  /** Checks whether a host may get a request now. */
  #checkPace(host: SimulatedHost): void {
    const { now } = this.#time
    this.stats.requests++
    host.requests++
    const gapMs = now - host.lastRequestAt
    const leastMs = minPause(host, now)
    host.lastRequestAt = now
    host.lastRequestIntervalMs = host.clock.intervalMs
    if (gapMs !== Infinity) {
      const slack = gapMs - leastMs
      this.stats.minSlackMs = Math.min(this.stats.minSlackMs, slack)
      const group = SLACK_LIMITS.findIndex((end) => slack < end)
      const bucket = group < 0 ? SLACK_LIMITS.length : group
      this.stats.slack[bucket] = (this.stats.slack[bucket] ?? 0) + 1
      if (slack < 0) this.#recordBreach({ host: host.name, at: now, kind: 'pause', gapMs, leastMs })
    }
    const { waitFrom: patienceFrom, waitUntil: patienceUntil } = host
    if (now > patienceFrom + IN_FLIGHT_TOLERANCE_MS && now < patienceUntil) {
      const early = { gapMs: now - patienceFrom, leastMs: patienceUntil - patienceFrom }
      this.#recordBreach({ host: host.name, at: now, kind: 'patience', ...early })
    }
  }

  #recordBreach(breach: Breach): void {
    this.stats.breachCount++
    if (this.stats.breaches.length < MAX_NAMED_BREACHES) this.stats.breaches.push(breach)
  }

  #answer(host: SimulatedHost, isRobots: boolean): { readonly outcome: FetchOutcome; readonly afterMs: number } {
    const { now } = this.#time
    const fault = faultAt(host, now)
    const latencyMs = Math.round(host.latencyMs * (0.7 + 0.6 * this.#random())) * (fault === 'slow' ? SLOW_FACTOR : 1)
    if (fault === 'down') {
      this.stats.failures++
      return { outcome: { ...FAILED, reason: 'network', detail: 'the connection broke' }, afterMs: DOWN_RESPONSE_MS }
    }
    if (fault === 'busy' && !isRobots) return this.#refuse(host, latencyMs)
    this.stats.answers++
    if (isRobots) return { outcome: robotsOf(host, latencyMs), afterMs: latencyMs }
    return { outcome: { type: 'unchanged', etag: null, lastModified: null, latencyMs }, afterMs: latencyMs }
  }

  /** Asks the client to wait for a given time. */
  #refuse(host: SimulatedHost, latencyMs: number): { readonly outcome: FetchOutcome; readonly afterMs: number } {
    const retryAfterMs = randomInteger(this.#random, 5, 40) * 1000
    this.stats.refusals++
    const answeredAt = this.#time.now + latencyMs
    if (answeredAt + retryAfterMs > host.waitUntil) {
      host.waitFrom = Math.max(answeredAt, host.waitFrom)
      host.waitUntil = answeredAt + retryAfterMs
    }
    const outcome: FetchOutcome = { ...FAILED, status: 429, reason: 'rate-limited', detail: 'slow down', retryAfterMs }
    return { outcome: { ...outcome, latencyMs }, afterMs: latencyMs }
  }
}

/**
 * Required minimum since the previous request: the longest of the default interval of a crawl, the Crawl-delay that the host has sent, and
 * the interval of the host clock.
 */
function minPause(
  { robots, crawlDelayMs, clock, lastRequestIntervalMs: askedPauseMs }: SimulatedHost,
  now: number,
): number {
  const isSlowdownKnown = now - clock.slowedAt > IN_FLIGHT_TOLERANCE_MS
  const ownMs = isSlowdownKnown ? clock.intervalMs : Math.min(clock.intervalMs, askedPauseMs)
  return Math.max(robots === undefined ? 0 : (crawlDelayMs ?? 0), DEFAULT_CRAWL_LIMITS.intervalMs, ownMs)
}

const FAILED: Extract<FetchOutcome, { type: 'failed' }> = {
  type: 'failed',
  status: null,
  reason: 'network',
  detail: '',
  isTransient: true,
  retryAfterMs: null,
}

const NOT_SENT: FetchOutcome = { ...FAILED, reason: 'timeout', detail: 'its slot has passed' }

function robotsOf({ name, crawlDelayMs }: SimulatedHost, latencyMs: number): FetchOutcome {
  if (crawlDelayMs === null) return { type: 'gone', status: 404, latencyMs }
  const body = new TextEncoder().encode(`User-agent: *\nCrawl-delay: ${crawlDelayMs / 1000}\n`)
  const snapshot = { url: `https://${name}/robots.txt`, body, status: 200, headers: { 'content-type': 'text/plain' } }
  return { type: 'fetched', snapshot, etag: null, lastModified: null, latencyMs }
}
