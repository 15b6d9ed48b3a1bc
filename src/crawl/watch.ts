import type { EventQueue } from './event-queue.ts'
import type { CrawlEvent, CrawlProgress } from './events.ts'
import { describeTime, type Patience } from './patience.ts'
import type { Fetcher } from './ports.ts'
import type { CrawlPorts, CrawlRun } from './run.ts'

const PROGRESS_MS = 250
/** So many signs of life could be missed before a crawl is taken for interrupted. */
const BEATS = 6
/** More than this between two looks is time in which the process or its machine stood still. */
const MOST_TICK_MS = 10 * PROGRESS_MS
/** So many addresses are named. */
const MAX_NAMED = 5

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
  const { clock, touch } = active.ports
  const { aliveMs, stallMs } = active.run.limits
  const beatMs = aliveMs / BEATS
  const idle = new IdleTime(watched)
  let beatAt = clock.now() + beatMs
  let beating: Promise<void> | undefined
  while (!ended.aborted) {
    await clock.sleep(PROGRESS_MS, ended).catch(() => undefined)
    if (ended.aborted) return
    // A count or a sign of life that fails is one that is missed: the store may be busy, and the next one is due soon.
    const progress = await active.progress().catch(() => undefined)
    const idleMs = await idle.measure(progress).catch(() => 0)
    if (idleMs >= stallMs && !stop.signal.aborted) stop.abort(describeStall(active, stallMs))
    if (progress !== undefined && !active.events.isFull) {
      active.events.push({ type: 'progress', ...progress })
      idle.discount()
    }
    if (clock.now() < beatAt || beating !== undefined) continue
    beatAt = clock.now() + beatMs
    // Not waited for: it may take long where the library is locked, which is no reason to tell nothing.
    beating = touch()
      .catch(() => true)
      .then((isOurs) => {
        beating = undefined
        if (!isOurs) stop.abort(new Error('another process has taken the crawl over'))
      })
  }
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
    this.#idleMs = isStill && !(await this.#isWaiting(now, progress)) ? this.#idleMs + passed : 0
    return this.#idleMs
  }

  /** Says that an event was added that tells nothing new. */
  discount(): void {
    this.#happened++
  }

  /** Whether there is something to wait for: whoever paused it, a library that can be written, a host that is left alone, a row that is not due yet. */
  async #isWaiting(now: number, progress: CrawlProgress | undefined): Promise<boolean> {
    const { active, patience } = this.#watched
    if (
      active.ports.control?.isPaused === true ||
      patience.isWaiting ||
      progress?.hosts.some(({ backoffMs }) => backoffMs > 0)
    )
      return true
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
