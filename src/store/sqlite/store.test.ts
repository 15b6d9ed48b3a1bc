import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { reserveSlot, setPause } from '../../../test/contracts/host-clocks.ts'
import { note } from '../../../test/contracts/job-notes.ts'
import { expectMigratedKeys, OLDER_CONTENT, writeOlderRows } from '../../../test/contracts/older-keys.ts'
import { OLDER_LAYOUT } from '../../../test/contracts/older-layout.ts'
import { recordPlans } from '../../../test/contracts/query-plans.ts'
import { runScript } from '../../../test/contracts/run-script.ts'
import type { Page } from '../../core/model.ts'
import { DEFAULT_SCOPE } from '../../core/url/scope.ts'
import type { FoundAddress } from '../../crawl/ledger.ts'
import type { Adoption, PageRecord } from '../../crawl/settlement.ts'
import type { LibraryStore } from '../../library/ports/library-store.ts'
import type { Crawl, Store } from '../../library/ports/store.ts'
import { searchHits } from '../../library/search/hits.ts'
import { DEFAULT_SETTINGS, type Source } from '../../library/source.ts'
import { RETARGET_DUPLICATES } from './database/bulk-updates.ts'
import { type Database, openDatabase } from './database/database.ts'
import { SCHEMA_VERSION } from './database/schema.ts'
import { createFrontier } from './ledger/frontier.ts'
import { createHosts } from './ledger/hosts.ts'
import { ROWS_BY_REASON } from './ledger/rows.ts'
import { createSources } from './sources.ts'
import { openSqliteStore } from './store.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-sqlite-'))
let files = 0
const newPath = () => join(folder, `${files++}.db`)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('opening a library', () => {
  test('creates the file and its folders with access for their owner only', async () => {
    const path = join(folder, 'some', 'where', 'library.db')
    const store = await openSqliteStore(path)
    expect(store.location).toBe(path)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'some')).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, 'some', 'where')).mode & 0o777).toBe(0o700)
    await store.close()
  })

  test('a library is a single file after its last connection has closed', async () => {
    const path = newPath()
    await fill(await openSqliteStore(path))
    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  test('configures a connection for several processes', () => {
    const db = openDatabase(newPath())
    const pragma = (name: string) => db.pragma(name, { simple: true })
    expect([pragma('journal_mode'), pragma('synchronous'), pragma('foreign_keys'), pragma('busy_timeout')]).toEqual([
      'wal',
      1,
      1,
      250,
    ])
    expect(pragma('user_version')).toBe(SCHEMA_VERSION)
    db.close()
  })

  test('refuses a library of a newer program, and leaves it alone', async () => {
    const path = newPath()
    const db = openDatabase(path)
    db.pragma('user_version = 99')
    db.close()
    await expect(openSqliteStore(path)).rejects.toMatchObject({
      code: 'LIBRARY_NEWER',
      details: { library: path, found: 99, supported: SCHEMA_VERSION },
    })
    const unchanged = statSync(path)
    expect(unchanged.size).toBeGreaterThan(0)
  })

  test('refuses a library from before the first release, and says what to do', async () => {
    const path = newPath()
    const db = openDatabase(path)
    db.pragma('user_version = 1')
    db.close()
    await expect(openSqliteStore(path)).rejects.toMatchObject({
      code: 'LIBRARY_UNUSABLE',
      details: { library: path, problem: expect.stringContaining('delete the file') },
    })
  })

  test('reads a source from before trap guards as one without guards', async () => {
    const path = newPath()
    const first = await openSqliteStore(path)
    await first.addSource(source('docs'))
    await first.close()
    const db = openDatabase(path)
    db.prepare("UPDATE sources SET scope = json_remove(scope, '$.trapGuards')").run()
    db.close()
    const second = await openSqliteStore(path)
    await second.addSource(source('new'))
    const guards = (await second.listSources()).map(({ name, scope }) => [name, scope.trapGuards])
    expect(guards).toEqual([
      ['docs', false],
      ['new', true],
    ])
    await second.close()
  })

  test('reads a source from before rendering as one without rendering', async () => {
    const path = newPath()
    const first = await openSqliteStore(path)
    await first.addSource(source('docs'))
    await first.close()
    const db = openDatabase(path)
    db.prepare("UPDATE sources SET settings = json_remove(settings, '$.render', '$.chunks')").run()
    db.close()
    const second = await openSqliteStore(path)
    expect(await second.listSources()).toEqual([source('docs')])
    await second.close()
  })

  test('rebuilds the index of an older library from its chunks', async () => {
    const path = newPath()
    const seen = await fill(await openSqliteStore(path))
    const db = openDatabase(path)
    revertSchema(db, SCHEMA_3)
    db.close()
    const store = await openSqliteStore(path)
    expect(await readBack(store)).toEqual(seen)
    expect(seen.hits).toHaveLength(1)
    await store.close()
    const after = openDatabase(path)
    expect(after.prepare('SELECT id FROM layouts').pluck().all()).toEqual([1])
    expect(after.pragma('user_version', { simple: true })).toBe(SCHEMA_VERSION)
    expect(after.prepare(`SELECT name FROM sqlite_schema WHERE name LIKE 'chunk_index%'`).all()).toEqual([])
    after.close()
  })

  test('adds host counts and word counts to a library of version 6, and keeps its crawls', async () => {
    const path = newPath()
    const first = await openSqliteStore(path)
    await first.addSource(source('docs'))
    await first.beginCrawl(crawl('c1', 5), 1000)
    await first.adopt(adoptionOf(1, 'some words'))
    await first.offer('docs', 'c1', [find(2)], 9)
    const readBack = async (store: LibraryStore) => ({
      addresses: await store.addresses.list({ limit: 9 }),
      host: await store.addresses.describeHost('docs.test'),
      crawls: await store.listCrawls('docs', 9),
      jobs: await store.jobLog.list(9),
    })
    const seen = await readBack(first)
    await first.close()
    const db = openDatabase(path)
    revertSchema(db, SCHEMA_6)
    db.close()
    const second = await openSqliteStore(path)
    expect(await readBack(second)).toEqual(seen)
    expect(seen.addresses.map(({ wordCount }) => wordCount)).toEqual([null, 2])
    expect(seen.host).toMatchObject({ addresses: 2, pages: 1, lastAt: 5 })
    expect(seen.crawls.map(({ id }) => id)).toEqual(['c1'])
    await second.close()
  })

  test('gives each row of an older library the key of its address', async () => {
    const path = newPath()
    const first = await openSqliteStore(path)
    await writeOlderRows(first, (key) => createRecord(key, 'some words', 'c'))
    await first.close()
    const db = openDatabase(path)
    for (const statement of [...OLDER_LAYOUT, ...OLDER_CONTENT]) db.exec(statement)
    db.exec(
      'ALTER TABLE sources DROP COLUMN refresh; DROP TRIGGER row_deleted; DROP TABLE earlier_pages; ALTER TABLE crawls DROP COLUMN keeps_earlier',
    )
    db.pragma('user_version = 11')
    db.close()
    const second = await openSqliteStore(path)
    await expectMigratedKeys(second, createRecord('', '', 'c').chunks[0]?.id ?? '')
    await second.close()
  })

  test('migrates a library of version 7 to the tables of a new library, and keeps all its data', async () => {
    const path = newPath()
    const first = await openSqliteStore(path)
    await first.addSource(source('docs'))
    await first.beginCrawl(crawl('c1', 5), 1000)
    await first.adopt(adoptionOf(1, 'some words'))
    const [queryUrl, url] = ['https://docs.test/1?s=2', find(1).url]
    const alias = { url: queryUrl, aliasUrl: url, classification: 'superfluous-query', reason: 's' } as const
    await first.offer('docs', 'c1', [find(2), find(3)], 9, [alias])
    await first.jobLog.append([note('milestone', 'job', 'm'), note('problem', 'job', 'p')])
    const readBack = async (store: LibraryStore) => ({
      rows: await store.listRows('docs', { limit: 9 }),
      page: await store.readPage('docs', find(1).key),
      aliases: await store.listAliases('docs', url),
      milestones: await store.jobLog.listMilestones({ limit: 9 }),
      problems: await store.jobLog.listProblems({ limit: 9 }),
      crawls: await store.listCrawls('docs', 9),
    })
    const seen = await readBack(first)
    expect(seen).toMatchObject({ rows: [{}, {}, {}], page: {}, aliases: [alias], milestones: [{}], problems: [{}] })
    await first.close()
    const describeTables = (db: Database) =>
      db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all()
    const fresh = openDatabase(':memory:')
    const db = openDatabase(path)
    revertSchema(db, SCHEMA_7)
    expect(describeTables(db)).not.toEqual(describeTables(fresh))
    db.close()
    const second = await openSqliteStore(path)
    expect(await readBack(second)).toEqual(seen)
    const visits = await second.lease({ ...request(20), limit: 9 })
    expect(visits.map(({ key }) => key)).toEqual([find(2).key, find(3).key])
    expect(await second.checkAliases('docs', 30)).toBe(1)
    expect(await second.listAliases('docs', url)).toEqual([
      { ...alias, exists: true, checkedAt: 30, metadata: expect.objectContaining({ state: 'indexed' }) },
    ])
    await second.close()
    const after = openDatabase(path)
    expect(describeTables(after)).toEqual(describeTables(fresh))
    for (const opened of [after, fresh]) opened.close()
  })

  test('a process finds chunks that another process has indexed, and none that were removed', async () => {
    const path = newPath()
    const [writer, reader] = [await openSqliteStore(path), await openSqliteStore(path)]
    await writer.addSource(source('docs'))
    const adopt = (i: number, text: string) => writer.adopt(adoptionOf(i, text))
    const search = async (query: string) => (await searchHits(reader, { query, limit: 999 })).map(({ url }) => url)
    for (let i = 0; i < 40; i++) {
      await adopt(i, `common w${i}x`)
      expect(await search('common')).toHaveLength(i + 1)
    }
    await adopt(7, 'common replaced')
    expect(await search('w7x')).toEqual([])
    expect(await search('replaced')).toEqual([find(7).url])
    expect(await search('common')).toHaveLength(40)
    await reader.removeSource('docs')
    expect(await writer.search({ query: 'common', limit: 9 })).toEqual([])
    await Promise.all([writer.close(), reader.close()])
  })

  test('a match is undefined if its chunk was replaced or removed meanwhile, and a chunk that was not loaded yet is empty', async () => {
    const path = newPath()
    const [writer, reader] = [await openSqliteStore(path), await openSqliteStore(path)]
    await writer.addSource(source('docs'))
    await writer.adopt(adoptionOf(1, 'common early'))
    const matches = await reader.search({ query: 'common', limit: 9 })
    const [before] = await reader.readMatches(matches)
    const [unread] = await reader.readMatches(matches)
    expect(before).toMatchObject({ url: find(1).url, chunk: { content: 'common early' } })
    await writer.adopt(adoptionOf(1, 'common late'))
    expect(await reader.readMatches(matches)).toEqual([undefined])
    expect([unread?.chunk.id, unread?.chunk.content, unread?.chunk.headingPath]).toEqual(['', '', []])
    await writer.removeSource('docs')
    expect(await reader.readMatches(matches)).toEqual([undefined])
    await Promise.all([writer.close(), reader.close()])
  })

  test('refuses a file that is not a database', async () => {
    const path = newPath()
    writeFileSync(path, 'This is a letter to my aunt. '.repeat(100))
    await expect(openSqliteStore(path)).rejects.toMatchObject({ code: 'LIBRARY_UNUSABLE', details: { library: path } })
  })

  test('refuses the database of another program', async () => {
    const path = newPath()
    const db = openDatabase(path)
    db.pragma('application_id = 7')
    db.close()
    await expect(openSqliteStore(path)).rejects.toMatchObject({
      code: 'LIBRARY_UNUSABLE',
      details: { problem: 'it is a database of another program' },
    })
  })

  test('refuses a folder', async () => {
    const path = newPath()
    mkdirSync(path)
    await expect(openSqliteStore(path)).rejects.toMatchObject({ code: 'LIBRARY_UNUSABLE' })
  })

  test('finds all data again after reopening', async () => {
    const path = newPath()
    const first = await openSqliteStore(path)
    const before = await fill(first)
    const second = await openSqliteStore(path)
    expect(await readBack(second)).toEqual(before)
    await second.close()
  })
})

