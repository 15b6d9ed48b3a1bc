import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { closeLater } from '../close-later.ts'
import type { ProgramSandbox } from '../e2e/program.ts'
import { findFreePort, type ServerProcess, startServer, until } from '../e2e/server.ts'
import type { FaultySite } from '../faults/faulty-site.ts'
import { childrenOf, signal } from '../postgres/server.ts'

/** A library that is to be used without end. */
export interface ServedLibraryOptions {
  readonly name: string
  readonly sandbox: ProgramSandbox
  /** Flags of `pharos serve`. */
  readonly flags: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly sites: readonly FaultySite[]
  /** How the pages of each site are fetched. */
  readonly render: readonly ('http' | 'chromium')[]
  /** Whether something kills the server or takes its disk or database away, so that requests may fail and are repeated. */
  readonly isStruck: boolean
}

/** What was done so far. */
export interface Tally {
  crawls: number
  searches: number
  pagesRead: number
  packs: number
  removals: number
  /** Requests that failed because the server was down, or could not use its disk or database, by status or error code. */
  readonly failures: Map<string, number>
  /** How crawls ended, by status and problem. */
  readonly ends: Map<string, number>
  /** Requests that failed in a way that no strike explains. */
  readonly faults: string[]
}

interface Job {
  readonly status: string
  readonly problem?: string | null
  readonly pid: number | null
}

interface SourceAnswer {
  readonly balance: { readonly discovered: number; readonly pending: number } & Readonly<Record<string, number>>
  readonly isRunning: boolean
}

interface SearchAnswer {
  readonly passages: readonly { readonly chunk: string; readonly url: string; readonly text: string }[]
}

const KINDS = ['recrawl', 'refresh', 'recrawl', 'retry'] as const
const QUERIES = [
  'heron marsh',
  'about willow',
  'how do otters cross a fjord',
  'quartz',
  'nothing of the kind',
  'section',
]
/** The statuses with which a server says that its library cannot be used now. */
const UNAVAILABLE: readonly number[] = [503, 507]
/** A request may have to wait for a restart of the server, the disk or the database, or for a machine that does much else. */
const RECOVERY_MS = 600_000
const JOB_MS = 1_800_000
const POLL_MS = 500
const SEARCH_INTERVAL_MS = 400
/** A crawl in so many is followed by an export, or by a removal of the source. */
const PACK_EVERY = 9
const REMOVE_EVERY = 14

/** A library behind `pharos serve` that is crawled, searched, read, exported and embedded without end. */
export class ServedLibrary {
  readonly tally: Tally = {
    crawls: 0,
    searches: 0,
    pagesRead: 0,
    packs: 0,
    removals: 0,
    failures: new Map(),
    ends: new Map(),
    faults: [],
  }
  readonly #options: ServedLibraryOptions
  /** What the servers have written to stderr. */
  log = ''
  #server: ServerProcess | undefined
  #port: string | undefined

  constructor(options: ServedLibraryOptions) {
    this.#options = options
  }

  get name(): string {
    return this.#options.name
  }

