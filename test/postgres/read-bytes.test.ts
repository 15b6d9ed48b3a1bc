import { expect, test } from 'vitest'
import { openDatabase } from '../../src/store/postgres/database/database.ts'
import { closeLater } from '../close-later.ts'
import { createLibrary } from './databases.ts'

async function open() {
  const db = await openDatabase(await createLibrary())
  closeLater(() => db.close())
  return db
}

test('bytes are read as they are stored, in the order of rows and columns', async () => {
  const db = await open()
  // The first row shares its message with the header of the copy, and the long one takes several packets.
  const found = await db.readBytes(
    `SELECT decode(repeat('00ff50', n), 'hex'), (n % 1000)::smallint FROM unnest(ARRAY[1, 100000, 0]) AS n`,
  )
  const repeated = (n: number) => Uint8Array.from({ length: 3 * n }, (_, i) => [0x00, 0xff, 0x50][i % 3] ?? 0)
  expect(found.map(([bytes]) => bytes?.length)).toEqual([3, 300_000, 0])
  expect(found[0]).toEqual([repeated(1), Uint8Array.of(0, 1)])
  expect(Buffer.compare(found[1]?.[0] ?? repeated(0), repeated(100_000))).toBe(0)
})

test('no rows are no bytes, and a null is empty', async () => {
  const db = await open()
  expect(await db.readBytes('SELECT 1 WHERE false')).toEqual([])
  expect(await db.readBytes('SELECT NULL::bytea')).toEqual([[new Uint8Array(0)]])
})

test('a failed read rejects, and its connection can be used again', async () => {
  const db = await open()
  await db.snapshot(async (sql) => {
    expect(await sql.readBytes(`SELECT 'a'::bytea`)).toEqual([[Uint8Array.of(0x61)]])
  })
  await expect(db.readBytes('SELECT nothing')).rejects.toThrow('nothing')
  expect(await db.readBytes(`SELECT 'b'::bytea`)).toEqual([[Uint8Array.of(0x62)]])
})
