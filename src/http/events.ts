import { PharosError } from '../core/errors.ts'
import type { Dispatcher } from '../library/dispatch/dispatcher.ts'
import type { FeedEvent, FeedFilter } from '../library/dispatch/feed.ts'
import { writeDone } from '../library/dispatch/job-item.ts'
import { writeProgress } from './job-records.ts'
import type { Peer } from './ports.ts'

/** How event streams are kept. */
export interface EventOptions {
  readonly dispatcher: Dispatcher
  /** Most streams that are open at once. @default 2000 */
  readonly maxStreams?: number
  /** Events are sent together, no more often than this. @default 75 ms */
  readonly flushMs?: number
  /** A stream on which nothing was sent for so long gets a sign of life. @default 10 s */
  readonly heartbeatMs?: number
  /** Whoever reads nothing for so long is gone. @default 2 minutes */
  readonly stuckMs?: number
}

/** What one stream is to hold. */
export interface StreamInput {
  readonly filter: FeedFilter
  /** The id of the last event that was seen, where a stream broke off. */
  readonly lastEventId: string | null
  readonly peer: Peer | undefined
}

/** Streams of events to whoever wants to watch. */
export interface EventStreams {
  /** Opens one; refused with `STREAMS_FULL` where there are as many as may be. */
  open(input: StreamInput): Response
  readonly count: number
  /** Ends all of them. */
  close(): void
}

/**
 * Somebody who watches. All that is kept of them is how far they are: what they have not read stays in the feed, for everybody
 * once. `want` is there while they have room for more, which is when something may be written.
 */
interface Watcher {
  readonly filter: FeedFilter
  readonly controller: ReadableStreamDefaultController<Uint8Array>
  readonly peer: Peer | undefined
  /** The number of the last event that was written or passed over. */
  position: number
  want: (() => void) | undefined
  /** Whether there was more for them than a chunk holds: they get the rest as fast as they read it. */
  isBehind: boolean
  writtenAt: number
}

const MAX_STREAMS = 2000
const FLUSH_MS = 75
const HEARTBEAT_MS = 10_000
const STUCK_MS = 120_000
/** So many events are looked through for one chunk, and a chunk is no larger than this by more than one event. */
const EVENTS_AT_ONCE = 500
const CHUNK_CHARS = 64 * 1024
/** So many streams are written to in one go; whoever else waits for the processor gets it in between. */
const WATCHERS_AT_ONCE = 50

const encoder = new TextEncoder()
const HEARTBEAT = encoder.encode(': \n\n')

/** A chunk that everybody gets who is at the same place and wants the same. */
interface Chunk {
  readonly bytes: Uint8Array | undefined
  readonly upTo: number
  readonly missed: number
}

