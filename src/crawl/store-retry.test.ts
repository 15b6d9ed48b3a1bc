import { describe, expect, test } from 'vitest'
import { PharosError } from '../core/errors.ts'
import type { CrawlEvent } from './events.ts'
import type { Ledger } from './ledger.ts'
import { createRetryingLedger, describeTime, StoreRetry } from './store-retry.ts'

const FULL = new PharosError('LIBRARY_FULL', { library: 'library.db', problem: 'the disk is full' })

/** A `StoreRetry` with a clock that advances by the time slept. */
function createStoreRetry(pauseMs = 60_000) {
  const sleeps: number[] = []
  const events: CrawlEvent[] = []
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
  const storeRetry = new StoreRetry({
    clock,
    signal: stop.signal,
    maxWaitMs: () => pauseMs,
    tell: (event) => events.push(event),
    giveUp: (problem) => {
      problems.push(problem)
      stop.abort(new Error(problem))
    },
  })
  return { storeRetry, sleeps, events, problems, stop }
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
    const { storeRetry, sleeps, events } = createStoreRetry()
    const { work, tries } = failing(8)
    await expect(storeRetry.retryWrite(work)).resolves.toBe('done')
    expect(tries()).toBe(9)
    expect(sleeps).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000, 5000])
    expect(events).toEqual([
      { type: 'paused', cause: 'disk-full', detail: FULL.message },
      { type: 'resumed', cause: 'disk-full', pausedMs: 22_750 },
    ])
    expect(storeRetry.isWaiting).toBe(false)
  })

  test.each([
    ['LIBRARY_FULL', 'disk-full'],
    ['LIBRARY_LOCKED', 'locked'],
    ['LIBRARY_READ_ONLY', 'read-only'],
  ] as const)('reports %s as a pause with the cause %s', async (code, cause) => {
    const { storeRetry, events } = createStoreRetry()
    await storeRetry.retryWrite(failing(1, new PharosError(code)).work)
    expect(events).toMatchObject([{ cause }, { cause }])
  })

  test('blocks all other writes while one is retried', async () => {
    const { storeRetry, events } = createStoreRetry()
    const first = failing(5)
    const others = Array.from({ length: 10 }, () => failing(1))
    const started = storeRetry.retryWrite(first.work)
    await new Promise((resolve) => setImmediate(resolve))
    expect(storeRetry.isWaiting).toBe(true)
    const late = failing(0)
    const all = [
      started,
      ...others.slice(0, 5).map(({ work }) => storeRetry.retryWrite(work)),
      storeRetry.retryWrite(late.work),
    ]
    await new Promise((resolve) => setImmediate(resolve))
    expect(late.tries()).toBe(0)
    expect(others[0]?.tries()).toBe(0)
    await Promise.all(all)
    expect(late.tries()).toBe(1)
    // Writes that fail after the first has succeeded block each other.
    expect(events.map(({ type }) => type).slice(0, 2)).toEqual(['paused', 'resumed'])
    expect(events.filter(({ type }) => type === 'paused')).toHaveLength(events.length / 2)
  })

  test('reports one pause for several writes that fail at once', async () => {
    const { storeRetry, events } = createStoreRetry()
    let isFull = true
    let tries = 0
    const work = async () => {
      tries++
      await new Promise((resolve) => setImmediate(resolve))
      if (isFull) throw FULL
    }
    const all = Array.from({ length: 8 }, () => storeRetry.retryWrite(work))
    while (tries < 11) await new Promise((resolve) => setImmediate(resolve))
    isFull = false
    await Promise.all(all)
    expect(events.map(({ type }) => type)).toEqual(['paused', 'resumed'])
    // The first eight attempts, then one write retries for all.
    expect(tries).toBeLessThan(8 + 4 + 8)
  })

  test('gives up after the maximum wait and describes the problem', async () => {
    const { storeRetry, problems, events, stop } = createStoreRetry(10_000)
    const other = failing(Infinity)
    const writes = [storeRetry.retryWrite(failing(Infinity).work), storeRetry.retryWrite(other.work)]
    const results = await Promise.allSettled(writes)
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(writes[0]).rejects.toBe(FULL)
    await expect(writes[1]).rejects.toBe(FULL)
    expect(problems).toEqual(['the disk has been full for 10 seconds; stored pages stay, and the crawl can be resumed'])
    expect(events.map(({ type }) => type)).toEqual(['paused'])
    expect(stop.signal.aborted).toBe(true)
  })

  test('does not wait after the crawl is stopped, but still tries once', async () => {
    const { storeRetry, events, stop } = createStoreRetry()
    const waiting = storeRetry.retryWrite(failing(Infinity).work)
    await new Promise((resolve) => setImmediate(resolve))
    const reason = new Error('enough')
    stop.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await expect(storeRetry.retryWrite(failing(0).work)).resolves.toBe('done')
    await expect(storeRetry.retryWrite(failing(1).work)).rejects.toBe(FULL)
    expect(events.map(({ type }) => type)).toEqual(['paused'])
  })

  test('throws other errors at once', async () => {
    const { storeRetry, events } = createStoreRetry()
    const error = new TypeError('no')
    await expect(storeRetry.retryWrite(failing(1, error).work)).rejects.toBe(error)
    const unknown = new PharosError('SOURCE_UNKNOWN', { source: 'x' })
    await expect(storeRetry.retryWrite(failing(1, unknown).work)).rejects.toBe(unknown)
    expect(events).toEqual([])
  })
})

test('a retrying ledger delays writes but not reads', async () => {
  const { storeRetry, events } = createStoreRetry()
  const release = failing(3)
  const ledger = createRetryingLedger(
    {
      release: release.work,
      countOpen: async () => ({ pending: 3, leased: 0, nextAt: null }),
      settle: async () => ({ type: 'settled' }),
    } as unknown as Ledger,
    storeRetry,
  )
  const released = ledger.release([])
  await new Promise((resolve) => setImmediate(resolve))
  expect(storeRetry.isWaiting).toBe(true)
  await expect(ledger.countOpen('docs', 1)).resolves.toMatchObject({ pending: 3 })
  expect(storeRetry.isWaiting).toBe(true)
  await released
  expect(release.tries()).toBe(4)
  expect(events).toHaveLength(2)
})

test.each([
  [3_600_000, '1 hour'],
  [7_200_000, '2 hours'],
  [600_000, '10 minutes'],
  [1500, '2 seconds'],
])('describeTime(%i) is %s', (ms, words) => {
  expect(describeTime(ms)).toBe(words)
})
