import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSite, page, type Site } from '../sites/site.ts'
import { openStream, openTestServer, type TestServer, until } from './server.ts'
import * as shapes from './shapes.ts'

const PAGES = 120

let site: Site

// Opens a slow site whose start page links to all other pages.
beforeAll(async () => {
  const paths = Array.from({ length: PAGES }, (_, i) => `/p${i}`)
  site = await openSite({
    '/': page('Start', paths),
    ...Object.fromEntries(paths.map((path) => [path, { body: page(`Chapter ${path}`), delayMs: 100 }])),
  })
})

afterAll(() => site?.close())

/** Starts a crawl of the whole site. */
async function start(server: TestServer, more: object = {}): Promise<string> {
  const { status, body } = await server.post('/api/crawl', { startUrl: `${site.origin}/`, concurrency: 2, ...more })
  expect(status).toBe(202)
  return shapes.started.parse(body).jobId
}

test('a crawl is started, watched, paused, resumed and stopped, and its history outlives the server', async () => {
  const server = await openTestServer()
  const stream = await openStream(`${server.origin}/events`)
  const jobId = await start(server, { crawlType: 'basic', mode: 'ignored' })

  // Only one crawl is allowed at a time.
  const second = await server.post('/api/crawl', { startUrl: `${site.origin}/` })
  expect([second.status, shapes.failure.parse(second.body).code]).toEqual([409, 'JOBS_FULL'])

  await stream.until(({ name, data }) => name === 'progress' && data.visited >= 2)
  const { count, items } = shapes.crawls.parse((await server.ask('/api/crawls')).body)
  expect([count, items[0]]).toMatchObject([1, { id: jobId, status: 'running', stage: 'running' }])
  expect(shapes.health.parse((await server.ask('/health')).body)).toMatchObject({ running: true, stage: 'running' })

  // A late stream gets the current progress, and other streams do not get it again.
  const late = await openStream(`${server.origin}/events?logs=0&job=${jobId}`)
  const currentProgress = await late.until(({ name }) => name === 'progress')
  expect(currentProgress.data).toMatchObject({ jobId, running: true, paused: false })

  const paused = await server.post('/api/pause')
  expect([paused.status, paused.body]).toEqual([200, { ok: true, paused: true }])
  await stream.until(({ name, data }) => name === 'progress' && data.paused === true)
  // Requests in flight complete, and then no more are sent.
  await until(
    async () => (await server.ask(`/api/crawls/${jobId}`)).body.lastProgress.currentDownloadsCount,
    (current) => current === 0,
  )
  const requestCount = site.requests.length
  await new Promise((resolve) => setTimeout(resolve, 400))
  expect(site.requests.length).toBe(requestCount)
  expect((await server.ask('/health')).body.paused).toBe(true)

  const resumed = await server.post(`/api/crawls/${jobId}/resume`)
  expect([resumed.status, resumed.body]).toEqual([200, { ok: true, paused: false }])
  await until(
    async () => site.requests.length,
    (requests) => requests > requestCount,
  )

  const stopped = await server.post(`/api/crawls/${jobId}/stop`)
  expect([stopped.status, stopped.body]).toEqual([202, { stopped: true, escalatesInMs: 800 }])
  const done = await stream.until(({ name }) => name === 'done')
  expect(done.data).toMatchObject({ jobId, status: 'stopped' })
  expect(site.requests.length).toBeLessThan(PAGES)

  // A stream opened after the end still gets the `done` event.
  const after = await openStream(`${server.origin}/events`)
  expect((await after.until(({ name }) => name === 'done')).data).toMatchObject({ jobId, status: 'stopped' })

  for (const { name, data } of [...stream.events, ...late.events]) {
    expect([name, shapes.events[name]?.safeParse(data).error]).toEqual([name, undefined])
  }
  const names = new Set(stream.events.map(({ name }) => name))
  expect(['log', 'progress', 'queue', 'done', 'jobs'].filter((name) => !names.has(name))).toEqual([])
  expect(new Set(late.events.map(({ name }) => name))).not.toContain('log')
  expect(stream.events.filter(({ data }) => String(data.line).includes('connected'))).toHaveLength(1)
  const numbers = stream.events.flatMap(({ id }) => (id === null ? [] : [Number(id.split('-')[1])])).slice(1)
  expect(numbers).toEqual(numbers.map((_, i) => (numbers[0] ?? 0) + i))

  await server.close()
  const next = await openTestServer({ folder: server.folder })
  const stored = shapes.jobDetail.parse((await next.ask(`/api/crawls/${jobId}`)).body)
  expect(stored).toMatchObject({ status: 'stopped', startUrl: `${site.origin}/` })

  // The history knows how the process ended, so a listener to this job gets its end at any time.
  const { ts, ...end } = done.data
  const { code, signal } = end
  expect(code ?? signal).not.toBeNull()
  expect(stored).toMatchObject({ code, signal })
  const latest = await openStream(`${next.origin}/events?logs=0&job=${jobId}`)
  const replayed = await latest.until(({ name }) => name === 'done')
  expect(replayed.data).toEqual({ ...end, isReplayed: true })
  // An ended crawl is known, and has no process that could be paused.
  expect((await next.post(`/api/crawls/${jobId}/stop`)).body).toEqual({ stopped: false })
  for (const verb of ['pause', 'resume']) {
    const { status, body } = await next.post(`/api/crawls/${jobId}/${verb}`)
    expect([status, body]).toMatchObject([500, { code: 'JOB_UNREACHABLE', advice: 'it has ended: stopped' }])
  }
  expect(stored.metrics.visited).toBeGreaterThanOrEqual(2)
  const events = shapes.queueEvents.parse((await next.ask(`/api/queues/${jobId}/events?limit=500`)).body)
  expect(events.items.filter(({ action }) => action === 'enqueued').length).toBeGreaterThanOrEqual(PAGES)
  expect(events.items.some(({ action }) => action === 'dequeued')).toBe(true)
})

