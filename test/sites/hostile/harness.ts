import { spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { CrawlLimits } from '../../../src/crawl/run.ts'
import type { HttpFetcherOptions } from '../../../src/fetch/http.ts'
import type { SourceInput } from '../../../src/library/crawl/add-source.ts'
import { closeLater } from '../../close-later.ts'

/* Hostile sites, crawled by a separate process that must end by itself, in time and within bounded memory. */

/** Whether tests use full sizes and the timeouts of the program instead of the short form. */
export const isLong: boolean = process.env['TEST_LONG'] !== undefined

/** Timeout of a hanging crawl. `npm run bench hostile` checks how long crawls of hostile sites may take. */
const MAX_SECONDS = 250
/** Memory limit for every crawl of a hostile site. */
const MAX_MB = 700

/** File to which the figures of every run are appended. */
const reportFile = process.env['TEST_REPORT']

/** The task for the child process. */
export interface ChildTask {
  readonly library: string
  /** The sources to crawl concurrently. */
  readonly sources: readonly SourceInput[]
  readonly timeouts: Timeouts | undefined
  readonly limits: Partial<CrawlLimits>
  /** Queries for a search at the end. */
  readonly queries: readonly string[]
}

/** Timeouts that are shorter than those of the program. */
export type Timeouts = Pick<
  HttpFetcherOptions,
  'connectTimeoutMs' | 'firstByteTimeoutMs' | 'idleTimeoutMs' | 'answerTimeoutMs'
>

/** The report about one source. */
export interface SourceReport {
  readonly type: 'crawled'
  readonly url: string
  readonly end: string
  readonly problem: string | null
  readonly seconds: number
  readonly requests: number
  /** Number of ledger rows of the source. */
  readonly total: number
  /** State and reason by key, such as `indexed` or `skipped robots-disallow`. */
  readonly rows: Readonly<Record<string, string>>
  /** Number of events by type. */
  readonly eventCounts: Readonly<Record<string, number>>
  /** Detail of the event that ended a visit, by address. */
  readonly details: Readonly<Record<string, string>>
  /** Lists that the crawl looked for, with the result. */
  readonly discovered: readonly string[]
}

/** The result of a run. */
export interface HostileRun {
  /** Reports by start address. */
  readonly sources: ReadonlyMap<string, SourceReport>
  /** The page that each query finds first. */
  readonly found: readonly (string | null)[]
  readonly seconds: number
  readonly rssMb: number
}

/** Options of a run. */
export interface RunOptions {
  readonly limits?: Partial<CrawlLimits>
  readonly timeouts?: Timeouts | undefined
  readonly queries?: readonly string[]
}

/**
 * The short form has shorter timeouts and fewer retries. A dripping response takes 8 s anyway, so the other timeouts can be nearly as long
 * and leave a busy machine time for the good pages.
 */
export const SHORT_TIMEOUTS: RunOptions = withShortTimeouts(7000)
/** Timeouts for sites without a good page. */
export const SHORTEST_TIMEOUTS: RunOptions = withShortTimeouts(2000)

function withShortTimeouts(ms: number): RunOptions {
  if (isLong) return {}
  const timeouts = { connectTimeoutMs: ms, firstByteTimeoutMs: ms, idleTimeoutMs: ms, answerTimeoutMs: 8000 }
  return { limits: { attempts: 2 }, timeouts }
}

const CHILD = fileURLToPath(new URL('./crawl-child.ts', import.meta.url))
/** The flags with which the program is started. */
const FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=50', '--v8-pool-size=2']

/**
 * Crawls sources in a separate process and checks its limits: it must end by itself and successfully, within its time and memory, and leave
 * nothing behind but the library.
 */
export async function crawlHostile(sources: readonly SourceInput[], options: RunOptions = {}): Promise<HostileRun> {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-'))
  closeLater(() => rmSync(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'library'))
  const { limits = {}, timeouts, queries = [] } = options
  const task: ChildTask = { library: join(folder, 'library', 'library.db'), sources, timeouts, limits, queries }
  const started = performance.now()
  const child = spawn(process.execPath, [...FLAGS, CHILD, JSON.stringify(task)], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      HOME: folder,
      TMPDIR: folder,
      XDG_CACHE_HOME: folder,
      XDG_DATA_HOME: folder,
    },
  })
  // SIGTERM first, so that the process can report its state.
  const timer = setTimeout(() => child.kill('SIGTERM'), MAX_SECONDS * 1000)
  const killer = setTimeout(() => child.kill('SIGKILL'), MAX_SECONDS * 1000 + 5000)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const { code, signal } = await new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on('close', (exitCode, exitSignal) => resolve({ code: exitCode, signal: exitSignal }))
  })
  clearTimeout(timer)
  clearTimeout(killer)
  const seconds = (performance.now() - started) / 1000
  expect({ code, signal, stderr, seconds }).toEqual({ code: 0, signal: null, stderr: '', seconds: expect.any(Number) })
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ChildMessage)
  const reports = new Map(lines.flatMap((line) => (line.type === 'crawled' ? [[line.url, line] as const] : [])))
  const usage = lines.find((line) => line.type === 'usage')
  const found = lines.find((line) => line.type === 'found')
  const rssMb = usage?.rssMb ?? Infinity
  report(seconds, usage?.cpuSeconds ?? 0, rssMb, reports)
  expect(rssMb).toBeLessThan(MAX_MB)
  expect(new Set(reports.keys())).toEqual(new Set(sources.map(({ url }) => url)))
  expect(readdirSync(folder)).toEqual(['library'])
  expect(readdirSync(join(folder, 'library')).filter((name) => !/^library\.db(?:-wal|-shm)?$/.test(name))).toEqual([])
  return { sources: reports, found: found?.urls ?? [], seconds, rssMb }
}

