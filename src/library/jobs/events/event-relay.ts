import type { Clock } from '../../../crawl/ports.ts'
import type { JobView } from '../dispatcher.ts'
import type { Feed, FeedEventName } from './feed.ts'

/** One batch that a worker relays. */
export interface RelayBatch {
  /** Current state of jobs; the latest view of each job replaces earlier ones. */
  readonly views: readonly JobView[]
  /** Events in order. */
  readonly events: readonly (readonly [name: FeedEventName, jobId: string | null, payload: Payload])[]
}

type Payload = Readonly<Record<string, unknown>>

/** Options of {@link createRelay}. */
export interface RelayOptions {
  readonly clock: Clock
  /** Lists the jobs of this worker. */
  readonly listViews: () => readonly JobView[]
  /** Sends a batch. A failed batch is not sent again, because it serves only live viewers. */
  readonly sendBatch: (body: string) => Promise<void>
}

/** A feed whose events are sent to servers in other processes. */
export interface Relay extends Pick<Feed, 'tell'> {
  /** Starts sending batches until the relay is closed. */
  start(): void
  /** Sends the pending events now. */
  flush(): Promise<void>
  /** Sends the last batch and stops. */
  close(): Promise<void>
}

/** Interval between batches. */
const BATCH_INTERVAL_MS = 250
/** Interval for sending the view of a job that makes progress. */
const VIEW_INTERVAL_MS = 1000
/** Interval for sending an unchanged view again, because viewers that have just connected need it. */
const UNCHANGED_VIEW_INTERVAL_MS = 10_000
/** Maximum number of events in a batch; beyond it, events about single addresses are dropped first. */
const MAX_EVENTS = 500

/** Every server derives these events itself from the log of jobs. */
const DERIVED_EVENTS: ReadonlySet<FeedEventName> = new Set(['jobs', 'done'])
const DROPPABLE_EVENTS: ReadonlySet<FeedEventName> = new Set(['queue', 'cache'])

/** Creates a relay. */
export function createRelay({ clock, listViews, sendBatch }: RelayOptions): Relay {
  let events: RelayBatch['events'][number][] = []
  const lastSent = new Map<string, { readonly json: string; readonly key: string; readonly at: number }>()
  const closing = new AbortController()
  let running = Promise.resolve()
  let tail = Promise.resolve()

  const isDue = (view: JobView, json: string, now: number): boolean => {
    const before = lastSent.get(view.id)
    if (before === undefined || before.key !== keyOf(view)) return true
    return now - before.at >= (before.json === json ? UNCHANGED_VIEW_INTERVAL_MS : VIEW_INTERVAL_MS)
  }
  const collectViews = (now: number): JobView[] => {
    const views = listViews()
    const due = views.filter((view) => {
      const json = JSON.stringify(view.progress)
      if (!isDue(view, json, now)) return false
      lastSent.set(view.id, { json, key: keyOf(view), at: now })
      return true
    })
    const known = new Set(views.map(({ id }) => id))
    for (const id of lastSent.keys()) if (!known.has(id)) lastSent.delete(id)
    return due
  }
  const sendOnce = async () => {
    const views = collectViews(clock.now())
    const batch = dropSurplus(events)
    events = []
    if (views.length === 0 && batch.length === 0) return
    // A failure is ignored, because the worker's own reporting shows whether the library can be reached.
    await sendBatch(JSON.stringify({ views, events: batch } satisfies RelayBatch)).catch(() => undefined)
  }
  /** Batches are sent one after the other, so that events stay in order. */
  const flush = () => {
    tail = tail.then(sendOnce)
    return tail
  }
  const keepSending = async () => {
    while (!closing.signal.aborted) {
      await clock.sleep(BATCH_INTERVAL_MS, closing.signal).catch(() => undefined)
      await flush()
    }
  }
  return {
    tell(name, jobId, payload) {
      if (DERIVED_EVENTS.has(name)) return
      events.push([name, jobId, payload])
      if (events.length >= 2 * MAX_EVENTS) events = dropSurplus(events)
    },
    start() {
      running = keepSending()
    },
    flush,
    async close() {
      closing.abort()
      await running
      await flush()
    },
  }
}

/** Joins the fields of a view whose change is sent at once. */
function keyOf({ status, stage, paused, pid, crawlId }: JobView): string {
  return JSON.stringify([status, stage, paused, pid, crawlId])
}

function dropSurplus(events: readonly RelayBatch['events'][number][]): RelayBatch['events'][number][] {
  let surplus = events.length - MAX_EVENTS
  if (surplus <= 0) return [...events]
  const kept = events.filter(([name]) => !DROPPABLE_EVENTS.has(name) || --surplus < 0)
  return kept.slice(-MAX_EVENTS)
}

/** Parses a batch that a worker has sent. */
export function parseRelayBatch(body: string): RelayBatch {
  // A batch is always written by createRelay of a worker on the same library.
  return JSON.parse(body) as RelayBatch
}
