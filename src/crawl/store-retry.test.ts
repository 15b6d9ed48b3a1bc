import { describe, expect, test } from 'vitest'
import { PharosError } from '../core/errors.ts'
import type { CrawlEvent } from './events.ts'
import type { Ledger } from './ledger.ts'
import { createRetryingLedger, describeTime, StoreRetry } from './store-retry.ts'

const FULL = new PharosError('LIBRARY_FULL', { library: 'library.db', problem: 'the disk is full' })

/** A `StoreRetry` with a clock that advances by the time slept. */
function stagePatience(pauseMs = 60_000) {
  const sleeps: number[] = []
  const told: CrawlEvent[] = []
  const problems: string[] = []
  const stop = new AbortController()
  let now = 1000
  const clock = {
    now: () => now,
    sleep: async (ms: number, signal?: AbortSignal) => {
      signal?.throwIfAborted()
      await new Promise((resolve) => setImmediate(resolve))
      signal?.throwIfAborted()
      sleeps.push(ms)
      now += ms
    },
  }
  const patience = new StoreRetry({
    clock,
    signal: stop.signal,
    maxWaitMs: () => pauseMs,
    tell: (event) => told.push(event),
    giveUp: (problem) => {
      problems.push(problem)
      stop.abort(new Error(problem))
    },
  })
  return { patience, sleeps, told, problems, stop }
}

/** Work that fails a number of times before it succeeds. */
function failing(times: number, error: unknown = FULL) {
  let tries = 0
  const work = async () => {
    if (tries++ < times) throw error
    return 'done'
  }
  return { work, tries: () => tries }
}

describe('StoreRetry with a failing write', () => {
  test('retries with growing delays until the write succeeds', async () => {
    const { patience, sleeps, told } = stagePatience()
    const { work, tries } = failing(8)
    await expect(patience.retryWrite(work)).resolves.toBe('done')
    expect(tries()).toBe(9)
    expect(sleeps).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000, 5000])
    expect(told).toEqual([
      { type: 'paused', cause: 'disk-full', detail: FULL.message },
      { type: 'resumed', cause: 'disk-full', pausedMs: 22_750 },
    ])
    expect(patience.isWaiting).toBe(false)
  })

  test.each([
    ['LIBRARY_FULL', 'disk-full'],
    ['LIBRARY_LOCKED', 'locked'],
    ['LIBRARY_READ_ONLY', 'read-only'],
  ] as const)('reports %s as a pause with the cause %s', async (code, cause) => {
    const { patience, told } = stagePatience()
    await patience.retryWrite(failing(1, new PharosError(code)).work)
    expect(told).toMatchObject([{ cause }, { cause }])
  })

  test('blocks all other writes while one is retried', async () => {
    const { patience, told } = stagePatience()
    const first = failing(5)
    const others = Array.from({ length: 10 }, () => failing(1))
    const started = patience.retryWrite(first.work)
    await new Promise((resolve) => setImmediate(resolve))
    expect(patience.isWaiting).toBe(true)
    const late = failing(0)
    const all = [
      started,
      ...others.slice(0, 5).map(({ work }) => patience.retryWrite(work)),
      patience.retryWrite(late.work),
    ]
    await new Promise((resolve) => setImmediate(resolve))
    expect(late.tries()).toBe(0)
    expect(others[0]?.tries()).toBe(0)
    await Promise.all(all)
    expect(late.tries()).toBe(1)
    // Writes that fail after the first has succeeded block each other.
    expect(told.map(({ type }) => type).slice(0, 2)).toEqual(['paused', 'resumed'])
    expect(told.filter(({ type }) => type === 'paused')).toHaveLength(told.length / 2)
  })

  test('reports one pause for several writes that fail at once', async () => {
    const { patience, told } = stagePatience()
    let isFull = true
    let tries = 0
    const work = async () => {
      tries++
      await new Promise((resolve) => setImmediate(resolve))
      if (isFull) throw FULL
    }
    const all = Array.from({ length: 8 }, () => patience.retryWrite(work))
    while (tries < 11) await new Promise((resolve) => setImmediate(resolve))
    isFull = false
    await Promise.all(all)
    expect(told.map(({ type }) => type)).toEqual(['paused', 'resumed'])
    // The first eight attempts, then one write retries for all.
    expect(tries).toBeLessThan(8 + 4 + 8)
  })

  test('gives up after the maximum wait and describes the problem', async () => {
    const { patience, problems, told, stop } = stagePatience(10_000)
    const other = failing(Infinity)
    const kept = [patience.retryWrite(failing(Infinity).work), patience.retryWrite(other.work)]
    const results = await Promise.allSettled(kept)
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(kept[0]).rejects.toBe(FULL)
    await expect(kept[1]).rejects.toBe(FULL)
    expect(problems).toEqual([
      'the disk has been full for 10 seconds; what is there stays, and the crawl can go on later',
    ])
    expect(told.map(({ type }) => type)).toEqual(['paused'])
    expect(stop.signal.aborted).toBe(true)
  })

  test('does not wait after the crawl is stopped, but still tries once', async () => {
    const { patience, told, stop } = stagePatience()
    const waiting = patience.retryWrite(failing(Infinity).work)
    await new Promise((resolve) => setImmediate(resolve))
    const reason = new Error('enough')
    stop.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await expect(patience.retryWrite(failing(0).work)).resolves.toBe('done')
    await expect(patience.retryWrite(failing(1).work)).rejects.toBe(FULL)
    expect(told.map(({ type }) => type)).toEqual(['paused'])
  })

  test('throws other errors at once', async () => {
    const { patience, told } = stagePatience()
    const error = new TypeError('no')
    await expect(patience.retryWrite(failing(1, error).work)).rejects.toBe(error)
    const unknown = new PharosError('SOURCE_UNKNOWN', { source: 'x' })
    await expect(patience.retryWrite(failing(1, unknown).work)).rejects.toBe(unknown)
    expect(told).toEqual([])
  })
})

test('a retrying ledger delays writes but not reads', async () => {
  const { patience, told } = stagePatience()
  const release = failing(3)
  const ledger = createRetryingLedger(
    {
      release: release.work,
      countOpen: async () => ({ pending: 3, leased: 0, nextAt: null }),
      settle: async () => ({ type: 'settled' }),
    } as unknown as Ledger,
    patience,
  )
  const released = ledger.release([])
  await new Promise((resolve) => setImmediate(resolve))
  expect(patience.isWaiting).toBe(true)
  await expect(ledger.countOpen('docs', 1)).resolves.toMatchObject({ pending: 3 })
  expect(patience.isWaiting).toBe(true)
  await released
  expect(release.tries()).toBe(4)
  expect(told).toHaveLength(2)
})

test.each([
  [3_600_000, '1 hour'],
  [7_200_000, '2 hours'],
  [600_000, '10 minutes'],
  [1500, '2 seconds'],
])('describeTime(%i) is %s', (ms, words) => {
  expect(describeTime(ms)).toBe(words)
})
