import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Chunk } from '../../src/core/model.ts'
import type { PageRecord } from '../../src/crawl/settlement.ts'
import type { ChunkFilter, Store, StoreQuery } from '../../src/library/ports/store.ts'
import { searchHits } from '../../src/library/search/hits.ts'
import { type Database, openDatabase } from '../../src/store/postgres/database/database.ts'
import { lock } from '../../src/store/postgres/database/locks.ts'
import { createAdvanceIndex } from '../../src/store/postgres/index/advance-index.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { addSourceTo, recordOf, writePage } from '../embed/filled-store.ts'
import { isLong } from '../faults/bounded.ts'
import { createRandom } from '../seeded.ts'
import { createLibrary } from './databases.ts'

const random = createRandom(11)
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
const ENDINGS = ['', 's', 'ing', 'ed', 'er', 'tion']
/** Stems that share beginnings, some in scripts without spaces. */
const STEMS = Array.from({ length: 600 }, (_, i) =>
  i % 40 === 0
    ? `東京${String.fromCodePoint(0x4e00 + i)}`
    : `${pick(['con', 'pre', 'data', 'net', 'loc'])}${pick(['nect', 'tect', 'base', 'work', 'al'])}${(i % 97).toString(36)}`,
)
/** A word by the law of Zipf: a few words are frequent, most are rare. */
const word = (): string => `${STEMS[Math.floor(STEMS.length ** random()) - 1] ?? ''}${pick(ENDINGS)}`
const sentence = (length: number): string => Array.from({ length }, () => (random() < 0.1 ? 'the' : word())).join(' ')

const SOURCES = ['docs', 'more', 'lost'] as const
const LANGUAGES = ['en', 'de', 'de-AT']
const CHUNKS = 20

interface WrittenPage {
  readonly sourceId: string
  readonly url: string
  readonly record: PageRecord
}

/** A page with chunks of every kind. */
function createPage(sourceId: string, path: string): WrittenPage {
  const url = `https://${sourceId}.test${path}`
  const parts = Array.from({ length: CHUNKS }, (_, i) => {
    const text = sentence(10 + Math.floor(random() * 40))
    if (i % 5 === 1) return `\`\`\`js\n${text}\n${word()}()\n\`\`\``
    return i % 5 === 2 ? `\`${word()}.${word()}(x)\`\n\n[${text}](https://docs.test/)` : text
  })
  const base = recordOf(url, parts.join('\n---\n'), { title: sentence(3), language: pick(LANGUAGES) })
  const chunks = base.chunks.map((chunk, i): Chunk => {
    const headingPath = [sentence(2), pick(['Install', 'On Linux', word()])]
    return i % 7 === 3
      ? { ...chunk, headingPath, kind: 'python', symbol: `${word()}.${word()}` }
      : { ...chunk, headingPath }
  })
  return { sourceId, url, record: { ...base, chunks } }
}

function findOf(url: string) {
  const { host } = new URL(url)
  return { key: url, url, host, depth: 1, foundOn: null, discovery: 'link', refusal: null } as const
}

async function adopt(store: Store, { sourceId, url, record }: WrittenPage, crawlId: string): Promise<void> {
  await store.adopt({ sourceId, crawlId, now: 3, find: findOf(url), record, finds: [] })
}

/** Visits a page again, in another crawl. */
async function revisit(
  store: Store,
  { sourceId, url }: WrittenPage,
  crawlId: string,
  settled: Pick<Parameters<Store['settle']>[0], 'state'> & Partial<Parameters<Store['settle']>[0]>,
): Promise<void> {
  await store.offer(sourceId, crawlId, [findOf(url)], 10)
  const request = { sourceId, limit: 1, now: 20, until: 1000, horizon: 1_000_000, isBreadthFirst: false }
  const [visit] = await store.lease(request)
  if (visit?.key !== url) throw new Error(`${url} was not leased`)
  await store.settle({ visit, crawlId, now: 30, ...settled })
}

const PAGES = Array.from({ length: isLong ? 100 : 45 }, (_, i) =>
  createPage(SOURCES[i % 3] ?? 'docs', `/${pick(['guide', 'api'])}/${i}`),
)
const CHANGED = PAGES.filter((_, i) => i % 9 === 0).map(({ sourceId, url }) =>
  createPage(sourceId, new URL(url).pathname),
)

function rename({ record }: WrittenPage, title: string): PageRecord {
  return { ...record, page: { ...record.page, title } }
}

