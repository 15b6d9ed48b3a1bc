import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ProgramSandbox } from '../e2e/program.ts'
import { type ServerProcess, startServer, until } from '../e2e/server.ts'
import { type Dump, readDump, readUninterrupted } from '../sites/file-fixture.ts'
import { messySite, sitemapOf } from '../sites/messy-site.ts'
import { type Answer, openSite, type Site } from '../sites/site.ts'
import { isLong } from './bounded.ts'

/* Crawl processes and servers that are killed at random moments during a crawl. */

const KILLS = isLong ? 30 : 3
const SIZE = isLong ? 400 : 40
/** Number of servers that are killed right after they accepted a crawl. */
const KILLS_AFTER_ACCEPTANCE = isLong ? 10 : 1
/** The processes to kill, in turns. */
const VICTIMS = ['child', 'server', 'both'] as const
/** Maximum number of requests until the next kill. */
const MAX_REQUESTS = 12
/** Delay of each response, so that the crawl lasts long enough to be killed. */
const DELAY_MS = 25

let site: Site
/** The result of an undisturbed crawl. */
let whole: Dump
let sandbox: ProgramSandbox
let server: ServerProcess

beforeAll(async () => {
  site = await openSite(messySite(SIZE))
  site.pages.set('/sitemap.xml', sitemapOf(site.origin))
  // Temporary failures would be retried after long pauses.
  site.pages.delete('/broken')
  whole = await readUninterrupted(site, {}, false)
  for (const [path, answer] of site.pages) site.pages.set(path, withDelay(answer))
})

afterAll(() => site.close())

beforeEach(async () => {
  sandbox = new ProgramSandbox()
  server = await start()
})

afterEach(async () => {
  if (isAlive(server.pid)) server.kill('SIGKILL')
  await server.ended
  sandbox.remove()
})

function withDelay(answer: Answer): Answer {
  return (request) => {
    const parts = typeof answer === 'function' ? answer(request) : answer
    return { ...(typeof parts === 'string' ? { body: parts } : parts), delayMs: DELAY_MS }
  }
}

function start(): Promise<ServerProcess> {
  return startServer(sandbox, ['--allow-private', '--concurrency', '2', '--quiet'])
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Waits until the site has received the given number of further requests, or the crawl has ended. */
async function waitForRequests(count: number, jobId: string): Promise<void> {
  const before = site.requests.length
  await until(
    async () => (await jobOf(jobId)).status,
    (status) => status === 'done' || site.requests.length >= before + count,
  )
}

async function jobOf(id: string): Promise<{ readonly status: string; readonly pid: number | null }> {
  // The route returns these fields.
  return (await server.get(`/api/crawls/${id}`)) as { status: string; pid: number | null }
}

/** Kills the crawl process, the server, or both, and restarts a killed server. */
async function kill(victim: (typeof VICTIMS)[number], jobId: string): Promise<void> {
  const { pid } = await jobOf(jobId)
  if (victim !== 'server' && pid !== null && isAlive(pid)) process.kill(pid, 'SIGKILL')
  if (victim === 'child') return
  server.kill('SIGKILL')
  await server.ended
  server = await start()
}

describe('a crawl request to a server', () => {
  test('is stored even if the server is killed right after its response', async () => {
    const jobIds: string[] = []
    for (let i = 0; i < KILLS_AFTER_ACCEPTANCE; i++) {
      const startUrl = `${site.origin}/?round=${i}`
      const { jobId } = (await server.post('/api/crawl', { startUrl, maxPages: 1, queue: true })) as { jobId: string }
      server.kill('SIGKILL')
      jobIds.push(jobId)
      await server.ended
      server = await start()
    }
    const { items } = (await server.get('/api/queues')) as { items: { id: string }[] }
    expect(new Set(items.map(({ id }) => id))).toEqual(new Set(jobIds))
  })
})

describe('a crawl that a server runs', { timeout: isLong ? 900_000 : 120_000 }, () => {
  test('continues after every kill, and gives the same result as an undisturbed one', async () => {
    const { jobId } = (await server.post('/api/sources', { url: `${site.origin}/`, name: 'site' })) as { jobId: string }
    const moments: string[] = []
    for (let i = 0; i < KILLS; i++) {
      const victim = VICTIMS[i % VICTIMS.length] ?? 'both'
      const requests = 1 + Math.floor(Math.random() * MAX_REQUESTS)
      moments.push(`${victim} after ${requests}`)
      await waitForRequests(requests, jobId)
      // Otherwise the kill would test nothing.
      expect((await jobOf(jobId)).status, moments.join(', ')).toBe('running')
      await kill(victim, jobId)
    }
    const history = moments.join(', ')
    const ended = await until(
      () => jobOf(jobId),
      ({ status }) => status !== 'queued' && status !== 'running',
      isLong ? 300_000 : 60_000,
    )
    expect(ended, history).toMatchObject({ status: 'done', problem: null })
    expect(await server.get('/api/crawls')).toEqual({ count: 0, items: [] })
    expect(await server.get('/api/sources/site')).toMatchObject({ isRunning: false, isInterrupted: false })
    const { items } = (await server.get('/api/queues')) as { items: { id: string; status: string }[] }
    expect(items.map(({ id, status }) => ({ id, status }))).toEqual([{ id: jobId, status: 'done' }])
    server.kill('SIGTERM')
    expect(await server.ended).toMatchObject({ code: 0, signal: null })
    const dump = await readDump(sandbox.path('library.db'), site.origin)
    expect(dump.pages, history).toEqual(whole.pages)
    expect(dump.rows, history).toEqual(whole.rows)
  })
})
