import { expect, test } from 'vitest'
import { COPY_TABLES } from '../../src/library/copy/table-columns.ts'
import { createLibraryCopy } from '../../src/store/postgres/copy/library-copy.ts'
import { createLibrary } from './databases.ts'
import { connect } from './ledgers.ts'

test('short rows are read in large batches again after a long row', async () => {
  const db = await connect(await createLibrary())
  const robots = COPY_TABLES.find(({ name }) => name === 'robots')
  if (robots === undefined) throw new Error('there is no such table')
  await db.run(
    `INSERT INTO robots (origin, fetched_at, type, body)
     SELECT lpad(n::text, 4, '0'), 1, 'found', repeat('x', CASE n WHEN 0 THEN 4000000 ELSE 10 END) FROM generate_series(0, 499) n`,
  )
  const counts: number[] = []
  await createLibraryCopy(db, async () => undefined).view(async (view) => {
    for await (const rows of view.read(robots)) counts.push(rows.length)
  })
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(500)
  expect(counts.slice(0, 5)).toEqual([1, 1, 8, 64, 100])
})
