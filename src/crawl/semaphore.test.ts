import { expect, test } from 'vitest'
import { Semaphore } from './semaphore.ts'

/** Runs all pending callbacks. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('Semaphore grants places in the order of the requests and skips visitors that stop waiting', async () => {
  const room = new Semaphore<string>(2)
  const entered: string[] = []
  for (const name of ['a', 'b', 'c', 'd', 'e']) void room.acquire(name).then(() => entered.push(name))
  void room.acquire('a').then(() => entered.push('a again'))
  await settle()
  expect(entered).toEqual(['a', 'b', 'a again'])
  room.release('c')
  room.release('a')
  await settle()
  expect(entered).toEqual(['a', 'b', 'a again', 'd'])
  room.release('b')
  room.release('d')
  room.release('nobody')
  await settle()
  expect(entered).toEqual(['a', 'b', 'a again', 'd', 'e'])
})