async function fill(store: Store): Promise<void> {
  for (const id of SOURCES) await addSourceTo(store, id)
  for (const page of PAGES) await adopt(store, page, 'first')
}

/** Changes, renames and removes some pages. */
async function change(store: Store): Promise<void> {
  for (const page of CHANGED) await adopt(store, page, 'second')
  const kept = PAGES.filter(({ sourceId }, i) => i % 9 !== 0 && sourceId === 'docs')
  for (const page of kept.slice(0, 5)) {
    await revisit(store, page, 'third', { state: 'unchanged', record: rename(page, 'a passing title') })
    const record = rename(page, `connected ${new URL(page.url).pathname}`)
    await revisit(store, page, 'fourth', { state: 'unchanged', record })
  }
  for (const page of kept.slice(5, 10)) {
    await revisit(store, page, 'fourth', { state: 'failed', reason: 'not-found', isProvenGone: true })
  }
  await store.removeProven('docs', 'fourth', false, 40)
  await store.removeSource('lost')
}

const FILTERS: readonly ChunkFilter[] = [
  {},
  { path: '/guide' },
  { path: '/api/*7' },
  { language: 'de' },
  { heading: 'on-linux' },
  { symbol: 'con' },
  { contentType: 'code' },
  { kind: 'python' },
  { sourceIds: ['more', 'nobody'] },
  { sourceIds: ['docs'], path: '/guide', heading: 'install', language: 'en' },
]

const QUERIES: readonly StoreQuery[] = Array.from({ length: isLong ? 100 : 40 }, (_, i) => ({
  query: i % 20 === 19 ? '東 the' : Array.from({ length: 1 + (i % 4) }, word).join(' '),
  limit: i % 3 === 0 ? 5 : 300,
  explain: i % 2 === 0,
  filter: FILTERS[i % FILTERS.length] ?? {},
}))

/** All fields of the hits of a query, except for row numbers, which differ between stores. */
async function find(store: Store, query: StoreQuery): Promise<unknown[]> {
  return (await searchHits(store, query)).map(({ number: _, page: __, chunk, ...hit }) => ({ ...hit, id: chunk.id }))
}

async function expectSame(stores: readonly Store[]): Promise<void> {
  let found = 0
  for (const query of QUERIES) {
    const [wanted = [], ...others] = await Promise.all(stores.map((store) => find(store, query)))
    for (const hits of others) expect(hits, JSON.stringify(query)).toEqual(wanted)
    found += wanted.length
  }
  expect(found).toBeGreaterThan(500)
  const [counts, ...others] = await Promise.all(stores.map((store) => store.countContentTypes()))
  for (const other of others) expect(other).toEqual(counts)
}

describe('a search in PostgreSQL', () => {
  let sqlite: Store
  let first: Store
  let second: Store

  beforeAll(async () => {
    const address = await createLibrary()
    ;[sqlite, first, second] = [
      await openSqliteStore(':memory:'),
      await openPostgresStore(address),
      await openPostgresStore(address),
    ]
    await Promise.all([fill(sqlite), fill(first)])
  })
  afterAll(() => Promise.all([sqlite, first, second].map((store) => store.close())))

  test('finds exactly the same as in SQLite, also from other processes', async () => {
    await Promise.all([sqlite, first, second].map((store) => store.indexMissingChunks()))
    const chunks = PAGES.length * CHUNKS
    expect(await second.readIndexState()).toEqual({ chunks, indexed: chunks })
    await expectSame([sqlite, first, second])
  })

  test('still finds the same after pages are changed, renamed and removed', async () => {
    await Promise.all([change(sqlite), change(first)])
    const progress = await sqlite.readIndexState()
    await expectSame([sqlite, second, first])
    await Promise.all([first.indexMissingChunks(), second.indexMissingChunks(), sqlite.indexMissingChunks()])
    expect(await second.readIndexState()).toEqual({ chunks: progress.chunks, indexed: progress.chunks })
    await expectSame([sqlite, second])
  })
})

