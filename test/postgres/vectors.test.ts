import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/store/postgres/database/database.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { describeSharedVectors, describeVectors } from '../contracts/vectors.contract.ts'
import { createLibrary } from './databases.ts'
import { connect, foundAddressOf, listMiscounts } from './ledgers.ts'
import { addSource, crawlOf, LIVENESS_TIMEOUT_MS, lease, NOW, openStore, settle } from './stores.ts'

/** Creates a library with an id of its own. All libraries of {@link createLibrary} have the same id. */
async function createOwnLibrary(): Promise<string> {
  const address = await createLibrary()
  const db = await openDatabase(address)
  await db.run(`UPDATE library_identity SET library = replace(gen_random_uuid()::text, '-', '')`)
  await db.close()
  return address
}

describe('the vectors of the PostgreSQL store', () => {
  describeVectors(async () => openPostgresStore(await createOwnLibrary()))
  describeSharedVectors(createLibrary, (address) => openPostgresStore(address))

  test('are counted without reading them or their chunks', async () => {
    const address = await createLibrary()
    const [db, store] = [await connect(address), await openStore(address, 'one')]
    const { vectors } = store
    await addSource(store, 'docs')
    await store.beginCrawl(crawlOf('docs'), LIVENESS_TIMEOUT_MS)
    await store.offer(
      'docs',
      'crawl of docs',
      [0, 1, 2].map((at) => foundAddressOf(`/${at}`)),
      NOW,
    )
    for (const visit of await lease(store, 'docs', NOW)) await settle(store, visit)
    const [first, second] = await vectors.listMissing(2)
    if (first === undefined || second === undefined) throw new Error('there are no chunks')
    const space = { model: 'm', fingerprint: 'f', dimensions: 2 }
    await vectors.write(space, [{ ...first, vector: new Float32Array([1, 0]) }])
    await vectors.refuse(space, [{ ...second, problem: 'p' }])
    await vectors.markCopied('place', space, [first])
    await db.transaction(async (sql) => {
      await sql.run('LOCK TABLE chunks, vectors, refused_chunks, copied_vectors')
      expect(await vectors.count()).toEqual({ embedded: 1, chunks: 3, refused: 1 })
      expect(await vectors.countUncopied('place')).toBe(0)
      expect(await vectors.countUncopied('elsewhere')).toBe(1)
    })
    // Vectors that are removed together with a chunk are counted correctly.
    await db.transaction((sql) => sql.run('DELETE FROM chunks'))
    expect(await vectors.count()).toEqual({ embedded: 0, chunks: 0, refused: 0 })
    expect(await listMiscounts(db)).toEqual([])
  })
})
