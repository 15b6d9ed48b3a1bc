import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { DEFAULT_SCOPE } from '../../core/url/scope.ts'
import type { Find } from '../../crawl/ledger.ts'
import type { Source } from '../../library/source.ts'
import type { Store } from '../../library/store.ts'
import { openDatabase } from './database.ts'
import { SCHEMA_VERSION } from './schema.ts'
import { openSqliteStore } from './store.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-sqlite-'))
let files = 0
const newPath = () => join(folder, `${files++}.db`)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('opening a library', () => {
  test('makes the file and its folders for their owner alone', async () => {
    const path = join(folder, 'some', 'where', 'library.db')
    const store = await openSqliteStore(path)
    expect(store.location).toBe(path)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'some')).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, 'some', 'where')).mode & 0o777).toBe(0o700)
    await store.close()
  })

  test('leaves one file behind when the last one closes it', async () => {
    const path = newPath()
    await fill(await openSqliteStore(path))
    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  test('sets a connection up for several processes', () => {
    const db = openDatabase(newPath())
    const pragma = (name: string) => db.pragma(name, { simple: true })
    expect([pragma('journal_mode'), pragma('synchronous'), pragma('foreign_keys'), pragma('busy_timeout')]).toEqual([
      'wal',
      1,
      1,
      10_000,
    ])
    expect(pragma('user_version')).toBe(SCHEMA_VERSION)
    db.close()
  })

  test('refuses one that a newer program wrote, and leaves it alone', async () => {
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

  test('refuses a file that is no database', async () => {
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

  test('finds everything again', async () => {
    const path = newPath()
    const first = await openSqliteStore(path)
    const before = await fill(first)
    const second = await openSqliteStore(path)
    expect(await look(second)).toEqual(before)
    await second.close()
  })
})

describe('the counts of the ledger', () => {
  test('are those of its rows', async () => {
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

describe('several connections', () => {
  test('see what the others wrote', async () => {
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

  test('of several processes open a new library and write to it at once', async () => {
    const path = newPath()
    const writers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => runWriter(path, name)))
    expect(writers).toEqual(['', '', '', ''])
    const store = await openSqliteStore(path)
    expect(await store.listSources()).toHaveLength(1)
    const { states, total } = await store.countLedger('shared')
    // Whatever was leased was settled once, by whoever had it.
    expect([total, states.skipped]).toEqual([800, 800])
    expect(await store.reserveSlot('shared.test', 0)).toBe(800)
    await store.close()
  }, 120_000)
})

/** Runs a process that writes to a library, and returns what it complained about. */
function runWriter(path: string, name: string): Promise<string> {
  const script = fileURLToPath(new URL('../../../test/contracts/sqlite-writer.ts', import.meta.url))
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, path, name], { stdio: ['ignore', 'ignore', 'pipe'] })
    let complaints = ''
    child.stderr.on('data', (data) => {
      complaints += String(data)
    })
    child.on('error', reject)
    child.on('exit', (code) => resolve(code === 0 ? complaints : `${complaints}\nexit ${code}`))
  })
}

function source(id: string): Source {
  return {
    id,
    name: id,
    version: null,
    url: 'https://docs.test/',
    siteUrl: 'https://docs.test/',
    scope: DEFAULT_SCOPE,
    settings: { seeds: [], llmsTxtUrl: null, llmsFull: 'auto', crawlType: 'docs' },
    createdAt: 1,
  }
}

function find(number: number): Find {
  const url = `https://docs.test/${number}`
  return { key: url, url, host: 'docs.test', depth: 1, foundOn: null, discovery: 'link', refusal: null }
}

function request(now: number) {
  return { sourceId: 'docs', limit: 2, now, until: now + 1000, horizon: now + 1000, isLevelled: false }
}

/** Writes something of everything, closes the store, and returns what there was to see. */
async function fill(store: Store) {
  await store.addSource(source('docs'))
  await store.offer('docs', 'c1', [1, 2, 3, 4].map(find), 1)
  await store.setInterval('docs.test', 10)
  const [first, second] = await store.lease(request(5))
  if (first === undefined || second === undefined) throw new Error('nothing was leased')
  const chunk = {
    id: 'a'.repeat(64),
    shortId: 'a'.repeat(12),
    slug: 's',
    path: first.url,
    kind: 'markdown',
    chunkIndex: 0,
    startLine: 1,
    endLine: 1,
    content: 'unforgettable words',
    contentHash: 'b'.repeat(64),
    tokenEstimate: 1,
    headingPath: [],
    symbol: null,
    address: null,
    assetPath: null,
  } as const
  const page = {
    url: first.url,
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
    markdown: 'unforgettable words',
    sections: [],
    links: [],
    wordCount: 2,
    contentHash: 'c'.repeat(64),
    hiddenChars: 0,
  }
  const record = { page, chunks: [chunk], links: [] }
  await store.settle({ visit: first, crawlId: 'c1', now: 6, state: 'indexed', record })
  await store.settle({ visit: second, crawlId: 'c1', now: 6, state: 'failed', reason: 'timeout' })
  await store.writeRobots({ origin: 'https://docs.test', fetchedAt: 1, type: 'rules', body: 'x', status: 200 })
  const seen = await look(store)
  await store.close()
  return seen
}

async function look(store: Store) {
  return {
    sources: await store.listSources(),
    rows: await store.listRows('docs', { limit: 10 }),
    ledger: await store.countLedger('docs'),
    open: await store.countOpen('docs', 7),
    page: await store.readPage('docs', find(1).key),
    hits: await store.search({ query: 'unforgettable', limit: 5 }),
    robots: await store.readRobots('https://docs.test'),
  }
}
