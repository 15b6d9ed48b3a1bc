import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/store/postgres/database/database.ts'
import { addressOf, createDatabase, execute } from './databases.ts'
import { foundAddressOf } from './ledgers.ts'
import { type PoolMode, startPgBouncer } from './pgbouncer.ts'
import { addSource, crawlOf, LIVENESS_TIMEOUT_MS, lease, NOW, openStore, settle } from './stores.ts'

/** A new database behind PgBouncer. */
async function open(mode: PoolMode) {
  const name = await createDatabase()
  return { name, address: await startPgBouncer(name, mode) }
}

/** Lets two processes crawl a source together, and a third read the result. */
async function crawlTogether(address: string): Promise<void> {
  const stores = [await openStore(address, 'one'), await openStore(address, 'two')] as const
  const [one, two] = stores
  await addSource(one, 'docs')
  await one.beginCrawl(crawlOf('docs'), LIVENESS_TIMEOUT_MS)
  const finds = Array.from({ length: 20 }, (_, at) => foundAddressOf(`/${at}`, { host: `${at % 4}.test` }))
  await Promise.all(stores.map((store) => store.offer('docs', 'crawl of docs', finds, NOW)))
  const visits = await Promise.all(stores.map((store) => lease(store, 'docs', NOW, { limit: 10 })))
  await Promise.all(visits.flatMap((some, at) => some.map((visit) => settle(at === 0 ? one : two, visit))))
  const settled = visits.flat().length
  const reader = await openStore(address, 'three')
  expect((await reader.countLedger('docs')).states).toMatchObject({ indexed: settled, pending: 20 - settled })
  expect(settled).toBeGreaterThanOrEqual(10)
}

describe('a library behind PgBouncer', () => {
  test('works if a connection keeps its session', async () => {
    await crawlTogether((await open('session')).address)
  })

  test('is refused if a connection changes its session, and nothing is written', async () => {
    const { name, address } = await open('transaction')
    for (let i = 0; i < 2; i++) {
      await expect(openDatabase(address)).rejects.toMatchObject({
        code: 'LIBRARY_UNUSABLE',
        message: expect.stringContaining('ALTER ROLE … SET search_path TO "pharos"'),
      })
    }
    const db = await openDatabase(`${addressOf(name)}&schema=other`)
    const tables = await db.all(
      `SELECT DISTINCT schemaname AS schema FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    )
    await db.close()
    expect(tables).toEqual([{ schema: 'other' }])
  })

  test('works with changing sessions if every session has the schema by default', async () => {
    const { name, address } = await open('transaction')
    await execute(`ALTER DATABASE ${name} SET search_path TO pharos`)
    await crawlTogether(address)
  })
})
