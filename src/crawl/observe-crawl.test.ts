import { expect, test } from 'vitest'
import { EventQueue } from './event-queue.ts'
import type { CrawlEvent } from './events.ts'
import type { Ledger } from './ledger.ts'
import { ActivityCounter, type ObservedCrawl, observeCrawl, StallError } from './observe-crawl.ts'
import type { Clock } from './ports.ts'
import { DEFAULT_CRAWL_LIMITS } from './run.ts'
import { StoreRetry } from './store-retry.ts'

const never = <T>(): Promise<T> => new Promise<T>(() => undefined)

/** A clock that advances when a caller sleeps. */
function createStepClock(): Clock {
  let now = 0
  return {
    now: () => now,
    async sleep(ms, signal) {
      signal?.throwIfAborted()
      // Pending work runs before the time advances.
      await new Promise((resolve) => setImmediate(resolve))
      now += ms
    },
  }
}

test('a crawl whose library does not respond still signals liveness, and is stopped when it stalls', async () => {
  const clock = createStepClock()
  const stop = new AbortController()
  const storeRetry = new StoreRetry({
    clock,
    signal: stop.signal,
    maxWaitMs: () => 1,
    tell: () => undefined,
    giveUp: () => undefined,
  })
  const limits = { ...DEFAULT_CRAWL_LIMITS, aliveMs: 30_000, stallMs: 120_000 }
  let heartbeats = 0
  const active: ObservedCrawl = {
    run: { sourceId: 'docs', limits },
    ports: {
      clock,
      ledger: { countOpen: never } as Partial<Ledger> as Ledger,
      control: undefined,
      touch: () => {
        heartbeats += 1
        return never()
      },
    },
    events: new EventQueue<CrawlEvent>(),
    visiting: new Map(),
    progress: never,
  }
  await observeCrawl({ active, storeRetry, activity: new ActivityCounter(), stop }, stop.signal)
  expect(stop.signal.reason).toBeInstanceOf(StallError)
  // A signal that gets no response is repeated after `aliveMs`.
  expect(heartbeats).toBeGreaterThanOrEqual(limits.stallMs / limits.aliveMs)
})
