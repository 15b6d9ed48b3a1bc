import { expect, test } from 'vitest'
import { openDatabase } from '../../src/store/postgres/database/database.ts'
import { createIndexParts } from '../../src/store/postgres/index/index-parts.ts'
import { closeLater } from '../close-later.ts'
import { createLibrary } from './databases.ts'

test('blocks of segments that were replaced do not stay in memory', async () => {
  const db = await openDatabase(await createLibrary())
  closeLater(() => db.close())
  const found = await db.all<{ id: number }>(
    `INSERT INTO index_segments (count, first, last, documents, directory) SELECT 1, n, n, '', '' FROM generate_series(1, 2) AS n RETURNING id`,
  )
  const ids = found.map(({ id }) => id)
  await db.all(`INSERT INTO index_blocks SELECT id, 0, 'data' FROM index_segments`)
  const parts = createIndexParts()
  const read = () => parts.run(new Map(), () => ids.map((id) => parts.open(id).readBlock(0).length))
  // The first load reads the heads of the segments, and both read blocks.
  for (let loads = 0; loads < 2; loads++) {
    const { missing } = read()
    if (missing) await parts.load(db, missing, new Map())
  }
  expect(read()).toEqual({ result: [4, 4], missing: undefined })
  const [kept = 0, replaced = 0] = ids
  parts.keepOnly([kept])
  const segments = new Set([replaced])
  expect(read()).toEqual({ result: [4, 0], missing: { segments, blocks: new Map([[replaced, new Set([0])]]) } })
})