describe('ledger counts', () => {
  test('the counts match the rows', async () => {
    const path = newPath()
    await fill(await openSqliteStore(path))
    const db = openDatabase(path)
    const counted = db.prepare(
      "SELECT state, ifnull(reason, '') AS reason, rows FROM ledger_counts WHERE rows <> 0 ORDER BY 1, 2",
    )
    const real = db.prepare(
      "SELECT state, ifnull(reason, '') AS reason, count(*) AS rows FROM ledger GROUP BY 1, 2 ORDER BY 1, 2",
    )
    expect(counted.all()).toEqual(real.all())
    db.close()
  })
})

describe('hosts with open work', () => {
  test('the open hosts are those of pending rows', async () => {
    const path = newPath()
    const store = await openSqliteStore(path)
    await store.addSource(source('docs'))
    await store.offer('docs', 'c1', [1, 2, 3, 4, 5, 6].map(find), 1)
    const visits = await store.lease({ ...request(5), limit: 5 })
    const [retried, unconfirmed, skipped, released] = visits
    if (!retried || !unconfirmed || !skipped || !released) throw new Error('nothing was leased')
    await store.settle({ visit: retried, crawlId: 'c1', now: 6, state: 'pending', reason: 'timeout', dueAt: 9 })
    await store.settle({ visit: unconfirmed, crawlId: 'c1', now: 6, state: 'pending', awaitsConfirmation: true })
    await store.settle({ visit: skipped, crawlId: 'c1', now: 6, state: 'skipped', reason: 'empty' })
    await store.release([released])
    const db = openDatabase(path)
    const openHosts = db.prepare(
      'SELECT awaits_confirmation AS awaitsConfirmation, host, ready, waiting FROM open_hosts ORDER BY 1, 2',
    )
    expect(openHosts.all()).toEqual([
      { awaitsConfirmation: 0, host: 'docs.test', ready: 2, waiting: 1 },
      { awaitsConfirmation: 1, host: 'docs.test', ready: 1, waiting: 0 },
    ])
    await store.skipPending('docs', 'page-cap', null, 7)
    expect(openHosts.all()).toEqual([])
    db.close()
    await store.close()
  })
})

