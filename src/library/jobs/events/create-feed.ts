import type { Clock } from '../../../crawl/ports.ts'
import type { Feed, FeedEvent, FeedEventName, FeedFilter } from './feed.ts'

/** Options of a feed. */
export interface FeedOptions {
  /** A value unique to this server, such as its start time. */
  readonly epoch: string
  readonly clock: Clock
  /** Maximum number of events kept. @default 5000 */
  readonly maxEvents?: number
  /** Maximum size of the text of all events, in characters. @default 4,194,304 */
  readonly maxBytes?: number
  /**
   * Maximum number of log lines of crawl processes per second; the feed reports the number of dropped lines after each second. @default 200
   */
  readonly logsPerSec?: number
  /** Maximum length of one log line, in characters. @default 8192 */
  readonly lineChars?: number
}

const MAX_EVENTS = 5000
const MAX_BYTES = 4 * 1024 * 1024
const LOGS_PER_SEC = 200
const LINE_CHARS = 8192

/** A progress event equal to the previous one within this time is dropped. */
const REPEAT_WINDOW_MS = 200
/** Minimum interval between two lists of jobs. */
const JOB_LIST_INTERVAL_MS = 200
/** Minimum interval between two rounds of listener calls: more rounds would be invisible, and a thousand listeners would occupy a core. */
const WAKE_INTERVAL_MS = 50
/** Maximum number of listeners called before yielding to other work. */
const WAKES_AT_ONCE = 100
/** Maximum number of cached reads; listeners that keep up read from only a few positions. */
const MAX_SLICES = 8

type Payload = Readonly<Record<string, unknown>>

/** Keeps the last events of all jobs in memory. */
export function createFeed(options: FeedOptions): Feed {
  const { epoch, clock, maxEvents = MAX_EVENTS, maxBytes = MAX_BYTES, lineChars = LINE_CHARS } = options
  const ring = createRing(maxEvents, maxBytes)
  const listeners = createListeners(clock)
  const add = (name: FeedEventName, jobId: string | null, body: string) => {
    const jobField = name === 'jobs' ? '' : `"jobId":${JSON.stringify(jobId)},`
    const ts = `"ts":"${new Date(clock.now()).toISOString()}"`
    ring.add(name, jobId, `${body.slice(0, -1)}${body === '{}' ? '' : ','}${jobField}${ts}}`)
    listeners.call()
  }
  const logs = createLogLimit(clock, options.logsPerSec ?? LOGS_PER_SEC, (dropped) => {
    const line = `${dropped} log lines were dropped: there were too many in one second`
    add('log', null, JSON.stringify({ stream: 'server', line }))
  })
  const repeats = createRepeats(clock)
  const jobs = createThrottle(clock, (payload) => add('jobs', null, JSON.stringify(payload)))
  return {
    epoch,
    get last() {
      return ring.last
    },
    tell(name, jobId, payload) {
      if (name === 'jobs') {
        jobs.take(payload)
        return
      }
      // Lines of the server itself are few and important, so the rate limit does not apply to them.
      if (name === 'log' && payload['stream'] !== 'server' && !logs.admits()) return
      const body = JSON.stringify(name === 'log' ? cutLine(payload, lineChars) : payload)
      if (name === 'progress' && repeats.isRepeat(jobId, body)) return
      if (name === 'done') repeats.forget(jobId)
      add(name, jobId, body)
    },
    read: ring.read,
    listen: listeners.add,
  }
}

function cutLine(payload: Payload, lineChars: number): Payload {
  const { line } = payload
  if (typeof line !== 'string' || line.length <= lineChars) return payload
  return { ...payload, line: `${line.slice(0, lineChars)}… (${line.length - lineChars} more characters)` }
}

/** A cached read that many listeners share. */
interface Slice extends ReturnType<Feed['read']> {
  readonly after: number
  readonly filter: FeedFilter
  readonly limit: number
}

