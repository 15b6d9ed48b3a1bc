import { describe, expect, test } from 'vitest'
import {
  backOffClock,
  correctClock,
  easeClock,
  endBackOff,
  type HostClock,
  MAX_BACK_OFF_MS,
  MAX_INTERVAL_MS,
  MAX_SLOT_AHEAD_MS,
  NEW_HOST_CLOCK,
  nextRequestAt,
  openClock,
  recoverClock,
  retakeSlot,
  setFloor,
  slowClock,
  takeSlot,
} from './host-clock.ts'

const NOW = 1_000_000
const HOUR = 3_600_000

function clock(more: Partial<HostClock> = {}): HostClock {
  return { nextAt: NOW, intervalMs: 200, floorMs: 200, heldUntil: 0, slowedAt: 0, strikes: 0, ...more }
}

describe('host slots', () => {
  test('a slot follows the one before after the interval and its own jitter', () => {
    const slots: number[] = []
    let known = clock()
    for (const jitter of [25, 50, 30]) {
      const taken = takeSlot(known, NOW, jitter)
      slots.push(taken.slot)
      known = taken.clock
    }
    expect([...slots, known.nextAt]).toEqual([NOW, NOW + 225, NOW + 475, NOW + 705])
  })

  test('a slot begins now if the last one has long passed, and never within a back-off', () => {
    expect(takeSlot(clock({ nextAt: NOW - 5000 }), NOW, 25)).toMatchObject({ slot: NOW, clock: { nextAt: NOW + 225 } })
    const held = clock({ heldUntil: NOW + 9000 })
    expect(nextRequestAt(held)).toBe(NOW + 9000)
    expect(takeSlot(held, NOW, 25)).toMatchObject({ slot: NOW + 9000, clock: { nextAt: NOW + 9225 } })
  })

  test('a slot of a host without an interval has no jitter', () => {
    expect(takeSlot(clock({ intervalMs: 0 }), NOW, 50)).toMatchObject({ slot: NOW, clock: { nextAt: NOW } })
  })

  test('a missed slot is replaced by one that begins now, or after all reserved slots if there are any', () => {
    const { slot, clock: last } = takeSlot(clock(), NOW, 50)
    const late = NOW + 400
    expect(retakeSlot(last, slot, late, 30, 50)).toMatchObject({ slot: late, clock: { nextAt: late + 230 } })
    const { clock: followed } = takeSlot(last, NOW, 25)
    expect(followed.nextAt).toBe(NOW + 475)
    expect(retakeSlot(followed, slot, late, 30, 50)).toMatchObject({
      slot: NOW + 475,
      clock: { nextAt: NOW + 475 + 230 },
    })
    expect(retakeSlot({ ...last, heldUntil: NOW + 900 }, slot, late, 30, 50).slot).toBe(NOW + 900)
  })
})

describe('host clock with wrong times', () => {
  test.each([
    ['nextAt', MAX_SLOT_AHEAD_MS],
    ['slowedAt', MAX_SLOT_AHEAD_MS],
    ['heldUntil', MAX_BACK_OFF_MS],
  ] as const)('is corrected if its %s is too far ahead', (name, maxMs) => {
    const right = clock({ [name]: NOW + maxMs })
    expect(correctClock(right, NOW)).toBe(right)
    expect(correctClock(clock({ [name]: NOW + maxMs + 1 }), NOW)).toEqual(clock({ [name]: NOW }))
  })

  test('is corrected before a slot is taken and before the floor is set', () => {
    const wrong = clock({ nextAt: NOW + 10 * HOUR, heldUntil: NOW + 100 * HOUR })
    expect(takeSlot(wrong, NOW).slot).toBe(NOW)
    expect(setFloor(wrong, 200, 1000, NOW)).toMatchObject({ nextAt: NOW, heldUntil: NOW })
  })

  test('keeps slots that follow the longest back-off after failures', () => {
    const heldUntil = NOW + 900_000 * 1.1
    const { clock: known } = takeSlot(clock({ heldUntil }), NOW, 25)
    expect(takeSlot(known, NOW, 25).slot).toBe(heldUntil + 225)
  })
})