describe('large sources', () => {
  const plan = (path: string, sql: string, bound: Record<string, unknown>): string => {
    const db = openDatabase(path)
    const steps = db.prepare<[unknown], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(bound)
    db.close()
    return steps.map(({ detail }) => detail).join('\n')
  }

  test('rows that hold a content are found through the index of hashes', async () => {
    const path = newPath()
    await fill(await openSqliteStore(path))
    const steps = plan(path, RETARGET_DUPLICATES, { source: 1, crawl: 1 })
    expect(steps.match(/SEARCH h USING INDEX ledger_by_content \(source=\? AND page_hash=\?\)/g)).toHaveLength(2)
    expect(steps).not.toMatch(/SEARCH h USING INDEX ledger_by_key/)
  })

  test('rows are listed by state and reason without scanning the others', async () => {
    const path = newPath()
    await fill(await openSqliteStore(path))
    const bound = { source: 1, after: '', before: 'b', state: 'skipped', reason: 'blocked', limit: 20 }
    const steps = plan(path, ROWS_BY_REASON, bound)
    expect(steps).toMatch(
      /SEARCH l USING INDEX ledger_by_reason \(source=\? AND state=\? AND reason=\? AND key>\? AND key<\?\)/,
    )
    expect(steps).not.toMatch(/TEMP B-TREE/)
  })

  test('leasing and counting do not scan rows that are not open', () => {
    const db = openDatabase(':memory:')
    const { listSteps } = recordPlans(db)
    createFrontier(db, createHosts(db))
    const steps = listSteps(/^(?:SELECT|WITH)/).filter((step) => / ledger /.test(step))
    expect(steps.length).toBeGreaterThan(10)
    for (const step of steps) expect(step).toMatch(/^SEARCH .* INDEX ledger_(?:ready|by_weight|waiting|leased) /)
    db.close()
  })

  test('a removed source disappears at once, and the next removal deletes leftovers of a killed process', async () => {
    const path = newPath()
    await fill(await openSqliteStore(path))
    // The state that a process leaves when it is killed after the first step.
    const db = openDatabase(path)
    const sources = createSources(db, path, { remove: () => {} })
    expect(sources.hide('docs', false)).toEqual({ pages: 1, chunks: 1 })
    const store = await openSqliteStore(path)
    expect(await store.listSources()).toEqual([])
    expect(await searchHits(store, { query: 'unforgettable', limit: 5 })).toEqual([])
    expect(await store.stats()).toMatchObject({ sources: 0, pages: 0, chunks: 0, changedAt: null })
    expect(await store.countLedger('docs')).toMatchObject({ total: 0 })
    await store.addSource(source('docs'))
    expect(await store.removeSource('nobody')).toEqual({ pages: 0, chunks: 0 })
    const tables = [
      'ledger',
      'pages',
      'links',
      'chunks',
      'index_segments',
      'index_blocks',
      'index_dead',
      'ledger_counts',
      'open_hosts',
      'crawl_ids',
    ]
    const left = tables.map((table) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
    expect(left).toEqual(tables.map(() => 0))
    expect(await store.listSources()).toHaveLength(1)
    db.close()
    await store.close()
  })

  test('a source is deleted in batches, so that other connections can write in between', async () => {
    const path = newPath()
    const [store, other] = [await openSqliteStore(path), await openSqliteStore(path)]
    await store.addSource(source('docs'))
    const numbers = Array.from({ length: 3000 }, (_, i) => i)
    await store.offer('docs', 'c1', numbers.map(find), 1)
    let isRemoved = false
    const removal = store.removeSource('docs').finally(() => {
      isRemoved = true
    })
    let writes = 0
    while (!isRemoved) {
      await reserveSlot(other, 'other.test', 1)
      writes++
      await new Promise((resolve) => setImmediate(resolve))
    }
    await removal
    expect(writes).toBeGreaterThan(3)
    await Promise.all([store.close(), other.close()])
  })
})

describe('several connections', () => {
  test('writers wait for each other without blocking their process', async () => {
    const path = newPath()
    const store = await openSqliteStore(path)
    const other = openDatabase(path)
    other.exec('BEGIN IMMEDIATE')
    let isWritten = false
    const writing = store.addSource(source('docs')).then(() => {
      isWritten = true
    })
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect([isWritten, await store.listSources()]).toEqual([false, []])
    other.exec('COMMIT')
    await writing
    expect(await store.listSources()).toHaveLength(1)
    other.close()
    await store.close()
  })

  test('a search finds indexed chunks while another connection writes, and reports how many are not indexed yet', async () => {
    const path = newPath()
    await fillOlder(path, 30)
    const store = await openSqliteStore(path)
    const other = openDatabase(path)
    const search = async () => (await searchHits(store, { query: 'common', limit: 99 })).length
    other.exec('BEGIN IMMEDIATE')
    const since = performance.now()
    expect([await search(), await store.readIndexState()]).toEqual([0, { chunks: 30, indexed: 0 }])
    expect(performance.now() - since).toBeLessThan(5000)
    other.exec('COMMIT')
    expect([await search(), await store.readIndexState()]).toEqual([30, { chunks: 30, indexed: 30 }])
    for (let i = 30; i < 35; i++) await store.adopt(adoptionOf(i, `common w${i}x`))
    other.exec('BEGIN IMMEDIATE')
    expect([await search(), await store.readIndexState()]).toEqual([30, { chunks: 35, indexed: 30 }])
    other.exec('COMMIT')
    // Without another search, the index continues in the background.
    await expect
      .poll(() => store.readIndexState(), { timeout: 60_000, interval: 20 })
      .toEqual({ chunks: 35, indexed: 35 })
    other.close()
    await store.close()
  })

  test('indexing an older library runs in batches and adds missing layouts, and missing signatures are added on request', async () => {
    const path = newPath()
    await fillOlder(path, 700)
    const store = await openSqliteStore(path)
    await store.indexMissingChunks(AbortSignal.abort())
    expect(await store.readIndexState()).toEqual({ chunks: 700, indexed: 0 })
    expect(await store.readExcerpt('docs', find(3).key, 0)).toMatchObject({ markdown: 'common w3x' })
    const other = openDatabase(path)
    const layouts = other.prepare<[], number>('SELECT count(*) FROM layouts').pluck()
    expect(layouts.get()).toBe(0)
    let eventLoopTurns = 0
    let isUpdating = true
    const count = () => {
      eventLoopTurns++
      if (isUpdating) setImmediate(count)
    }
    setImmediate(count)
    await store.indexMissingChunks()
    isUpdating = false
    expect(eventLoopTurns).toBeGreaterThan(0)
    expect([await store.readIndexState(), layouts.get()]).toEqual([{ chunks: 700, indexed: 700 }, 700])
    const describePage = (page: Page) => ({ ...page, fingerprint: '00ff00ff00ff00ff' })
    const pageRef = { sourceId: 'docs', key: find(3).key }
    expect(await store.fillPageSignatures(describePage, AbortSignal.abort())).toBe(0)
    expect(await store.readPageSignatures([pageRef])).toEqual([undefined])
    expect(await store.fillPageSignatures(describePage)).toBe(700)
    expect(await store.readPageSignatures([pageRef])).toMatchObject([{ fingerprint: '00ff00ff00ff00ff' }])
    expect(await store.fillPageSignatures(describePage)).toBe(0)
    expect(await store.readExcerpt('docs', find(3).key, 0)).toMatchObject({ markdown: 'common w3x' })
    expect(await searchHits(store, { query: 'common', limit: 999 })).toHaveLength(700)
    other.close()
    await store.close()
  })

  test('index updates give up when another writer blocks them for too long, and stop when the store is closed', async () => {
    const path = newPath()
    await fillOlder(path, 3)
    const [store, closed] = [await openSqliteStore(path), await openSqliteStore(path)]
    const other = openDatabase(path)
    other.exec('BEGIN IMMEDIATE')
    expect(await closed.search({ query: 'common', limit: 9 })).toEqual([])
    await closed.close()
    await store.indexMissingChunks()
    expect(await store.readIndexState()).toEqual({ chunks: 3, indexed: 0 })
    other.exec('COMMIT')
    await store.indexMissingChunks()
    expect(await store.readIndexState()).toEqual({ chunks: 3, indexed: 3 })
    other.close()
    await store.close()
  })

  test('a crawl that another process has taken over writes nothing', async () => {
    const path = newPath()
    const [one, two] = [await openSqliteStore(path), await openSqliteStore(path)]
    await one.addSource(source('docs'))
    const begun = await one.beginCrawl(crawl('c1', 1000), 500)
    await one.offer('docs', 'c1', [find(1)], 1)
    await two.beginCrawl({ ...crawl('c2', 9000), runner: 'two' }, 500, begun.id)
    expect(await one.offer('docs', 'c1', [find(2)], 1)).toEqual(['known'])
    expect(await one.lease({ ...request(1), crawlId: 'c1' })).toEqual([])
    expect(await one.removeProven('docs', 'c1', true, 1)).toBe(0)
    expect(await two.offer('docs', 'c1', [find(2)], 1)).toEqual(['admitted'])
    expect(await two.lease({ ...request(1), crawlId: 'c1' })).toHaveLength(2)
    await Promise.all([one.close(), two.close()])
  })

  test('each connection sees the writes of the others', async () => {
    const path = newPath()
    const [one, two] = [await openSqliteStore(path), await openSqliteStore(path)]
    await one.addSource(source('docs'))
    await two.offer('docs', 'c1', [find(1)], 1)
    expect(await one.lease(request(1))).toHaveLength(1)
    expect(await two.lease(request(1))).toEqual([])
    await two.removeSource('docs')
    await expect(one.offer('docs', 'c1', [find(2)], 1)).rejects.toMatchObject({ code: 'SOURCE_UNKNOWN' })
    await Promise.all([one.close(), two.close()])
  })

  test('several processes can open a new library and write to it at once', async () => {
    const path = newPath()
    const writers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => runScript('sqlite-writer.ts', path, name)))
    expect(writers).toEqual(['', '', '', ''])
    const store = await openSqliteStore(path)
    expect(await store.listSources()).toHaveLength(1)
    const { states, total } = await store.countLedger('shared')
    // Every leased row was settled exactly once, by its holder.
    expect([total, states.skipped]).toEqual([800, 800])
    expect(await reserveSlot(store, 'shared.test', 0)).toBe(800)
    await store.close()
  })
})

