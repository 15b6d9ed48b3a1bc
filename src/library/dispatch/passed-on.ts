import type { Clock } from '../../crawl/ports.ts'
import type { JobView } from './dispatcher.ts'
import type { Feed, FeedEventName } from './feed.ts'

/** What a worker passes on at once. */
export interface Passage {
  /** Jobs as they stand; of each the last one that was passed on counts. */
  readonly views: readonly JobView[]
  /** What was told, in its order. */
  readonly events: readonly (readonly [name: FeedEventName, jobId: string | null, payload: Payload])[]
}

type Payload = Readonly<Record<string, unknown>>

/** What a worker needs to pass something on. */
export interface RelayOptions {
  readonly clock: Clock
  /** Its jobs as they stand. */
  readonly listViews: () => readonly JobView[]
  /** Passes a passage on. What fails is not told again: it is for those who watch. */
  readonly passOn: (body: string) => Promise<void>
}

/** A feed that others read, far away. */
export interface Relay extends Pick<Feed, 'tell'> {
  /** Passes on what was told, and goes on doing so until it is closed. */
  start(): void
  /** Passes on now what was told. */
  flush(): Promise<void>
  /** The same for the last time. */
  close(): Promise<void>
}

/** How often something is passed on. */
const PASS_MS = 250
/** A job that only goes on is passed on this often; one that stands still now and then, for those who begin to watch. */
const VIEW_MS = 1000
const STILL_MS = 10_000
/** So many events are passed on at once; of more, single addresses are left out first. */
const MOST_EVENTS = 500

/** Whoever reads the log of jobs says itself which there are, and which have ended. */
const OWN: ReadonlySet<FeedEventName> = new Set(['jobs', 'done'])
const DISPENSABLE: ReadonlySet<FeedEventName> = new Set(['queue', 'cache'])

/** Creates one. */
export function createRelay({ clock, listViews, passOn }: RelayOptions): Relay {
  let events: Passage['events'][number][] = []
  const passed = new Map<string, { readonly json: string; readonly key: string; readonly at: number }>()
  const closing = new AbortController()
  let running = Promise.resolve()
  let tail = Promise.resolve()

  const isDue = (view: JobView, json: string, now: number): boolean => {
    const before = passed.get(view.id)
    if (before === undefined || before.key !== keyOf(view)) return true
    return now - before.at >= (before.json === json ? STILL_MS : VIEW_MS)
  }
  const collectViews = (now: number): JobView[] => {
    const views = listViews()
    const due = views.filter((view) => {
      const json = JSON.stringify(view.progress)
      if (!isDue(view, json, now)) return false
      passed.set(view.id, { json, key: keyOf(view), at: now })
      return true
    })
    const known = new Set(views.map(({ id }) => id))
    for (const id of passed.keys()) if (!known.has(id)) passed.delete(id)
    return due
  }
  const passOnce = async () => {
    const views = collectViews(clock.now())
    const told = thinOut(events)
    events = []
    if (views.length === 0 && told.length === 0) return
    // A library that cannot be reached is told by whoever reports to it.
    await passOn(JSON.stringify({ views, events: told } satisfies Passage)).catch(() => undefined)
  }
  /** One after the other, so that everything comes in its order. */
  const flush = () => {
    tail = tail.then(passOnce)
    return tail
  }
  const keepPassing = async () => {
    while (!closing.signal.aborted) {
      await clock.sleep(PASS_MS, closing.signal).catch(() => undefined)
      await flush()
    }
  }
  return {
    tell(name, jobId, payload) {
      if (OWN.has(name)) return
      events.push([name, jobId, payload])
      if (events.length >= 2 * MOST_EVENTS) events = thinOut(events)
    },
    start() {
      running = keepPassing()
    },
    flush,
    async close() {
      closing.abort()
      await running
      await flush()
    },
  }
}

/** What is worth being told at once. */
function keyOf({ status, stage, paused, pid, crawlId }: JobView): string {
  return JSON.stringify([status, stage, paused, pid, crawlId])
}

function thinOut(events: readonly Passage['events'][number][]): Passage['events'][number][] {
  let surplus = events.length - MOST_EVENTS
  if (surplus <= 0) return [...events]
  const kept = events.filter(([name]) => !DISPENSABLE.has(name) || --surplus < 0)
  return kept.slice(-MOST_EVENTS)
}

/** Reads a passage that a worker has written. */
export function readPassage(body: string): Passage {
  // It was written by createRelay of a worker of the same library.
  return JSON.parse(body) as Passage
}
