import { expect, test } from 'vitest'
import { openDatabase } from '../../src/store/postgres/database.ts'
import { createLibrary } from './databases.ts'

test('opens a library with its tables', async () => {
  const db = await openDatabase(await createLibrary())
  try {
    expect(await db.get('SELECT count(*) AS n FROM sources')).toEqual({ n: 0 })
  } finally {
    await db.close()
  }
})

test('knows that a server on this machine has its clock', async () => {
  const db = await openDatabase(await createLibrary())
  try {
    await Promise.all(Array.from({ length: 8 }, () => db.get('SELECT pg_sleep(0.02)')))
    expect(db.clockOffset()).toBe(0)
  } finally {
    await db.close()
  }
})