type ChildMessage =
  | SourceReport
  | { readonly type: 'usage'; readonly rssMb: number; readonly cpuSeconds: number }
  | { readonly type: 'found'; readonly urls: readonly (string | null)[] }

function report(seconds: number, cpuSeconds: number, rssMb: number, sources: ReadonlyMap<string, SourceReport>): void {
  if (reportFile === undefined) return
  const requests = [...sources.values()].reduce((sum, source) => sum + source.requests, 0)
  const figures = [
    `${seconds.toFixed(1)} s`,
    `${cpuSeconds.toFixed(1)} cpu-s`,
    `${rssMb.toFixed(0)} MB`,
    `${requests} requests`,
  ]
  appendFileSync(reportFile, `${figures.join('\t')}\t${expect.getState().currentTestName}\n`)
}

/** Answers a request on a raw connection. */
export type Answerer = (socket: Socket, path: string) => void

/** A server that no crawl may reach. It counts the connections it gets. */
export async function openCanary(): Promise<RawServer> {
  return openRawServer('127.0.0.2')
}

/** A server that sends its answers as raw bytes, whether they are valid HTTP or not. */
export interface RawServer {
  readonly origin: string
  /** Response by path. All other paths answer 404. */
  readonly answers: Map<string, Answerer>
  /** Finds the answer for any other path; undefined means 404. */
  fallback: ((path: string) => Answerer | undefined) | undefined
  /** Requested paths in order. */
  readonly requestedPaths: string[]
  /** Number of connections. */
  connections: number
  /** Called with each connection before anything is read. If it returns true, the connection is not read. */
  onConnection: ((socket: Socket) => boolean) | undefined
}

/** Opens a server that closes with the test. */
export async function openRawServer(address = '127.0.0.1'): Promise<RawServer> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    // Nagle's algorithm would hold back the second part of a response until the first part is acknowledged.
    socket.setNoDelay(true)
    raw.connections++
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    if (raw.onConnection?.(socket) === true) return
    let head = ''
    socket.setEncoding('latin1').on('data', (text) => {
      head += String(text)
      for (let end = head.indexOf('\r\n\r\n'); end >= 0; end = head.indexOf('\r\n\r\n')) {
        const [, path = '/'] = /^GET (\S+) /.exec(head) ?? []
        head = head.slice(end + 4)
        raw.requestedPaths.push(path)
        const answer =
          raw.answers.get(path) ?? raw.fallback?.(path) ?? send('not found', { 'content-type': 'text/plain' }, 404)
        answer(socket, path)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('no port')
  const raw: RawServer = {
    origin: `http://${address}:${bound.port}`,
    answers: new Map(),
    fallback: undefined,
    requestedPaths: [],
    connections: 0,
    onConnection: undefined,
  }
  closeLater(
    () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  )
  return raw
}

/** Rows of a source by path on its server, or by address elsewhere. */
export function rowsOf(run: HostileRun, server: RawServer, start = '/'): Record<string, string> {
  const { rows = {} } = run.sources.get(`${server.origin}${start}`) ?? {}
  const toPath = (key: string) => (key.startsWith(`${server.origin}/`) ? key.slice(server.origin.length) : key)
  return Object.fromEntries(Object.entries(rows).map(([key, state]) => [toPath(key), state]))
}

/** Sends a valid response; the connection stays open. */
export function send(
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = { 'content-type': 'text/html; charset=utf-8' },
  status = 200,
): Answerer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const fields = Object.entries({ 'content-length': String(bytes.length), ...headers })
  const head = `HTTP/1.1 ${status} Status\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
  return (socket) => {
    socket.write(head, 'latin1')
    socket.write(bytes)
  }
}

/** Sends bytes as they are. `then` says what happens to the connection afterwards. */
export function sendRaw(text: string | Uint8Array, then: 'end' | 'reset' | 'stay' = 'end'): Answerer {
  return (socket) => {
    socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text, () => {
      if (then === 'end') socket.end()
      if (then === 'reset') socket.resetAndDestroy()
    })
  }
}

/** Sends a redirect. */
export function sendRedirect(location: string, status = 302): Answerer {
  return send('', { location }, status)
}

/** Sends a piece repeatedly until the other side closes the connection. */
export function sendForever(head: string, piece: string | Uint8Array, everyMs: number): Answerer {
  return (socket) => {
    socket.write(head, 'latin1')
    if (everyMs > 0) {
      const timer = setInterval(() => socket.write(piece), everyMs)
      socket.on('close', () => clearInterval(timer))
      return
    }
    const pump = () => {
      while (!socket.destroyed && socket.write(piece));
    }
    socket.on('drain', pump)
    pump()
  }
}