describe('openClock', () => {
  test('starts a new host slowly and voids earlier slots', () => {
    expect(openClock(NEW_HOST_CLOCK, 200, 1000, NOW)).toEqual({
      ...NEW_HOST_CLOCK,
      intervalMs: 1000,
      floorMs: 200,
      slowedAt: NOW,
    })
    expect(openClock(NEW_HOST_CLOCK, 5000, 1000, NOW)).toMatchObject({ intervalMs: 5000, floorMs: 5000 })
    expect(openClock(NEW_HOST_CLOCK, 0, 0, NOW)).toMatchObject({ intervalMs: 0, floorMs: 0, slowedAt: 0 })
  })

  test('leaves a known host unchanged whatever floor is given', () => {
    const known = clock({ intervalMs: 2000, floorMs: 2000, nextAt: NOW + 1500, strikes: 2 })
    expect(openClock(known, 200, 1000, NOW)).toEqual(known)
  })

  test('treats a host without requests for an hour like a new one', () => {
    const known = clock({ intervalMs: 30_000, strikes: 2 })
    expect(openClock(known, 200, 1000, NOW + HOUR)).toEqual(known)
    expect(openClock(known, 200, 1000, NOW + HOUR + 1)).toMatchObject({ intervalMs: 1000, strikes: 0 })
    expect(openClock({ ...known, heldUntil: NOW + HOUR }, 200, 1000, NOW + HOUR + 1)).toMatchObject({ strikes: 2 })
  })
})

describe('setFloor', () => {
  test('a longer minimum interval applies at once and voids reserved slots', () => {
    const known = clock({ nextAt: NOW + 300 })
    expect(setFloor(known, 2000, 1000, NOW)).toEqual(
      clock({ intervalMs: 2000, floorMs: 2000, nextAt: NOW + 2000, slowedAt: NOW }),
    )
    expect(setFloor(clock({ nextAt: NOW + 9000 }), 2000, 1000, NOW)).toMatchObject({ nextAt: NOW + 9000 })
  })

  test('a shorter minimum interval restarts the host at the initial interval, within one such interval', () => {
    const known = clock({ intervalMs: 60_000, floorMs: 60_000, nextAt: NOW + 59_000 })
    expect(setFloor(known, 200, 1000, NOW)).toMatchObject({ intervalMs: 1000, floorMs: 200, nextAt: NOW + 1000 })
    expect(setFloor(known, 0, 0, NOW)).toMatchObject({ intervalMs: 0, floorMs: 0, nextAt: NOW })
  })

  test('a shorter minimum interval still separates the next slot from slots that others reserved', () => {
    const { clock: known } = takeSlot(clock({ intervalMs: 10_000, floorMs: 10_000, nextAt: NOW + 8000 }), NOW, 25)
    const { slot } = takeSlot(setFloor(known, 200, 1000, NOW), NOW, 25)
    expect(slot - (NOW + 8000)).toBe(1025)
  })

  test('a shorter minimum interval does not speed up a host that was slowed down', () => {
    const slowed = clock({ intervalMs: 8000, floorMs: 2000 })
    expect(setFloor(slowed, 200, 1000, NOW)).toEqual({ ...slowed, floorMs: 200 })
    expect(setFloor(slowed, 9000, 1000, NOW)).toMatchObject({ intervalMs: 9000, floorMs: 9000, slowedAt: NOW })
  })

  test('an equal minimum interval changes nothing', () => {
    const known = clock({ intervalMs: 500 })
    expect(setFloor(known, 200, 1000, NOW)).toEqual(known)
  })
})

describe('host interval', () => {
  test('grows by a factor, from at least 125 ms, up to the maximum', () => {
    expect(slowClock(clock(), NOW, NOW, { factor: 2 })).toEqual(
      clock({ intervalMs: 400, nextAt: NOW + 400, slowedAt: NOW }),
    )
    expect(slowClock(clock({ intervalMs: 0, floorMs: 0 }), NOW, NOW, { factor: 2 })).toMatchObject({ intervalMs: 250 })
    expect(slowClock(clock({ intervalMs: 50_000 }), NOW, NOW, { factor: 2 })).toMatchObject({
      intervalMs: MAX_INTERVAL_MS,
    })
    expect(slowClock(clock(), NOW, NOW, { factor: 2, maxMs: 300 })).toMatchObject({ intervalMs: 300 })
  })

  test('stays if the maximum is smaller, or if the request was sent before the last slow-down', () => {
    const longer = clock({ intervalMs: 3000 })
    expect(slowClock(longer, NOW, NOW, { factor: 2, maxMs: 2000 })).toBe(longer)
    const slowed = clock({ slowedAt: NOW })
    expect(slowClock(slowed, NOW - 1, NOW + 50, { factor: 2 })).toBe(slowed)
    expect(slowClock(slowed, NOW, NOW + 50, { factor: 2 })).toMatchObject({ intervalMs: 400 })
  })

  test('shrinks by a fifth per step and ends exactly at the minimum', () => {
    const intervals: number[] = []
    for (let known = clock({ intervalMs: 1000 }); intervals.length < 10; known = easeClock(known))
      intervals.push(Math.round(known.intervalMs))
    expect(intervals).toEqual([1000, 800, 640, 512, 410, 328, 262, 200, 200, 200])
    expect(easeClock(clock({ intervalMs: 24, floorMs: 0 })).intervalMs).toBe(0)
  })
})

