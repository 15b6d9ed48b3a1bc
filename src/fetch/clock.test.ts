import { describe, expect, test } from 'vitest'
import { createClock, systemClock } from './clock.ts'

test("the system clock follows the machine's wall clock", () => {
  const before = Date.now()
  const now = systemClock.now()
  expect(now).toBeGreaterThanOrEqual(before)
  expect(now).toBeLessThanOrEqual(Date.now())
})

test('sleep resolves after the delay, and at once if the delay is negative', async () => {
  const start = performance.now()
  await systemClock.sleep(20)
  expect(performance.now() - start).toBeGreaterThan(15)
  await systemClock.sleep(-5)
})

test('an abort ends a sleep with the reason of the signal, even a sleep longer than a timer allows', async () => {
  const stop = new AbortController()
  const reason = new Error('enough')
  const sleep = systemClock.sleep(2 ** 40, stop.signal)
  setTimeout(() => stop.abort(reason), 10)
  await expect(sleep).rejects.toBe(reason)
})

test('sleep rejects at once when its signal is already aborted', async () => {
  const reason = new Error('enough')
  await expect(systemClock.sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason)
})

describe('a clock whose wall clock is changed', () => {
  function createTestClock() {
    const times = { wall: 1_000_000, steady: 5 }
    const clock = createClock({ wall: () => times.wall, steady: () => times.steady })
    const pass = (ms: number) => {
      times.wall += ms
      times.steady += ms
    }
    return { times, clock, pass }
  }

  test('runs at half speed while the wall clock is behind, without going back or stopping', () => {
    const { times, clock, pass } = createTestClock()
    expect(clock.now()).toBe(1_000_000)
    times.wall -= 60_000
    expect(clock.now()).toBe(1_000_000)
    pass(700)
    expect(clock.now()).toBe(1_000_350)
    pass(119_300)
    expect(clock.now()).toBe(times.wall)
    pass(1000)
    expect(clock.now()).toBe(times.wall)
  })

  test('follows at once when the wall clock is ahead, for example after the machine slept', () => {
    const { times, clock, pass } = createTestClock()
    expect(clock.now()).toBe(1_000_000)
    times.wall += 3_600_000
    expect(clock.now()).toBe(4_600_000)
    pass(700)
    expect(clock.now()).toBe(4_600_700)
    times.wall -= 3_600_000
    pass(10)
    expect(clock.now()).toBe(4_600_705)
  })

  test('returns to the right time when the wall clock is set back and then corrected', () => {
    const { times, clock, pass } = createTestClock()
    clock.now()
    times.wall -= 60_000
    pass(10)
    clock.now()
    times.wall += 60_000
    expect(clock.now()).toBe(1_000_010)
  })
})