/** Creates the streams. One listener of the feed serves them all. */
export function createEventStreams(options: EventOptions): EventStreams {
  const { dispatcher, maxStreams = MAX_STREAMS, flushMs = FLUSH_MS } = options
  const { heartbeatMs = HEARTBEAT_MS, stuckMs = STUCK_MS } = options
  const { feed } = dispatcher
  const watchers = new Set<Watcher>()
  let chunks = new Map<string, Chunk>()
  let chunksAt = -1
  let flush: ReturnType<typeof setTimeout> | undefined
  let isServing = false
  let isDue = false
  let beat: ReturnType<typeof setInterval> | undefined

  const write = (watcher: Watcher, bytes: Uint8Array) => {
    const { want } = watcher
    watcher.want = undefined
    watcher.writtenAt = performance.now()
    watcher.controller.enqueue(bytes)
    want?.()
  }
  const readChunk = (position: number, filter: FeedFilter): Chunk => {
    // What was there before may have gone out of the feed since.
    if (chunksAt !== feed.last) {
      chunks = new Map()
      chunksAt = feed.last
    }
    const key = `${position} ${filter.logs ? 1 : 0} ${filter.jobId ?? ''}`
    const found = chunks.get(key) ?? cutChunk(feed.read(position, filter, EVENTS_AT_ONCE), feed.epoch)
    chunks.set(key, found)
    return found
  }
  const serve = (watcher: Watcher) => {
    if (watcher.want === undefined || watcher.position === feed.last) return
    const { bytes, upTo, missed } = readChunk(watcher.position, watcher.filter)
    watcher.position = upTo
    watcher.isBehind = upTo < feed.last
    if (missed > 0) {
      const notice = writeNotice(`${missed} events were missed: they came faster than they were read`, missed)
      write(
        watcher,
        concat([
          encoder.encode(notice + writeSeed(dispatcher, watcher.filter)),
          ...(bytes === undefined ? [] : [bytes]),
        ]),
      )
    } else if (bytes !== undefined) write(watcher, bytes)
  }
  const serveAll = async () => {
    let served = 0
    for (const watcher of [...watchers]) {
      if (++served % WATCHERS_AT_ONCE === 0) await new Promise<void>((resolve) => setTimeout(resolve, 0))
      if (watchers.has(watcher)) serve(watcher)
    }
    chunks = new Map()
  }
  const schedule = () => {
    if (watchers.size === 0) return
    isDue = isServing
    if (isServing || flush !== undefined) return
    flush = setTimeout(() => {
      flush = undefined
      void serveOnce()
    }, flushMs)
  }
  // Whoever is last is not to wait for those who are served again already.
  const serveOnce = async () => {
    isServing = true
    isDue = false
    await serveAll()
    isServing = false
    if (isDue) schedule()
  }
  const drop = (watcher: Watcher) => {
    watchers.delete(watcher)
    if (watcher.peer?.drop !== undefined) watcher.peer.drop()
    else watcher.controller.error(new PharosError('INTERRUPTED'))
  }
  const sendBeats = () => {
    const now = performance.now()
    for (const watcher of [...watchers]) {
      const since = now - watcher.writtenAt
      if (watcher.peer?.isGone?.() === true) drop(watcher)
      else if (watcher.want === undefined) {
        if (since >= stuckMs) drop(watcher)
      } else if (since >= heartbeatMs) write(watcher, HEARTBEAT)
    }
  }
  const forget = (watcher: Watcher) => {
    watchers.delete(watcher)
    watcher.want?.()
    if (watchers.size > 0) return
    clearInterval(beat)
    clearTimeout(flush)
    beat = undefined
    flush = undefined
  }
  const stop = feed.listen(schedule)

  return {
    get count() {
      return watchers.size
    },
    open({ filter, lastEventId, peer }) {
      if (watchers.size >= maxStreams) throw new PharosError('STREAMS_FULL', { count: watchers.size })
      const resumed = resumeAt(lastEventId, feed.epoch, feed.last)
      let watcher: Watcher | undefined
      const body = new ReadableStream<Uint8Array>(
        {
          start(controller) {
            const position = resumed ?? feed.last
            watcher = {
              filter,
              controller,
              peer,
              position,
              want: undefined,
              isBehind: false,
              writtenAt: performance.now(),
            }
            watchers.add(watcher)
            beat ??= setInterval(sendBeats, Math.min(heartbeatMs, stuckMs) / 4)
            const seed = resumed === undefined ? writeStart(dispatcher, filter, lastEventId !== null) : ': resumed\n\n'
            // The browser asks again after this time when the stream breaks off.
            controller.enqueue(encoder.encode(`retry: 2000\n\n${seed}`))
          },
          pull() {
            if (watcher === undefined || !watchers.has(watcher)) return
            const waiting = new Promise<void>((resolve) => {
              if (watcher !== undefined) watcher.want = resolve
            })
            if (watcher.isBehind) serve(watcher)
            else if (watcher.position < feed.last) schedule()
            return waiting
          },
          cancel() {
            if (watcher !== undefined) forget(watcher)
          },
        },
        // Nothing is made before it can be sent.
        { highWaterMark: 0 },
      )
      return new Response(body, {
        headers: {
          'content-type': 'text/event-stream; charset=utf-8',
          'cache-control': 'no-store, no-transform',
          // Proxies are not to wait for more.
          'x-accel-buffering': 'no',
        },
      })
    },
    close() {
      stop()
      clearInterval(beat)
      clearTimeout(flush)
      for (const watcher of [...watchers]) {
        watchers.delete(watcher)
        watcher.want?.()
        watcher.controller.close()
      }
    },
  }
}

/** The number after which a stream goes on; undefined where it cannot go on. */
function resumeAt(lastEventId: string | null, epoch: string, last: number): number | undefined {
  const at = lastEventId?.lastIndexOf('-') ?? -1
  if (lastEventId === null || at < 0 || lastEventId.slice(0, at) !== epoch) return undefined
  const digits = lastEventId.slice(at + 1)
  const number = Number(digits)
  return /^\d{1,15}$/.test(digits) && number <= last ? number : undefined
}

/** The events of a chunk as text, up to a size. */
function cutChunk(
  { events, upTo, missed }: { events: readonly FeedEvent[]; upTo: number; missed: number },
  epoch: string,
): Chunk {
  let text = ''
  let position = upTo
  for (const [i, { number, name, json }] of events.entries()) {
    text += `id: ${epoch}-${number}\nevent: ${name}\ndata: ${json}\n\n`
    if (text.length >= CHUNK_CHARS && i < events.length - 1) {
      position = number
      break
    }
  }
  return { bytes: text === '' ? undefined : encoder.encode(text), upTo: position, missed }
}

/** What a new stream begins with. */
function writeStart(dispatcher: Dispatcher, filter: FeedFilter, isBroken: boolean): string {
  const { feed } = dispatcher
  const place = `id: ${feed.epoch}-${feed.last}\n`
  const hello = filter.logs ? writeEvent('log', { stream: 'server', line: '[server] connected', jobId: null }) : ''
  const missed = isBroken
    ? writeNotice('what happened since the stream broke off is not known here any more', null)
    : ''
  return `${place}${hello === '' ? ': connected\n\n' : hello}${missed}${writeSeed(dispatcher, filter)}`
}

/** Where all jobs stand that somebody wants to watch, and the ends of those that ended a moment ago. */
function writeSeed(dispatcher: Dispatcher, { jobId }: FeedFilter): string {
  const jobs = dispatcher.list().filter(({ id }) => jobId === null || id === jobId)
  return jobs
    .map((job) => {
      if (job.status === 'running') return writeEvent('progress', writeProgress(job))
      if (job.stage !== 'ended') return ''
      return writeEvent('done', { ...writeDone(job), jobId: job.id, isReplayed: true })
    })
    .join('')
}

/** Tells what was missed, in a line of the log: also to those who want no others. */
function writeNotice(line: string, missed: number | null): string {
  return writeEvent('log', { stream: 'server', line: `[server] ${line}`, jobId: null, missed })
}

function writeEvent(name: string, payload: Readonly<Record<string, unknown>>): string {
  return `event: ${name}\ndata: ${JSON.stringify(payload)}\n\n`
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
