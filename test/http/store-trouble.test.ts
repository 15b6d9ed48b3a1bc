import { mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { zeroTable } from '../damage-library.ts'
import { FAILED_JOB, fillLog, fillRows, ROW_COUNT } from './fill-library.ts'
import { openTestServer, type TestServer } from './server.ts'
import * as shapes from './shapes.ts'

async function statusOf(server: TestServer, path: string): Promise<number> {
  return (await server.ask(path)).status
}

const EMPTY_RESPONSES: readonly (readonly [path: string, body: object])[] = [
  ['/api/queues', { total: 0, items: [] }],
  ['/api/problems', { items: [], cursors: { nextBefore: null, prevAfter: null } }],
  ['/api/milestones', { items: [], cursors: { nextBefore: null, prevAfter: null } }],
  ['/api/sources', { total: 0, items: [] }],
  ['/api/urls', { total: 0, count: 0, items: [], cursor: null }],
  ['/api/recent-errors', { rows: 0, items: [] }],
  ['/api/recent-domains', { count: 0, items: [] }],
  ['/api/analysis', { total: 0, items: [] }],
  ['/api/gazetteer/summary', { countries: 0, sources: [] }],
  ['/api/gazetteer/places', { total: 0, items: [] }],
  ['/api/gazetteer/articles?id=1', { items: [] }],
  ['/api/gazetteer/hubs', { total: 0, items: [] }],
  ['/api/gazetteer/resolve?q=x', { items: [] }],
  ['/api/hubs', { total: 0, items: [] }],
  ['/api/hubs/hosts', { items: [] }],
  ['/api/hubs/coverage?host=x', { hubs: 0, missing: [] }],
  ['/api/places/mentions', { items: [] }],
]

const NOT_FOUND_PATHS = [
  '/api/queues/job-123/events',
  '/api/crawls/job-123',
  '/api/url-details?url=x',
  '/api/domain-summary?host=x',
  '/api/analysis/nobody',
  '/api/gazetteer/place/1',
]

test('a server without its library stays up, answers what it can, and recovers when the library is back', async () => {
  const server = await openTestServer()
  const library = await server.library()
  await fillLog(library)
  await fillRows(library)
  const paths = ['/api/queues', '/api/sources', '/api/urls'] as const
  const before = await Promise.all(paths.map(async (path) => (await server.ask(path)).body.total))
  // Two jobs, and the crawl that found the rows.
  expect(before).toEqual([3, 1, ROW_COUNT])

  await server.hideStore()
  for (const [path, body] of [...EMPTY_RESPONSES, ['/api/status', { store: 'unavailable' }] as const]) {
    const answer = await server.ask(path)
    expect([path, answer.status, answer.body]).toMatchObject([path, 200, body])
  }
  expect(shapes.crawlTypes.parse((await server.ask('/api/crawl-types')).body).items).toHaveLength(6)
  for (const path of NOT_FOUND_PATHS) expect([path, await statusOf(server, path)]).toEqual([path, 404])
  const unavailable = [
    '/ready',
    '/api/search?q=x',
    '/api/chunks/0123456789ab',
    '/api/sources/nobody',
    '/api/sources/nobody/urls',
    '/api/explain?source=nobody&url=/',
    '/api/fetch-body?id=a/b',
    '/api/milestones/met?host=x&kinds=y',
  ]
  for (const path of unavailable) {
    const { status, body, text } = await server.ask(path)
    expect([path, status, shapes.failure.parse(body).code]).toEqual([path, 503, 'STORE_UNAVAILABLE'])
    // The path of the library must not reach the client.
    expect(text).not.toContain(server.folder)
  }
  expect((await server.post('/api/sources', { url: 'https://a.example/' })).status).toBe(503)
  for (const path of ['/health', '/metrics', '/api/crawls', '/api/system-health', '/openapi.json', '/', '/api/packs']) {
    expect([path, await statusOf(server, path)]).toEqual([path, 200])
  }
  expect(server.lines.some((line) => line.startsWith('the library cannot be used'))).toBe(true)

  await server.showStore()
  const after = await Promise.all(paths.map(async (path) => (await server.ask(path)).body.total))
  expect(after).toEqual(before)
  expect(await statusOf(server, '/api/search?q=x')).toBe(200)
  expect(await statusOf(server, '/ready')).toBe(200)
  expect(shapes.jobDetail.parse((await server.ask(`/api/crawls/${FAILED_JOB}`)).body).status).toBe('failed')
})

/** Routes that return data of a library. */
const LIBRARY_ROUTES = [...EMPTY_RESPONSES.map(([path]) => path), ...NOT_FOUND_PATHS]

test('a library that cannot be opened is not shown as empty', async () => {
  const server = await openTestServer()
  await server.library()
  await server.hideStore()
  mkdirSync(join(server.folder, 'library.db'))
  for (const path of [...LIBRARY_ROUTES, '/api/workers', '/ready']) {
    const { status, body, text } = await server.ask(path)
    expect([path, status, shapes.failure.parse(body).code]).toEqual([path, 503, 'LIBRARY_UNUSABLE'])
    expect(text).not.toContain(server.folder)
  }
  expect((await server.ask('/api/status')).body).toMatchObject({ store: 'unavailable' })
  for (const path of ['/health', '/metrics', '/api/crawls', '/api/crawl-types', '/']) {
    expect([path, await statusOf(server, path)]).toEqual([path, 200])
  }
  rmdirSync(join(server.folder, 'library.db'))
})

describe('a damaged library', () => {
  test('is reported as LIBRARY_UNUSABLE on every route once a damaged page was read', async () => {
    const server = await openTestServer()
    const library = await server.library()
    await fillLog(library)
    await fillRows(library)
    await server.reopenStore()
    zeroTable(library.store.location, 'sources')
    for (const path of ['/ready', '/api/sources', '/api/search?q=x', ...LIBRARY_ROUTES]) {
      const { status, body, text } = await server.ask(path)
      const failure = shapes.failure.parse(body)
      expect([path, status, failure.code]).toEqual([path, 503, 'LIBRARY_UNUSABLE'])
      expect(failure.advice).toContain('restore a copy')
      expect(text).not.toContain(server.folder)
    }
    const page = await server.ask('/urls', { headers: { accept: 'text/html' } })
    expect(page.status).toBe(503)
    expect(page.text).toContain('LIBRARY_UNUSABLE')
    expect((await server.ask('/api/status')).body).toMatchObject({ store: 'unavailable' })
  })

  test('is reported as LIBRARY_UNUSABLE where a stored record cannot be decoded', async () => {
    const server = await openTestServer()
    const { store } = await server.library()
    await fillRows(await server.library())
    const db = new Sqlite(store.location)
    db.exec(`UPDATE sources SET scope = '{"allow":['`)
    db.close()
    for (const path of ['/ready', '/api/sources']) {
      const { status, body } = await server.ask(path)
      expect([path, status, shapes.failure.parse(body).code]).toEqual([path, 503, 'LIBRARY_UNUSABLE'])
    }
  })
})
