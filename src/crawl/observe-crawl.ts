import type { EventQueue } from './event-queue.ts'
import type { CrawlEvent, CrawlProgress } from './events.ts'
import type { Fetcher } from './ports.ts'
import type { CrawlPorts, CrawlRun } from './run.ts'
import { describeTime, type StoreRetry } from './store-retry.ts'

/** Interval of progress events. */
export const PROGRESS_INTERVAL_MS = 250
/** Number of liveness signals per liveness timeout. */
export const HEARTBEATS_PER_TIMEOUT = 6
/** A longer gap between two checks means that the process or machine was suspended. */
const MAX_TICK_MS = 10 * PROGRESS_INTERVAL_MS
/** A check that takes longer than this counts as time without activity. */
const MAX_CHECK_MS = 20 * PROGRESS_INTERVAL_MS
/** Maximum number of addresses in a message. */
const MAX_LISTED_URLS = 5

/** Reason for stopping a crawl that another process has taken over. */
export const TAKEN_OVER = 'another process has taken the crawl over'

/** Reason for stopping a crawl without activity. */
export class StallError extends Error {}

/** Counts the activity of a crawl. */
export class ActivityCounter {
  count = 0

  /** Counts the beginning and the end of some work. */
  async track<T>(work: Promise<T>): Promise<T> {
    this.count++
    try {
      return await work
    } finally {
      this.count++
    }
  }