  get server(): ServerProcess {
    if (this.#server === undefined) throw new Error(`the server of ${this.name} is not running`)
    return this.#server
  }

  async start(): Promise<void> {
    const { sandbox, flags, environment } = this.#options
    // The same port after a restart, so that no request of this library reaches another server that was given the old port.
    this.#port ??= await findFreePort()
    const server = await startServer(sandbox, [...flags, '--port', this.#port, '--allow-private'], environment)
    this.#server = server
    // Nothing is left of a run that failed.
    closeLater(() => void signal(server.pid, 'SIGKILL'))
  }

  /** Kills the server, and with `both` its crawls too, and starts it again. */
  async killServer(target: 'server' | 'both'): Promise<void> {
    const { server } = this
    const crawls = target === 'both' ? childrenOf(server.pid) : []
    for (const pid of [server.pid, ...crawls]) signal(pid, 'SIGKILL')
    this.log += (await server.ended).stderr
    await this.start()
  }

  /** Kills the processes that crawl. The server starts them again. */
  killCrawls(): void {
    for (const pid of childrenOf(this.server.pid)) signal(pid, 'SIGKILL')
  }

  /** Ends the server as an upgrade does, and starts it again. */
  async restart(): Promise<void> {
    await this.end()
    await this.start()
  }

  async end(): Promise<void> {
    this.server.kill('SIGTERM')
    const outcome = await this.server.ended
    this.log += outcome.stderr
    expect({ code: outcome.code, signal: outcome.signal }, outcome.stderr).toEqual({ code: 0, signal: null })
  }

  /** Uses the library until the deadline. */
  async use(deadline: number): Promise<void> {
    const { sites } = this.#options
    const isOver = () => performance.now() > deadline
    await Promise.all([this.#search(isOver), ...sites.map((_, i) => this.#crawlRepeatedly(i, isOver))])
  }

  /** Crawls every site once more without faults, and expects exactly its pages. */
  async expectComplete(): Promise<void> {
    for (const [i, site] of this.#options.sites.entries()) {
      await this.#addIfMissing(i)
      // The second crawl fetches what the first one had to leave for later because of earlier failures.
      for (const kind of ['recrawl', 'retry', 'recrawl'] as const) await this.#crawl(i, kind, { acceptLoss: true })
      expect(await this.#listPaths(i, site), `${this.name}: pages of site ${i}`).toEqual(site.paths())
    }
  }

  async #crawlRepeatedly(i: number, isOver: () => boolean): Promise<void> {
    for (let round = 0; !isOver(); round++) {
      const isAdded = await this.#addIfMissing(i)
      if (!isAdded) await this.#crawl(i, KINDS[round % KINDS.length] ?? 'recrawl')
      if (round % PACK_EVERY === PACK_EVERY - 1) await this.#pack(i)
      if (round % REMOVE_EVERY === REMOVE_EVERY - 1) {
        await this.#ask(`/api/sources/${this.#nameOf(i)}?force=true`, { method: 'DELETE' }, [404])
        this.tally.removals++
      }
    }
  }

  /** Adds and crawls a site unless the library has it. Returns whether it was added. */
  async #addIfMissing(i: number): Promise<boolean> {
    const { status } = await this.#ask(`/api/sources/${this.#nameOf(i)}`, {}, [404])
    if (status === 200) return false
    const url = `${this.#options.sites[i]?.origin}/`
    const render = this.#options.render[i] ?? 'http'
    const { status: added, body } = await this.#post('/api/sources', { url, name: this.#nameOf(i), render }, [409])
    // An answer that was lost in a restart leaves the source there.
    if (added !== 409) await this.#waitForJob(i, String(body['jobId']))
    return true
  }

  async #crawl(i: number, kind: (typeof KINDS)[number], input: object = {}): Promise<void> {
    const { status, body } = await this.#post(`/api/sources/${this.#nameOf(i)}/${kind}`, input, [409])
    // A crawl that goes on after a restart is under way already.
    if (status === 409) await this.#waitUntilIdle(i)
    else await this.#waitForJob(i, String(body['jobId']))
  }

  async #waitForJob(i: number, id: string): Promise<void> {
    const end = await until(
      async () => {
        await sleep(POLL_MS)
        return (await this.#ask(`/api/crawls/${id}`)).body as unknown as Job
      },
      ({ status }) => status !== 'queued' && status !== 'running',
      JOB_MS,
    )
    const text = end.problem ? `${end.status}: ${end.problem.slice(0, 80)}` : end.status
    this.tally.ends.set(text, (this.tally.ends.get(text) ?? 0) + 1)
    this.tally.crawls++
    if (!this.#options.isStruck) expect(end, `${this.name}: the crawl of site ${i}`).toMatchObject({ status: 'done' })
    await this.#checkBalance(i, end.status === 'done')
  }

  async #waitUntilIdle(i: number): Promise<void> {
    await until(
      async () => {
        await sleep(POLL_MS)
        return (await this.#ask(`/api/sources/${this.#nameOf(i)}`)).body as unknown as SourceAnswer
      },
      ({ isRunning }) => !isRunning,
      JOB_MS,
    )
  }

  /** Expects every address in one state. */
  async #checkBalance(i: number, isDone: boolean): Promise<void> {
    const { body } = await this.#ask(`/api/sources/${this.#nameOf(i)}`)
    const { balance, isRunning } = body as unknown as SourceAnswer
    const { discovered, ...parts } = balance
    const sum = Object.values(parts).reduce((all, count) => all + count, 0)
    expect(sum, `${this.name}: addresses of site ${i}: ${JSON.stringify(balance)}`).toBe(discovered)
    if (isDone && !isRunning) expect(balance.pending, `${this.name}: ${JSON.stringify(balance)}`).toBe(0)
  }

  async #search(isOver: () => boolean): Promise<void> {
    for (let i = 0; !isOver(); i++) {
      const query = QUERIES[i % QUERIES.length] ?? ''
      const { body } = await this.#ask(`/api/search?limit=10&q=${encodeURIComponent(query)}`)
      this.tally.searches++
      const [first] = (body as unknown as SearchAnswer).passages
      if (first !== undefined) {
        // A crawl may remove the page between the two requests.
        const { status, body: chunk } = await this.#ask(`/api/chunks/${encodeURIComponent(first.chunk)}`, {}, [404])
        // A passage may join a chunk with its neighbours, and may be cut at its end.
        const [line] = String(chunk['text']).split('\n')
        if (status === 200) expect(first.text, `${this.name}: ${query}`).toContain(line)
        await this.#ask(`/read?url=${encodeURIComponent(first.url)}`, {}, [404])
        this.tally.pagesRead++
      }
      await sleep(SEARCH_INTERVAL_MS)
    }
  }

  async #pack(i: number): Promise<void> {
    const { body, status } = await this.#post('/api/packs', { source: this.#nameOf(i) }, [404, 409])
    if (status >= 400) return
    const { status: found } = await this.#ask(`/api/packs/${body['id']}`, {}, [404])
    if (found === 200) this.tally.packs++
  }

  async #listPaths(i: number, site: FaultySite): Promise<string[]> {
    const urls: string[] = []
    for (const state of ['indexed', 'unchanged']) {
      const { body } = await this.#ask(`/api/sources/${this.#nameOf(i)}/urls?state=${state}&limit=1000`)
      for (const { url } of body['items'] as readonly { readonly url: string }[]) urls.push(url)
    }
    return urls.map((url) => new URL(url).href.slice(site.origin.length)).sort(compareUtf8)
  }

