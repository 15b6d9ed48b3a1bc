import { expect, test } from 'vitest'
import { openDatabase } from '../../src/store/postgres/database/database.ts'
import { closeLater } from '../close-later.ts'
import { addressOf, createDatabase, execute } from './databases.ts'
import { openLossyProxy } from './lossy-proxy.ts'
import { startPgBouncer } from './pgbouncer.ts'
import { openRotatingPooler } from './pooler.ts'

/** Connects as another program that uses the same pooler. */
async function connect(address: string) {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  closeLater(() => client.end())
  return client
}

/** A database that sets the schema for all its sessions, behind a pooler that shares sessions. */
async function openShared(): Promise<string> {
  const name = await createDatabase()
  await execute(`ALTER DATABASE ${name} SET search_path TO pharos`)
  return startPgBouncer(name, 'transaction')
}

test('rotating sessions are detected as shared', async () => {
  const address = await openRotatingPooler(addressOf(await createDatabase()))
  const others = [await connect(address), await connect(address)]
  for (const text of ['BEGIN', 'COMMIT']) for (const other of others) await other.query(text)
  await expect(openDatabase(address)).rejects.toMatchObject({ code: 'LIBRARY_UNUSABLE' })
})

test('shared sessions stay unchanged for other programs', async () => {
  const address = await openShared()
  const db = await openDatabase(address)
  closeLater(() => db.close())
  const change = (host: string) => db.transaction((sql) => sql.run('INSERT INTO hosts (host) VALUES ($1)', [host]))
  await Promise.all(['a.test', 'b.test', 'c.test'].map(change))
  const sessionSettings: unknown[] = []
  // PgBouncer sets the name that a client gives when it connects, and keeps it.
  const query = `SELECT name, setting FROM pg_settings WHERE source = 'session' AND name <> 'application_name'`
  // Each client gets another session.
  for (let i = 0; i < 4; i++) {
    const other = await connect(address)
    await other.query('BEGIN')
    sessionSettings.push(...(await other.query(query)).rows)
  }
  expect(sessionSettings).toEqual([])
})

test('a shared session whose connection falls silent is dropped', async () => {
  const proxy = await openLossyProxy(await openShared())
  const db = await openDatabase(proxy.address, { probeDelayMs: 100 })
  closeLater(() => db.close())
  proxy.dropAllData()
  expect(await db.get('SELECT 1 AS one')).toEqual({ one: 1 })
  expect(await db.get('SELECT pg_sleep(0.5) IS NULL AS "isNull"')).toEqual({ isNull: false })
})
