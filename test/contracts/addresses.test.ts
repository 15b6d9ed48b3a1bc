import { describe, expect, test } from 'vitest'
import type { LibraryStore } from '../../src/library/ports/library-store.ts'
import { type Database, openDatabase } from '../../src/store/sqlite/database/database.ts'
import { createAddresses } from '../../src/store/sqlite/ledger/addresses.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { createMemoryStore } from '../memory-store/memory-store.ts'
import { describeAddresses } from './addresses.contract.ts'
import { recordPlans } from './query-plans.ts'

const STORES: Readonly<Record<string, () => Promise<LibraryStore>>> = {
  'the SQLite store': () => openSqliteStore(':memory:'),
  'the memory store': async () => createMemoryStore(),
}

describe.each(Object.entries(STORES))('the addresses in %s', (_name, open) => {
  describeAddresses(open)
})

test('the addresses in SQLite are read through indexes, without scanning or sorting rows', async () => {
  const db = openDatabase(':memory:')
  db.exec(FILL)
  const plans = recordPlans(db)
  const addresses = createAddresses(db)
  for (const order of ['newest', 'oldest'] as const) {
    for (const range of [{}, { cursor: { at: 2000, url: 'https://b' } }, { from: 10, to: 3000 }]) {
      for (const filter of [
        {},
        { host: 'h1.test' },
        { state: 'failed' },
        { status: 404 },
        { sourceId: 's' },
        { host: 'test', includeSubdomains: true },
        { classification: 'nav' },
        { minConfidence: 0.5 },
      ] as const) {
        expect(await addresses.list({ limit: 3, order, ...range, ...filter })).toHaveLength(3)
        expect(await addresses.count({ ...range, ...filter }, 2)).toBe(2)
      }
    }
  }
  await addresses.find('https://h1.test/1')
  await addresses.groupErrors(10)
  expect(await addresses.describeHost('h1.test')).toMatchObject({ addresses: 2000 })
  expect(plans.listFullScans()).toEqual([])
  db.close()
})

test('the addresses of many hosts in SQLite are listed with few queries', async () => {
  const db = openDatabase(':memory:')
  db.exec(FILL.replaceAll('i % 2', 'i % 500'))
  const readQueryCount = recordQueryCount(db)
  const addresses = createAddresses(db)
  const withSubdomains = { host: 'test', includeSubdomains: true } as const
  expect(await addresses.list({ ...withSubdomains, limit: 100 })).toHaveLength(100)
  expect(await addresses.list({ ...withSubdomains, state: 'failed', limit: 100 })).toHaveLength(100)
  expect(await addresses.count(withSubdomains, 10_000)).toBe(4000)
  expect(await addresses.listHosts(400)).toHaveLength(400)
  expect(readQueryCount()).toBeLessThan(40)
  db.close()
})

test('the host counters in SQLite equal the rows of the ledger', async () => {
  const db = openDatabase(':memory:')
  db.exec(FILL)
  db.exec(`
    UPDATE ledger SET state = 'leased' WHERE id % 7 = 0 AND state = 'pending';
    UPDATE ledger SET state = 'indexed', page_hash = 'x', checked_at = 9000 WHERE id % 14 = 0 AND state = 'leased';
    UPDATE ledger SET state = 'gone', page_hash = NULL WHERE id % 28 = 0 AND state = 'indexed';
    UPDATE ledger SET host = 'elsewhere.test' WHERE id % 5 = 0;
  `)
  const states = ['pending', 'leased', 'indexed', 'unchanged', 'skipped', 'failed', 'gone']
  const expected = db
    .prepare<[], Record<string, number>>(
      `SELECT host, count(*) AS addresses, sum(page_hash IS NOT NULL) AS pages, max(checked_at) AS lastAt,
         ${states.map((state) => `sum(state = '${state}') AS ${state}`).join(', ')} FROM ledger GROUP BY host ORDER BY host`,
    )
    .all()
  const counted = (await createAddresses(db).listHosts(9)).map(({ failed: _, states: counts, ...host }) => ({
    ...host,
    ...counts,
  }))
  expect(counted.toSorted((a, b) => (a.host < b.host ? -1 : 1))).toEqual(expected)
  db.close()
})

test('a lease does not write the host counters in SQLite, and a settlement writes them once', () => {
  const countWrites = (set: string, hasTrigger: boolean): number => {
    const db = openDatabase(':memory:')
    db.exec(FILL)
    if (!hasTrigger) db.exec('DROP TRIGGER host_updated')
    const total = db.prepare<[], number>('SELECT total_changes()').pluck()
    const before = total.get() ?? 0
    db.exec(`UPDATE ledger SET ${set} WHERE id = 2`)
    const writes = (total.get() ?? 0) - before
    db.close()
    return writes
  }
  const writesOf = (set: string) => countWrites(set, true) - countWrites(set, false)
  expect(writesOf("state = 'leased'")).toBe(0)
  expect(writesOf("state = 'indexed', page_hash = 'x', checked_at = 9000")).toBe(1)
})

/** Counts the queries of statements that are prepared from now on. Returns a function that reads the count. */
function recordQueryCount(db: Database): () => number {
  let queryCount = 0
  const prepare = db.prepare.bind(db)
  // The method can be replaced, because no other code uses this connection.
  Object.assign(db, {
    prepare: (sql: string) => {
      const statement = prepare(sql)
      const { all, get } = statement
      return Object.assign(statement, {
        all: (...values: unknown[]) => {
          queryCount++
          return all.apply(statement, values)
        },
        get: (...values: unknown[]) => {
          queryCount++
          return get.apply(statement, values)
        },
      })
    },
  })
  return () => queryCount
}

const FILL = `
  INSERT INTO sources (uuid, name, url, site_url, scope, settings, created_at) VALUES ('s', 's', 'u', 'u', '{}', '{}', 1);
  WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 3999)
  INSERT INTO ledger (source, state, status, depth, key, url, host, discovery, first_seen_at)
    SELECT 1, iif(i % 9, 'pending', 'failed'), iif(i % 9, NULL, 404), 1, 'https://h' || (i % 2) || '.test/' || i,
      'https://h' || (i % 2) || '.test/' || i, 'h' || (i % 2) || '.test', 'link', i FROM n;
  UPDATE ledger SET page_hash = 'x' WHERE id % 4 = 0;
  INSERT INTO page_analyses (page, source, kind, confidence, classification)
    SELECT id, source, 'nav', 0.9, '{}' FROM ledger WHERE page_hash IS NOT NULL;
`
