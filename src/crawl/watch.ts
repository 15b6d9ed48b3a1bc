import type { EventQueue } from './event-queue.ts'
import type { CrawlEvent, CrawlProgress } from './events.ts'
import { describeTime, type Patience } from './patience.ts'
import type { Fetcher } from './ports.ts'
import type { CrawlPorts, CrawlRun } from './run.ts'

/** How often progress is told. */
export const PROGRESS_MS = 250
/** So many signs of life could be missed before a crawl is taken for interrupted. */
export const BEATS = 6
/** More than this between two looks is time in which the process or its machine stood still. */
const MOST_TICK_MS = 10 * PROGRESS_MS
/** A look at a crawl that takes longer than this counts as one at which nothing was seen. */
const MOST_LOOK_MS = 20 * PROGRESS_MS
/** So many addresses are named. */
const MAX_NAMED = 5

/** Why a crawl ends that is not this process's any more. */
export const TAKEN_OVER = 'another process has taken the crawl over'

/** Why a crawl in which nothing happens any more ends. */
export class Stall extends Error {}

/** What happens in a crawl, counted. */
export class Pulse {
  beats = 0

  /** The same ports, whose use is counted. */
  watch(ports: CrawlPorts): CrawlPorts {
    const counted = async <T>(work: Promise<T>): Promise<T> => {
      this.beats++
      try {
        return await work
      } finally {
        this.beats++
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

/** A running crawl, as far as it is watched. */
export interface WatchedCrawl {
  readonly run: Pick<CrawlRun, 'sourceId' | 'limits'>
  readonly ports: Pick<CrawlPorts, 'ledger' | 'clock' | 'control' | 'touch'>
  readonly events: EventQueue<CrawlEvent>
  /** Addresses being visited, and since when. */
  readonly visiting: ReadonlyMap<string, number>
  progress(): Promise<CrawlProgress>
}

/** What a running crawl is watched with. */
export interface Watched {
  readonly active: WatchedCrawl
  readonly patience: Patience
  readonly pulse: Pulse
  /** Stops the crawl. */
  readonly stop: AbortController
}

/**
 * Tells the progress and that the crawl is alive, until it ends. Stops a crawl that was taken over, and one in which nothing
 * happens although there is nothing to wait for.
 */
export async function watchOver(watched: Watched, ended: AbortSignal): Promise<void> {
  const { active, stop } = watched
  const { clock } = active.ports
  const { stallMs } = active.run.limits
  const idle = new IdleTime(watched)
  const signs = new SignsOfLife(watched)
  // A count that fails is one that is missed: the store may be busy, and the next one is due soon.
  const look = async (): Promise<Look> => {
    const progress = await active.progress().catch(() => undefined)
    return { progress, idleMs: await idle.measure(progress).catch(() => 0) }
  }
  const pause = () => clock.sleep(PROGRESS_MS, ended).catch(() => undefined)
  let looking: { readonly since: number; readonly look: Promise<Look> } | undefined
  for (let next = pause(); ; ) {
    await next
    next = pause()
    if (ended.aborted) return
    looking ??= { since: clock.now(), look: look() }
    // A store that does not answer is no reason to give no sign of life.
    const looked = await Promise.race([looking.look, next])
    if (ended.aborted) return
    const isLate = clock.now() - looking.since > MOST_LOOK_MS
    if (looked !== undefined) looking = undefined
    const { progress, idleMs } = looked ?? { progress: undefined, idleMs: isLate ? idle.goOn() : 0 }
    if (idleMs >= stallMs && !stop.signal.aborted) stop.abort(describeStall(active, stallMs))
    if (progress !== undefined && !active.events.isFull) {
      active.events.push({ type: 'progress', ...progress })
      idle.discount()
    }
    signs.giveIfDue()
  }
}

/** Tells that a crawl is alive, and stops one that was taken over. A sign that fails is one that is missed. */
class SignsOfLife {
  readonly #watched: Watched
  readonly #everyMs: number
  #dueAt: number
  /** When the one was given that has not been answered yet. */
  #givenAt = Number.NEGATIVE_INFINITY

  constructor(watched: Watched) {
    const { run, ports } = watched.active
    this.#watched = watched
    this.#everyMs = run.limits.aliveMs / BEATS
    this.#dueAt = ports.clock.now() + this.#everyMs
  }

  /** Waits for nobody: it may take long where the library is locked, which is no reason to tell nothing. */
  giveIfDue(): void {
    const { active, stop } = this.#watched
    const { clock, touch } = active.ports
    const now = clock.now()
    // One that was not answered in the time of many others will not be.
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

/** What was seen of a crawl: where it stands, unless that could not be counted, and how long nothing has happened. */
interface Look {
  readonly progress: CrawlProgress | undefined
  readonly idleMs: number
}

/** How long nothing has happened. */
class IdleTime {
  readonly #watched: Watched
  #happened = -1
  #read = -1
  #lookedAt: number
  #idleMs = 0

  constructor(watched: Watched) {
    this.#watched = watched
    this.#lookedAt = watched.active.ports.clock.now()
  }

  async measure(progress: CrawlProgress | undefined): Promise<number> {
    const { isStill, passed, now } = this.#look()
    this.#idleMs = isStill && !(await this.#isWaiting(now, progress)) ? this.#idleMs + passed : 0
    return this.#idleMs
  }

  /** The same where nobody answers who could say whether there is something to wait for. */
  goOn(): number {
    const { isStill, passed } = this.#look()
    this.#idleMs = isStill && !this.#isHeldUp() ? this.#idleMs + passed : 0
    return this.#idleMs
  }

  #look(): { readonly isStill: boolean; readonly passed: number; readonly now: number } {
    const { active, pulse } = this.#watched
    const { pushed, read, isFull } = active.events
    const now = active.ports.clock.now()
    const passed = Math.min(now - this.#lookedAt, MOST_TICK_MS)
    const happened = pulse.beats + pushed
    // Whoever reads slowly holds the crawl up, but does read.
    const isStill = happened === this.#happened && !(isFull && read !== this.#read)
    this.#lookedAt = now
    this.#happened = happened
    this.#read = read
    return { isStill, passed, now }
  }

  /** Says that an event was added that tells nothing new. */
  discount(): void {
    this.#happened++
  }

  #isHeldUp(): boolean {
    const { active, patience } = this.#watched
    return active.ports.control?.isPaused === true || patience.isWaiting
  }

  /** Whether there is something to wait for: whoever paused it, a library that can be written, a host that is left alone, a row that is not due yet. */
  async #isWaiting(now: number, progress: CrawlProgress | undefined): Promise<boolean> {
    const { active } = this.#watched
    if (this.#isHeldUp() || progress?.hosts.some(({ backoffMs }) => backoffMs > 0)) return true
    const { nextAt } = await active.ports.ledger.countOpen(active.run.sourceId, now)
    return nextAt !== null && nextAt > now
  }
}

function describeStall({ events, visiting }: WatchedCrawl, stallMs: number): Error {
  const time = describeTime(stallMs)
  if (events.isFull) return new Error(`nobody has read what the crawl tells for ${time}`)
  const named = [...visiting.keys()].slice(0, MAX_NAMED).join(', ')
  const more = visiting.size > MAX_NAMED ? ` and ${visiting.size - MAX_NAMED} more` : ''
  return new Stall(`nothing happened for ${time}${visiting.size > 0 ? `; under way: ${named}${more}` : ''}`)
}
