import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import { openQueue } from '../../src/processes/open-queue.ts'
import { parseConnectionAddress } from '../../src/store/postgres/database/connection-address.ts'
import { type DatabaseOptions, openDatabase } from '../../src/store/postgres/database/database.ts'
import { lockSource } from '../../src/store/postgres/database/lock-source.ts'
import { LOCKS, lock } from '../../src/store/postgres/database/locks.ts'
import { closeLater } from '../close-later.ts'
import { expectMigratedKeys, OLDER_CONTENT, writeOlderRows } from '../contracts/older-keys.ts'
import { OLDER_LAYOUT } from '../contracts/older-layout.ts'
import { addressOf, createDatabase, createLibrary, execute } from './databases.ts'
import { foundAddressOf, recordOf } from './ledgers.ts'
import { openLossyProxy } from './lossy-proxy.ts'
import { addSource, crawlOf, LIVENESS_TIMEOUT_MS, NOW, openStore } from './stores.ts'

async function open(address: string, options: DatabaseOptions = {}) {
  const db = await openDatabase(address, options)
  closeLater(() => db.close())
  return db
}

/** Creates a role that may only log in, and returns the address of the database for that role. */
async function createRole(database: string, role: string): Promise<string> {
  await execute(`DROP ROLE IF EXISTS ${role}`)
  await execute(`CREATE ROLE ${role} LOGIN`)
  return addressOf(database).replace('pharos@', `${role}@`)
}

test('a new library has its tables', async () => {
  const db = await open(await createLibrary())
  expect(await db.get('SELECT count(*) AS n FROM sources')).toEqual({ n: 0 })
})

test('the clock offset of a server on this machine is 0', async () => {
  const db = await open(await createLibrary())
  await Promise.all(Array.from({ length: 8 }, () => db.get('SELECT pg_sleep(0.02)')))
  await db.transaction((sql) => sql.get('SELECT pg_sleep(0.02)'))
  expect(db.clockOffset()).toBe(0)
})

test('an open library notices that the local clock was changed', async () => {
  const db = await open(await createLibrary())
  const { now } = Date
  vi.spyOn(Date, 'now').mockImplementation(() => now() + 60_000)
  closeLater(() => vi.restoreAllMocks())
  await db.transaction((sql) => sql.get('SELECT 1 AS one'))
  expect(Math.round(db.clockOffset() / 1000)).toBe(-60)
})

test('ten processes that open a missing library create it once', async () => {
  const address = addressOf(await createDatabase())
  const script = `const { openDatabase } = await import(process.argv[1]); await (await openDatabase(process.argv[2])).close()`
  const module = import.meta.resolve('../../src/store/postgres/database/database.ts')
  const start = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, module, address])
  await Promise.all(Array.from({ length: 10 }, start))
  const db = await open(address)
  expect(await db.all('SELECT version FROM schema_version')).toHaveLength(1)
})

test('the migration gives each row of an older library the key of its address', async () => {
  const address = await createLibrary()
  const write = (key: string) => recordOf(key, 'some words')
  await writeOlderRows(await openStore(address, 'one'), write)
  const db = await open(address)
  for (const statement of OLDER_CONTENT) await db.run(statement)
  // Reverts what later versions changed.
  for (const statement of OLDER_LAYOUT) await db.run(statement)
  await db.run('ALTER TABLE crawl_helpers DROP COLUMN proven_gone')
  await db.run('ALTER TABLE sources DROP COLUMN refresh')
  await db.run('DROP TABLE earlier_pages')
  await db.run('ALTER TABLE crawls DROP COLUMN keeps_earlier')
  await db.run('UPDATE schema_version SET version = 2')
  await expectMigratedKeys(await openStore(address, 'two'), write('https://docs.test/page').chunks[0]?.id ?? '')
})

describe('a connection that passes no data any more', () => {
  test('is given up, and the query is repeated on another one', async () => {
    const proxy = await openLossyProxy(await createLibrary())
    const db = await open(proxy.address, { probeDelayMs: 100 })
    const store = await openStore(proxy.address, 'one', { probeDelayMs: 100 })
    proxy.dropAllData()
    expect(await db.get('SELECT 1 AS one')).toEqual({ one: 1 })
    await addSource(store, 'docs')
    expect(await store.listSources()).toHaveLength(1)
  })

  test('is not confused with one whose server is still working', async () => {
    const db = await open(await createLibrary(), { probeDelayMs: 50 })
    let runs = 0
    await db.transaction(async (sql) => {
      runs++
      await sql.get('SELECT pg_sleep(0.5)')
    })
    expect(runs).toBe(1)
  })
})

