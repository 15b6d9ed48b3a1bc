import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/store/postgres/database/database.ts'
import { closeLater } from '../close-later.ts'
import { addressOf, createDatabase, execute } from './databases.ts'
import { foundAddressOf } from './ledgers.ts'
import { type PoolMode, startPgBouncer } from './pgbouncer.ts'
import { addSource, crawlOf, LIVENESS_TIMEOUT_MS, lease, NOW, openStore, settle } from './stores.ts'

/** A new database behind PgBouncer. */
async function open(mode: PoolMode) {
  const name = await createDatabase()
  return { name, address: await startPgBouncer(name, mode) }
}

/** How often a library is opened to see whether its pooler is recognised each time. */
const OPENINGS = 100

/** Sends short transactions with short pauses until the signal. */
async function keepBusy(address: string, signal: AbortSignal): Promise<{ readonly ended: Promise<void> }> {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  const send = async () => {
    while (!signal.aborted) {
      await client.query('BEGIN; SELECT pg_sleep(random() * 0.004); COMMIT')
      await sleep(3 * Math.random())
    }
    await client.end()
  }
  return { ended: send() }
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

  test('is recognised while other clients use the same connections', async () => {
    const { address } = await open('transaction')
    const noise = new AbortController()
    const clients = await Promise.all(Array.from({ length: 2 }, () => keepBusy(address, noise.signal)))
    closeLater(async () => {
      noise.abort()
      await Promise.all(clients.map(({ ended }) => ended))
    })
    for (let i = 0; i < OPENINGS; i++) {
      await expect(openDatabase(address), `opening ${i}`).rejects.toMatchObject({ code: 'LIBRARY_UNUSABLE' })
    }
  })

  test('works with changing sessions if every session has the schema by default', async () => {
    const { name, address } = await open('transaction')
    await execute(`ALTER DATABASE ${name} SET search_path TO pharos`)
    await crawlTogether(address)
  })
})