function source(id: string): Source {
  return {
    id,
    name: id,
    version: null,
    url: 'https://docs.test/',
    siteUrl: 'https://docs.test/',
    scope: DEFAULT_SCOPE,
    settings: DEFAULT_SETTINGS,
    createdAt: 1,
  }
}

function crawl(id: string, startedAt: number): Crawl {
  return {
    id,
    sourceId: 'docs',
    kind: 'recrawl',
    state: 'running',
    options: { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} },
    runner: 'one',
    startedAt,
    heartbeatAt: startedAt,
    endedAt: null,
    summary: null,
  }
}

function find(number: number): FoundAddress {
  const url = `https://docs.test/${number}`
  return { key: url, url, host: 'docs.test', depth: 1, foundOn: null, discovery: 'link', refusal: null }
}

function request(now: number) {
  return { sourceId: 'docs', limit: 2, now, until: now + 1000, horizon: now + 1000, isBreadthFirst: false }
}

/** The tables and triggers of schema version 7; all others came later. */
const NAMES_7 = `sources crawl_ids crawls crawl_jobs ledger open_hosts ledger_counts pages links chunks url_aliases hosts robots lists
  vector_space vectors index_state index_segments index_blocks index_dead index_stale layouts embedding_lease queue_events
  crawl_problems crawl_milestones crawl_types host_counts pending_inserted pending_updated ledger_inserted ledger_updated
  chunk_deleted page_deleted host_inserted host_updated host_moved`

