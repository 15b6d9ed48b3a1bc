import { expect, test } from 'vitest'
import { systemClock } from './clock.ts'

test('tells the time of the machine', () => {
  const before = Date.now()
  const now = systemClock.now()
  expect(now).toBeGreaterThanOrEqual(before)
  expect(now).toBeLessThanOrEqual(Date.now())
})

test('sleeps, and does not mind a time that has passed', async () => {
  const start = performance.now()
  await systemClock.sleep(20)
  expect(performance.now() - start).toBeGreaterThan(15)
  await systemClock.sleep(-5)
})

test('wakes with the reason of its signal, also from a sleep longer than a timer can wait', async () => {
  const stop = new AbortController()
  const reason = new Error('enough')
  const sleep = systemClock.sleep(2 ** 40, stop.signal)
  setTimeout(() => stop.abort(reason), 10)
  await expect(sleep).rejects.toBe(reason)
})

test('does not begin to sleep when its signal is aborted already', async () => {
  const reason = new Error('enough')
  await expect(systemClock.sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason)
})
