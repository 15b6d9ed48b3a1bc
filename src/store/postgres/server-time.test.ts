import { expect, test } from 'vitest'
import { ServerTime } from './server-time.ts'

test('a server whose clock may be the same has the same', () => {
  const time = new ServerTime()
  time.note(1000, 1004.7, 1010)
  time.note(1000, 1000.9, 1000)
  expect(time.offset).toBe(0)
})

test('a server that is ahead or behind is so by half-way between question and answer', () => {
  const time = new ServerTime()
  time.note(1000, 61_010, 1020)
  expect(time.offset).toBe(60_000)
  time.note(2000, 1010, 2020)
  expect(time.offset).toBe(-1000)
})

test('what is known stays as long as it can be right', () => {
  const time = new ServerTime()
  time.note(1000, 61_010, 1020)
  time.note(2000, 62_400, 2500)
  expect(time.offset).toBe(60_000)
  time.note(3000, 63_041, 3002)
  expect(time.offset).toBe(60_040)
})