describe('the index in PostgreSQL', () => {
  const open = async () => {
    const address = await createLibrary()
    const [store, db] = [await openPostgresStore(address), await openDatabase(address)]
    await addSourceTo(store, 'docs')
    const close = () => Promise.all([store.close(), db.close()])
    return { address, store, db, close }
  }
  const titles = async (store: Store, query: string) =>
    (await searchHits(store, { query, limit: 100 })).map(({ title }) => title)

  test('merges segments in several steps while pages come in', async () => {
    const { store, db, close } = await open()
    const advanceIndex = createAdvanceIndex(db)
    const pages = Array.from({ length: 12 }, (_, i) => {
      // Words that no other page has make the segments so large that they are not merged in one step.
      const own = Array.from({ length: 60 }, (_, k) =>
        Array.from({ length: 60 }, (__, j) => `w${i}x${k}y${j}`).join(' '),
      )
      return own.join('\n---\n')
    })
    let mergeSteps = 0
    for (const [i, text] of pages.entries()) {
      await writePage(store, 'docs', `/p${i}`, text)
      await advanceIndex({ chunks: 1024, blocks: 8 })
      const { n } = (await db.get<{ n: number }>('SELECT count(*) AS n FROM index_segments WHERE count = 0')) ?? {
        n: 0,
      }
      mergeSteps += n
    }
    await store.indexMissingChunks()
    expect(mergeSteps).toBeGreaterThan(0)
    for (const i of pages.keys()) expect(await titles(store, `w${i}x1y1`)).toHaveLength(1)
    expect(await db.get('SELECT sum(count) AS n FROM index_segments')).toEqual({ n: 720 })

    // A merge whose state is unreadable begins anew.
    await db.run(`INSERT INTO index_segments (count, first, last, documents, directory) VALUES (0, 0, 0, '\\x08', '')`)
    await writePage(store, 'docs', '/last', 'one lighthouse')
    expect(await titles(store, 'lighthouse')).toHaveLength(1)
    await store.indexMissingChunks()
    expect(await db.get('SELECT count(*) AS n FROM index_segments WHERE count = 0')).toEqual({ n: 0 })
    await close()
  })

  test('is changed by one process at a time, even if another one finished a step just before', async () => {
    const { store, db, close } = await open()
    const texts = Array.from({ length: 60 }, (_, k) => Array.from({ length: 60 }, (__, j) => `x${k}y${j}`).join(' '))
    for (const i of [1, 2]) {
      await writePage(store, 'docs', `/p${i}`, texts.join(`\n---\np${i} `))
      await titles(store, 'x0y0')
    }
    const step = { chunks: 1, blocks: 1 }
    const advanceIndex = createAdvanceIndex(db)
    let rounds = 0
    /** Another process does the same step after this transaction has seen the data, and before it has the lock. */
    const outrun: Database = {
      ...db,
      transaction: (work, level) =>
        db.transaction(async (sql) => {
          await sql.get('SELECT 1 AS one')
          if (rounds++ % 2 === 0) await advanceIndex(step)
          return work(sql)
        }, level),
    }
    const advanceOutrun = createAdvanceIndex(outrun)
    while ((await advanceOutrun(step)) === 'done' && rounds < 500);
    expect(rounds).toBeGreaterThan(4)
    expect(await titles(store, 'x59y59')).toHaveLength(2)
    expect(await db.get('SELECT count(*) AS n FROM index_segments')).toEqual({ n: 1 })
    await close()
  })

  test('is rebuilt by a program with newer indexing rules, and left alone by an older program', async () => {
    const { store, db, close } = await open()
    await writePage(store, 'docs', '/a', 'one lighthouse\n---\ntwo lighthouses')
    expect(await titles(store, 'lighthouse')).toHaveLength(2)
    await db.run(`UPDATE index_state SET format = '1 old', generation = generation + 1`)
    expect(await store.readIndexState()).toEqual({ chunks: 2, indexed: 0 })
    expect(await titles(store, 'lighthouse')).toHaveLength(2)
    expect(await db.get('SELECT count(*) AS n FROM index_segments')).toEqual({ n: 1 })
    await db.run(`UPDATE index_state SET format = '999 new', generation = generation + 1`)
    await writePage(store, 'docs', '/b', 'three lighthouses')
    expect(await titles(store, 'lighthouse')).toEqual([])
    expect(await store.readIndexState()).toEqual({ chunks: 3, indexed: 0 })
    expect(await db.get('SELECT count(*) AS n FROM index_stale')).toEqual({ n: 1 })
    await close()
  })

  test('holds a chunk once, however often it is marked as stale', async () => {
    const { store, db, close } = await open()
    await writePage(store, 'docs', '/a', 'one lighthouse\n---\ntwo')
    await db.run('INSERT INTO index_stale (first, last) SELECT first, last FROM index_stale')
    await db.run('INSERT INTO index_stale (first, last) VALUES (1, 1000)')
    expect(await titles(store, 'lighthouse')).toHaveLength(1)
    expect(await store.readIndexState()).toEqual({ chunks: 2, indexed: 2 })
    expect(await db.get('SELECT sum(count)::integer AS n FROM index_segments')).toEqual({ n: 2 })
    await close()
  })

  test('is maintained by one process at a time, and never finds removed chunks, whichever process maintains it', async () => {
    const { store, db, close } = await open()
    for (let i = 0; i < 5; i++) await writePage(store, 'docs', `/${i}`, `lighthouse number${i}`)
    await store.indexMissingChunks()
    // Two words, because a score is relative: the rarity of one word shows only beside another word.
    const query = 'lighthouse number0'
    const [before] = await searchHits(store, { query, limit: 1 })
    await db.transaction(async (sql) => {
      await lock(sql, 'index')
      for (let i = 1; i < 5; i++) await writePage(store, 'docs', `/${i}`, `harbour number${i}`)
      expect(await titles(store, 'lighthouse')).toEqual(['Title of /0'])
      // Another connection holds the lock, so the new chunks cannot be indexed yet.
      expect(await titles(store, 'harbour')).toEqual([])
    })
    expect(await titles(store, 'harbour')).toHaveLength(4)
    const [after] = await searchHits(store, { query, limit: 1 })
    expect(after?.score).not.toBeCloseTo(before?.score ?? 0, 6)
    await close()
  })

  test('merges large segments in several transactions, and has few at rest', async () => {
    const { store, db, close } = await open()
    const write = (page: number, part: number): string =>
      Array.from({ length: 40 }, (_, word) => `w${page}x${part}x${word}`).join(' ')
    for (let page = 0; page < 20; page++) {
      const text = Array.from({ length: 130 }, (_, part) => `common ${write(page, part)}`).join('\n---\n')
      await writePage(store, 'docs', `/${page}`, text)
    }
    await store.indexMissingChunks()
    const segments = await db.all<{ count: number; blocks: number; last: number }>(
      `SELECT count, (SELECT count(*) FROM index_blocks WHERE segment = s.id) AS blocks,
         (SELECT max(block) FROM index_blocks WHERE segment = s.id) AS last FROM index_segments s ORDER BY count DESC`,
    )
    // Pages were written while others were indexed, so there may be several segments, each much larger than all smaller ones together.
    const counts = segments.map(({ count }) => count).reverse()
    for (const [i, count] of counts.entries()) {
      const smaller = counts.slice(0, i).reduce((sum, one) => sum + one, 0)
      expect(count, counts.join(' ')).toBeGreaterThan(2 * smaller)
    }
    expect(segments.reduce((sum, { count }) => sum + count, 0)).toBe(2600)
    // One step of maintenance merges 64 blocks.
    expect(segments[0]?.blocks).toBeGreaterThan(128)
    for (const { blocks, last } of segments) expect(last).toBe(blocks - 1)
    for (const [page, part] of [[0, 0] as const, [7, 64] as const, [19, 129] as const]) {
      expect(await titles(store, `w${page}x${part}x39`)).toEqual([`Title of /${page}`])
    }
    expect(await titles(store, 'common')).toHaveLength(100)
    await close()
  })

  test('gives chunks of a page consecutive numbers under concurrent writes', async () => {
    const { store, db, close } = await open()
    await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        await addSourceTo(store, `s${i}`)
        for (let page = 0; page < 4; page++) {
          const text = Array.from({ length: 40 }, (_part, part) => `part ${part}`).join('\n---\n')
          await writePage(store, `s${i}`, `/${page}`, text)
        }
      }),
    )
    const [found] = await db.all<{ pages: number }>(
      `SELECT count(*) AS pages FROM pages p
       WHERE 40 = (SELECT count(*) FROM chunks c WHERE c.page = p.id AND c.id BETWEEN p.first_chunk AND p.first_chunk + 39)`,
    )
    expect(found).toEqual({ pages: 32 })
    await close()
  })

  test('does not prevent storing a page with characters that PostgreSQL cannot store', async () => {
    const { store, close } = await open()
    await writePage(store, 'docs', '/a', 'one\0 lighthouse', { title: 'T\0', headingPath: ['H\0'] })
    const page = await store.readPage('docs', 'https://docs.test/a')
    expect(page?.page).toMatchObject({ title: 'T\ufffd', markdown: 'one\ufffd lighthouse' })
    const hash = createHash('sha256').update('T\0\none\0 lighthouse').digest('hex')
    expect(page?.page.contentHash).toBe(hash)
    expect(await titles(store, 'lighthouse')).toEqual(['T\ufffd'])
    expect(await store.findPages('docs', '\0')).toEqual([])
    await close()
  })
})
