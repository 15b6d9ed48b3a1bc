import { describe, expect, test } from 'vitest'
import type { LibraryStore } from '../../src/library/library-store.ts'
import { createMemoryStore } from '../../src/store/memory/memory-store.ts'
import { createAddresses } from '../../src/store/sqlite/addresses.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { describeAddresses } from './addresses.contract.ts'
import { recordPlans } from './query-plans.ts'

const STORES: Readonly<Record<string, () => Promise<LibraryStore>>> = {
  'the SQLite store': () => openSqliteStore(':memory:'),
  'the memory store': async () => createMemoryStore(),
}

describe.each(Object.entries(STORES))('the addresses in %s', (_name, open) => {
  describeAddresses(open)
})

test('the addresses in SQLite are read by indexes, in their order', async () => {
  const db = openDatabase(':memory:')
  db.exec(FILL)
  const plans = recordPlans(db)
  const addresses = createAddresses(db)
  for (const order of ['newest', 'oldest'] as const) {
    for (const place of [{}, { cursor: { at: 2000, url: 'https://b' } }, { from: 10, to: 3000 }]) {
      for (const filter of [
        {},
        { host: 'h1.test' },
        { state: 'failed' },
        { status: 404 },
        { sourceId: 's' },
      ] as const) {
        expect(await addresses.list({ limit: 3, order, ...place, ...filter })).toHaveLength(3)
        expect(await addresses.count({ ...place, ...filter }, 2)).toBe(2)
      }
    }
  }
  await addresses.find('https://h1.test/1')
  await addresses.groupErrors(10)
  expect(await addresses.describeHost('h1.test')).toMatchObject({ addresses: 2000 })
  expect(plans.listWalks()).toEqual([])
  db.close()
})

const FILL = `
  INSERT INTO sources (uuid, name, url, site_url, scope, settings, created_at) VALUES ('s', 's', 'u', 'u', '{}', '{}', 1);
  WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 3999)
  INSERT INTO ledger (source, state, status, depth, key, url, host, discovery, first_seen_at)
    SELECT 1, iif(i % 9, 'pending', 'failed'), iif(i % 9, NULL, 404), 1, 'https://h' || (i % 2) || '.test/' || i,
      'https://h' || (i % 2) || '.test/' || i, 'h' || (i % 2) || '.test', 'link', i FROM n;
`