/** Ring buffer of events by number; the oldest are overwritten. */
function createRing(maxEvents: number, maxBytes: number) {
  // An event is at its number modulo the size.
  const events: (FeedEvent | undefined)[] = new Array(maxEvents)
  let first = 1
  let last = 0
  let bytes = 0
  const slices: Slice[] = []
  const dropFirst = () => {
    bytes -= events[first % maxEvents]?.json.length ?? 0
    events[first % maxEvents] = undefined
    first++
  }
  const collect = (after: number, filter: FeedFilter, limit: number): Slice => {
    const found: FeedEvent[] = []
    // A number above `last` comes from an earlier server.
    let upTo = Math.min(Math.max(after, first - 1), last)
    while (upTo < last && found.length < limit) {
      upTo++
      const event = events[upTo % maxEvents]
      if (event !== undefined && passes(event, filter)) found.push(event)
    }
    return { after, filter, limit, events: found, upTo, missed: Math.max(0, first - 1 - after) }
  }
  return {
    get last() {
      return last
    },
    add(name: FeedEventName, jobId: string | null, json: string) {
      slices.length = 0
      if (last - first + 1 === maxEvents) dropFirst()
      last++
      events[last % maxEvents] = { number: last, name, jobId, json }
      bytes += json.length
      while (bytes > maxBytes && first < last) dropFirst()
    },
    read(after: number, filter: FeedFilter, limit: number): Slice {
      for (const slice of slices) if (isSameRead(slice, after, filter, limit)) return slice
      const slice = collect(after, filter, limit)
      if (slices.length === MAX_SLICES) slices.shift()
      slices.push(slice)
      return slice
    },
  }
}

function isSameRead(slice: Slice, after: number, { logs, jobId }: FeedFilter, limit: number): boolean {
  return slice.after === after && slice.limit === limit && slice.filter.logs === logs && slice.filter.jobId === jobId
}

/** Events without a job go to every listener. */
function passes({ name, jobId }: FeedEvent, filter: FeedFilter): boolean {
  if (name === 'log' && !filter.logs) return false
  return filter.jobId === null || jobId === null || jobId === filter.jobId
}

/** Calls all listeners in rounds, at a limited rate. */
function createListeners(clock: Clock) {
  const listeners = new Set<{ readonly wake: () => void }>()
  let isCalling = false
  let isDue = false
  const callAll = async () => {
    isCalling = true
    // Waits one turn of the event loop, so that other events of this turn are included.
    await clock.sleep(0)
    while (isDue && listeners.size > 0) {
      isDue = false
      await callOnce()
      await clock.sleep(WAKE_INTERVAL_MS)
    }
    isCalling = false
  }
  const callOnce = async () => {
    let called = 0
    for (const listener of [...listeners]) {
      if (called > 0 && called % WAKES_AT_ONCE === 0) await clock.sleep(0)
      called++
      if (!listeners.has(listener)) continue
      try {
        listener.wake()
      } catch {
        // A listener that throws must not prevent calls to the others.
        listeners.delete(listener)
      }
    }
  }
  return {
    call() {
      isDue = true
      if (!isCalling && listeners.size > 0) void callAll()
    },
    add(wake: () => void) {
      const listener = { wake }
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** Limits the number of log lines per second. */
function createLogLimit(clock: Clock, perSec: number, reportDropped: (dropped: number) => void) {
  let since = Number.NEGATIVE_INFINITY
  let admitted = 0
  let dropped = 0
  const reportAtEnd = async () => {
    await clock.sleep(since + 1000 - clock.now())
    const count = dropped
    dropped = 0
    reportDropped(count)
  }
  return {
    admits(): boolean {
      const now = clock.now()
      // A second with dropped lines ends only after they have been reported.
      if (dropped === 0 && (now - since >= 1000 || now < since)) {
        since = now
        admitted = 0
      }
      if (admitted < perSec) {
        admitted++
        return true
      }
      dropped++
      if (dropped === 1) void reportAtEnd()
      return false
    },
  }
}

/** Remembers the last progress of each job. */
function createRepeats(clock: Clock) {
  const latest = new Map<string | null, { readonly body: string; readonly at: number }>()
  return {
    isRepeat(jobId: string | null, body: string): boolean {
      const before = latest.get(jobId)
      const at = clock.now()
      if (before?.body === body && at - before.at < REPEAT_WINDOW_MS) return true
      latest.set(jobId, { body, at })
      return false
    },
    forget(jobId: string | null) {
      latest.delete(jobId)
    },
  }
}

/** Emits the first of several payloads immediately, and the latest once the interval is over. */
function createThrottle(clock: Clock, emit: (payload: Payload) => void) {
  let pending: Payload | undefined
  let isWaiting = false
  const emitLater = async () => {
    isWaiting = true
    do {
      await clock.sleep(JOB_LIST_INTERVAL_MS)
      const payload = pending
      pending = undefined
      if (payload !== undefined) emit(payload)
      else isWaiting = false
    } while (isWaiting)
  }
  return {
    take(payload: Payload) {
      if (isWaiting) {
        pending = payload
        return
      }
      emit(payload)
      void emitLater()
    },
  }
}