  /** The source of a site. Libraries may be one, behind several servers. */
  #nameOf(i: number): string {
    return `${this.name}-${i}`
  }

  #post(path: string, input: object, expected: readonly number[] = []) {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(input) }
    return this.#ask(path, init, expected)
  }

  /** Asks the server. A server that is struck is asked again until it answers; otherwise every other status than 2xx and `expected` fails. */
  async #ask(path: string, init: RequestInit = {}, expected: readonly number[] = []) {
    const end = performance.now() + RECOVERY_MS
    for (;;) {
      const problem = await this.#tryAsk(path, init, expected)
      if (typeof problem !== 'string') return problem
      if (!this.#options.isStruck || performance.now() > end) {
        throw new Error(`${this.name}: ${init.method ?? 'GET'} ${path}: ${problem}`)
      }
      const status = Number.parseInt(problem, 10)
      if (status >= 400 && !UNAVAILABLE.includes(status)) {
        this.tally.faults.push(`${new Date().toISOString()} ${init.method ?? 'GET'} ${path}: ${problem}`)
      }
      const kind = problem.slice(0, 60)
      this.tally.failures.set(kind, (this.tally.failures.get(kind) ?? 0) + 1)
      await sleep(POLL_MS)
    }
  }

  async #tryAsk(path: string, init: RequestInit, expected: readonly number[]) {
    try {
      const response = await this.server.ask(path, { signal: AbortSignal.timeout(RECOVERY_MS), ...init })
      const text = await response.text()
      if (!response.ok && !expected.includes(response.status)) return `${response.status}: ${text}`
      const isJson = response.headers.get('content-type')?.includes('json') === true
      // Every JSON answer is an object.
      return { status: response.status, body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {} }
    } catch (error) {
      const { cause } = error as { cause?: { code?: string } }
      return cause?.code ?? String(error)
    }
  }
}
