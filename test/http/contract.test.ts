import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { addSource } from '../../src/library/crawl/add-source.ts'
import type { Crawl } from '../../src/library/ports/store.ts'
import { openSite, page, type Site } from '../sites/site.ts'
import { EVENT_COUNT, FAILED_JOB, fillLog, fillRows, JOB, MILESTONES, ROW_COUNT } from './fill-library.ts'
import { type Answer, openTestServer, type TestServer, until } from './server.ts'
import * as shapes from './shapes.ts'

let server: TestServer
let site: Site
let sourceId: string

beforeAll(async () => {
  site = await openSite({
    '/': page('Lighthouses', ['/tower', '/lamp', '/gone']),
    '/tower': page('Tower'),
    '/lamp': page('Lamp'),
  })
  server = await openTestServer({ isShared: true, http: { externalCrawlsTtlMs: 50 } })
  const library = await server.library()
  await fillLog(library)
  sourceId = await fillRows(library)
  const { body, status } = await server.post('/api/sources', { url: `${site.origin}/`, name: 'lights' })
  expect(status).toBe(202)
  await until(
    () => server.ask(`/api/crawls/${body.jobId}`),
    ({ body: job }) => job.status === 'done',
  )
})

afterAll(async () => {
  await server?.dispose()
  await site?.close()
})

/** Sends a request and checks status and shape of the response. */
async function get<T>(path: string, shape: z.ZodType<T>, status = 200): Promise<T> {
  const answer = await server.ask(path)
  expect([path, answer.status, answer.text.slice(0, 200)]).toEqual([path, status, answer.text.slice(0, 200)])
  return shape.parse(answer.body)
}

async function expectRefusal(answer: Promise<Answer>, status: number, code: string): Promise<string> {
  const { status: got, body } = await answer
  const { error, code: gotCode, id } = shapes.failure.parse(body)
  expect([got, gotCode]).toEqual([status, code])
  // The log holds the same request id.
  expect(server.lines.some((line) => line.includes(id))).toBe(true)
  return error
}

