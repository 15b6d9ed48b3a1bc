import { describe, expect, test } from 'vitest'
import {
  ASTRAY_MS,
  easeClock,
  FREE_CLOCK,
  type HostClock,
  holdClock,
  MOST_HOLD_MS,
  MOST_INTERVAL_MS,
  mendClock,
  openClock,
  opensAt,
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

describe('a slot', () => {
  test('follows the one before by the pause and its own jitter', () => {
    const slots: number[] = []
    let known = clock()
    for (const jitter of [25, 50, 30]) {
      const taken = takeSlot(known, NOW, jitter)
      slots.push(taken.slot)
      known = taken.clock
    }
    expect([...slots, known.nextAt]).toEqual([NOW, NOW + 225, NOW + 475, NOW + 705])
  })

  test('is now where the last one has long passed, and never before the host may be asked', () => {
    expect(takeSlot(clock({ nextAt: NOW - 5000 }), NOW, 25)).toMatchObject({ slot: NOW, clock: { nextAt: NOW + 225 } })
    const held = clock({ heldUntil: NOW + 9000 })
    expect(opensAt(held)).toBe(NOW + 9000)
    expect(takeSlot(held, NOW, 25)).toMatchObject({ slot: NOW + 9000, clock: { nextAt: NOW + 9225 } })
  })

  test('of a host without a pause has no jitter either', () => {
    expect(takeSlot(clock({ intervalMs: 0 }), NOW, 50)).toMatchObject({ slot: NOW, clock: { nextAt: NOW } })
  })

  test('that has passed is taken anew: now where nobody has the next one, otherwise after all others', () => {
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

describe('a clock that was wrong', () => {
  test.each([
    ['nextAt', ASTRAY_MS],
    ['slowedAt', ASTRAY_MS],
    ['heldUntil', MOST_HOLD_MS],
  ] as const)('is mended: %s', (name, most) => {
    const right = clock({ [name]: NOW + most })
    expect(mendClock(right, NOW)).toBe(right)
    expect(mendClock(clock({ [name]: NOW + most + 1 }), NOW)).toEqual(clock({ [name]: NOW }))
  })

  test('is mended before a slot is taken, and before it is set', () => {
    const wrong = clock({ nextAt: NOW + 10 * HOUR, heldUntil: NOW + 100 * HOUR })
    expect(takeSlot(wrong, NOW).slot).toBe(NOW)
    expect(setFloor(wrong, 200, 1000, NOW)).toMatchObject({ nextAt: NOW, heldUntil: NOW })
  })

  test('is not one that keeps slots behind the longest time a host is left alone for failing', () => {
    const heldUntil = NOW + 900_000 * 1.1
    const { clock: known } = takeSlot(clock({ heldUntil }), NOW, 25)
    expect(takeSlot(known, NOW, 25).slot).toBe(heldUntil + 225)
  })
})

describe('a host', () => {
  test('is met gently, and slots of before are void', () => {
    expect(openClock(FREE_CLOCK, 200, 1000, NOW)).toEqual({
      ...FREE_CLOCK,
      intervalMs: 1000,
      floorMs: 200,
      slowedAt: NOW,
    })
    expect(openClock(FREE_CLOCK, 5000, 1000, NOW)).toMatchObject({ intervalMs: 5000, floorMs: 5000 })
    expect(openClock(FREE_CLOCK, 0, 0, NOW)).toMatchObject({ intervalMs: 0, floorMs: 0, slowedAt: 0 })
  })

  test('that is known goes on as it is, whatever floor the one who meets it would give it', () => {
    const known = clock({ intervalMs: 2000, floorMs: 2000, nextAt: NOW + 1500, strikes: 2 })
    expect(openClock(known, 200, 1000, NOW)).toEqual(known)
  })

  test('that was not asked for an hour is met like a new one', () => {
    const known = clock({ intervalMs: 30_000, strikes: 2 })
    expect(openClock(known, 200, 1000, NOW + HOUR)).toEqual(known)
    expect(openClock(known, 200, 1000, NOW + HOUR + 1)).toMatchObject({ intervalMs: 1000, strikes: 0 })
    expect(openClock({ ...known, heldUntil: NOW + HOUR }, 200, 1000, NOW + HOUR + 1)).toMatchObject({ strikes: 2 })
  })
})

describe('the shortest pause', () => {
  test('begins at once where it is longer than the pause, and voids what was reserved', () => {
    const known = clock({ nextAt: NOW + 300 })
    expect(setFloor(known, 2000, 1000, NOW)).toEqual(
      clock({ intervalMs: 2000, floorMs: 2000, nextAt: NOW + 2000, slowedAt: NOW }),
    )
    expect(setFloor(clock({ nextAt: NOW + 9000 }), 2000, 1000, NOW)).toMatchObject({ nextAt: NOW + 9000 })
  })

  test('that is gone lets the host begin anew, and no later than its new pause', () => {
    const known = clock({ intervalMs: 60_000, floorMs: 60_000, nextAt: NOW + 59_000 })
    expect(setFloor(known, 200, 1000, NOW)).toMatchObject({ intervalMs: 1000, floorMs: 200, nextAt: NOW + 1000 })
    expect(setFloor(known, 0, 0, NOW)).toMatchObject({ intervalMs: 0, floorMs: 0, nextAt: NOW })
  })

  test('that is gone leaves the slots that others have the pause behind them', () => {
    const { clock: known } = takeSlot(clock({ intervalMs: 10_000, floorMs: 10_000, nextAt: NOW + 8000 }), NOW, 25)
    const { slot } = takeSlot(setFloor(known, 200, 1000, NOW), NOW, 25)
    expect(slot - (NOW + 8000)).toBe(1025)
  })

  test('does not make a host quicker that had to be slowed down', () => {
    const slowed = clock({ intervalMs: 8000, floorMs: 2000 })
    expect(setFloor(slowed, 200, 1000, NOW)).toEqual({ ...slowed, floorMs: 200 })
    expect(setFloor(slowed, 9000, 1000, NOW)).toMatchObject({ intervalMs: 9000, floorMs: 9000, slowedAt: NOW })
  })

  test('that is the same changes nothing', () => {
    const known = clock({ intervalMs: 500 })
    expect(setFloor(known, 200, 1000, NOW)).toEqual(known)
  })
})

describe('a pause', () => {
  test('gets longer by a factor, from an eighth of a second at least, up to a most', () => {
    expect(slowClock(clock(), NOW, NOW, { factor: 2 })).toEqual(
      clock({ intervalMs: 400, nextAt: NOW + 400, slowedAt: NOW }),
    )
    expect(slowClock(clock({ intervalMs: 0, floorMs: 0 }), NOW, NOW, { factor: 2 })).toMatchObject({ intervalMs: 250 })
    expect(slowClock(clock({ intervalMs: 50_000 }), NOW, NOW, { factor: 2 })).toMatchObject({
      intervalMs: MOST_INTERVAL_MS,
    })
    expect(slowClock(clock(), NOW, NOW, { factor: 2, mostMs: 300 })).toMatchObject({ intervalMs: 300 })
  })

  test('never gets shorter by that, nor longer by what was asked before it last got longer', () => {
    const longer = clock({ intervalMs: 3000 })
    expect(slowClock(longer, NOW, NOW, { factor: 2, mostMs: 2000 })).toBe(longer)
    const slowed = clock({ slowedAt: NOW })
    expect(slowClock(slowed, NOW - 1, NOW + 50, { factor: 2 })).toBe(slowed)
    expect(slowClock(slowed, NOW, NOW + 50, { factor: 2 })).toMatchObject({ intervalMs: 400 })
  })

  test('gets shorter by a fifth, and at last is exactly the shortest', () => {
    const pauses: number[] = []
    for (let known = clock({ intervalMs: 1000 }); pauses.length < 10; known = easeClock(known))
      pauses.push(Math.round(known.intervalMs))
    expect(pauses).toEqual([1000, 800, 640, 512, 410, 328, 262, 200, 200, 200])
    expect(easeClock(clock({ intervalMs: 24, floorMs: 0 })).intervalMs).toBe(0)
  })
})

describe('a host that is left alone', () => {
  const holds = (strikes: number) => strikes * 10_000

  test('a host keeps its pause, unless a longer one is requested', () => {
    expect(holdClock(clock(), NOW - 100, NOW, { holdMsOf: holds })).toEqual(
      clock({ nextAt: NOW + 200, heldUntil: NOW + 10_000, slowedAt: NOW, strikes: 1 }),
    )
    expect(holdClock(clock(), NOW - 100, NOW, { holdMsOf: holds, factor: 4 })).toEqual(
      clock({ intervalMs: 800, nextAt: NOW + 800, heldUntil: NOW + 10_000, slowedAt: NOW, strikes: 1 }),
    )
  })

  test('gets one strike for all that were under way, also those sent at the same moment', () => {
    let known = holdClock(clock(), NOW - 100, NOW, { holdMsOf: holds, factor: 4 })
    for (const askedAt of [NOW - 99, NOW - 1, NOW])
      known = holdClock(known, askedAt, NOW + 50, { holdMsOf: holds, factor: 4 })
    expect(known).toMatchObject({ strikes: 1, intervalMs: 800, slowedAt: NOW, heldUntil: NOW + 10_050 })
    expect(holdClock(known, NOW + 10_060, NOW + 10_100, { holdMsOf: holds, factor: 4 })).toMatchObject({
      strikes: 2,
      intervalMs: 3200,
      heldUntil: NOW + 30_100,
    })
  })

  test('is never left alone for less than it was, nor for more than a day', () => {
    const known = clock({ heldUntil: NOW + 90_000, strikes: 1, slowedAt: NOW - 1 })
    expect(holdClock(known, NOW, NOW, { holdMsOf: () => 5, factor: 4 })).toMatchObject({
      heldUntil: NOW + 90_000,
      strikes: 2,
    })
    expect(holdClock(clock(), NOW, NOW, { holdMsOf: () => 1e12, factor: 4 })).toMatchObject({
      heldUntil: NOW + MOST_HOLD_MS,
    })
  })

  test('recovers with one success: no strikes, and the pause of before', () => {
    const known = clock({ strikes: 2, slowedAt: NOW, intervalMs: 8000, nextAt: NOW + 8001 })
    const recovered = { strikes: 0, slowedAt: NOW, intervalMs: 400, nextAt: NOW + 401 }
    const slowdown = (fromMs: number) => ({ fromMs, toMs: 8000 })
    expect(recoverClock(known, NOW + 1, NOW + 1, slowdown(400))).toEqual(clock(recovered))
    expect(recoverClock(known, NOW + 1, NOW + 1, null)).toMatchObject({ strikes: 0, intervalMs: 8000 })
    // Never quicker than the shortest pause, and never slower than it is.
    expect(recoverClock(known, NOW + 1, NOW + 1, slowdown(0))).toMatchObject({ intervalMs: 200 })
    expect(recoverClock(known, NOW + 1, NOW + 1, slowdown(9000))).toMatchObject({ intervalMs: 8000 })
  })

  test('keeps a pause that has grown further than the slow-down that ends', () => {
    const known = clock({ strikes: 2, slowedAt: NOW, intervalMs: 8000, nextAt: NOW + 8001 })
    const recovered = recoverClock(known, NOW + 1, NOW + 1, { fromMs: 200, toMs: 4000 })
    expect(recovered).toMatchObject({ strikes: 0, intervalMs: 8000 })
  })

  test('a host does not recover by the success of an earlier request', () => {
    const known = clock({ strikes: 2, slowedAt: NOW, intervalMs: 8000 })
    expect(recoverClock(known, NOW, NOW + 5, { fromMs: 200, toMs: 8000 })).toBe(known)
  })
})
