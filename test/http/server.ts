import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openPackDownloads } from '../../src/cli/pack-downloads.ts'
import { createLazyAssets, pageFolder } from '../../src/cli/serve/assets.ts'
import { listen } from '../../src/cli/serve/listen.ts'
import { openSystemProbe } from '../../src/cli/system-probe.ts'
import { PharosError } from '../../src/core/errors.ts'
import { isPostgres } from '../../src/core/url/postgres-address.ts'
import { systemClock } from '../../src/fetch/clock.ts'
import { createHttp, type HttpOptions } from '../../src/http/app.ts'
import type { HttpSettings } from '../../src/http/ports.ts'
import { compareVersions } from '../../src/library/changes/compare-versions.ts'
import { createDispatchedJobs } from '../../src/library/jobs/dispatched-jobs.ts'
import type { Dispatcher } from '../../src/library/jobs/dispatcher.ts'
import { createFeed } from '../../src/library/jobs/events/create-feed.ts'
import { LocalDispatcher } from '../../src/library/jobs/local-dispatcher.ts'
import { listDuplicates } from '../../src/library/search/list-duplicates.ts'
import { searchLibrary } from '../../src/library/search/search-library.ts'
import { createHttpHandler } from '../../src/mcp/http.ts'
import { createMcp } from '../../src/mcp/server.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { AnalysisProcessRunner } from '../../src/places/index.ts'
import { createSpawnRunner } from '../../src/processes/spawn-crawl.ts'
import { PROGRAM } from '../e2e/program.ts'
import { hideLibrary, locateLibrary, showLibrary } from '../library-location.ts'

/** Options of a server under test. */
export interface TestServerOptions {
  /** Folder of all its data. @default a temporary folder */
  readonly folder?: string
  readonly settings?: Partial<HttpSettings>
  /** Whether the caller removes the folder. @default false */
  readonly isShared?: boolean
  /** @default 1 */
  readonly maxJobs?: number
  readonly http?: HttpOptions
  /** The program that crawls. @default the built one */
  readonly program?: readonly string[]
  /** The program that analyses. @default the built one */
  readonly analyser?: readonly string[]
  /** Folder of the local page. @default its folder in the build */
  readonly localFolder?: string
}

/** A complete server with a real library and real crawl processes, on loopback. */
export interface TestServer {
  readonly origin: string
  readonly folder: string
  readonly dispatcher: Dispatcher
  /** The lines that it logged. */
  readonly lines: readonly string[]
  library(): Promise<OpenLibrary>
  /** Sends a request, and parses a JSON response. */
  ask(path: string, init?: RequestInit): Promise<Answer>
  /** Sends a request with a JSON body. */
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** Makes the library unavailable. */
  hideStore(): Promise<void>
  /** Makes the library available again. */
  showStore(): Promise<void>
  /** Closes the library, so that the next request opens it. */
  reopenStore(): Promise<void>
  /** Stops the server and keeps its folder. */
  close(): Promise<void>
  /** Stops the server and removes its folder. */
  dispose(): Promise<void>
}