/** Reverts the changes of later schema versions. */
function revertSchema(db: Database, sql: string): void {
  const known = JSON.stringify(NAMES_7.split(/\s+/))
  // Dropping a virtual table drops its shadow tables too.
  const selectNext = db.prepare<[string], { type: string; name: string }>(
    `SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'table') AND name NOT LIKE 'sqlite_%'
       AND name NOT IN (SELECT value FROM json_each(?)) ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC`,
  )
  db.pragma('foreign_keys = OFF')
  for (let next = selectNext.get(known); next !== undefined; next = selectNext.get(known)) {
    db.exec(`DROP ${next.type} ${next.name}`)
  }
  db.exec(sql)
}

const SCHEMA_7 = `
  ALTER TABLE crawl_jobs DROP COLUMN code;
  ALTER TABLE crawl_jobs DROP COLUMN signal;
  ALTER TABLE sources DROP COLUMN refresh;
  ALTER TABLE crawls DROP COLUMN keeps_earlier;
  DROP INDEX ledger_ready;
  DROP INDEX ledger_by_weight;
  ALTER TABLE ledger DROP COLUMN weight;
  ALTER TABLE ledger DROP COLUMN is_shell;
  CREATE INDEX ledger_ready ON ledger (source, awaits_confirmation, host, depth, id)
    WHERE state = 'pending' AND due_at IS NULL;
  CREATE INDEX ledger_by_age ON ledger (source, awaits_confirmation, depth, id, host)
    WHERE state = 'pending' AND due_at IS NULL;
  CREATE TABLE old_aliases (
    source INTEGER NOT NULL REFERENCES sources (id),
    url TEXT NOT NULL,
    alias_url TEXT NOT NULL,
    classification TEXT NOT NULL,
    reason TEXT,
    "exists" INTEGER NOT NULL DEFAULT 1,
    checked_at INTEGER NOT NULL,
    metadata TEXT,
    PRIMARY KEY (source, url, alias_url)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO old_aliases SELECT source, url, alias_url, classification, reason, 1, checked_at, NULL FROM url_aliases;
  DROP TABLE url_aliases;
  ALTER TABLE old_aliases RENAME TO url_aliases;
  CREATE INDEX url_aliases_by_alias ON url_aliases (source, alias_url);
  DROP INDEX crawl_milestones_once;
  PRAGMA user_version = 7;
`

