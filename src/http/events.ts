import { PharosError } from '../core/errors.ts'
import { joinBytes } from '../core/join-bytes.ts'
import type { Dispatcher, JobView } from '../library/jobs/dispatcher.ts'
import type { FeedEvent, FeedFilter } from '../library/jobs/events/feed.ts'
import { writeDone } from '../library/jobs/job-item.ts'
import type { JobEntry } from '../library/ports/job-log.ts'
import type { Peer } from './ports.ts'
import { progressRecord } from './records/job-records.ts'

/** Options of the event streams. */
export interface EventOptions {
  readonly dispatcher: Dispatcher
  /** Maximum number of open streams. @default 2000 */
  readonly maxStreams?: number
  /** Interval after which an idle stream gets a heartbeat. @default 10 s */
  readonly heartbeatMs?: number
  /** A client that reads nothing for this long is disconnected. @default 2 minutes */
  readonly stuckMs?: number
}

/** The events that a client requests, and where its stream resumes. */
export interface StreamInput {
  readonly filter: FeedFilter
  /** The id of the last event that the client received before it was disconnected. */
  readonly lastEventId: string | null
  /** The job of the filter, if only the history knows it. */
  readonly endedJob?: JobEntry | undefined
  readonly peer: Peer | undefined
}

/**
 * A client of the event stream. The server keeps only its position: unread events stay in the feed, which all clients share. `want` is set
 * while the client has room for more data, and only then may something be written.
 */
interface StreamClient {
  readonly filter: FeedFilter
  readonly controller: ReadableStreamDefaultController<Uint8Array>
  readonly peer: Peer | undefined
  /** The number of the last event that was written or skipped. */
  position: number
  want: (() => void) | undefined
  /** Whether more events are waiting than one chunk holds. The client gets the rest as fast as it reads. */
  isBehind: boolean
  writtenAt: number
}

const MAX_STREAMS = 2000
const FLUSH_INTERVAL_MS = 75
const HEARTBEAT_INTERVAL_MS = 10_000
const STALL_TIMEOUT_MS = 120_000
/** Limits for one chunk: it scans this many events, and exceeds this size by at most one event. */
const MAX_CHUNK_EVENTS = 500
const MAX_CHUNK_CHARS = 64 * 1024
/** Number of streams written in one batch, before the event loop gets a turn. */
const STREAM_BATCH_SIZE = 50

const encoder = new TextEncoder()
const HEARTBEAT = encoder.encode(': \n\n')

/** A chunk, shared by all clients that have the same position and filter. */
interface StreamChunk {
  readonly bytes: Uint8Array | undefined
  readonly upTo: number
  readonly missed: number
}

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  // Turns off response buffering in proxies.
  'x-accel-buffering': 'no',
}

/** Server-sent event streams. All of them share one listener of the feed. */
export class EventStreams {
  readonly #dispatcher: Dispatcher
  readonly #feed: Dispatcher['feed']
  readonly #maxStreams: number
  readonly #heartbeatMs: number
  readonly #stuckMs: number
  readonly #stop: () => void
  readonly #clients = new Set<StreamClient>()
  #chunks = new Map<string, StreamChunk>()
  #chunksAt = -1
  #flushTimer: ReturnType<typeof setTimeout> | undefined
  #isServing = false
  #isDue = false
  #heartbeat: ReturnType<typeof setInterval> | undefined

  constructor(options: EventOptions) {
    this.#dispatcher = options.dispatcher
    this.#feed = options.dispatcher.feed
    this.#maxStreams = options.maxStreams ?? MAX_STREAMS
    this.#heartbeatMs = options.heartbeatMs ?? HEARTBEAT_INTERVAL_MS
    this.#stuckMs = options.stuckMs ?? STALL_TIMEOUT_MS
    this.#stop = this.#feed.listen(() => this.#schedule())
  }

  get count(): number {
    return this.#clients.size
  }

