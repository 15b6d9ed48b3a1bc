import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSite, page, type Site } from '../sites/site.ts'
import { openTestServer, until } from './server.ts'

const DAY = 86_400_000

let site: Site

beforeAll(async () => {
  site = await openSite({ '/': page('Start', ['/one']), '/one': page('One') })
})

afterAll(() => site?.close())

test('a source gets its interval with its first crawl, with a later one, or alone, and keeps it until never', async () => {
  const server = await openTestServer()
  const read = async () => (await server.ask('/api/sources/docs')).body
  const waitForCrawl = () => until(read, ({ status, isRunning }) => status === 'INDEXED' && !isRunning)
  const added = await server.post('/api/sources', { url: `${site.origin}/`, name: 'docs', every: '1d' })
  expect(added.status).toBe(202)
  const { refresh, lastCrawledAt } = await waitForCrawl()
  expect(refresh).toMatchObject({ every: '1d', everyMs: DAY, attempts: 0, problem: null })
  const waitMs = Date.parse(refresh.nextAt) - Date.parse(lastCrawledAt)
  expect(waitMs).toBeGreaterThanOrEqual(DAY)
  expect(waitMs).toBeLessThan(DAY + 3_600_000 + 5000)
  expect((await server.ask('/api/sources')).body.items).toMatchObject([{ name: 'docs', refresh }])

  for (const [verb, every, written] of [
    ['recrawl', '2w', '14d'],
    ['refresh', '90m', '1h 30m'],
  ] as const) {
    await until(
      () => server.post(`/api/sources/docs/${verb}`, { every }),
      ({ status }) => status === 202,
    )
    expect(await waitForCrawl()).toMatchObject({ refresh: { every: written } })
  }
  const alone = await server.post('/api/sources/docs/schedule', { every: '6h' })
  expect([alone.status, alone.body.refresh.every]).toEqual([200, '6h'])
  const crawl = (await read()).crawl.id
  const ended = await server.post('/api/sources/docs/schedule', { every: 'never' })
  expect([ended.status, ended.body.refresh, ended.body.crawl.id]).toEqual([200, null, crawl])
})

test('an interval that is too short, too long or no duration is refused, and nothing is stored or crawled', async () => {
  const server = await openTestServer()
  for (const every of ['9m', '2y', '', '400d', 'soon']) {
    const { status, body } = await server.post('/api/sources', { url: `${site.origin}/`, every })
    expect([status, body.code, body.field]).toEqual([400, 'USAGE', 'every'])
    expect(body.error).toContain('expected a duration from 10m to 366d such as 12h, 1d or 2w, or never')
  }
  expect((await server.post('/api/sources/docs/schedule', { every: '1d' })).status).toBe(404)
  expect((await server.post('/api/sources/docs/schedule', {})).status).toBe(400)
  expect((await server.ask('/api/sources')).body).toMatchObject({ total: 0 })
})

test('an imported source gets no interval, because it cannot be crawled', async () => {
  const server = await openTestServer()
  const facts = { section_path: 'lamp', content_type: 'prose', last_updated: '2026-02-20' }
  const source_url = 'https://docs.example/'
  const chunks = [{ text: 'The lamp is lit.', source_url, ...facts }]
  expect((await server.post('/api/import?name=imported', { source_url, chunks })).status).toBe(200)
  const { status, body } = await server.post('/api/sources/imported/schedule', { every: '1d' })
  expect([status, body.code]).toEqual([409, 'SOURCE_IMPORTED'])
  expect((await server.post('/api/sources/imported/schedule', { every: 'never' })).status).toBe(200)
})