test('a running crawl must be named only when several run', async () => {
  const server = await openTestServer({ maxJobs: 2 })
  const other = await openSite({ '/': { body: page('Slow'), delayMs: 20_000 } })
  const first = await start(server)
  const { body } = await server.post('/api/crawl', { startUrl: `${other.origin}/` })
  const second = body.jobId
  for (const verb of ['stop', 'pause', 'resume']) {
    const { status, body: refusal } = await server.post(`/api/${verb}`)
    expect([verb, status, shapes.failure.parse(refusal).error]).toEqual([
      verb,
      400,
      expect.stringContaining('2 crawls'),
    ])
  }
  const stop = await server.post('/api/stop', { jobId: first })
  expect([stop.status, stop.body.stopped]).toEqual([202, true])
  expect((await server.dispatcher.wait(first)).status).toBe('stopped')
  // The query may name a crawl as well, although a single running crawl needs no name.
  expect((await server.post(`/api/stop?jobId=${second}`)).status).toBe(202)
  expect((await server.dispatcher.wait(second)).status).toBe('stopped')
  await other.close()
})

test('a crawl whose process cannot be started fails at once', async () => {
  const server = await openTestServer({ program: ['/nowhere/node'] })
  const stream = await openStream(`${server.origin}/events`)
  const { status, body } = await server.post('/api/crawl', { startUrl: `${site.origin}/` })
  expect([status, body.pid, body.stage]).toEqual([202, null, 'preparing'])
  const done = await stream.until(({ name }) => name === 'done')
  expect(done.data).toMatchObject({ jobId: body.jobId, status: 'failed', code: null })
  expect((await server.ask(`/api/crawls/${body.jobId}`)).body).toMatchObject({
    status: 'failed',
    problem: expect.any(String),
  })
})

test('pausing an unreachable crawl fails, and pausing a queued one is refused with another code', async () => {
  const closeInputScript = 'require("node:fs").closeSync(0); setInterval(() => {}, 1000)'
  const server = await openTestServer({ program: [process.execPath, '-e', closeInputScript, '--'] })
  const jobId = await start(server)
  const refusal = await until(
    () => server.post(`/api/crawls/${jobId}/pause`),
    ({ status }) => status !== 200,
  )
  expect([refusal.status, shapes.failure.parse(refusal.body).code]).toEqual([500, 'JOB_UNREACHABLE'])
  // A queued crawl has no process that could be paused.
  const other = await server.post('/api/crawl', { startUrl: 'https://waits.example/', queue: true })
  expect([other.status, other.body]).toMatchObject([202, { jobId: expect.any(String), stage: 'queued', pid: null }])
  const queuedPause = await server.post(`/api/crawls/${other.body.jobId}/pause`)
  expect([queuedPause.status, shapes.failure.parse(queuedPause.body).code]).toEqual([409, 'JOB_WAITS'])
  expect((await server.post(`/api/crawls/${other.body.jobId}/stop`)).status).toBe(202)
  expect((await server.post(`/api/crawls/${jobId}/stop`)).body).toEqual({ stopped: true, escalatesInMs: 800 })
  expect((await server.dispatcher.wait(jobId)).status).toBe('stopped')
})

describe('a crawl request', () => {
  test('an invalid request is refused', async () => {
    const server = await openTestServer()
    const refused: readonly [body: unknown, status: number][] = [
      [{}, 400],
      [{ startUrl: 'nonsense' }, 400],
      [{ startUrl: 'file:///etc/passwd' }, 400],
      [{ startUrl: 'https://a.example/', crawlType: 'wild' }, 400],
      [{ startUrl: 'https://a.example/', depth: -1 }, 400],
      [{ startUrl: 'https://a.example/', maxAge: 'soon' }, 400],
      [{ startUrl: 'https://a.example/', dbPath: '/etc/passwd' }, 400],
      [[], 400],
    ]
    for (const [body, status] of refused) {
      const answer = await server.post('/api/crawl', body)
      expect([body, answer.status, shapes.failure.safeParse(answer.body).success]).toEqual([body, status, true])
    }
    expect((await server.ask('/api/crawl', { method: 'POST' })).status).toBe(400)
    expect(server.dispatcher.list()).toEqual([])
  })

  test('a request without a start URL uses the default start URL', async () => {
    const server = await openTestServer({ settings: { defaultStartUrl: `${site.origin}/`, traceStart: true } })
    const { status, body } = await server.ask('/api/crawl', { method: 'POST' })
    expect([status, body.args[0]]).toEqual([202, `${site.origin}/`])
    expect(server.lines.some((line) => /^\[trace\] start handler timings job=\S+ read=.*begin=/.test(line))).toBe(true)
  })

  test('stop and pause without a running crawl are harmless', async () => {
    const server = await openTestServer()
    const answers = await Promise.all([
      server.post('/api/stop'),
      server.post('/api/pause'),
      server.post('/api/crawls/job-123/stop'),
      server.post('/api/crawls/job-123/pause'),
      server.post('/api/crawls/job%2F..%2F123/resume'),
      server.post('/api/stop', { jobId: 'job-123' }),
      server.post('/api/pause?jobId=not%20an%20id'),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404, 404, 400, 404, 400])
    expect(answers[0]?.body).toEqual({ stopped: false })
  })
})