describe('the history', () => {
  test('lists jobs with their numbers of events, newest first, and crawls that no job ran', async () => {
    const { total, items } = await get('/api/queues', shapes.queues)
    expect(total).toBe(4)
    expect(items.find(({ id }) => id === JOB)).toMatchObject({ pid: 4242, events: EVENT_COUNT, status: 'done' })
    expect(items.find(({ id }) => id === FAILED_JOB)?.status).toBe('failed')
    expect((await get('/api/queues?limit=1', shapes.queues)).items).toHaveLength(1)
    // A limit above the maximum is lowered to the maximum.
    expect((await get('/api/queues?limit=100000', shapes.queues)).items).toHaveLength(4)
  })

  test('pages through a thousand events, older and newer, without a gap', async () => {
    const seen: number[] = []
    let before: number | null | undefined
    do {
      const query = before === undefined ? '' : `&before=${before}`
      const part = await get(`/api/queues/${JOB}/events?limit=300${query}`, shapes.queueEvents)
      seen.push(...part.items.map(({ id }) => id))
      before = part.cursors.nextBefore
    } while (before !== null)
    expect(seen).toHaveLength(EVENT_COUNT)
    expect(seen).toEqual([...seen].sort((a, b) => b - a))
    const oldest = seen.at(-1) ?? 0
    const newer = await get(`/api/queues/${JOB}/events?limit=300&after=${oldest}`, shapes.queueEvents)
    expect(newer.items.map(({ id }) => id)).toEqual(seen.slice(-301, -1))
    expect(newer.cursors).toEqual({ nextBefore: newer.items.at(-1)?.id, prevAfter: newer.items[0]?.id })
  })

  test('returns 200 events by default and 500 at most, and filters them by kind', async () => {
    const sizes = ['', '?limit=100000', '?action=drop'].map(async (query) => {
      const { items } = await get(`/api/queues/${JOB}/events${query}`, shapes.queueEvents)
      return items.length
    })
    expect(await Promise.all(sizes)).toEqual([200, 500, EVENT_COUNT / 10])
  })

  test('filters problems and milestones by kind, scope and job, and returns the severity of problems', async () => {
    const all = await get('/api/problems', shapes.problems)
    expect(all.items.map(({ kind, severity }) => [kind, severity])).toEqual([
      ...Array.from({ length: 4 }, () => ['unknown-pattern', 'info']),
      ['missing-hub', 'warn'],
    ])
    expect((await get('/api/problems?kind=missing-hub', shapes.problems)).items).toHaveLength(1)
    expect((await get('/api/problems?scope=elsewhere', shapes.problems)).items).toEqual([])
    expect((await get(`/api/problems?job=${FAILED_JOB}`, shapes.problems)).items).toEqual([])
    const part = await get('/api/problems?limit=2', shapes.problems)
    const rest = await get(`/api/problems?limit=200&before=${part.cursors.nextBefore}`, shapes.problems)
    expect([...part.items, ...rest.items]).toEqual(all.items)
    expect(rest.cursors.nextBefore).toBeNull()
    const { items } = await get(`/api/milestones?job=${JOB}`, shapes.milestones)
    expect(items.map(({ kind }) => kind)).toEqual(MILESTONES.toReversed())
    expect((await get('/api/milestones?kind=hubs-seeded', shapes.milestones)).items).toHaveLength(1)
  })

  test('knows jobs that ended long ago', async () => {
    const job = await get(`/api/crawls/${FAILED_JOB}`, shapes.jobDetail)
    expect(job).toMatchObject({ status: 'failed', problem: 'it broke', startUrl: 'https://docs.example/', pid: 4242 })
    expect((await get('/api/crawls', shapes.crawls)).items).toEqual([])
  })

  test('the crawl types are listed', async () => {
    const { items } = await get('/api/crawl-types', shapes.crawlTypes)
    expect(items.map(({ name }) => name)).toEqual([
      'basic',
      'sitemap-only',
      'basic-with-sitemap',
      'intelligent',
      'history',
      'docs',
    ])
    expect(items[1]?.declaration).toMatchObject({ useSitemap: true, sitemapOnly: true })
  })
})

