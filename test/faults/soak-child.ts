/**
 * Crawls the sources of one library repeatedly and concurrently, and searches meanwhile, until stdin is closed. The argument is {@link
 * SoakOptions} as JSON. The process writes the result of each crawl and its resource usage to stdout, one JSON object per line. A
 * failed check ends the process with an error.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { CrawlEvent, CrawlKind } from '../../src/crawl/events.ts'
import { searchHits } from '../../src/library/search/hits.ts'
import type { Source } from '../../src/library/source.ts'
import { addSource, crawlSource, findSource, type OpenLibrary, openLibrary, reportSource } from '../../src/node.ts'

/** Options of the process. */
export interface SoakOptions {
  readonly path: string
  /** Start addresses of the sources. */
  readonly urls: readonly string[]
  /** Duration of a round. A crawl that has started may run longer. */
  readonly roundMs: number
  /** Idle time after each round. */
  readonly restMs: number
  /** Whether the library is closed after each round, and opened again. */
  readonly isReopening: boolean
}

/** Resource usage of the process at one moment. */
export interface Sample {
  readonly type: 'sample'
  /** `resting`: no crawl is under way. `closed`: nor is a library open. */
  readonly point: 'working' | 'resting' | 'closed'
  readonly atMs: number
  readonly rssMb: number
  /** Resident memory that is not mapped from files. */
  readonly anonymousMb: number
  readonly heapMb: number
  readonly buffersMb: number
  readonly files: number
  readonly threads: number
  readonly children: number
  /** Active resources of the process, sorted, without immediates and its own pipes. */
  readonly resources: readonly string[]
  readonly libraryMb: number
  readonly walMb: number
}

/** The result of one crawl. */
export interface CrawlReport {
  readonly type: 'crawled'
  readonly url: string
  readonly kind: CrawlKind
  readonly isResumed: boolean
  readonly isCancelled: boolean
  readonly end: string
  readonly problem: string | null
  readonly visited: number
  readonly requests: number
  /** The number of events of each type: `held`, `parked`, `paused`, `retry`. */
  readonly events: Readonly<Record<string, number>>
}

const SAMPLE_INTERVAL_MS = 5000
/** Connections take a moment to close. */
const CLOSE_GRACE_MS = 250
/** Seconds by which a rest may be longer. */
const MAX_LONGER_RESTS = 30
/** Every ninth crawl is cancelled after a delay. */
const CANCEL_EVERY = 9
const CANCEL_DELAY_MS = 400
const KINDS: readonly CrawlKind[] = ['recrawl', 'refresh', 'recrawl', 'retry']
const QUERIES = ['heron marsh', 'about willow', 'quartz', 'nothing of the kind', 'section']
const MB = 2 ** 20

const { path, urls, roundMs, restMs, isReopening } = JSON.parse(process.argv[2] ?? '') as SoakOptions
/** The signal of this controller lives as long as the process, as in a server. Crawls must leave no listeners on the signal. */
const shutdown = new AbortController()
const crawlCounts = new Map<string, number>()

process.stdin.on('end', () => shutdown.abort())
process.stdin.resume()
const timer = setInterval(() => writeSample('working'), SAMPLE_INTERVAL_MS)
// Node starts its thread pool with the first task and keeps the threads, so this starts them before the first sample.
await promisify(gzip)('')
writeSample('closed')
let library = await open()
let restFiles: number | undefined
for (;;) {
  const deadline = performance.now() + roundMs
  await Promise.all([search(deadline), ...urls.map((url) => crawlRepeatedly(url, deadline))])
  // A cancelled round cannot be compared with others.
  if (shutdown.signal.aborted) break
  if (restMs > 0) await rest()
  writeSample('resting')
  if (!isReopening) continue
  await close()
  library = await open()
}
await close()
clearInterval(timer)

function open(): Promise<OpenLibrary> {
  return openLibrary({
    path,
    version: '0.0.0',
    allowPrivate: ['127.0.0.0/8'],
    limits: { concurrency: 8, holdsMs: [500, 1000, 2000] },
  })
}

/** Waits until connections have closed, which takes longer on a busy machine. What never closes is found by the test. */
async function rest(): Promise<void> {
  await sleep(restMs)
  if (restFiles === undefined) {
    // The test compares all rests with the first one.
    await sleep(restMs)
    restFiles = countFiles()
  }
  for (let i = 0; i < MAX_LONGER_RESTS && countFiles() > restFiles && !shutdown.signal.aborted; i++) await sleep(1000)
}

async function close(): Promise<void> {
  await library.close()
  await sleep(CLOSE_GRACE_MS)
  writeSample('closed')
}