describe('host back-off', () => {
  test('ends when a user asks for it, and keeps the strikes', () => {
    const held = { ...clock(), heldUntil: NOW + 60_000, strikes: 3 }
    expect(endBackOff(held, NOW)).toEqual({ ...held, heldUntil: NOW })
    const free = { ...held, heldUntil: NOW - 1 }
    expect(endBackOff(free, NOW)).toEqual(free)
  })

  const holds = (strikes: number) => strikes * 10_000

  test('keeps the interval of the host, unless a factor is given', () => {
    expect(backOffClock(clock(), NOW - 100, NOW, { holdMsOf: holds })).toEqual(
      clock({ nextAt: NOW + 200, heldUntil: NOW + 10_000, slowedAt: NOW, strikes: 1 }),
    )
    expect(backOffClock(clock(), NOW - 100, NOW, { holdMsOf: holds, factor: 4 })).toEqual(
      clock({ intervalMs: 800, nextAt: NOW + 800, heldUntil: NOW + 10_000, slowedAt: NOW, strikes: 1 }),
    )
  })

  test('counts one strike for all requests in progress, including those sent at the same moment', () => {
    let known = backOffClock(clock(), NOW - 100, NOW, { holdMsOf: holds, factor: 4 })
    for (const sentAt of [NOW - 99, NOW - 1, NOW])
      known = backOffClock(known, sentAt, NOW + 50, { holdMsOf: holds, factor: 4 })
    expect(known).toMatchObject({ strikes: 1, intervalMs: 800, slowedAt: NOW, heldUntil: NOW + 10_050 })
    expect(backOffClock(known, NOW + 10_060, NOW + 10_100, { holdMsOf: holds, factor: 4 })).toMatchObject({
      strikes: 2,
      intervalMs: 3200,
      heldUntil: NOW + 30_100,
    })
  })

  test('never gets shorter and never exceeds a day', () => {
    const known = clock({ heldUntil: NOW + 90_000, strikes: 1, slowedAt: NOW - 1 })
    expect(backOffClock(known, NOW, NOW, { holdMsOf: () => 5, factor: 4 })).toMatchObject({
      heldUntil: NOW + 90_000,
      strikes: 2,
    })
    expect(backOffClock(clock(), NOW, NOW, { holdMsOf: () => 1e12, factor: 4 })).toMatchObject({
      heldUntil: NOW + MAX_BACK_OFF_MS,
    })
  })

  test('ends with one success, which clears the strikes and restores the interval', () => {
    const known = clock({ strikes: 2, slowedAt: NOW, intervalMs: 8000, nextAt: NOW + 8001 })
    const recovered = { strikes: 0, slowedAt: NOW, intervalMs: 400, nextAt: NOW + 401 }
    const slowdown = (fromMs: number) => ({ fromMs, toMs: 8000 })
    expect(recoverClock(known, NOW + 1, NOW + 1, slowdown(400))).toEqual(clock(recovered))
    expect(recoverClock(known, NOW + 1, NOW + 1, null)).toMatchObject({ strikes: 0, intervalMs: 8000 })
    // The interval never drops below the minimum and never grows.
    expect(recoverClock(known, NOW + 1, NOW + 1, slowdown(0))).toMatchObject({ intervalMs: 200 })
    expect(recoverClock(known, NOW + 1, NOW + 1, slowdown(9000))).toMatchObject({ intervalMs: 8000 })
  })

  test('leaves an interval that has grown beyond the slow-down that ends', () => {
    const known = clock({ strikes: 2, slowedAt: NOW, intervalMs: 8000, nextAt: NOW + 8001 })
    const recovered = recoverClock(known, NOW + 1, NOW + 1, { fromMs: 200, toMs: 4000 })
    expect(recovered).toMatchObject({ strikes: 0, intervalMs: 8000 })
  })

  test('does not end with the success of an earlier request', () => {
    const known = clock({ strikes: 2, slowedAt: NOW, intervalMs: 8000 })
    expect(recoverClock(known, NOW, NOW + 5, { fromMs: 200, toMs: 8000 })).toBe(known)
  })
})