const SCHEMA_6 = `
  ${SCHEMA_7}
  DROP TABLE crawl_jobs;
  DROP TABLE queue_events;
  DROP TABLE crawl_problems;
  DROP TABLE crawl_milestones;
  DROP TABLE crawl_types;
  DROP TRIGGER host_inserted;
  DROP TRIGGER host_updated;
  DROP TRIGGER host_moved;
  DROP TABLE host_counts;
  DROP INDEX ledger_by_time;
  DROP INDEX ledger_by_host;
  DROP INDEX ledger_failed;
  ALTER TABLE ledger DROP COLUMN at;
  ALTER TABLE ledger DROP COLUMN words;
  ALTER TABLE crawls RENAME TO crawl_jobs;
  DROP INDEX crawls_by_source;
  CREATE INDEX crawl_jobs_by_source ON crawl_jobs (source, started_at);
  PRAGMA user_version = 6;
`

/** Reverts to version 3, which had a different index, made with FTS5. */
const SCHEMA_3 = `
  ${SCHEMA_6}
  DROP TRIGGER chunk_deleted;
  DROP TABLE vectors;
  DROP TABLE vector_space;
  DROP TABLE index_state;
  DROP TABLE index_segments;
  DROP TABLE index_blocks;
  DROP TABLE index_dead;
  DROP TABLE index_stale;
  DROP TRIGGER page_deleted;
  DROP TABLE layouts;
  DROP TABLE embedding_lease;
  CREATE VIRTUAL TABLE chunk_index USING fts5 (title, headings, body, content = '', contentless_delete = 1);
  INSERT INTO chunk_index (rowid, title, headings, body) VALUES (1, 't', '', 'unforgett word');
  CREATE TABLE chunk_index_state (last_chunk INTEGER NOT NULL) STRICT;
  INSERT INTO chunk_index_state VALUES (1);
  PRAGMA user_version = 3;
`

