import { expect, test } from 'vitest'
import type { CrawlEvent } from './events.ts'
import { MemoryLimiter } from './memory-limiter.ts'

/** A limiter with a limit of 1,000 bytes. The test sets the memory in use and the time. */
function openLimiter() {
  const state = { used: 0, now: 0, relieved: 0 }
  const events: CrawlEvent[] = []
  const limiter = new MemoryLimiter({
    memory: {
      used: () => state.used,
      relieve: async () => {
        state.relieved++
      },
    },
    limitBytes: 1000,
    clock: { now: () => state.now, sleep: async () => undefined },
    tell: (event) => events.push(event),
  })
  return { limiter, state, events }
}

test('MemoryLimiter admits every visit while memory is sufficient or not measured', () => {
  const { limiter, events } = openLimiter()
  expect(limiter.admits(99)).toBe(true)
  expect(events).toEqual([])
  const clock = { now: () => 0, sleep: async () => undefined }
  expect(new MemoryLimiter({ memory: undefined, limitBytes: 1, clock, tell: () => undefined }).admits(99)).toBe(true)
})

test('MemoryLimiter blocks concurrent visits until memory is clearly below the limit', () => {
  const { limiter, state, events } = openLimiter()
  state.used = 1001
  expect(limiter.admits(1)).toBe(false)
  state.used = 990
  expect(limiter.admits(1)).toBe(false)
  state.now = 500
  state.used = 850
  expect(limiter.admits(1)).toBe(true)
  state.used = 990
  expect(limiter.admits(1)).toBe(true)
  expect(events).toEqual([
    { type: 'paused', cause: 'memory', detail: '0 MB of 0 MB are in use' },
    { type: 'resumed', cause: 'memory', pausedMs: 500 },
  ])
  expect(state.relieved).toBe(0)
})

test('MemoryLimiter frees memory while idle, then admits one visit at a time', () => {
  const { limiter, state, events } = openLimiter()
  state.used = 2000
  expect(limiter.admits(0)).toBe(false)
  expect(limiter.admits(0)).toBe(false)
  expect(state.relieved).toBe(1)
  state.now = 5000
  expect(limiter.admits(0)).toBe(true)
  expect(limiter.admits(1)).toBe(false)
  expect(limiter.admits(0)).toBe(true)
  expect(events.length).toBe(1)
})