  /** Wraps ports so that their requests are counted. */
  trackRequests(ports: CrawlPorts): CrawlPorts {
    const { fetcher, pageFetcher, renderer } = ports
    const countFetches = (fetcher: Fetcher): Fetcher => ({ fetch: (request) => this.track(fetcher.fetch(request)) })
    return {
      ...ports,
      fetcher: countFetches(fetcher),
      pageFetcher: pageFetcher && countFetches(pageFetcher),
      renderer: renderer && {
        prepare: () => renderer.prepare(),
        render: (snapshot, request) => this.track(renderer.render(snapshot, request)),
      },
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
 * Emits progress and signals liveness until the crawl ends. Stops a crawl that another process has taken over, or that shows no activity
 * and is not waiting for anything.
 */
export async function observeCrawl(observed: ObservedRun, ended: AbortSignal): Promise<void> {
  const { active, stop } = observed
  const { clock } = active.ports
  const { stallMs } = active.run.limits
  const idle = new IdleTime(observed)
  const heartbeat = new Heartbeat(observed)
  // If reading the progress fails, this check has none: the store may be busy, and the next check is due soon.
  const check = async (): Promise<ProgressCheck> => {
    const progress = await active.progress().catch(() => undefined)
    return { progress, idleMs: await idle.measure(progress).catch(() => 0) }
  }
  const pause = () => clock.sleep(PROGRESS_INTERVAL_MS, ended).catch(() => undefined)
  let pending: { readonly since: number; readonly result: Promise<ProgressCheck> } | undefined
  for (let next = pause(); ; ) {
    await next
    next = pause()
    if (ended.aborted) return
    pending ??= { since: clock.now(), result: check() }
    // Does not wait longer than one interval, so that liveness is signaled even if the store does not respond.
    const result = await Promise.race([pending.result, next])
    if (ended.aborted) return
    const isLate = clock.now() - pending.since > MAX_CHECK_MS
    if (result !== undefined) pending = undefined
    const { progress, idleMs } = result ?? { progress: undefined, idleMs: isLate ? idle.measureWithoutStore() : 0 }
    if (idleMs >= stallMs && !stop.signal.aborted) stop.abort(describeStall(active, stallMs))
    if (progress !== undefined && !active.events.isFull) {
      active.events.push({ type: 'progress', ...progress })
      idle.discount()
    }
    heartbeat.sendIfDue()
  }
}

/** Signals that a crawl is alive, and stops a crawl that another process has taken over. Ignores a failed signal. */
class Heartbeat {
  readonly #observed: ObservedRun
  readonly #intervalMs: number
  #dueAt: number
  /** When the pending signal was sent. */
  #pendingSince = Number.NEGATIVE_INFINITY

  constructor(observed: ObservedRun) {
    const { run, ports } = observed.active
    this.#observed = observed
    this.#intervalMs = run.limits.aliveMs / HEARTBEATS_PER_TIMEOUT
    this.#dueAt = ports.clock.now() + this.#intervalMs
  }

  /** Does not wait for the result: a locked library may take long, and progress must still be emitted. */
  sendIfDue(): void {
    const { active, stop } = this.#observed
    const { clock, touch } = active.ports
    const now = clock.now()
    // A signal without a response for this long is considered lost, and another is sent.
    if (now < this.#dueAt || now - this.#pendingSince < active.run.limits.aliveMs) return
    this.#dueAt = now + this.#intervalMs
    this.#pendingSince = now
    touch()
      .then((isOurs) => {
        if (!isOurs) stop.abort(new Error(TAKEN_OVER))
      })
      .catch(() => undefined)
      .finally(() => {
        this.#pendingSince = Number.NEGATIVE_INFINITY
      })
  }
}

/** Result of a check: the progress, unless reading it failed, and the idle time. */
interface ProgressCheck {
  readonly progress: CrawlProgress | undefined
  readonly idleMs: number
}

/** Measures how long a crawl has been without activity. */
class IdleTime {
  readonly #observed: ObservedRun
  #activityCount = -1
  #readCount = -1
  #checkedAt: number
  #idleMs = 0

  constructor(observed: ObservedRun) {
    this.#observed = observed
    this.#checkedAt = observed.active.ports.clock.now()
  }

  async measure(progress: CrawlProgress | undefined): Promise<number> {
    const { isInactive, elapsedMs, now } = this.#check()
    this.#idleMs = isInactive && !(await this.#isWaiting(now, progress)) ? this.#idleMs + elapsedMs : 0
    return this.#idleMs
  }

  /** Measures the idle time when the store does not respond. */
  measureWithoutStore(): number {
    const { isInactive, elapsedMs } = this.#check()
    this.#idleMs = isInactive && !this.#isBlocked() ? this.#idleMs + elapsedMs : 0
    return this.#idleMs
  }

  #check(): { readonly isInactive: boolean; readonly elapsedMs: number; readonly now: number } {
    const { active, activity } = this.#observed
    const { pushedCount, readCount, isFull } = active.events
    const now = active.ports.clock.now()
    const elapsedMs = Math.min(now - this.#checkedAt, MAX_TICK_MS)
    const activityCount = activity.count + pushedCount
    // A slow consumer delays the crawl, but its reading counts as activity.
    const isInactive = activityCount === this.#activityCount && !(isFull && readCount !== this.#readCount)
    this.#checkedAt = now
    this.#activityCount = activityCount
    this.#readCount = readCount
    return { isInactive, elapsedMs, now }
  }

  /** Excludes the progress event that was just pushed, because it is not activity of the crawl. */
  discount(): void {
    this.#activityCount++
  }

  #isBlocked(): boolean {
    const { active, storeRetry } = this.#observed
    return active.ports.control?.isPaused === true || storeRetry.isWaiting
  }

  /**
   * Whether the crawl waits for something: a pause, a library that cannot be written, the back-off of a host, or a row that is not due yet.
   */
  async #isWaiting(now: number, progress: CrawlProgress | undefined): Promise<boolean> {
    const { active } = this.#observed
    if (this.#isBlocked() || progress?.hosts.some(({ backoffMs }) => backoffMs > 0)) return true
    const { nextAt } = await active.ports.ledger.countOpen(active.run.sourceId, now)
    return nextAt !== null && nextAt > now
  }
}

function describeStall({ events, visiting }: ObservedCrawl, stallMs: number): Error {
  const time = describeTime(stallMs)
  if (events.isFull) return new Error(`the events of the crawl were not read for ${time}`)
  const urls = [...visiting.keys()].slice(0, MAX_LISTED_URLS).join(', ')
  const more = visiting.size > MAX_LISTED_URLS ? ` and ${visiting.size - MAX_LISTED_URLS} more` : ''
  return new StallError(`nothing happened for ${time}${visiting.size > 0 ? `; in progress: ${urls}${more}` : ''}`)
}