describe('addresses', () => {
  test('are paged by cursors, both ways, without a gap', async () => {
    const seen: string[] = []
    const firsts: string[] = []
    let cursor: string | null = ''
    let last = ''
    while (cursor !== null) {
      const part: z.infer<typeof shapes.urls> = await get(
        `/api/urls?source=${sourceId}&limit=300&cursor=${encodeURIComponent(cursor)}`,
        shapes.urls,
      )
      expect(part.total).toBe(ROW_COUNT)
      seen.push(...part.items.map(({ url }) => url))
      firsts.push(part.items[0]?.url ?? '')
      if (cursor !== '') last = cursor
      cursor = part.cursor
    }
    expect(new Set(seen).size).toBe(ROW_COUNT)
    expect(firsts).toHaveLength(4)
    const { ts, url } = JSON.parse(Buffer.from(last, 'base64').toString())
    expect([typeof ts, url]).toEqual(['number', seen[899]])
    const back = await get(
      `/api/urls?source=${sourceId}&limit=300&dir=prev&cursor=${encodeURIComponent(last)}`,
      shapes.urls,
    )
    expect(back.items.map((item) => item.url)).toEqual(seen.slice(599, 899))
    const oldest = await get(`/api/urls?source=${sourceId}&limit=5000&order=oldest`, shapes.urls)
    expect((await server.ask('/api/urls?source=nobody')).status).toBe(404)
    expect(oldest.items.map((item) => item.url)).toEqual(seen.toReversed())
  })

  test('are filtered by host, state, reason, time, words and text', async () => {
    const totals = async (query: string) => (await get(`/api/urls?${query}`, shapes.urls)).total
    expect(await totals('host=www.many.example')).toBe(ROW_COUNT / 2)
    expect(await totals('host=many.example&includeSubdomains=1')).toBe(ROW_COUNT)
    expect(await totals(`source=${sourceId}&state=skipped&reason=blocked`)).toBe(ROW_COUNT / 5)
    expect(await totals('from=2026-02-01T00:01:00Z&to=2026-02-01T00:02:00Z')).toBe(ROW_COUNT / 2)
    expect(await totals('status=404')).toBe(1)
    expect(await totals('minWordCount=5')).toBe(3)
    expect(await totals('q=P0-0001')).toBe(1)
    expect((await get('/api/urls', shapes.urls)).items).toHaveLength(200)
  })

  test('addresses that were never fetched have no classification', async () => {
    const { items } = await get('/api/urls?details=1&host=many.example&limit=3', shapes.urlsWithDetails)
    expect(items.map(({ combined_hint, classification }) => [combined_hint, classification])).toEqual(
      Array.from({ length: 3 }, () => [null, null]),
    )
    expect((await get(`/api/urls?classification=article&source=${sourceId}`, shapes.urls)).total).toBe(0)
  })

  test('address details include the stored text', async () => {
    const url = encodeURIComponent(`${site.origin}/tower`)
    const { body } = await server.ask(`/api/url-details?url=${url}`)
    expect(body).toMatchObject({ url: `${site.origin}/tower`, article: { title: 'Tower' }, fetches: [{ status: 200 }] })
    const text = await server.ask(`/api/fetch-body?id=${encodeURIComponent(body.article.id)}`)
    expect(text.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(text.text).toContain('This page is about Tower')
    await expectRefusal(server.ask('/api/url-details?url=https%3A%2F%2Fnowhere.example%2F'), 404, 'PAGE_UNKNOWN')
    await expectRefusal(server.ask('/api/fetch-body?id=nobody/nothing'), 404, 'PAGE_UNKNOWN')
  })

  test('errors are grouped by status, and hosts have a summary', async () => {
    const { items } = await get('/api/recent-errors', shapes.recentErrors)
    expect(items).toMatchObject([{ status: 404, count: 1, examples: [{ url: `${site.origin}/gone` }] }])
    const { host } = new URL(site.origin)
    const { body } = await server.ask(`/api/domain-summary?host=${host}`)
    expect(body).toMatchObject({ host, addresses: 4, pages: 3, failed: 1 })
    const { body: domains } = await server.ask('/api/recent-domains')
    expect(domains.items).toMatchObject([{ host, lastAt: expect.any(String) }])
    await expectRefusal(server.ask('/api/domain-summary?host=nowhere.example'), 404, 'PAGE_UNKNOWN')
  })
})

describe('sources', () => {
  test('are listed with their counts, and shown in detail', async () => {
    const { body } = await server.ask('/api/sources')
    expect(body.total).toBe(2)
    const { body: lights } = await server.ask('/api/sources/lights')
    expect(lights).toMatchObject({
      name: 'lights',
      status: 'INDEXED',
      pages: 3,
      balance: { discovered: 4, indexed: 3, failed: 1 },
      settings: { render: 'http', chunks: 'library' },
      errors: [{ url: `${site.origin}/gone`, reason: 'not-found', status: 404 }],
    })
    await expectRefusal(server.ask('/api/sources/nobody'), 404, 'SOURCE_UNKNOWN')
  })

  test('have addresses that are paged by key', async () => {
    const seen: string[] = []
    let after: string | null = ''
    while (after !== null) {
      const { body } = await server.ask(`/api/sources/many/urls?limit=300&after=${encodeURIComponent(after)}`)
      seen.push(...body.items.map(({ url }: { url: string }) => url))
      after = body.nextAfter
    }
    expect(new Set(seen).size).toBe(ROW_COUNT)
    const { body } = await server.ask('/api/sources/many/urls?state=skipped&reason=blocked&limit=1000')
    expect(body.items).toHaveLength(ROW_COUNT / 5)
    await expectRefusal(server.ask('/api/sources/many/urls?state=lost'), 400, 'USAGE')
  })

  test('explain the state of an address', async () => {
    const { body } = await server.ask('/api/explain?source=lights&url=/gone')
    expect(body).toMatchObject({ isKnown: true, row: { state: 'failed', reason: 'not-found', hasPage: false } })
    const { body: unseen } = await server.ask('/api/explain?source=lights&url=https://other.example/')
    expect(unseen).toMatchObject({ isKnown: false, row: null, refusal: { reason: 'off-site' } })
  })

  test('end the pauses of their hosts on request', async () => {
    const { store } = await server.library()
    const until = Date.now() + 300_000
    await store.changeClock('many.example', Date.now(), (clock) => ({ ...clock, heldUntil: until }))
    const { body: before } = await server.ask('/api/sources/many')
    expect(before.waiting).toEqual([{ host: 'many.example', until: new Date(until).toISOString() }])
    const { body, status } = await server.post('/api/sources/many/resume')
    expect([status, body]).toEqual([200, { hosts: ['many.example'] }])
    const { body: after } = await server.ask('/api/sources/many')
    expect(after.waiting).toEqual([])
    expect((await server.post('/api/sources/many/resume')).body).toEqual({ hosts: [] })
    await expectRefusal(server.post('/api/sources/nobody/resume'), 404, 'SOURCE_UNKNOWN')
  })

  test('are crawled again on request, each in one crawl at a time', async () => {
    const again = await server.post('/api/sources/lights/refresh', { discover: false, render: 'http' })
    expect(again.status).toBe(202)
    await expectRefusal(server.post('/api/sources/lights/recrawl'), 409, 'CRAWL_RUNNING')
    const job = await server.dispatcher.wait(again.body.jobId)
    expect(job.status).toBe('done')
    expect(job.args).toContain('--kind=refresh')
    expect(job.args.join(' ')).toContain('"render":"http"')
    await expectRefusal(server.post('/api/sources/lights/retry', { render: 'firefox' }), 400, 'USAGE')
    await expectRefusal(server.post('/api/sources/lights/recrawl', { chunks: 'words' }), 400, 'USAGE')
    await expectRefusal(server.post('/api/sources/lights/recrawl', { scope: { allow: ['['] } }), 400, 'USAGE')
    await expectRefusal(server.post('/api/sources/lights/recrawl', { render: 'firefox' }), 400, 'USAGE')
    await expectRefusal(server.post('/api/sources', { url: `${site.origin}/x`, chunks: 'words' }), 400, 'USAGE')
    await expectRefusal(server.post('/api/sources/nobody/retry'), 404, 'SOURCE_UNKNOWN')
    await expectRefusal(server.post('/api/sources', { url: `${site.origin}/`, name: 'lights' }), 409, 'SOURCE_EXISTS')
    await expectRefusal(server.post('/api/sources', { url: 'file:///etc/' }), 400, 'URL_INVALID')
    // Advice over HTTP names routes instead of commands.
    const { body } = await server.post('/api/sources', { url: `${site.origin}/`, name: 'lights' })
    expect(body.advice).toContain('POST /api/sources/lights/recrawl')
  })

  test('are added only once, and cannot be removed during a crawl', async () => {
    const slow = await openSite({ '/': { body: page('Slow'), delayMs: 20_000 } })
    const add = () => server.post('/api/sources', { url: `${slow.origin}/`, name: 'slow', versoin: '2' })
    const [first, second] = await Promise.all([add(), add()])
    expect(new Set([first.status, second.status])).toEqual(new Set([202, 409]))
    const { body } = first.status === 202 ? first : second
    // A misspelled field causes a notice.
    expect(body.notices).toEqual([expect.stringContaining('"versoin"')])
    await expectRefusal(add(), 409, 'CRAWL_RUNNING')
    const waiting = await server.post('/api/crawl', { startUrl: 'https://waits.example/', queue: true })
    const { body: refusal, status } = await server.ask('/api/sources/slow', { method: 'DELETE' })
    expect([status, shapes.failure.parse(refusal).advice]).toEqual([409, expect.stringContaining('?force=1')])
    await server.post(`/api/crawls/${waiting.body.jobId}/stop`)
    expect((await server.ask('/api/sources/slow?force=1', { method: 'DELETE' })).body).toMatchObject({ cancelled: 1 })
    await slow.close()
  })

  test('a source that another process is crawling is shown as running', async () => {
    const library = await server.library()
    const source = await addSource(library, { url: 'https://elsewhere.example/', name: 'elsewhere' })
    const now = Date.now()
    const crawl: Crawl = {
      id: '0b7c9d5e-0000-4000-8000-000000000001',
      sourceId: source.id,
      kind: 'add',
      state: 'running',
      options: { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} },
      runner: null,
      startedAt: now,
      heartbeatAt: now,
      endedAt: null,
      summary: null,
    }
    await library.store.beginCrawl(crawl, 60_000)
    const { items } = await until(
      () => get('/api/crawls', shapes.crawls),
      ({ count }) => count > 0,
    )
    expect(items).toMatchObject([{ id: crawl.id, elsewhere: true, status: 'running', pid: null }])
    const health = await until(
      () => get('/health', shapes.health),
      ({ running }) => running,
    )
    expect(health).toMatchObject({ stage: 'running', status: 'ok' })
    const { body: detail } = await server.ask(`/api/crawls/${crawl.id}`)
    expect(detail).toMatchObject({ startUrl: source.url, elsewhere: true, metrics: { visited: 0 }, endedAt: null })
    await expectRefusal(server.ask('/api/sources/elsewhere', { method: 'DELETE' }), 409, 'CRAWL_RUNNING')
    // The crawl can be watched from this server, but only its own process can stop it.
    await expectRefusal(server.post(`/api/crawls/${crawl.id}/stop`), 409, 'CRAWL_RUNNING')
    await library.store.removeSource(source.id)
    await until(
      () => get('/api/crawls', shapes.crawls),
      ({ count }) => count === 0,
    )
  })

  test('are removed on request', async () => {
    const library = await server.library()
    await addSource(library, { url: 'https://short.example/', name: 'short' })
    const { status, body } = await server.ask('/api/sources/short', { method: 'DELETE' })
    expect([status, body]).toEqual([200, { removed: true, pages: 0, chunks: 0, cancelled: 0 }])
    await expectRefusal(server.ask('/api/sources/short'), 404, 'SOURCE_UNKNOWN')
  })
})

