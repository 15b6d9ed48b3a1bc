import { expect, test } from 'vitest'
import {
  CONTESTED_LEASE_MS,
  FREE_LEASE,
  judgeHostOwnership,
  MAX_LEASE_MS,
  releaseHost,
  revokeHost,
  takeHost,
  WANT_EXPIRY_MS,
  WANT_INTERVAL_MS,
  wantHost,
} from './host-lease.ts'

const NOW = 1_000_000
const taken = takeHost(FREE_LEASE, 'one', NOW, NOW + 30_000)

test('a free host can be taken, and no other process can take it until the lease expires', () => {
  expect(judgeHostOwnership(FREE_LEASE, 'one', NOW)).toBe('free')
  expect(taken).toEqual({ holder: 'one', token: 1, leasedUntil: NOW + 30_000, takenAt: NOW, wantedAt: 0 })
  expect(judgeHostOwnership(taken, 'one', NOW + 1)).toBe('ours')
  expect(judgeHostOwnership(taken, 'two', NOW + 29_999)).toBe('others')
  expect(judgeHostOwnership(taken, 'two', NOW + 30_000)).toBe('free')
})

test('the token grows only when a host changes hands', () => {
  const renewed = takeHost(taken, 'one', NOW + 9, NOW + 40_000)
  expect(renewed).toEqual({ ...taken, leasedUntil: NOW + 40_000 })
  expect(takeHost(releaseHost(taken), 'one', NOW + 9, NOW + 40_000)).toMatchObject({ token: 1, takenAt: NOW + 9 })
  expect(takeHost(renewed, 'two', NOW + 50_000, NOW + 80_000)).toMatchObject({ holder: 'two', token: 2 })
  expect(revokeHost(taken)).toEqual({ ...FREE_LEASE, token: 2 })
})

test('an expired lease that no other process wants still belongs to its holder', () => {
  expect(judgeHostOwnership(taken, 'one', NOW + 90_000)).toBe('ours')
})

test('a lease beyond the maximum does not block other processes', () => {
  expect(judgeHostOwnership({ ...taken, leasedUntil: NOW + MAX_LEASE_MS + 1 }, 'two', NOW)).toBe('free')
})

test('the holder of a wanted host keeps it for its turn, then gives it back and does not take it again', () => {
  const wanted = wantHost(taken, NOW + 4500)
  expect(judgeHostOwnership(wanted, 'one', NOW + CONTESTED_LEASE_MS - 1)).toBe('ours')
  expect(judgeHostOwnership(wanted, 'one', NOW + CONTESTED_LEASE_MS)).toBe('yielded')
  const released = releaseHost(wanted)
  expect(judgeHostOwnership(released, 'one', NOW + CONTESTED_LEASE_MS)).toBe('yielded')
  expect(judgeHostOwnership(released, 'two', NOW + CONTESTED_LEASE_MS)).toBe('free')
  expect(takeHost(released, 'two', NOW + CONTESTED_LEASE_MS, NOW + 40_000)).toMatchObject({ token: 2, wantedAt: 0 })
})

test('a wish for a held host expires unless it is repeated', () => {
  const wanted = wantHost(taken, NOW + CONTESTED_LEASE_MS)
  expect(judgeHostOwnership(wanted, 'one', NOW + CONTESTED_LEASE_MS + WANT_EXPIRY_MS)).toBe('ours')
  expect(judgeHostOwnership(releaseHost(wanted), 'one', NOW + CONTESTED_LEASE_MS + WANT_EXPIRY_MS)).toBe('free')
})

test('a wish for a held host is written at most once per interval', () => {
  const wanted = wantHost(taken, NOW)
  expect(wantHost(wanted, NOW + WANT_INTERVAL_MS - 1)).toBe(wanted)
  expect(wantHost(wanted, NOW + WANT_INTERVAL_MS)).toMatchObject({ wantedAt: NOW + WANT_INTERVAL_MS })
})
