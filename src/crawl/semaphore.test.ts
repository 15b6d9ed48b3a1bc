import { expect, test } from 'vitest'
import { Semaphore } from './semaphore.ts'

/** Runs all pending callbacks. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('Semaphore grants places in request order, and skips a waiter released before it got a place', async () => {
  const semaphore = new Semaphore<string>(2)
  const entered: string[] = []
  for (const name of ['a', 'b', 'c', 'd', 'e']) void semaphore.acquire(name).then(() => entered.push(name))
  void semaphore.acquire('a').then(() => entered.push('a again'))
  await settle()
  expect(entered).toEqual(['a', 'b', 'a again'])
  semaphore.release('c')
  semaphore.release('a')
  await settle()
  expect(entered).toEqual(['a', 'b', 'a again', 'd'])
  semaphore.release('b')
  semaphore.release('d')
  semaphore.release('unknown')
  await settle()
  expect(entered).toEqual(['a', 'b', 'a again', 'd', 'e'])
})
