import { expect, test } from 'vitest'
import { EventQueue } from './event-queue.ts'

test('EventQueue yields all values in order, including those pushed before reading and unread at close', async () => {
  const queue = new EventQueue<number>()
  queue.push(1)
  queue.push(2)
  const read: number[] = []
  const reading = (async () => {
    for await (const value of queue) read.push(value)
  })()
  await Promise.resolve()
  queue.push(3)
  queue.close()
  await reading
  expect(read).toEqual([1, 2, 3])
  expect([queue.pushedCount, queue.readCount]).toEqual([3, 3])
})

test('EventQueue blocks writers while it is full, until a value is read or the queue is closed', async () => {
  const queue = new EventQueue<number>(2)
  queue.push(1)
  await queue.waitForRoom()
  queue.push(2)
  expect(queue.isFull).toBe(true)
  let isFree = false
  const waiting = queue.waitForRoom().then(() => {
    isFree = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isFree).toBe(false)
  const reader = queue[Symbol.asyncIterator]()
  expect(await reader.next()).toEqual({ value: 1, done: false })
  await waiting
  expect([queue.isFull, queue.pushedCount, queue.readCount]).toEqual([false, 2, 1])
  queue.push(3)
  queue.push(4)
  const second = queue.waitForRoom()
  queue.close()
  await second
})
