import type { Clock } from '../../crawl/ports.ts'
import type { Feed, FeedEvent, FeedEventName, FeedFilter } from './feed.ts'

/** How a feed is kept. */
export interface FeedOptions {
  /** Something that no earlier server had, such as the moment of its start. */
  readonly epoch: string
  readonly clock: Clock
  /** So many events are kept. @default 5000 */
  readonly maxEvents?: number
  /** And so much of their text, in characters. @default 4 MB */
  readonly maxBytes?: number
  /** So many lines of crawl processes are told in a second; how many were not is told at its end. @default 200 */
  readonly logsPerSec?: number
  /** So much is told of one line. @default 8192 */
  readonly lineChars?: number
}

const MAX_EVENTS = 5000
const MAX_BYTES = 4 * 1024 * 1024
const LOGS_PER_SEC = 200
const LINE_CHARS = 8192

/** A progress that says the same again within this time is not told. */
const SAME_PROGRESS_MS = 200
/** The list of jobs is told five times a second at most. */
const JOBS_MS = 200
/** Listeners are called twenty times a second at most: an eye does not see more, and a thousand of them cost a core otherwise. */
const WAKE_MS = 50
/** So many are called in one go; whoever else waits for the processor gets it in between. */
const WAKES_AT_ONCE = 100
/** So many answers are remembered until the next event: listeners that keep up stand at a few positions. */
const MAX_SLICES = 8

type Payload = Readonly<Record<string, unknown>>

/** Keeps the last events of all jobs in memory. */
export function createFeed(options: FeedOptions): Feed {
  const { epoch, clock, maxEvents = MAX_EVENTS, maxBytes = MAX_BYTES, lineChars = LINE_CHARS } = options
  const ring = createRing(maxEvents, maxBytes)
  const wakes = createWakes(clock)
  const add = (name: FeedEventName, jobId: string | null, body: string) => {
    const about = name === 'jobs' ? '' : `"jobId":${JSON.stringify(jobId)},`
    const ts = `"ts":"${new Date(clock.now()).toISOString()}"`
    ring.add(name, jobId, `${body.slice(0, -1)}${body === '{}' ? '' : ','}${about}${ts}}`)
    wakes.call()
  }
  const logs = createLogLimit(clock, options.logsPerSec ?? LOGS_PER_SEC, (dropped) => {
    const line = `${dropped} lines were left out: there were more in one second than are told`
    add('log', null, JSON.stringify({ stream: 'server', line }))
  })
  const repeats = createRepeats(clock)
  const jobs = createLastOf(clock, (payload) => add('jobs', null, JSON.stringify(payload)))
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
      // What the server itself has to say is little, and the reason why somebody reads logs at all.
      if (name === 'log' && payload['stream'] !== 'server' && !logs.admits()) return
      const body = JSON.stringify(name === 'log' ? cutLine(payload, lineChars) : payload)
      if (name === 'progress' && repeats.isRepeat(jobId, body)) return
      if (name === 'done') repeats.forget(jobId)
      add(name, jobId, body)
    },
    read: ring.read,
    listen: wakes.add,
  }
}

function cutLine(payload: Payload, lineChars: number): Payload {
  const { line } = payload
  if (typeof line !== 'string' || line.length <= lineChars) return payload
  return { ...payload, line: `${line.slice(0, lineChars)}… (${line.length - lineChars} more characters)` }
}

/** The answer to a question that many ask. */
interface Slice extends ReturnType<Feed['read']> {
  readonly after: number
  readonly filter: FeedFilter
  readonly most: number
}

/** Events by their numbers; the oldest give way to new ones. */
function createRing(maxEvents: number, maxBytes: number) {
  // An event lies at its number modulo the size.
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
  const collect = (after: number, filter: FeedFilter, most: number): Slice => {
    const found: FeedEvent[] = []
    // A number that was never given is one of an earlier server.
    let upTo = Math.min(Math.max(after, first - 1), last)
    while (upTo < last && found.length < most) {
      upTo++
      const event = events[upTo % maxEvents]
      if (event !== undefined && passes(event, filter)) found.push(event)
    }
    return { after, filter, most, events: found, upTo, missed: Math.max(0, first - 1 - after) }
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
    read(after: number, filter: FeedFilter, most: number): Slice {
      for (const slice of slices) if (isAnswer(slice, after, filter, most)) return slice
      const slice = collect(after, filter, most)
      if (slices.length === MAX_SLICES) slices.shift()
      slices.push(slice)
      return slice
    },
  }
}

function isAnswer(slice: Slice, after: number, { logs, jobId }: FeedFilter, most: number): boolean {
  return slice.after === after && slice.most === most && slice.filter.logs === logs && slice.filter.jobId === jobId
}

/** What is about no job is for everybody. */
function passes({ name, jobId }: FeedEvent, filter: FeedFilter): boolean {
  if (name === 'log' && !filter.logs) return false
  return filter.jobId === null || jobId === null || jobId === filter.jobId
}

/** Calls listeners, together and not too often. */
function createWakes(clock: Clock) {
  const listeners = new Set<{ readonly wake: () => void }>()
  let isCalling = false
  let isDue = false
  const callAll = async () => {
    isCalling = true
    // Whatever else is told in this turn goes with it.
    await clock.sleep(0)
    while (isDue && listeners.size > 0) {
      isDue = false
      await callOnce()
      await clock.sleep(WAKE_MS)
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
        // One that cannot be called must not keep the others from being called.
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

/** Counts lines by the second. */
function createLogLimit(clock: Clock, perSec: number, tellDropped: (dropped: number) => void) {
  let since = Number.NEGATIVE_INFINITY
  let told = 0
  let dropped = 0
  const tellAtEnd = async () => {
    await clock.sleep(since + 1000 - clock.now())
    const count = dropped
    dropped = 0
    tellDropped(count)
  }
  return {
    admits(): boolean {
      const now = clock.now()
      // While the end of a second is not told, it is not over.
      if (dropped === 0 && (now - since >= 1000 || now < since)) {
        since = now
        told = 0
      }
      if (told < perSec) {
        told++
        return true
      }
      dropped++
      if (dropped === 1) void tellAtEnd()
      return false
    },
  }
}

/** Knows what each job said last. */
function createRepeats(clock: Clock) {
  const said = new Map<string | null, { readonly body: string; readonly at: number }>()
  return {
    isRepeat(jobId: string | null, body: string): boolean {
      const before = said.get(jobId)
      const at = clock.now()
      if (before?.body === body && at - before.at < SAME_PROGRESS_MS) return true
      said.set(jobId, { body, at })
      return false
    },
    forget(jobId: string | null) {
      said.delete(jobId)
    },
  }
}

/** Tells the first of several at once, and the last of them when its time has come. */
function createLastOf(clock: Clock, tell: (payload: Payload) => void) {
  let waiting: Payload | undefined
  let isWaiting = false
  const tellLater = async () => {
    isWaiting = true
    do {
      await clock.sleep(JOBS_MS)
      const payload = waiting
      waiting = undefined
      if (payload !== undefined) tell(payload)
      else isWaiting = false
    } while (isWaiting)
  }
  return {
    take(payload: Payload) {
      if (isWaiting) {
        waiting = payload
        return
      }
      tell(payload)
      void tellLater()
    },
  }
}
