import { expect, test } from 'vitest'
import { progressFrame } from '../../../test/dispatch/frames.ts'
import { createRateMeter } from './job-rates.ts'

test('rates cover the last ten seconds, and the error rate covers the last minute', () => {
  const meter = createRateMeter()
  expect(meter.read(0).requestsPerSec).toBe(0)
  for (let s = 0; s <= 100; s++) {
    // The rate doubles after 90 seconds.
    const visited = s <= 90 ? s : 90 + 2 * (s - 90)
    meter.note(progressFrame({ visited, downloaded: visited / 2, bytes: visited * 1000, errors: s }), s * 1000)
  }
  expect(meter.read(100_000)).toEqual({
    requestsPerSec: 2,
    downloadsPerSec: 1,
    bytesPerSec: 2000,
    errorRatePerMin: 60,
    cacheHitRatio: 0,
  })
  // Without reports the rates fall.
  expect(meter.read(105_000).requestsPerSec).toBe(1)
  expect(meter.read(200_000).requestsPerSec).toBe(0)
})

test('a restarted process is measured from zero', () => {
  const meter = createRateMeter()
  meter.note(progressFrame({ visited: 100 }), 0)
  meter.noteCached()
  meter.note(progressFrame({ visited: 0 }), 1000)
  meter.note(progressFrame({ visited: 10 }), 3000)
  expect(meter.read(3000)).toMatchObject({ requestsPerSec: 5, cacheHitRatio: 0 })
  for (let i = 0; i < 4; i++) meter.noteCached()
  expect(meter.read(3000).cacheHitRatio).toBe(0.4)
})

test('rates stay correct when only some of many frequent reports are kept', () => {
  const meter = createRateMeter()
  for (let i = 0; i <= 20_000; i++) meter.note(progressFrame({ visited: i }), i)
  expect(meter.read(20_000).requestsPerSec).toBeCloseTo(1000, -2)
})