describe('search', () => {
  test('returns passages that link to their chunk and section', async () => {
    const { body } = await server.ask('/api/search?q=tower&source=lights&explain=1&limit=1')
    expect(body).toMatchObject({ query: 'tower', engines: ['words'], searched: ['lights'] })
    const [first] = body.passages
    expect(first).toMatchObject({
      title: 'Tower',
      url: expect.stringContaining('/tower'),
      explain: { wordScore: expect.any(Number) },
    })
    const chunk = await server.ask(`/api/chunks/${encodeURIComponent(first.chunk)}`)
    expect(chunk.body).toMatchObject({ chunk: first.chunk, title: 'Tower', source: { name: 'lights' } })
    expect(chunk.body.text).toContain('about Tower')
    // The bare name returns the same chunk, and a matching ETag returns 304.
    const etag = chunk.headers.get('etag') ?? ''
    const again = await server.ask(`/api/chunks/${first.chunk}`, { headers: { 'if-none-match': etag } })
    expect([again.status, again.text]).toEqual([304, ''])
  })

  test('duplicates are listed', async () => {
    const { body } = await server.ask('/api/duplicates?source=lights&limit=5&offset=0')
    expect(body).toMatchObject({ groups: [], groupCount: 0, pageCount: 0, compared: 3, unknown: 0 })
  })

  test('accepts every filter, and refuses invalid values', async () => {
    const filters =
      'version=*&tokens=500&path=/tower&kind=markdown&heading=tower&contentType=prose&minScore=0.1&fusion=words&duplicates=show&language=any'
    const { body } = await server.ask(`/api/search?query=tower&${filters}`)
    expect(body.passages.map(({ title }: { title: string }) => title)).toEqual(['Tower'])
    expect((await server.ask('/api/search?q=tower&limit=100000')).status).toBe(200)
    await expectRefusal(server.ask('/api/search'), 400, 'USAGE')
    await expectRefusal(server.ask('/api/search?q=tower&minScore=2'), 400, 'USAGE')
    await expectRefusal(server.ask('/api/search?q=tower&kind=novel'), 400, 'USAGE')
    await expectRefusal(server.ask('/api/search?q=tower&duplicates=hide'), 400, 'USAGE')
    await expectRefusal(server.ask('/api/search?q=tower&cursor=nonsense'), 400, 'CURSOR_INVALID')
    await expectRefusal(server.ask('/api/search?q=tower&source=nobody'), 404, 'SOURCE_UNKNOWN')
    await expectRefusal(server.ask('/api/duplicates?source=nobody'), 404, 'SOURCE_UNKNOWN')
    await expectRefusal(server.ask('/api/changes?source=nobody'), 404, 'SOURCE_UNKNOWN')
    await expectRefusal(server.ask('/api/changes?source=lights&from=77'), 404, 'VERSION_UNKNOWN')
    await expectRefusal(server.ask('/api/chunks/nothing'), 400, 'USAGE')
    await expectRefusal(server.ask('/api/chunks/0123456789ab'), 404, 'CHUNK_UNKNOWN')
  })
})