describe('a transaction', () => {
  test('sees the writes of others, whatever the default isolation level of the database', async () => {
    const name = await createDatabase()
    await execute(`ALTER DATABASE ${name} SET default_transaction_isolation TO 'repeatable read'`)
    const stores = [await openStore(addressOf(name), 'one'), await openStore(addressOf(name), 'two')]
    const [one] = stores
    if (one === undefined) throw new Error('no library was opened')
    await addSource(one, 'docs')
    await one.beginCrawl(crawlOf('docs'), LIVENESS_TIMEOUT_MS)
    const finds = Array.from({ length: 40 }, (_, at) => foundAddressOf(`/${at}`))
    await Promise.all([...stores, ...stores].map((store) => store.offer('docs', 'crawl of docs', finds, NOW)))
    expect((await one.countLedger('docs')).states.pending).toBe(40)
  })

  test('is repeated each time the server ends it because the process was idle for too long', async () => {
    const db = await open(await createLibrary())
    let runs = 0
    const found = await db.transaction(async (sql) => {
      if (++runs < 4) {
        await sql.run('SET LOCAL idle_in_transaction_session_timeout TO 20')
        await sleep(200)
      }
      return sql.get('SELECT 1 AS one')
    })
    expect({ found, runs }).toEqual({ found: { one: 1 }, runs: 4 })
  })

  test('waits for a free connection up to the lock timeout', async () => {
    const address = `${await createLibrary()}&connect_timeout=1`
    const busy = (db: Awaited<ReturnType<typeof open>>) => db.transaction((sql) => sql.get('SELECT pg_sleep(1.3)'))
    const patient = await open(address, { connections: 1 })
    const [, found] = await Promise.all([busy(patient), patient.get('SELECT 1 AS one')])
    expect(found).toEqual({ one: 1 })
    const hasty = await open(address, { connections: 1, lockTimeoutMs: 50 })
    const [, refused] = await Promise.allSettled([busy(hasty), hasty.get('SELECT 1 AS one')])
    expect(refused).toMatchObject({ reason: { code: 'LIBRARY_LOCKED' } })
  })

  test('uses synchronous commit although the server has it turned off', async () => {
    const db = await open(await createLibrary())
    const setting = `SELECT current_setting('synchronous_commit') AS setting`
    expect(await db.transaction((sql) => sql.get(setting))).toEqual({ setting: 'on' })
  })
})

describe('two libraries in one database', () => {
  test('do not wait for each other', async () => {
    const address = await createLibrary()
    const db = await open(address)
    const store = await openStore(`${address}&schema=other`, 'one')
    await addSource(store, 'docs')
    await db.transaction(async (sql) => {
      for (const name of LOCKS) await lock(sql, name)
      await lockSource(sql, 1)
      await addSource(store, 'more')
      await store.beginCrawl(crawlOf('docs'), LIVENESS_TIMEOUT_MS)
      await store.workers?.relay('worker', 'body')
      await store.indexMissingChunks()
    })
    expect(await store.listSources()).toHaveLength(2)
  })

  test('may have SQL keywords as schema names, but no reserved or invalid names', async () => {
    const address = await createLibrary()
    for (const schema of ['user', 'order', 'x'.repeat(58)]) {
      const store = await openStore(`${address}&schema=${schema}`, 'one')
      await store.workers?.relay('worker', 'body')
      expect(await store.workers?.listRelayed(undefined)).toHaveLength(1)
      const notified = new Promise<void>((resolve) => {
        closeLater(store.workers?.listen(() => resolve()) ?? (() => undefined))
      })
      await notified
    }
    for (const schema of ['pg_x', 'x'.repeat(59), 'a b']) {
      await expect(openDatabase(`${address}&schema=${schema}`)).rejects.toMatchObject({ code: 'LIBRARY_UNUSABLE' })
    }
  })
})

describe('a role', () => {
  test('a role with rights on the schema needs no right to create another one', async () => {
    const name = await createDatabase()
    const address = await createRole(name, 'tenant')
    await expect(openDatabase(address)).rejects.toMatchObject({
      code: 'LIBRARY_UNUSABLE',
      message: expect.stringContaining(`GRANT CREATE ON DATABASE ${name} TO tenant`),
    })
    await execute('CREATE SCHEMA pharos', name)
    await expect(openDatabase(address)).rejects.toThrow('GRANT USAGE, CREATE ON SCHEMA "pharos" TO tenant')
    await execute('GRANT USAGE, CREATE ON SCHEMA pharos TO tenant', name)
    const db = await open(address)
    expect(await db.get('SELECT count(*) AS n FROM sources')).toEqual({ n: 0 })
    const place = { ...parseConnectionAddress(address), warn: () => undefined }
    await expect(openQueue(place)).rejects.toMatchObject({
      details: { advice: expect.stringContaining('CREATE SCHEMA "pharos_jobs" AUTHORIZATION "tenant"') },
    })
    await execute('CREATE SCHEMA pharos_jobs AUTHORIZATION tenant', name)
    await (await openQueue(place)).close()
  })

  test('a role with a statement timeout can run statements that take longer', async () => {
    const address = await createRole(await createDatabase(), 'hurried')
    await execute(`GRANT CREATE ON DATABASE ${new URL(address.replace('@/', '@x/')).pathname.slice(1)} TO hurried`)
    await execute('ALTER ROLE hurried SET statement_timeout TO 200')
    const db = await open(address)
    await db.get('SELECT pg_sleep(0.3)')
    await expect(
      db.transaction(async (sql) => {
        await sql.run('SET LOCAL statement_timeout TO 20')
        await sql.get('SELECT pg_sleep(1)')
      }),
    ).rejects.toMatchObject({ code: 'LIBRARY_UNREACHABLE' })
  })
})
