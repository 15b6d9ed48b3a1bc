import { expect, test } from 'vitest'
import { Room } from './room.ts'

/** Runs all pending callbacks. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('Room grants places in the order of arrival and skips visitors that leave', async () => {
  const room = new Room<string>(2)
  const entered: string[] = []
  for (const name of ['a', 'b', 'c', 'd', 'e']) void room.enter(name).then(() => entered.push(name))
  void room.enter('a').then(() => entered.push('a again'))
  await settle()
  expect(entered).toEqual(['a', 'b', 'a again'])
  room.leave('c')
  room.leave('a')
  await settle()
  expect(entered).toEqual(['a', 'b', 'a again', 'd'])
  room.leave('b')
  room.leave('d')
  room.leave('nobody')
  await settle()
  expect(entered).toEqual(['a', 'b', 'a again', 'd', 'e'])
})