describe('packs', () => {
  test('are written on request and fetched when they are ready', async () => {
    const { status, body } = await server.post('/api/packs', { source: 'lights', compact: true })
    expect([status, body.state]).toEqual([202, 'writing'])
    const ready = await until(
      () => server.ask(`/api/packs/${body.id}`),
      (answer) => answer.body.state !== 'writing',
    )
    expect(ready.body).toMatchObject({ state: 'ready', problem: null })
    const file = await fetch(`${server.origin}/api/packs/${body.id}/file`)
    expect(file.headers.get('content-disposition')).toMatch(/^attachment; filename="[\w.@-]+\.zip"$/)
    const bytes = new Uint8Array(await file.arrayBuffer())
    expect([bytes.length, bytes[0], bytes[1]]).toEqual([ready.body.bytes, 0x50, 0x4b])
    expect((await server.ask('/api/packs')).body.total).toBe(1)
    await expectRefusal(server.ask('/api/packs/nothing'), 404, 'PACK_UNKNOWN')
    // A pack file may be deleted by an administrator.
    fs.rmSync(join(server.folder, 'packs'), { recursive: true })
    await expectRefusal(server.ask(`/api/packs/${body.id}/file`), 404, 'PACK_UNKNOWN')
    expect((await server.ask('/api/packs')).body.total).toBe(0)
    await expectRefusal(server.post('/api/packs', { source: 'nobody' }), 404, 'SOURCE_UNKNOWN')
  })
})

