import { describe, expect, test } from 'vitest'
import { createClock, systemClock } from './clock.ts'

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

describe('a clock whose wall is set', () => {
  function stageClock() {
    const times = { wall: 1_000_000, steady: 5 }
    const clock = createClock({ wall: () => times.wall, steady: () => times.steady })
    const pass = (ms: number) => {
      times.wall += ms
      times.steady += ms
    }
    return { times, clock, pass }
  }

  test('back neither goes back nor stands still, but waits for it at half the speed', () => {
    const { times, clock, pass } = stageClock()
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

  test('ahead follows, as after a sleep of the machine, and goes on from there', () => {
    const { times, clock, pass } = stageClock()
    expect(clock.now()).toBe(1_000_000)
    times.wall += 3_600_000
    expect(clock.now()).toBe(4_600_000)
    pass(700)
    expect(clock.now()).toBe(4_600_700)
    times.wall -= 3_600_000
    pass(10)
    expect(clock.now()).toBe(4_600_705)
  })

  test('back and right again is right again', () => {
    const { times, clock, pass } = stageClock()
    clock.now()
    times.wall -= 60_000
    pass(10)
    clock.now()
    times.wall += 60_000
    expect(clock.now()).toBe(1_000_010)
  })
})
