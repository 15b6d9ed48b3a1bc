import { expect, test } from 'vitest'
import { createLoginRateLimit } from './login-rate-limit.ts'

test('wrong tokens make all clients wait, longer each time up to a limit; a right one resets the wait', () => {
  let now = 0
  const rateLimit = createLoginRateLimit(() => now)
  const waits: number[] = []
  for (let i = 0; i < 12; i++) {
    rateLimit.recordAttempt(false)
    waits.push(rateLimit.waitMs())
    now += rateLimit.waitMs()
  }
  expect(waits).toEqual([0, 0, 0, 0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  expect(rateLimit.waitMs()).toBe(0)
  rateLimit.recordAttempt(true)
  rateLimit.recordAttempt(false)
  expect(rateLimit.waitMs()).toBe(0)
})