/** Creates a library of version 3, before the current kind of index existed, with one chunk per page. */
async function fillOlder(path: string, pages: number): Promise<void> {
  const store = await openSqliteStore(path)
  await store.addSource(source('docs'))
  for (let i = 0; i < pages; i++) await store.adopt(adoptionOf(i, `common w${i}x`))
  await store.close()
  const db = openDatabase(path)
  revertSchema(db, SCHEMA_3)
  db.close()
}

/** A page with one chunk, stored without a visit. */
function adoptionOf(number: number, text: string): Adoption {
  const record = createRecord(find(number).url, text, createHash('sha256').update(text).digest('hex'))
  return { sourceId: 'docs', crawlId: 'c1', now: 5, find: find(number), record, finds: [] }
}

/** A page with one chunk, whose hashes have this prefix. */
function createRecord(url: string, text: string, hash: string): PageRecord {
  const id = hash.padEnd(64, 'a')
  const chunk = {
    id,
    shortId: id.slice(0, 12),
    slug: 's',
    path: url,
    kind: 'markdown',
    chunkIndex: 0,
    startLine: 1,
    endLine: 1,
    content: text,
    contentHash: hash.padEnd(64, 'b'),
    tokenEstimate: 1,
    headingPath: [],
    symbol: null,
    address: null,
    assetPath: null,
  } as const
  const page = {
    url,
    title: 'T',
    description: null,
    author: null,
    publishedAt: null,
    modifiedAt: null,
    language: null,
    canonical: null,
    alternates: [],
    robots: { index: true, follow: true },
    generator: null,
    markdown: text,
    sections: [],
    links: [],
    wordCount: 2,
    contentHash: hash.padEnd(64, 'c'),
    hiddenChars: 0,
  }
  return { page, chunks: [chunk], links: [] }
}