async function crawlRepeatedly(url: string, deadline: number): Promise<void> {
  const isKnown = (await library.store.listSources()).some((source) => source.url === url)
  const source = isKnown ? await findSource(library, url) : await addSource(library, { url })
  do await crawlOnce(source)
  while (performance.now() < deadline && !shutdown.signal.aborted)
}

/** Resumes an interrupted crawl. Otherwise all kinds of crawls take turns. */
async function crawlOnce(source: Source): Promise<void> {
  const { crawl, isInterrupted } = await reportSource(library, source)
  const count = crawlCounts.get(source.id) ?? 0
  crawlCounts.set(source.id, count + 1)
  const next = KINDS[count % KINDS.length] ?? 'recrawl'
  const kind = crawl === null ? 'add' : isInterrupted ? crawl.kind : next
  const isToBeCancelled = count % CANCEL_EVERY === CANCEL_EVERY - 1
  const signal = isToBeCancelled ? AbortSignal.timeout(CANCEL_DELAY_MS) : shutdown.signal
  const events: Record<string, number> = {}
  let isResumed = false
  let last: CrawlEvent | undefined
  for await (const event of crawlSource(library, source, { kind }, signal)) {
    last = event
    if (event.type === 'started') isResumed = event.isResumed
    if (['held', 'parked', 'paused', 'retry'].includes(event.type)) events[event.type] = (events[event.type] ?? 0) + 1
  }
  if (last?.type !== 'ended') throw new Error(`a crawl of ${source.url} ended with ${JSON.stringify(last)}`)
  if (isResumed !== isInterrupted) {
    throw new Error(`a crawl of ${source.url} has isResumed ${isResumed}, expected ${isInterrupted}`)
  }
  const { end, problem, visited, requests } = last.summary
  await checkBalance(source, end === 'completed')
  const { url } = source
  const isCancelled = signal.aborted
  writeLine({
    type: 'crawled',
    url,
    kind,
    isResumed,
    isCancelled,
    end,
    problem,
    visited,
    requests,
    events,
  } satisfies CrawlReport)
}

/** Throws unless every address is in the ledger once, in one state, and a completed crawl left none pending. */
async function checkBalance(source: Source, isCompleted: boolean): Promise<void> {
  const { balance, crawl, isRunning } = await reportSource(library, source)
  const { discovered, pending, ...parts } = balance
  const sum = Object.values(parts).reduce((all, count) => all + count, pending)
  const rows = await library.store.listRows(source.id, { limit: 100_000 })
  const isBalanced = sum === discovered && rows.length === discovered && !(isCompleted && pending > 0)
  const isOver = !isRunning && crawl?.state !== 'running'
  if (!isBalanced || !isOver) {
    throw new Error(`${source.url}: ${JSON.stringify({ balance, rows: rows.length, state: crawl?.state })}`)
  }
}

async function search(deadline: number): Promise<void> {
  for (let i = 0; performance.now() < deadline && !shutdown.signal.aborted; i++) {
    const hits = await searchHits(library.store, { query: QUERIES[i % QUERIES.length] ?? '', limit: 20 })
    for (const { sourceId, chunk } of hits) {
      const found = await library.store.readChunk(sourceId, chunk.id)
      if (found !== undefined && found.chunk.content !== chunk.content)
        throw new Error(`the stored content of chunk ${chunk.id} differs from its hit`)
    }
    await sleep(200)
  }
}

function countFiles(): number {
  return readdirSync('/proc/self/fd').length
}

function writeSample(point: Sample['point']): void {
  // Garbage and reserve space of the heap do not count as a leak.
  void globalThis.gc?.({ type: 'major', execution: 'sync', flavor: point === 'working' ? 'regular' : 'last-resort' })
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage()
  const threads = readdirSync('/proc/self/task')
  writeLine({
    type: 'sample',
    point,
    atMs: performance.now(),
    rssMb: rss / MB,
    anonymousMb: readAnonymousKb() / 1024,
    heapMb: heapUsed / MB,
    buffersMb: arrayBuffers / MB,
    files: countFiles(),
    threads: threads.length,
    children: threads.flatMap((id) => readChildren(id)).length,
    resources: process
      .getActiveResourcesInfo()
      .filter((name) => name !== 'Immediate' && name !== 'PipeWrap')
      .sort(),
    libraryMb: sizeOf(path) / MB,
    walMb: sizeOf(`${path}-wal`) / MB,
  } satisfies Sample)
}

function readAnonymousKb(): number {
  const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kilobytes)
}

/** Child processes of a thread, or none if the thread has ended. */
function readChildren(thread: string): string[] {
  try {
    return readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' ').filter(Boolean)
  } catch {
    return []
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function writeLine(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