/** The response of the server. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a schema parses the value, or a test checks single fields of it.
  readonly body: any
}

/** Opens a server that is removed after the test, unless several tests share it. */
export async function openTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const folder = options.folder ?? fs.mkdtempSync(join(tmpdir(), 'pharos-http-'))
  const path = await locateLibrary(join(folder, 'library.db'))
  const lines: string[] = []
  const addLine = (message: string, fields?: object) =>
    void lines.push(fields === undefined ? message : `${message} ${JSON.stringify(fields)}`)
  let opened: Promise<OpenLibrary> | undefined
  let isHidden = false
  const library = async () => {
    // Like a real server, this creates no new file in place of a missing library.
    if (isHidden && !isPostgres(path) && !fs.existsSync(path))
      throw new PharosError('LIBRARY_MISSING', { library: path })
    opened ??= openLibrary({ path, version: '0.0.0', allowPrivate: ['*'], patienceMs: 2000 }).catch(
      (error: unknown) => {
        opened = undefined
        throw error
      },
    )
    return opened
  }
  const reopenStore = async () => {
    await (await library()).close()
    opened = undefined
  }
  const jobLog = async () => (await library()).jobLog
  const [command = process.execPath, ...args] = options.program ?? [process.execPath, PROGRAM, 'crawl-job']
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const env = {
    PATH,
    NODE_COMPILE_CACHE,
    HOME: folder,
    PHAROS_ALLOW_PRIVATE: '*',
    PHAROS_LIBRARY: path,
    PHAROS_EMBED: 'false',
  }
  const dispatcher = new LocalDispatcher({
    runner: createSpawnRunner({ command, args, env }),
    jobLog,
    feed: createFeed({ epoch: randomUUID().slice(0, 8), clock: systemClock }),
    clock: systemClock,
    newId: randomUUID,
    libraryPath: path,
    maxJobs: options.maxJobs ?? 1,
    maxRequests: 32,
  })
  const [analyser = process.execPath, ...analyserArgs] = options.analyser ?? [process.execPath, PROGRAM, 'analyze']
  const analysis = new AnalysisProcessRunner({
    runner: createSpawnRunner({ command: analyser, args: analyserArgs, env }),
    library,
    feed: dispatcher.feed,
    clock: systemClock,
    libraryPath: path,
  })
  const mcp = createMcp({
    version: '0.0.0',
    openLibrary: async () => ({ ...(await library()), close: async () => undefined }),
    openJobs: async (openedLibrary) => createDispatchedJobs(dispatcher, openedLibrary),
  })
  const handler = createHttpHandler({
    createServer: mcp.createServer,
    newId: randomUUID,
    now: Date.now,
  })
  const packs = openPackDownloads(library, join(folder, 'packs'))
  const app = createHttp(
    {
      version: '0.0.0',
      library,
      waitForCheck: async () => undefined,
      search: async (input, signal) => searchLibrary(await library(), input, signal),
      listDuplicates: async (input, signal) => listDuplicates(await library(), input, signal),
      compareVersions: async (input, signal) => compareVersions(await library(), input, signal),
      jobLog,
      dispatcher,
      analysis,
      mcp: handler.fetch,
      readAsset: async (name) => ASSETS[name],
      readLocal: createLazyAssets(options.localFolder ?? pageFolder('local')),
      system: openSystemProbe(path),
      packs,
      log: { info: addLine, warn: addLine },
      settings: {
        hosts: [],
        allowedOrigins: [],
        token: null,
        defaultStartUrl: null,
        libraryPath: path,
        traceStart: false,
        ...options.settings,
      },
    },
    options.http,
  )
  const server = await listen(app.fetch, 0)
  await dispatcher.recover()
  let closed: Promise<void> | undefined
  const closeAll = async () => {
    app.close()
    await server.close()
    await packs.close()
    await handler.close()
    await analysis.close()
    await dispatcher.close()
    await mcp.close()
    await (await opened?.catch(() => undefined))?.close()
  }
  const close = () => {
    closed ??= closeAll()
    return closed
  }
  const dispose = async () => {
    await close()
    fs.rmSync(folder, { recursive: true, force: true })
  }
  if (options.isShared !== true) onTestFinished(dispose)
  const ask = async (route: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(`${server.origin}${route}`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(120_000),
      ...init,
    })
    const text = await response.text()
    const isJson = text !== '' && response.headers.get('content-type')?.startsWith('application/json') === true
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
  }
  return {
    origin: server.origin,
    folder,
    dispatcher,
    lines,
    library,
    ask,
    post: (route, body, headers = {}) =>
      ask(route, {
        method: 'POST',
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    reopenStore,
    async hideStore() {
      await reopenStore()
      isHidden = true
      await hideLibrary(path)
    },
    showStore: () => showLibrary(path),
    close,
    dispose,
  }
}

const encoder = new TextEncoder()

const ASSETS: Readonly<Record<string, { body: Uint8Array<ArrayBuffer>; type: string; isImmutable: boolean }>> = {
  '/index.html': {
    body: encoder.encode(`<!doctype html><title>Dashboard</title>${' '.repeat(2000)}`),
    type: 'text/html; charset=utf-8',
    isImmutable: false,
  },
  '/world.svg': {
    body: encoder.encode('<svg><path id="FR" d="M1 2l3 4z"/><path id="JP" d="M5 6l7 8z"/></svg>'),
    type: 'image/svg+xml',
    isImmutable: false,
  },
  '/assets/app-1a2b3c.js': { body: encoder.encode('export {}'), type: 'text/javascript', isImmutable: true },
}

/** One event of a stream. */
export interface StreamEvent {
  readonly id: string | null
  readonly name: string
  // biome-ignore lint/suspicious/noExplicitAny: the shape of the value is what is tested.
  readonly data: any
}

/** Reads the events of a stream as they arrive. */
export interface StreamReader {
  readonly events: readonly StreamEvent[]
  /** Lines that are not events, such as heartbeats. */
  readonly comments: readonly string[]
  readonly status: number
  readonly headers: Headers
  /** Returns the first event that matches, which may have arrived already. */
  until(matches: (event: StreamEvent) => boolean): Promise<StreamEvent>
  /** Waits until a condition holds, checked after each part that arrived. */
  wait(condition: () => boolean): Promise<void>
  close(): void
}

/** Opens a stream of events. */
export async function openStream(url: string, headers: Readonly<Record<string, string>> = {}): Promise<StreamReader> {
  const stop = new AbortController()
  const response = await fetch(url, { headers, signal: stop.signal })
  const events: StreamEvent[] = []
  const comments: string[] = []
  const pendingChecks = new Set<() => void>()
  const read = async () => {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const part of response.body ?? []) {
      const blocks = (rest + decoder.decode(part, { stream: true })).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) parseBlock(block, events, comments)
      for (const check of pendingChecks) check()
    }
  }
  // The request is aborted at the end of the test.
  read().catch(() => undefined)
  onTestFinished(() => stop.abort())
  const wait = (condition: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        pendingChecks.delete(check)
        const names = events.map(({ name }) => name).join(' ')
        reject(new Error(`timed out; events so far: ${names.slice(-2000)}`))
      }, 30_000)
      const check = () => {
        if (!condition()) return
        clearTimeout(timer)
        pendingChecks.delete(check)
        resolve()
      }
      pendingChecks.add(check)
      check()
    })
  return {
    events,
    comments,
    status: response.status,
    headers: response.headers,
    wait,
    async until(matches) {
      let found: StreamEvent | undefined
      await wait(() => {
        found ??= events.find(matches)
        return found !== undefined
      })
      if (found === undefined) throw new Error('the wait ended without an event')
      return found
    },
    close: () => stop.abort(),
  }
}

function parseBlock(block: string, events: StreamEvent[], comments: string[]): void {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const at = line.indexOf(':')
    if (at === 0) comments.push(line.slice(1))
    else fields.set(line.slice(0, at), line.slice(at + 1).trimStart())
  }
  const data = fields.get('data')
  if (data === undefined) return
  events.push({ id: fields.get('id') ?? null, name: fields.get('event') ?? 'message', data: JSON.parse(data) })
}

/** Waits until a condition holds, for half a minute at most. */
export async function until<T>(ask: () => Promise<T>, condition: (value: T) => boolean): Promise<T> {
  const end = Date.now() + 30_000
  for (;;) {
    const value = await ask()
    if (condition(value)) return value
    if (Date.now() > end) throw new Error(`timed out; last value: ${JSON.stringify(value)?.slice(0, 2000)}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
