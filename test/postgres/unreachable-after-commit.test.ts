import { expect, test } from 'vitest'
import { openDatabase } from '../../src/store/postgres/database/database.ts'
import { closeLater } from '../close-later.ts'
import { createLibrary } from './databases.ts'
import { connect } from './ledgers.ts'
import { openLossyProxy } from './lossy-proxy.ts'
import { addSource, openStore } from './stores.ts'

test('a committed write is not repeated if the server is unreachable right after the commit', async () => {
  const proxy = await openLossyProxy(await createLibrary())
  const store = await openStore(proxy.address, 'one')
  proxy.loseCommitResponse(500)
  await addSource(store, 'docs')
  expect(proxy.lost()).toBe(1)
  expect(await store.listSources()).toHaveLength(1)
})

test('a transaction that the server is still running is not started a second time', async () => {
  const address = await createLibrary()
  const proxy = await openLossyProxy(address)
  const db = await openDatabase(proxy.address, { lockTimeoutMs: 500 })
  closeLater(() => db.close())
  let runs = 0
  proxy.abandonBeforeCommit()
  const written = db.transaction((sql) => {
    runs++
    return sql.run(`INSERT INTO hosts (host) VALUES ('a.test')`)
  })
  await expect(written).rejects.toMatchObject({ code: 'LIBRARY_LOCKED' })
  expect(runs).toBe(1)
  expect(await (await connect(address)).get('SELECT count(*) AS n FROM hosts')).toEqual({ n: 0 })
})
