import { expect, test } from 'vitest'
import { ServerTime } from './server-time.ts'

test('the offset stays 0 while the server clock may equal the local one', () => {
  const time = new ServerTime()
  time.addSample(1000, 1004.7, 1010)
  time.addSample(1000, 1000.9, 1000)
  expect(time.offset).toBe(0)
})

test('the offset is measured at the midpoint between query and response', () => {
  const time = new ServerTime()
  time.addSample(1000, 61_010, 1020)
  expect(time.offset).toBe(60_000)
  time.addSample(2000, 1010, 2020)
  expect(time.offset).toBe(-1000)
})

test('the known offset stays as long as it is consistent with new measurements', () => {
  const time = new ServerTime()
  time.addSample(1000, 61_010, 1020)
  time.addSample(2000, 62_400, 2500)
  expect(time.offset).toBe(60_000)
  time.addSample(3000, 63_041, 3002)
  expect(time.offset).toBe(60_040)
})
