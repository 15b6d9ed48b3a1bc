import { expect, test } from 'vitest'
import { Room } from './room.ts'

/** Lets everything happen that can. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('whoever comes to a full room waits for a place, in order, unless they go', async () => {
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