  /** Opens a stream; throws `STREAMS_FULL` at the limit. */
  open({ filter, lastEventId, endedJob, peer }: StreamInput): Response {
    if (this.#clients.size >= this.#maxStreams) throw new PharosError('STREAMS_FULL', { count: this.#clients.size })
    const resumePosition = resumeAt(lastEventId, this.#feed.epoch, this.#feed.last)
    let client: StreamClient | undefined
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const position = resumePosition ?? this.#feed.last
          const writtenAt = performance.now()
          client = { filter, controller, peer, position, want: undefined, isBehind: false, writtenAt }
          this.#clients.add(client)
          this.#heartbeat ??= setInterval(() => this.#sendHeartbeats(), Math.min(this.#heartbeatMs, this.#stuckMs) / 4)
          const firstEvents =
            resumePosition === undefined
              ? writeStart(this.#dispatcher, filter, lastEventId !== null) + (endedJob ? writeEnd(endedJob) : '')
              : ': resumed\n\n'
          // The delay before a browser reconnects.
          controller.enqueue(encoder.encode(`retry: 2000\n\n${firstEvents}`))
        },
        pull: () => {
          if (client === undefined || !this.#clients.has(client)) return
          const waiting = new Promise<void>((resolve) => {
            if (client !== undefined) client.want = resolve
          })
          if (client.isBehind) this.#serve(client)
          else if (client.position < this.#feed.last) this.#schedule()
          return waiting
        },
        cancel: () => {
          if (client !== undefined) this.#removeClient(client)
        },
      },
      // A high-water mark of 0 builds no chunk before the client can take it.
      { highWaterMark: 0 },
    )
    return new Response(body, { headers: STREAM_HEADERS })
  }

  close(): void {
    this.#stop()
    clearInterval(this.#heartbeat)
    clearTimeout(this.#flushTimer)
    for (const client of [...this.#clients]) {
      this.#clients.delete(client)
      client.want?.()
      client.controller.close()
    }
  }

  #write(client: StreamClient, bytes: Uint8Array): void {
    const { want } = client
    client.want = undefined
    client.writtenAt = performance.now()
    client.controller.enqueue(bytes)
    want?.()
  }

  #readChunk(position: number, filter: FeedFilter): StreamChunk {
    // A new event may have evicted older ones from the feed, so cached chunks expire.
    if (this.#chunksAt !== this.#feed.last) {
      this.#chunks = new Map()
      this.#chunksAt = this.#feed.last
    }
    const key = `${position} ${filter.logs ? 1 : 0} ${filter.jobId ?? ''}`
    const found =
      this.#chunks.get(key) ?? cutChunk(this.#feed.read(position, filter, MAX_CHUNK_EVENTS), this.#feed.epoch)
    this.#chunks.set(key, found)
    return found
  }

  #serve(client: StreamClient): void {
    if (client.want === undefined || client.position === this.#feed.last) return
    const { bytes, upTo, missed } = this.#readChunk(client.position, client.filter)
    client.position = upTo
    client.isBehind = upTo < this.#feed.last
    if (missed > 0) {
      const notice = writeNotice(`${missed} events were missed: they came faster than they were read`, missed)
      this.#write(
        client,
        joinBytes([
          encoder.encode(notice + writeCurrentState(this.#dispatcher, client.filter)),
          ...(bytes === undefined ? [] : [bytes]),
        ]),
      )
    } else if (bytes !== undefined) this.#write(client, bytes)
  }

  async #serveAll(): Promise<void> {
    let served = 0
    for (const client of [...this.#clients]) {
      if (++served % STREAM_BATCH_SIZE === 0) await new Promise<void>((resolve) => setTimeout(resolve, 0))
      if (this.#clients.has(client)) this.#serve(client)
    }
    this.#chunks = new Map()
  }

  #schedule(): void {
    if (this.#clients.size === 0) return
    this.#isDue = this.#isServing
    if (this.#isServing || this.#flushTimer !== undefined) return
    this.#flushTimer = setTimeout(() => {
      this.#flushTimer = undefined
      void this.#serveOnce()
    }, FLUSH_INTERVAL_MS)
  }

  // Serves every stream once before any stream is served again.
  async #serveOnce(): Promise<void> {
    this.#isServing = true
    this.#isDue = false
    await this.#serveAll()
    this.#isServing = false
    if (this.#isDue) this.#schedule()
  }

  #drop(client: StreamClient): void {
    this.#clients.delete(client)
    if (client.peer?.drop !== undefined) client.peer.drop()
    else client.controller.error(new PharosError('INTERRUPTED'))
  }

  #sendHeartbeats(): void {
    const now = performance.now()
    for (const client of [...this.#clients]) {
      const since = now - client.writtenAt
      if (client.peer?.isGone?.() === true) this.#drop(client)
      else if (client.want === undefined) {
        if (since >= this.#stuckMs) this.#drop(client)
      } else if (since >= this.#heartbeatMs) this.#write(client, HEARTBEAT)
    }
  }

  #removeClient(client: StreamClient): void {
    this.#clients.delete(client)
    client.want?.()
    if (this.#clients.size > 0) return
    clearInterval(this.#heartbeat)
    clearTimeout(this.#flushTimer)
    this.#heartbeat = undefined
    this.#flushTimer = undefined
  }
}

/** The position after which a stream resumes; undefined when it cannot resume. */
function resumeAt(lastEventId: string | null, epoch: string, last: number): number | undefined {
  const at = lastEventId?.lastIndexOf('-') ?? -1
  if (lastEventId === null || at < 0 || lastEventId.slice(0, at) !== epoch) return undefined
  const digits = lastEventId.slice(at + 1)
  const number = Number(digits)
  return /^\d{1,15}$/.test(digits) && number <= last ? number : undefined
}

/** The events of a chunk as text, up to the size limit. */
function cutChunk(
  { events, upTo, missed }: { events: readonly FeedEvent[]; upTo: number; missed: number },
  epoch: string,
): StreamChunk {
  let text = ''
  let position = upTo
  for (const [i, { number, name, json }] of events.entries()) {
    text += `id: ${epoch}-${number}\nevent: ${name}\ndata: ${json}\n\n`
    if (text.length >= MAX_CHUNK_CHARS && i < events.length - 1) {
      position = number
      break
    }
  }
  return { bytes: text === '' ? undefined : encoder.encode(text), upTo: position, missed }
}

/** The first events of a new stream. */
function writeStart(dispatcher: Dispatcher, filter: FeedFilter, wasInterrupted: boolean): string {
  const { feed } = dispatcher
  const idLine = `id: ${feed.epoch}-${feed.last}\n`
  const greeting = filter.logs ? writeEvent('log', { stream: 'server', line: '[server] connected', jobId: null }) : ''
  const missed = wasInterrupted ? writeNotice('events since the connection was lost are no longer available', null) : ''
  return `${idLine}${greeting === '' ? ': connected\n\n' : greeting}${missed}${writeCurrentState(dispatcher, filter)}`
}

/** The progress of all matching jobs, and the results of those that ended recently. */
function writeCurrentState(dispatcher: Dispatcher, { jobId }: FeedFilter): string {
  const jobs = dispatcher.list().filter(({ id }) => jobId === null || id === jobId)
  return jobs
    .map((job) => {
      if (job.status === 'running') return writeEvent('progress', progressRecord(job))
      return job.stage === 'ended' ? writeEnd(job) : ''
    })
    .join('')
}

function writeEnd(job: JobView | JobEntry): string {
  return writeEvent('done', { ...writeDone(job), jobId: job.id, isReplayed: true })
}

/** Reports missed events as a log line, even to clients that do not subscribe to logs. */
function writeNotice(line: string, missed: number | null): string {
  return writeEvent('log', { stream: 'server', line: `[server] ${line}`, jobId: null, missed })
}

function writeEvent(name: string, payload: Readonly<Record<string, unknown>>): string {
  return `event: ${name}\ndata: ${JSON.stringify(payload)}\n\n`
}