/** Writes some data of every kind, closes the store, and returns what was visible. */
async function fill(store: Store) {
  await store.addSource(source('docs'))
  await store.offer('docs', 'c1', [1, 2, 3, 4].map(find), 1)
  await setPause(store, 'docs.test', 10, 0)
  const [first, second] = await store.lease(request(5))
  if (first === undefined || second === undefined) throw new Error('nothing was leased')
  const record = createRecord(first.url, 'unforgettable words', 'a')
  await store.settle({ visit: first, crawlId: 'c1', now: 6, state: 'indexed', record })
  await store.settle({ visit: second, crawlId: 'c1', now: 6, state: 'failed', reason: 'timeout' })
  await store.writeRobots({ origin: 'https://docs.test', fetchedAt: 1, type: 'rules', body: 'x', status: 200 })
  const seen = await readBack(store)
  await store.close()
  return seen
}

async function readBack(store: Store) {
  return {
    sources: await store.listSources(),
    rows: await store.listRows('docs', { limit: 10 }),
    ledger: await store.countLedger('docs'),
    open: await store.countOpen('docs', 7),
    page: await store.readPage('docs', find(1).key),
    // A copy, because the content of hits is read on first access.
    hits: structuredClone(await searchHits(store, { query: 'unforgettable', limit: 5 })),
    robots: await store.readRobots('https://docs.test'),
  }
}
