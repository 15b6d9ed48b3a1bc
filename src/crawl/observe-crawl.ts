import type { EventQueue } from './event-queue.ts'
import type { CrawlEvent, CrawlProgress } from './events.ts'
import type { Fetcher } from './ports.ts'
import type { CrawlPorts, CrawlRun } from './run.ts'
import { describeTime, type StoreRetry } from './store-retry.ts'

/** Interval of progress events. */
export const PROGRESS_INTERVAL_MS = 250
/** Number of liveness signals within the time after which a crawl counts as interrupted. */
export const HEARTBEATS_PER_TIMEOUT = 6
/** A longer gap between two checks means that the process or machine was suspended. */
const MAX_TICK_MS = 10 * PROGRESS_INTERVAL_MS
/** A check that takes longer than this counts as one without activity. */
const MAX_CHECK_MS = 20 * PROGRESS_INTERVAL_MS
/** Maximum number of addresses named in a message. */
const MAX_NAMED = 5

/** Reason for stopping a crawl that another process has taken over. */
export const TAKEN_OVER = 'another process has taken the crawl over'

/** Reason for stopping a crawl without activity. */
export class StallError extends Error {}

/** Counts the activity of a crawl. */
export class ActivityCounter {
  count = 0

  /** Wraps ports so that their calls are counted. */
  countCalls(ports: CrawlPorts): CrawlPorts {
    const counted = async <T>(work: Promise<T>): Promise<T> => {
      this.count++
      try {
        return await work
      } finally {
        this.count++
      }
    }
    const { fetcher, pageFetcher, renderer } = ports
    const watchFetcher = (one: Fetcher): Fetcher => ({ fetch: (request) => counted(one.fetch(request)) })
    return {
      ...ports,
      fetcher: watchFetcher(fetcher),
      pageFetcher: pageFetcher && watchFetcher(pageFetcher),
      renderer: renderer && {
        prepare: () => renderer.prepare(),
        render: (snapshot, request) => counted(renderer.render(snapshot, request)),
      },
      readPage: (snapshot, key, options) => counted(ports.readPage(snapshot, key, options)),
    }
  }
}

/** The part of a running crawl that `observeCrawl` needs. */
export interface ObservedCrawl {
  readonly run: Pick<CrawlRun, 'sourceId' | 'limits'>
  readonly ports: Pick<CrawlPorts, 'ledger' | 'clock' | 'control' | 'touch'>
  readonly events: EventQueue<CrawlEvent>
  /** Addresses being visited, and since when. */
  readonly visiting: ReadonlyMap<string, number>
  progress(): Promise<CrawlProgress>
}

/** A running crawl and the means to observe it. */
export interface ObservedRun {
  readonly active: ObservedCrawl
  readonly storeRetry: StoreRetry
  readonly activity: ActivityCounter
  /** Stops the crawl. */
  readonly stop: AbortController
}

/**
 * Emits progress and signals liveness until the crawl ends. Stops a crawl that was taken over, and one without activity although it waits
 * for nothing.
 */
export async function observeCrawl(watched: ObservedRun, ended: AbortSignal): Promise<void> {
  const { active, stop } = watched
  const { clock } = active.ports
  const { stallMs } = active.run.limits
  const idle = new IdleTime(watched)
  const signs = new Heartbeat(watched)
  // A failed count is skipped: the store may be busy, and the next count is due soon.
  const look = async (): Promise<ProgressCheck> => {
    const progress = await active.progress().catch(() => undefined)
    return { progress, idleMs: await idle.measure(progress).catch(() => 0) }
  }
  const pause = () => clock.sleep(PROGRESS_INTERVAL_MS, ended).catch(() => undefined)
  let looking: { readonly since: number; readonly look: Promise<ProgressCheck> } | undefined
  for (let next = pause(); ; ) {
    await next
    next = pause()
    if (ended.aborted) return
    looking ??= { since: clock.now(), look: look() }
    // Liveness is signalled even if the store does not respond.
    const looked = await Promise.race([looking.look, next])
    if (ended.aborted) return
    const isLate = clock.now() - looking.since > MAX_CHECK_MS
    if (looked !== undefined) looking = undefined
    const { progress, idleMs } = looked ?? { progress: undefined, idleMs: isLate ? idle.measureWithoutStore() : 0 }
    if (idleMs >= stallMs && !stop.signal.aborted) stop.abort(describeStall(active, stallMs))
    if (progress !== undefined && !active.events.isFull) {
      active.events.push({ type: 'progress', ...progress })
      idle.discount()
    }
    signs.sendIfDue()
  }
}