describe('the server', () => {
  test('reports its health', async () => {
    const idle = await get('/health', shapes.health)
    const idleFields = { running: false, stage: null, queueSize: 0, lastProgressAt: null, paused: false }
    expect(idle).toEqual({ status: 'ok', version: '0.0.0', ...idleFields })
    const status = await get('/api/status', shapes.health)
    expect(status).toMatchObject({ version: '0.0.0', allowsSeveral: false, store: 'ready' })
    const system = await get('/api/system-health', shapes.systemHealth)
    expect(system.journalMode).toMatch(/^wal$|^PostgreSQL \d/)
    expect(system.dbSizeBytes).toBeGreaterThan(100_000)
  })

  test('exports metrics by route pattern', async () => {
    await server.ask(`/api/crawls/${JOB}`)
    const { text, headers } = await server.ask('/metrics')
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const names = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`)
    // A shared library reports figures of its workers as well.
    expect(names.filter((name) => !name.startsWith('pharos_worker'))).toEqual([
      'crawler_running gauge',
      'crawler_paused gauge',
      'crawler_requests_total counter',
      'crawler_downloads_total counter',
      'crawler_articles_found_total counter',
      'crawler_articles_saved_total counter',
      'crawler_errors_total counter',
      'crawler_queue_size gauge',
      'crawler_requests_per_second gauge',
      'crawler_downloads_per_second gauge',
      'crawler_bytes_per_second gauge',
      'crawler_cache_hit_ratio gauge',
      'crawler_error_rate_per_min gauge',
      'pharos_jobs_waiting gauge',
      'http_event_streams gauge',
      'pharos_library_bytes gauge',
      'pharos_sources gauge',
      'pharos_pages gauge',
      'pharos_chunks gauge',
      'pharos_searches_total counter',
      'pharos_search_duration_seconds histogram',
      'http_request_duration_seconds histogram',
      'crawler_fetch_duration_seconds histogram',
    ])
    expect(text).toMatch(
      /http_request_duration_seconds_bucket\{method="GET",route="\/api\/crawls\/:id",status="200",le="\+Inf"\} \d/,
    )
    expect(text).not.toContain(JOB)
    // Both crawls of the source count, and their fetches.
    const total = Number(/^crawler_requests_total (\d+)$/m.exec(text)?.[1])
    expect(total).toBeGreaterThanOrEqual(7)
    expect(Number(/^crawler_fetch_duration_seconds_count (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0)
  })

  test('describes every route, and no other', async () => {
    const { body } = await server.ask('/openapi.json')
    expect(body.openapi).toBe('3.1.0')
    const { ROUTES } = await import('../../src/http/table.ts')
    const described = Object.entries<object>(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    )
    const served = ROUTES.map(({ method, path }) => `${method} ${path.replace(/:(\w+)(\{.+\})?/g, '{$1}')}`)
    expect(described.toSorted()).toEqual(served.toSorted())
    const ids = Object.values<Record<string, { operationId: string }>>(body.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    expect(new Set(ids).size).toBe(ids.length)
    for (const path of ['/api/crawl', '/api/analysis/start']) {
      const statuses = Object.keys(body.paths[path].post.responses)
      expect([path, statuses]).toEqual([path, expect.arrayContaining(['413', '415'])])
    }
    // Answers to requests with a body may report unknown fields of it.
    const started = body.paths['/api/crawl'].post.responses['202'].content['application/json'].schema
    expect(started.properties.notices).toMatchObject({ type: 'array', items: { type: 'string' } })
    expect(started.required).not.toContain('notices')
    const [limit] = body.paths['/api/queues'].get.parameters
    expect(limit).toMatchObject({
      name: 'limit',
      in: 'query',
      schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
    })
    expect(body.paths['/api/queues/{id}/events'].get.parameters[0]).toMatchObject({
      name: 'id',
      in: 'path',
      required: true,
    })
    const { requestBody } = body.paths['/api/crawl'].post
    const { properties, required } = requestBody.content['application/json'].schema
    // Without a default start URL, the request must name one.
    expect([requestBody.required, required]).toEqual([true, ['startUrl']])
    expect(Object.keys(properties).filter((name) => properties[name].description === undefined)).toEqual([])
    const { text } = await server.ask('/docs')
    for (const name of Object.keys(properties)) expect(text).toContain(`<td><code>${name}</code>`)
    for (const path of Object.keys(body.paths)) expect(text).toContain(`${path}</code>`)
    expect(text).not.toMatch(/(?:src|href)="https?:/)
  })

  test('refuses invalid requests, and says what was wrong', async () => {
    expect(await expectRefusal(server.ask('/api/queues?limit=many'), 400, 'USAGE')).toContain('got "many"')
    // The field name in the error tells a form where to show it.
    const invalid = await server.post('/api/crawl', { startUrl: 'https://docs.example/', concurrency: 'many' })
    expect([invalid.status, invalid.body]).toMatchObject([400, { field: 'concurrency' }])
    // A limit beyond the range, on either side, is clamped.
    expect((await server.ask('/api/queues?limit=0')).body.items.length).toBeLessThanOrEqual(1)
    await expectRefusal(server.ask('/api/queues?limit=-1'), 400, 'USAGE')
    await expectRefusal(server.ask('/api/queues?limit=-5'), 400, 'USAGE')
    await expectRefusal(server.ask(`/api/queues/${JOB}/events?action=lost`), 400, 'USAGE')
    await expectRefusal(server.ask(`/api/queues/${JOB}/events?before=x`), 400, 'USAGE')
    await expectRefusal(server.ask('/api/queues/..%2F..%2Fetc/events'), 400, 'USAGE')
    await expectRefusal(server.ask('/api/queues/job-123/events'), 404, 'JOB_UNKNOWN')
    await expectRefusal(server.ask('/api/crawls/job%20123'), 400, 'USAGE')
    await expectRefusal(server.ask('/api/crawls/job-123'), 404, 'JOB_UNKNOWN')
    await expectRefusal(server.ask('/api/urls?cursor=bm9uc2Vuc2U'), 400, 'CURSOR_INVALID')
    await expectRefusal(server.ask('/api/urls?from=yesterday'), 400, 'USAGE')
    await expectRefusal(server.ask('/api/urls?details=maybe'), 400, 'USAGE')
    await expectRefusal(server.ask('/api/url-details'), 400, 'USAGE')
    await expectRefusal(server.ask('/api/nothing'), 404, 'ROUTE_UNKNOWN')
    const wrong = server.ask('/api/crawl')
    await expectRefusal(wrong, 405, 'METHOD_REFUSED')
    expect((await wrong).headers.get('allow')).toBe('POST')
  })

  test('treats an empty field of a form as not given', async () => {
    expect((await get('/api/problems?job=&kind=&limit=', shapes.problems)).items).toHaveLength(5)
  })

  test('compresses only responses to GET', async () => {
    const raw = await fetch(`${server.origin}/api/urls?limit=500`, { headers: { 'accept-encoding': 'gzip' } })
    expect(raw.headers.get('content-encoding')).toBe('gzip')
    expect(raw.headers.get('vary')).toContain('accept-encoding')
    expect(await raw.json()).toMatchObject({ count: 500 })
    const plain = await fetch(`${server.origin}/api/urls?limit=500`, { headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    const posted = await server.post('/api/stop', undefined, { 'accept-encoding': 'gzip' })
    expect(posted.headers.get('content-encoding')).toBeNull()
  })

  test('serves the dashboard with cache headers', async () => {
    const home = await server.ask('/')
    expect([home.status, home.headers.get('cache-control')]).toEqual([200, 'no-cache'])
    const again = await server.ask('/', { headers: { 'if-none-match': home.headers.get('etag') ?? '' } })
    expect(again.status).toBe(304)
    const script = await server.ask('/assets/app-1a2b3c.js')
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect((await server.ask('/api/crawls')).headers.get('cache-control')).toBe('no-store')
    const missing = await server.ask('/assets/none.js', { headers: { accept: 'text/html' } })
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
  })

  test('forwards MCP requests', async () => {
    const answer = await server.post(
      '/mcp',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
      },
      { accept: 'application/json, text/event-stream' },
    )
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('"serverInfo"')
  })

  test('logs each request with its status and time, but no file of a page', async () => {
    const asset = /"(\/assets\/[^"]+)"/.exec((await server.ask('/')).text)?.[1] ?? ''
    expect((await server.ask(asset)).status).toBe(200)
    expect((await server.ask('/assets/missing.js')).status).toBe(404)
    const logged = server.lines.filter((line) => /^\[req\] GET \/assets\S+ -> /.test(line))
    expect(logged.filter((line) => !line.includes(' -> 404 '))).toEqual([])
    expect(logged).toContainEqual(expect.stringContaining('/assets/missing.js'))
    expect(server.lines.some((line) => /^\[req\] GET \/api\/queues\?limit=1 -> 200 \d+\.\dms /.test(line))).toBe(true)
  })
})