/** Signals that a crawl is alive, and stops one that was taken over. A failed signal is skipped. */
class Heartbeat {
  readonly #watched: ObservedRun
  readonly #everyMs: number
  #dueAt: number
  /** When the pending signal was sent. */
  #givenAt = Number.NEGATIVE_INFINITY

  constructor(watched: ObservedRun) {
    const { run, ports } = watched.active
    this.#watched = watched
    this.#everyMs = run.limits.aliveMs / HEARTBEATS_PER_TIMEOUT
    this.#dueAt = ports.clock.now() + this.#everyMs
  }

  /** Does not wait for the result: a locked library may take long, and progress must still be emitted. */
  sendIfDue(): void {
    const { active, stop } = this.#watched
    const { clock, touch } = active.ports
    const now = clock.now()
    // A signal without a response for this long is considered lost, and another is sent.
    if (now < this.#dueAt || now - this.#givenAt < active.run.limits.aliveMs) return
    this.#dueAt = now + this.#everyMs
    this.#givenAt = now
    touch()
      .then((isOurs) => {
        if (!isOurs) stop.abort(new Error(TAKEN_OVER))
      })
      .catch(() => undefined)
      .finally(() => {
        this.#givenAt = Number.NEGATIVE_INFINITY
      })
  }
}

/** Result of a check: the progress, unless it could not be counted, and the idle time. */
interface ProgressCheck {
  readonly progress: CrawlProgress | undefined
  readonly idleMs: number
}

/** Measures how long a crawl has been without activity. */
class IdleTime {
  readonly #watched: ObservedRun
  #happened = -1
  #read = -1
  #lookedAt: number
  #idleMs = 0

  constructor(watched: ObservedRun) {
    this.#watched = watched
    this.#lookedAt = watched.active.ports.clock.now()
  }

  async measure(progress: CrawlProgress | undefined): Promise<number> {
    const { isStill, passed, now } = this.#look()
    this.#idleMs = isStill && !(await this.#isWaiting(now, progress)) ? this.#idleMs + passed : 0
    return this.#idleMs
  }

  /** Measures without the store, if it does not respond. */
  measureWithoutStore(): number {
    const { isStill, passed } = this.#look()
    this.#idleMs = isStill && !this.#isHeldUp() ? this.#idleMs + passed : 0
    return this.#idleMs
  }

  #look(): { readonly isStill: boolean; readonly passed: number; readonly now: number } {
    const { active, activity: pulse } = this.#watched
    const { pushedCount, readCount, isFull } = active.events
    const now = active.ports.clock.now()
    const passed = Math.min(now - this.#lookedAt, MAX_TICK_MS)
    const happened = pulse.count + pushedCount
    // A slow consumer delays the crawl, but its reading counts as activity.
    const isStill = happened === this.#happened && !(isFull && readCount !== this.#read)
    this.#lookedAt = now
    this.#happened = happened
    this.#read = readCount
    return { isStill, passed, now }
  }

  /** Excludes an event that is no activity, such as progress. */
  discount(): void {
    this.#happened++
  }

  #isHeldUp(): boolean {
    const { active, storeRetry: patience } = this.#watched
    return active.ports.control?.isPaused === true || patience.isWaiting
  }

  /**
   * Whether the crawl waits for something: a pause, a library that cannot be written, the back-off of a host, or a row that is not due yet.
   */
  async #isWaiting(now: number, progress: CrawlProgress | undefined): Promise<boolean> {
    const { active } = this.#watched
    if (this.#isHeldUp() || progress?.hosts.some(({ backoffMs }) => backoffMs > 0)) return true
    const { nextAt } = await active.ports.ledger.countOpen(active.run.sourceId, now)
    return nextAt !== null && nextAt > now
  }
}

function describeStall({ events, visiting }: ObservedCrawl, stallMs: number): Error {
  const time = describeTime(stallMs)
  if (events.isFull) return new Error(`nobody has read what the crawl tells for ${time}`)
  const named = [...visiting.keys()].slice(0, MAX_NAMED).join(', ')
  const more = visiting.size > MAX_NAMED ? ` and ${visiting.size - MAX_NAMED} more` : ''
  return new StallError(`nothing happened for ${time}${visiting.size > 0 ? `; under way: ${named}${more}` : ''}`)
}
