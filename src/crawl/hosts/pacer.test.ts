import { describe, expect, test } from 'vitest'
import { createMemoryStore } from '../../../test/memory-store/memory-store.ts'
import type { CrawlEvent } from '../events.ts'
import type { FetchOutcome } from '../ports.ts'
import { takeSlot } from './host-clock.ts'
import { Pacer, type PacerOptions } from './pacer.ts'
import { POSTPONED_OUTCOME, type SendPermit } from './send-permit.ts'

const HOST = 'slow.test'
const ORIGIN = `https://${HOST}`
const START = 1_700_000_000_000
const LIMITS: PacerOptions['limits'] = {
  intervalMs: 200,
  loopbackIntervalMs: 0,
  startIntervalMs: 1000,
  jitterMs: [25, 50],
  holdsMs: [30_000, 300_000, 900_000],
}

const GOOD: FetchOutcome = { type: 'gone', status: 404 }

/** Matches every permit to send a request. */
const PERMIT: unknown = expect.objectContaining({ slot: expect.any(Number) })

function failed(more: Partial<Extract<FetchOutcome, { type: 'failed' }>> = {}): FetchOutcome {
  const reason = more.status === undefined || more.status === null ? 'network' : 'http-server-error'
  return { type: 'failed', status: null, reason, detail: 'x', isTransient: true, retryAfterMs: null, ...more }
}

const TOO_MANY = failed({ status: 429, reason: 'rate-limited' })
const BUSY = failed({ status: 503 })
const ERROR = failed({ status: 500 })
const TIMEOUT = failed({ reason: 'timeout' })
const BROKEN = failed()

function retryAfter(seconds: number): FetchOutcome {
  return failed({ status: 429, reason: 'rate-limited', retryAfterMs: seconds * 1000 })
}

/** A pacer with a clock that only advances when a caller sleeps. */
function setUp(
  more: {
    store?: ReturnType<typeof createMemoryStore>
    time?: { now: number }
    random?: () => number
    limits?: Partial<PacerOptions['limits']>
    probe?: PacerOptions['probe']
    signal?: AbortSignal
  } = {},
) {
  const { store = createMemoryStore(), time = { now: START }, random = () => 0.5 } = more
  const limits = { ...LIMITS, ...more.limits }
  const events: CrawlEvent[] = []
  const clock = {
    now: () => time.now,
    sleep: async (ms: number, signal?: AbortSignal) => {
      const until = time.now + ms
      // Other sleepers wake first.
      await Promise.resolve()
      signal?.throwIfAborted()
      time.now = Math.max(time.now, until)
    },
  }
  const tell = (event: CrawlEvent) => events.push(event)
  const pacer = new Pacer({
    ledger: store,
    clock,
    random,
    limits,
    tell,
    ...(more.probe === undefined ? {} : { probe: more.probe }),
    ...(more.signal === undefined ? {} : { signal: more.signal }),
  })
  let asked = 0
  /** Takes a turn, notes the outcome for a new address or the given path, and returns the time of the request. */
  const ask = async (outcome: FetchOutcome = GOOD, host = HOST, path = `${asked++}`): Promise<number> => {
    expect(await pacer.takeTurn(host)).toEqual(PERMIT)
    const sentAt = time.now
    await pacer.health.noteOutcome(`https://${host}/${path}`, outcome, sentAt)
    return sentAt
  }
  const askOften = async (times: number, outcome: FetchOutcome = GOOD): Promise<number[]> => {
    const moments: number[] = []
    for (let i = 0; i < times; i++) moments.push(await ask(outcome))
    return moments
  }
  /** Reserves a slot, as a lease does. */
  const reserve = async (): Promise<number> => {
    let slot = 0
    await store.changeClock(HOST, time.now, (known) => {
      const taken = takeSlot(known, time.now, 25)
      slot = taken.slot
      return taken.clock
    })
    return slot
  }
  const read = (host = HOST) => store.readClock(host, time.now)
  const interval = async (host = HOST) => Math.round((await read(host)).intervalMs)
  const remainingBackOffMs = async () => (await read()).heldUntil - time.now
  return { pacer, store, time, events, ask, askOften, reserve, read, interval, remainingBackOffMs }
}

/** The clock of a machine that freezes for `frozenMs` before each wake-up, and then wakes all overdue sleepers. */
function createFrozenClock(time: { now: number }, frozenMs: number) {
  let timers: { readonly at: number; readonly wake: () => void }[] = []
  return {
    now: () => time.now,
    sleep: (ms: number) => new Promise<void>((wake) => timers.push({ at: time.now + ms, wake })),
    async run(): Promise<void> {
      for (;;) {
        // Runs all pending work before the next wake-up.
        await new Promise((resolve) => setTimeout(resolve))
        if (timers.length === 0) return
        time.now = Math.min(...timers.map(({ at }) => at)) + frozenMs
        const due = timers.filter(({ at }) => at <= time.now)
        timers = timers.filter(({ at }) => at > time.now)
        for (const { wake } of due) wake()
      }
    },
  }
}

function gaps(moments: readonly number[]): number[] {
  return moments.slice(1).map((moment, i) => Math.round(moment - (moments[i] ?? 0)))
}

/** Sends a request with a fetcher that asks `isInTime` before it responds. */
function sendThrough(pacer: Pacer, permit: SendPermit, respond: (isInTime: () => boolean) => Promise<FetchOutcome>) {
  return pacer.send(permit, { fetch: ({ isInTime = () => true }) => respond(isInTime) }, { url: `${ORIGIN}/` })
}

describe('pace of a host', () => {
  test('starts slowly and shrinks the interval after every ten quick responses, down to the minimum', async () => {
    const { askOften, interval } = setUp()
    const moments = await askOften(100)
    const expected = [1000, 800, 640, 512, 410, 328, 262, 200, 200, 200].flatMap((pause) => Array(10).fill(pause))
    // The slot after the tenth response was reserved before the response came.
    expect(gaps(moments).map((gap) => gap - 37.5)).toEqual(
      expected.slice(0, 99).map((pause) => expect.closeTo(pause, -0.5)),
    )
    expect(await interval()).toBe(200)
  })

  test('adds separate jitter to each slot', async () => {
    const draws = [0, 1, 0.2, 0.8, 0.4]
    let drawn = 0
    const { askOften } = setUp({ random: () => draws[drawn++ % draws.length] ?? 0 })
    expect(gaps(await askOften(6))).toEqual([1025, 1050, 1030, 1045, 1035])
  })

  test('is independent for each host and unlimited on this machine', async () => {
    const { ask, time, interval } = setUp()
    await ask()
    await ask(GOOD, 'other.test')
    expect(time.now).toBe(START)
    for (const host of ['localhost:1', '127.0.0.1:8080', '127.0.0.2', '[::1]:1', 'docs.localhost']) {
      for (let i = 0; i < 20; i++) await ask(GOOD, host)
      expect(await interval(host)).toBe(0)
    }
    expect(time.now).toBe(START)
    for (const host of ['localhost.test', '128.0.0.1', '127.test', 'notlocalhost']) {
      await ask(GOOD, host)
      expect(await interval(host)).toBe(1000)
    }
  })

  test('applies a configured interval to this machine, even after a run without one', async () => {
    const host = 'localhost:1'
    const quick = setUp()
    await quick.ask(GOOD, host)
    const { store, time } = quick
    const slow = setUp({ store, time, limits: { loopbackIntervalMs: 1000 } })
    await slow.pacer.hosts.setDelay(`http://${host}`, null)
    const moments: number[] = []
    for (let i = 0; i < 30; i++) moments.push(await slow.ask(GOOD, host))
    for (const gap of gaps(moments)) expect(gap).toBeGreaterThanOrEqual(1000)
    const next = setUp({ store, time })
    await next.pacer.hosts.setDelay(`http://${host}`, null)
    expect(await next.interval(host)).toBe(0)
  })

  test('continues at the same pace with the next pacer', async () => {
    const first = setUp()
    const last = (await first.askOften(100)).at(-1) ?? 0
    const second = setUp({ store: first.store, time: first.time })
    expect((await second.ask()) - last).toBeCloseTo(237.5)
  })

  test('starts slowly again after an hour without requests', async () => {
    const first = setUp()
    await first.askOften(100)
    first.time.now += 3_601_000
    const second = setUp({ store: first.store, time: first.time })
    expect(gaps(await second.askOften(2))).toEqual([1038])
  })

  test('keeps the interval even if timers are late', async () => {
    const { pacer, time, askOften, reserve } = setUp()
    await askOften(100)
    const slots = [await reserve(), await reserve(), await reserve()]
    time.now = (slots[2] ?? 0) + 150
    const moments: number[] = []
    for (const slot of slots) {
      expect(await pacer.enterSlot(HOST, slot)).toEqual(PERMIT)
      moments.push(time.now)
    }
    for (const gap of gaps(moments)) expect(gap).toBeGreaterThanOrEqual(200)
  })

  test('keeps the interval between two pacers when one is late', async () => {
    const first = setUp()
    await first.askOften(100)
    const { time } = first
    const second = setUp({ store: first.store, time })
    const [mine, theirs] = [await first.reserve(), await second.reserve()]
    time.now = theirs
    expect(await second.pacer.enterSlot(HOST, theirs)).toEqual(PERMIT)
    time.now += 10
    expect(await first.pacer.enterSlot(HOST, mine)).toEqual(PERMIT)
    expect(time.now - theirs).toBeGreaterThanOrEqual(200)
    const after = await second.reserve()
    expect(after - time.now).toBeGreaterThanOrEqual(200)
    // A request that is late by no more than the jitter is sent at once, even if other slots follow.
    await first.reserve()
    time.now = after + 25
    expect(await second.pacer.enterSlot(HOST, after)).toEqual(PERMIT)
    expect(time.now).toBe(after + 25)
  })

  test('keeps the interval for many concurrent callers on a machine that freezes repeatedly', async () => {
    const first = setUp()
    await first.askOften(100)
    const { store, time } = first
    const clock = createFrozenClock(time, 5000)
    const pacer = new Pacer({ ledger: store, clock, random: () => 0.5, limits: LIMITS })
    const moments: number[] = []
    const many = Array.from({ length: 16 }, async () => {
      expect(await pacer.takeTurn(HOST)).toEqual(PERMIT)
      moments.push(time.now)
    })
    await Promise.race([Promise.all(many), clock.run()])
    expect(moments).toHaveLength(16)
    for (const gap of gaps(moments)) expect(gap).toBeGreaterThanOrEqual(200)
  })

  test('keeps the interval between two pacers when one freezes while it reads the clock', async () => {
    const first = setUp()
    await first.askOften(100)
    const { time, store } = first
    const second = setUp({ store, time })
    const mine = await first.reserve()
    time.now = mine
    let asked = 0
    const ledger: PacerOptions['ledger'] = {
      readRobots: (origin) => store.readRobots(origin),
      changeClock: (...args) => store.changeClock(...args),
      async readClock(...args) {
        const known = await store.readClock(...args)
        if (asked === 0) {
          time.now += 60_000
          asked = await second.ask()
        }
        return known
      },
    }
    const clock = {
      now: () => time.now,
      sleep: async (ms: number) => {
        time.now += ms
      },
    }
    const frozen = new Pacer({ ledger, clock, random: () => 0.5, limits: LIMITS })
    expect(await frozen.enterSlot(HOST, mine)).toEqual(PERMIT)
    expect(time.now - asked).toBeGreaterThanOrEqual(200)
  })

  test('keeps the interval between two pacers when the late one reserved last', async () => {
    const first = setUp()
    await first.askOften(100)
    const { time } = first
    const second = setUp({ store: first.store, time })
    const mine = await first.reserve()
    time.now = mine + 190
    expect(await first.pacer.enterSlot(HOST, mine)).toEqual(PERMIT)
    expect(time.now).toBe(mine + 190)
    expect((await second.ask()) - (mine + 190)).toBeGreaterThanOrEqual(200)
  })

  test('needs only one read of the clock for a caller that is late repeatedly', async () => {
    const { store, time, askOften, reserve } = setUp()
    await askOften(100)
    const slot = await reserve()
    time.now = slot + 500
    let reads = 0
    const ledger: PacerOptions['ledger'] = {
      readRobots: (origin) => store.readRobots(origin),
      // Each response takes longer than the allowed delay of a slot.
      async changeClock(...args) {
        const changed = await store.changeClock(...args)
        time.now += 30
        return changed
      },
      readClock(...args) {
        reads++
        time.now += 30
        return store.readClock(...args)
      },
    }
    const sleep = async () => undefined
    const late = new Pacer({ ledger, clock: { now: () => time.now, sleep }, random: () => 0.5, limits: LIMITS })
    expect(await late.enterSlot(HOST, slot)).toEqual(PERMIT)
    expect(reads).toBe(1)
  })

  test('keeps the interval after a caller that is late even for its replacement slot', async () => {
    const first = setUp()
    await first.askOften(100)
    const { store, time } = first
    const slot = await first.reserve()
    time.now = slot + 500
    const ledger: PacerOptions['ledger'] = {
      readRobots: (origin) => store.readRobots(origin),
      readClock: (...args) => store.readClock(...args),
      // Each response takes longer than the interval of the host.
      async changeClock(...args) {
        const changed = await store.changeClock(...args)
        time.now += 600
        return changed
      },
    }
    const sleep = async (ms: number) => {
      time.now += ms
    }
    const late = new Pacer({ ledger, clock: { now: () => time.now, sleep }, random: () => 0.5, limits: LIMITS })
    expect(await late.enterSlot(HOST, slot)).toEqual(PERMIT)
    const sentAt = time.now
    const second = setUp({ store, time })
    expect((await second.ask()) - sentAt).toBeGreaterThanOrEqual(200)
  })

  test.each([
    ['each time', [3000, 3000, 3000, 3000, 3000, 3000]],
    ['the first time', [3000]],
    ['longer and longer', [300, 700, 1500, 3200]],
  ])('keeps the interval when opening a connection takes long, %s', async (_, waits) => {
    const first = setUp()
    await first.askOften(100)
    const { store, time } = first
    const sent: number[] = []
    const second = setUp({ store, time })
    const send = async (pacer: Pacer, delays: number[]) => {
      const permit = await pacer.takeTurn(HOST)
      if (permit === 'parked') throw new Error('it is parked')
      let attempts = 0
      const { outcome } = await sendThrough(pacer, permit, async (isInTime) => {
        attempts++
        time.now += delays.shift() ?? 0
        if (!isInTime()) return TIMEOUT
        sent.push(time.now)
        return GOOD
      })
      expect(outcome).toBe(GOOD)
      return attempts
    }
    // Every request is sent in the end, after a few attempts.
    expect(await send(first.pacer, [...waits])).toBeLessThanOrEqual(5)
    for (const pacer of [second.pacer, first.pacer, second.pacer]) await send(pacer, [])
    expect(sent).toHaveLength(4)
    for (const gap of gaps(sent)) expect(gap).toBeGreaterThanOrEqual(200)
  })

  test('keeps the interval when many connections open at the same moment', async () => {
    const { pacer, time, askOften, reserve } = setUp()
    await askOften(100)
    const permits = []
    for (let i = 0; i < 8; i++) {
      const slot = await reserve()
      time.now = slot
      permits.push(await pacer.enterSlot(HOST, slot))
    }
    time.now += 3000
    const sent: number[] = []
    for (const permit of permits) {
      if (typeof permit === 'string') throw new Error(`it is ${permit}`)
      const { outcome } = await sendThrough(pacer, permit, async (isInTime) => {
        if (!isInTime()) return TIMEOUT
        sent.push(time.now)
        return GOOD
      })
      expect(outcome).toBe(GOOD)
    }
    expect(sent).toHaveLength(8)
    for (const gap of gaps(sent)) expect(gap).toBeGreaterThanOrEqual(200)
    // Only requests that were sent count.
    expect(pacer.hosts.progress()[0]?.requests).toBe(108)
  })

  test('postpones a visit without a request if a back-off begins before the request is sent', async () => {
    const { pacer, time, askOften, reserve } = setUp()
    await askOften(100)
    const slot = await reserve()
    time.now = slot
    const permit = await pacer.enterSlot(HOST, slot, undefined, 'visit')
    if (typeof permit === 'string') throw new Error(`it is ${permit}`)
    const { outcome } = await sendThrough(pacer, permit, async (isInTime) => {
      await pacer.health.noteOutcome(`${ORIGIN}/a`, retryAfter(60), slot)
      expect(isInTime()).toBe(false)
      return TIMEOUT
    })
    expect(outcome).toBe(POSTPONED_OUTCOME)
  })

  test('gives no permit but `later` to a process that has lost the host', async () => {
    const { store, time, askOften, reserve } = setUp()
    await askOften(100)
    const slot = await reserve()
    const leases: string[] = []
    const ledger: PacerOptions['ledger'] = {
      readRobots: (origin) => store.readRobots(origin),
      readClock: (...args) => store.readClock(...args),
      changeClock: (...args) => store.changeClock(...args),
      async readClockFor({ host, lease }, now) {
        leases.push(lease)
        return lease === 'kept' ? store.readClock(host, now) : undefined
      },
    }
    const sleep = async (ms: number) => {
      time.now += ms
    }
    const pacer = new Pacer({ ledger, clock: { now: () => time.now, sleep }, random: () => 0.5, limits: LIMITS })
    expect(await pacer.enterSlot(HOST, slot, undefined, 'lost')).toBe('later')
    expect(await pacer.enterSlot(HOST, slot, undefined, 'kept')).toEqual(PERMIT)
    expect(new Set(leases)).toEqual(new Set(['lost', 'kept']))
  })

  test('gives no permit but `later` to a process that lost the host while the process was frozen', async () => {
    const { store, time, askOften, reserve } = setUp()
    await askOften(100)
    const slot = await reserve()
    let isLost = false
    const ledger: PacerOptions['ledger'] = {
      readRobots: (origin) => store.readRobots(origin),
      readClock: (...args) => store.readClock(...args),
      changeClock: (...args) => store.changeClock(...args),
      async readClockFor({ host }, now) {
        const known = isLost ? undefined : await store.readClock(host, now)
        // The process freezes before it can use the response.
        time.now += 60_000
        isLost = true
        return known
      },
    }
    const clock = { now: () => time.now, sleep: async () => undefined }
    const pacer = new Pacer({ ledger, clock, random: () => 0.5, limits: LIMITS })
    expect(await pacer.enterSlot(HOST, slot, undefined, 'visit')).toBe('later')
  })

  test('voids slots reserved before the host was slowed down', async () => {
    const { pacer, time, ask, reserve } = setUp()
    const sentAt = await ask()
    const slot = await reserve()
    time.now += 500
    for (const path of ['a', 'b']) await pacer.health.noteOutcome(`${ORIGIN}/${path}`, BUSY, sentAt)
    time.now = slot
    expect(await pacer.enterSlot(HOST, slot)).toEqual(PERMIT)
    time.now += 100
    await pacer.health.noteOutcome(`${ORIGIN}/c`, BUSY, slot)
    expect(await pacer.enterSlot(HOST, slot)).toBe('later')
    expect(await ask()).toBeGreaterThanOrEqual(slot + 2000)
  })

  test('takeTurn rejects when the signal is aborted during the wait', async () => {
    const { pacer, ask } = setUp()
    await ask()
    const stop = new AbortController()
    stop.abort(new Error('stopped'))
    await expect(pacer.takeTurn(HOST, stop.signal)).rejects.toThrow('stopped')
  })
})

describe('host that responds with 429', () => {
  test.each([0, 0.5, 0.999])(
    'gets a back-off of 30 s, 5 min and 15 min after three addresses in a row (random %d)',
    async (draw) => {
      const { pacer, ask, askOften, remainingBackOffMs, events, time } = setUp({ random: () => draw })
      const spread = 0.9 + draw * 0.2
      await askOften(2, TOO_MANY)
      expect(events).toEqual([])
      for (const [i, ms] of LIMITS.holdsMs.entries()) {
        await ask(TOO_MANY)
        expect(await remainingBackOffMs()).toBeCloseTo(ms * spread)
        expect(events.at(-1)).toEqual({
          type: 'held',
          host: HOST,
          untilMs: expect.closeTo(time.now + ms * spread),
          reason: 'rate-limited',
          strikes: i + 1,
        })
      }
      expect(pacer.hosts.parked.size).toBe(0)
      await ask(TOO_MANY)
      expect(pacer.hosts.parked.get(HOST)).toBe('4 times in a row: x')
      expect(events.at(-1)).toMatchObject({ type: 'parked', host: HOST, reason: 'rate-limited' })
      expect(await pacer.takeTurn(HOST)).toBe('parked')
      expect(await pacer.enterSlot(HOST, time.now)).toBe('parked')
      expect(await pacer.takeTurn('other.test')).toEqual(PERMIT)
    },
  )

  test.each([
    [1, 1000],
    [7, 7000],
    [600, 600_000],
  ])('gets a back-off of exactly the time in Retry-After: %i s', async (seconds, ms) => {
    const { pacer, ask, events } = setUp()
    const sentAt = await ask(retryAfter(seconds))
    expect(events).toMatchObject([{ type: 'held', untilMs: sentAt + ms }])
    expect(pacer.hosts.heldUntil(HOST)).toBe(sentAt + ms)
    const next = await ask()
    expect(next - sentAt).toBeCloseTo(Math.max(ms, 1037.5))
  })

  test('keeps its pace after the back-off if only one address responds with 429', async () => {
    const { ask, askOften, interval, remainingBackOffMs, events } = setUp()
    await askOften(100)
    for (let i = 0; i < 3; i++) await ask(TOO_MANY, HOST, 'limited')
    expect(events).toEqual([])
    await ask(retryAfter(2), HOST, 'limited')
    expect(await remainingBackOffMs()).toBe(2000)
    await ask()
    expect(await interval()).toBe(200)
  })

  test('gets four times the interval after 429 at a second address, although others succeed', async () => {
    const { ask, askOften, interval, remainingBackOffMs } = setUp()
    await askOften(100)
    await ask(TOO_MANY)
    await ask()
    await ask(TOO_MANY)
    expect(await interval()).toBe(800)
    expect(await remainingBackOffMs()).toBeLessThan(0)
    await askOften(10)
    expect(await interval()).toBe(640)
  })

  test.each([
    { between: 10, pauseMs: 0, withinMs: 10_000 },
    { between: 3, pauseMs: 250, withinMs: 20_000 },
  ])(
    'does not stall after one Retry-After at each of six addresses ($between successes between)',
    async ({ between, pauseMs, withinMs }) => {
      const { ask, interval, time } = setUp()
      const host = 'localhost:1'
      for (let i = 0; i < 6; i++) {
        await ask(retryAfter(1), host, `limited/${i}`)
        for (let j = 0; j < between; j++) await ask(GOOD, host)
        expect(await interval(host)).toBeLessThanOrEqual(pauseMs)
      }
      expect(time.now - START).toBeLessThan(withinMs)
    },
  )

  test('gets a longer interval at most once a minute when many addresses respond with 429', async () => {
    const { ask, askOften, interval } = setUp()
    await askOften(100)
    const intervals: number[] = []
    for (let i = 0; i < 6; i++) {
      await ask(TOO_MANY)
      await ask()
      intervals.push(await interval())
    }
    expect(intervals).toEqual([200, 800, 800, 800, 800, 800])
    for (let asked = 0; asked < 80; asked += 2) {
      await ask(TOO_MANY)
      await ask()
    }
    expect(await interval()).toBe(3200)
  })

  test('keeps its longer interval when a second process starts', async () => {
    const first = setUp()
    for (let i = 0; i < 2; i++) {
      await first.ask(TOO_MANY)
      await first.ask()
    }
    expect(await first.interval()).toBe(4000)
    const second = setUp({ store: first.store, time: first.time })
    await second.ask()
    expect(await second.interval()).toBe(4000)
    await first.askOften(3, TOO_MANY)
    const third = setUp({ store: first.store, time: first.time })
    expect((await third.read()).heldUntil).toBeGreaterThan(first.time.now)
    await third.ask()
    expect(await third.interval()).toBe(4000)
  })

  test('keeps its longer interval when the slow-down of another process ends', async () => {
    const first = setUp()
    await first.askOften(100)
    const second = setUp({ store: first.store, time: first.time })
    await second.askOften(4, BUSY)
    expect(await second.interval()).toBe(800)
    await first.ask(TOO_MANY)
    await first.ask(TOO_MANY)
    expect(await first.interval()).toBe(3200)
    await second.ask()
    expect(await second.interval()).toBe(3200)
    await second.pacer.hosts.endSlowdowns()
    expect(await second.interval()).toBe(3200)
  })

  test.each([601, 1199, 86_400, 10_000_000])(
    'is parked if Retry-After is longer than ten minutes: %i s',
    async (seconds) => {
      const first = setUp()
      await first.ask(retryAfter(seconds))
      expect(first.pacer.hosts.parked.get(HOST)).toBe(`Retry-After ${seconds}`)
      expect(first.events).toMatchObject([{ type: 'parked', reason: 'rate-limited' }])
      const second = setUp({ store: first.store, time: first.time })
      expect(await second.pacer.takeTurn(HOST)).toBe('parked')
      expect(second.time.now).toBe(first.time.now)
      expect(second.events).toMatchObject([{ type: 'parked', host: HOST }])
      const third = setUp({ store: first.store, time: first.time })
      expect(await third.pacer.hosts.parkIfHeld(HOST)).toBe(true)
      expect(await third.pacer.hosts.parkIfHeld('other.test')).toBe(false)
      expect(await setUp({ store: first.store, time: first.time }).pacer.enterSlot(HOST, START)).toBe('parked')
    },
  )

  test('is not parked by the next pacer, which waits for the back-off', async () => {
    const first = setUp({ random: () => 0.999 })
    await first.askOften(5, TOO_MANY)
    const heldUntil = first.pacer.hosts.heldUntil(HOST)
    expect(heldUntil - first.time.now).toBeGreaterThan(600_000)
    const second = setUp({ store: first.store, time: first.time })
    expect(await second.ask()).toBe(heldUntil)
    expect(second.events).toEqual([{ type: 'held', host: HOST, untilMs: heldUntil, reason: null, strikes: 3 }])
  })

  test('gets one strike for sixteen concurrent responses, and none if successes are among them', async () => {
    for (const isMixed of [false, true]) {
      const { pacer, time, read, events, ask, interval } = setUp()
      await ask()
      const before = await interval()
      const asked = Array.from({ length: 16 }, (_, i) => time.now + i)
      for (const [i, sentAt] of asked.entries()) {
        time.now = START + 500 + i
        await pacer.health.noteOutcome(`${ORIGIN}/${i}`, isMixed && i % 2 === 1 ? GOOD : TOO_MANY, sentAt)
      }
      expect(await read()).toMatchObject({ strikes: isMixed ? 0 : 1, intervalMs: before * 4 })
      expect(events).toHaveLength(isMixed ? 0 : 1)
    }
  })

  test('has no strikes left after one success', async () => {
    const { ask, askOften, remainingBackOffMs, read, events } = setUp()
    await askOften(4, TOO_MANY)
    await ask()
    expect(await read()).toMatchObject({ strikes: 0 })
    await askOften(3, TOO_MANY)
    expect(await remainingBackOffMs()).toBeCloseTo(30_000)
    expect(events.map((event) => (event.type === 'held' ? event.strikes : event.type))).toEqual([1, 2, 1])
  })

  test('lets no waiting caller in before the back-off ends', async () => {
    const { pacer, ask, time, read } = setUp()
    const sentAt = await ask()
    const { nextAt } = await read()
    await pacer.health.noteOutcome(`${ORIGIN}/a`, retryAfter(9), sentAt)
    time.now = nextAt
    expect(await pacer.enterSlot(HOST, nextAt)).toBe('later')
    expect(await ask()).toBeGreaterThanOrEqual(sentAt + 9000)
  })

  test('returns to the minimum interval after many successes', async () => {
    const { ask, askOften, interval } = setUp()
    await ask(TOO_MANY)
    await ask(TOO_MANY)
    expect(await interval()).toBe(4000)
    await askOften(200)
    expect(await interval()).toBe(200)
  })
})

describe('host that fails', () => {
  test.each([
    ['503', BUSY, [1000, 1000, 2000, 4000, 8000]],
    ['502', failed({ status: 502 }), [1000, 1000, 2000, 4000, 8000]],
    ['504', failed({ status: 504 }), [1000, 1000, 2000, 4000, 8000]],
    ['connections that break', BROKEN, [1000, 1000, 2000, 4000, 8000]],
    ['timeouts', TIMEOUT, [1000, 1000, 2000, 4000, 8000]],
    ['responses that take too long', failed({ reason: 'timeout', isTransient: false }), [1000, 1000, 2000, 4000, 8000]],
    // The host does respond, so the interval grows to two seconds at most.
    ['errors of an application', ERROR, [1000, 1000, 2000, 2000, 2000]],
  ])(
    'gets twice the interval for each address from the third failure in a row: %s',
    async (_name, outcome, expected) => {
      const { ask, interval } = setUp()
      const intervals: number[] = []
      for (const _ of expected) {
        await ask(outcome)
        intervals.push(await interval())
      }
      expect(intervals).toEqual(expected)
    },
  )

  test.each([
    ['503', BUSY],
    ['connections that break', BROKEN],
    ['timeouts', TIMEOUT],
    ['errors of an application', ERROR],
  ])('keeps its pace if only one or two addresses fail, however often: %s', async (_name, outcome) => {
    const { ask, interval, events } = setUp()
    for (let i = 0; i < 20; i++) await ask(outcome, HOST, `bad/${i % 2}`)
    expect(await interval()).toBe(1000)
    expect(events).toEqual([])
  })

  /** A probe with a fixed outcome, and the addresses it requested. */
  function createProbe(outcome: FetchOutcome) {
    const probed: string[] = []
    const probe = async (url: string) => {
      probed.push(new URL(url).pathname)
      return outcome
    }
    return { probe, probed }
  }

  test.each([
    ['timeouts', TIMEOUT],
    ['connections that break', BROKEN],
    ['errors of an application', ERROR],
  ])('keeps its pace if another address still responds: %s', async (_name, outcome) => {
    const { probe, probed } = createProbe(GOOD)
    const { ask, askOften, interval, events } = setUp({ probe })
    await ask(GOOD, HOST, 'good')
    await askOften(30, outcome)
    expect(await interval()).toBe(1000)
    expect(events).toEqual([])
    // One probe for every three failures.
    expect(probed).toEqual(Array(10).fill('/good'))
  })

  test.each([502, 503, 504])(
    'gets a longer interval but no back-off if another address still responds: %i',
    async (status) => {
      const { probe } = createProbe(GOOD)
      const { ask, askOften, interval, events } = setUp({ probe })
      await askOften(100)
      const intervals: number[] = []
      for (let i = 0; i < 5; i++) {
        await askOften(3, failed({ status }))
        intervals.push(await interval())
      }
      expect(intervals).toEqual([400, 800, 1600, 2000, 2000])
      expect(events).toEqual([])
      await ask()
      expect(await interval()).toBe(200)
    },
  )

  test.each([
    ['timeouts', TIMEOUT],
    ['connections that break', BROKEN],
    ['503', BUSY],
  ])('gets a back-off at once if known good pages fail too: %s', async (_name, outcome) => {
    for (const [paths, requested] of [
      [['a', 'b', 'c'], ['/good/2']],
      [['a', 'b', 'a'], ['/good/2']],
      [
        ['a', 'a'],
        ['/good/2', '/good/1'],
      ],
    ] as const) {
      const { probe, probed } = createProbe(outcome)
      const { ask, remainingBackOffMs, events, interval } = setUp({ probe })
      for (const path of ['good/0', 'good/1', 'good/2']) await ask(GOOD, HOST, path)
      for (const path of paths.slice(0, -1)) await ask(outcome, HOST, path)
      expect(events).toEqual([])
      await ask(outcome, HOST, paths.at(-1))
      expect(probed).toEqual(requested)
      expect(await remainingBackOffMs()).toBeCloseTo(30_000)
      expect(await interval()).toBe(4000)
      // From now on one failure is enough, until the host responds again.
      await ask(outcome, HOST, 'a')
      expect(await remainingBackOffMs()).toBeCloseTo(300_000)
      await ask()
      expect(await interval()).toBe(1000)
      await ask(outcome, HOST, 'a')
      expect(await remainingBackOffMs()).toBeLessThan(0)
      expect(events.map(({ type }) => type)).toEqual(['held', 'held'])
    }
  })

  test('keeps its pace if one address keeps failing and a known good page responds', async () => {
    const { probe } = createProbe(GOOD)
    const { ask, interval, events } = setUp({ probe })
    await ask(GOOD, HOST, 'good')
    for (let i = 0; i < 10; i++) await ask(BUSY, HOST, 'bad')
    expect(await interval()).toBe(1000)
    expect(events).toEqual([])
  })

  test('gets no back-off if another page is received while a probe fails', async () => {
    const { pacer, ask, askOften, events, time } = setUp({
      probe: async () => {
        await pacer.health.noteOutcome(`${ORIGIN}/other`, GOOD, time.now)
        return TIMEOUT
      },
    })
    await ask(GOOD, HOST, 'good')
    await askOften(6, BROKEN)
    expect(events).toEqual([])
  })

  test('gets a back-off of the time in the Retry-After of a probe', async () => {
    const { probe } = createProbe(retryAfter(7))
    const { ask, askOften, remainingBackOffMs } = setUp({ probe })
    await ask(GOOD, HOST, 'good')
    await askOften(3, BROKEN)
    expect(await remainingBackOffMs()).toBe(7000)
  })

  test('is not probed during a back-off', async () => {
    const { probe, probed } = createProbe(GOOD)
    const { pacer, ask, time } = setUp({ probe })
    const sentAt = await ask(GOOD, HOST, 'good')
    await pacer.health.noteOutcome(`${ORIGIN}/limited`, retryAfter(25), sentAt)
    const until = pacer.hosts.heldUntil(HOST)
    for (const path of ['a', 'b', 'c']) await pacer.health.noteOutcome(`${ORIGIN}/${path}`, BROKEN, sentAt)
    expect(probed).toEqual([])
    expect(time.now).toBeLessThan(until)
  })

  test('does not make a probe wait for a back-off that begins before its slot', async () => {
    const { probe, probed } = createProbe(GOOD)
    const { pacer, ask, time } = setUp({ probe })
    const sentAt = await ask(GOOD, HOST, 'good')
    for (const path of ['a', 'b']) await pacer.health.noteOutcome(`${ORIGIN}/${path}`, BROKEN, sentAt)
    const waiting = pacer.health.noteOutcome(`${ORIGIN}/c`, BROKEN, sentAt)
    await pacer.health.noteOutcome(`${ORIGIN}/limited`, retryAfter(25), sentAt)
    await waiting
    expect(probed).toEqual([])
    expect(time.now).toBeLessThan(pacer.hosts.heldUntil(HOST))
  })

  test('does not make a probe wait once the crawl is stopped', async () => {
    const { probe, probed } = createProbe(GOOD)
    const stop = new AbortController()
    const { pacer, ask } = setUp({ probe, signal: stop.signal })
    const sentAt = await ask(GOOD, HOST, 'good')
    for (const path of ['a', 'b']) await pacer.health.noteOutcome(`${ORIGIN}/${path}`, BROKEN, sentAt)
    stop.abort(new Error('stopped'))
    await expect(pacer.health.noteOutcome(`${ORIGIN}/c`, BROKEN, sentAt)).rejects.toThrow('stopped')
    expect(probed).toEqual([])
  })

  test('returns to its earlier pace after one success', async () => {
    const { ask, askOften, interval, read } = setUp()
    await askOften(100)
    await askOften(6, TIMEOUT)
    expect(await interval()).toBe(3200)
    await ask()
    expect(await read()).toMatchObject({ intervalMs: 200, strikes: 0 })
  })

  test('has its earlier pace in the next crawl, which waits for the back-off', async () => {
    const first = setUp()
    await first.askOften(100)
    await first.askOften(9, BUSY)
    expect(await first.interval()).toBeGreaterThan(2000)
    await first.pacer.hosts.endSlowdowns()
    const second = setUp({ store: first.store, time: first.time })
    const heldUntil = (await second.read()).heldUntil
    expect(await second.ask()).toBeGreaterThanOrEqual(heldUntil)
    expect(await second.read()).toMatchObject({ intervalMs: 200, strikes: 0 })
    expect(second.events).toMatchObject([{ type: 'held' }])
  })

  test('returns to the initial pace after one success, even if the process before was killed', async () => {
    const first = setUp()
    await first.askOften(100)
    await first.askOften(9, BUSY)
    const { heldUntil, nextAt, intervalMs } = await first.read()
    first.time.now = Math.max(heldUntil, nextAt) + intervalMs + 1
    const second = setUp({ store: first.store, time: first.time })
    await second.ask()
    expect(await second.read()).toMatchObject({ intervalMs: 1000, strikes: 0 })
  })

  test('does not speed up because of responses to earlier requests', async () => {
    const { pacer, ask, interval, time } = setUp()
    const sentAt = await ask()
    time.now += 100
    for (let i = 0; i < 3; i++) await pacer.health.noteOutcome(`${ORIGIN}/busy/${i}`, BUSY, sentAt)
    for (let i = 0; i < 30; i++) await pacer.health.noteOutcome(`${ORIGIN}/${i}`, GOOD, sentAt + 1)
    expect(await interval()).toBe(2000)
    await ask()
    expect(await interval()).toBe(1000)
  })

  test('never gets an interval of more than a minute', async () => {
    const { askOften, interval, pacer } = setUp()
    await pacer.hosts.setDelay(ORIGIN, 50_000)
    await askOften(4, BUSY)
    expect(await interval()).toBe(60_000)
  })

  test.each([
    ['503', BUSY],
    ['connections that break', BROKEN],
    ['timeouts', TIMEOUT],
  ])('gets a back-off after eight failed addresses in a row: %s', async (_name, outcome) => {
    const { ask, askOften, remainingBackOffMs, events, pacer } = setUp()
    await askOften(7, outcome)
    expect(events).toEqual([])
    await ask(outcome)
    expect(await remainingBackOffMs()).toBeCloseTo(30_000)
    // From now on one failure is enough.
    await ask(outcome)
    expect(await remainingBackOffMs()).toBeCloseTo(300_000)
    await ask(outcome)
    expect(await remainingBackOffMs()).toBeCloseTo(900_000)
    await ask(outcome)
    expect(pacer.hosts.parked.has(HOST)).toBe(true)
    expect(events.map(({ type }) => type)).toEqual(['held', 'held', 'held', 'parked'])
  })

  test('gets no back-off if successes are among the failures', async () => {
    const { ask, askOften, events } = setUp()
    for (let i = 0; i < 3; i++) {
      await askOften(7, BUSY)
      await ask()
    }
    expect(events).toEqual([])
  })

  test('gets a back-off for 503 with Retry-After, and none for permanent failures', async () => {
    const { ask, remainingBackOffMs, read, interval } = setUp()
    await ask(failed({ status: 503, retryAfterMs: 5000 }))
    expect(await remainingBackOffMs()).toBe(5000)
    expect(await read()).toMatchObject({ strikes: 1 })
    const other = setUp()
    await other.askOften(9, failed({ reason: 'tls', isTransient: false }))
    expect(await other.read()).toMatchObject({ heldUntil: 0, strikes: 0 })
    expect(await interval()).toBe(1000)
  })
})

test('a failed service does not change the pace of the host it should have requested', async () => {
  const { askOften, read, events, pacer } = setUp()
  await askOften(3)
  const before = await read()
  const trouble = failed({ reason: 'service-failed', retryAfterMs: 60_000 })
  for (let i = 0; i < 20; i++) await pacer.health.noteOutcome(`${ORIGIN}/${i}`, trouble, START)
  expect(await read()).toEqual(before)
  expect([pacer.hosts.parked.size, events]).toEqual([0, []])
})

describe('host that slows down', () => {
  const answered = (latencyMs: number): FetchOutcome => ({ ...GOOD, latencyMs })

  test('gets requests no faster than it responds, and speeds up when it recovers', async () => {
    const { askOften, interval, pacer } = setUp()
    await askOften(100, answered(50))
    expect(await interval()).toBe(200)
    await askOften(20, answered(3000))
    expect(await interval()).toBeGreaterThan(1500)
    expect(await interval()).toBeLessThanOrEqual(3000)
    expect(pacer.hosts.progress()[0]?.latencyMs).toBeGreaterThan(2500)
    await askOften(200, answered(50))
    expect(await interval()).toBe(200)
  })

  test('keeps its pace while latency is below three times the best, or below half a second more', async () => {
    for (const [best, slow] of [
      [400, 1100],
      [50, 540],
    ] as const) {
      const { askOften, interval } = setUp()
      await askOften(100, answered(best))
      await askOften(50, answered(slow))
      expect(await interval()).toBe(200)
    }
  })

  test('gets an interval on this machine too, and loses it when it recovers', async () => {
    const { ask, interval } = setUp()
    const host = '127.0.0.1:80'
    for (let i = 0; i < 20; i++) await ask(answered(5), host)
    expect(await interval(host)).toBe(0)
    for (let i = 0; i < 20; i++) await ask(answered(1500), host)
    expect(await interval(host)).toBeGreaterThan(700)
    for (let i = 0; i < 400; i++) await ask(answered(5), host)
    expect(await interval(host)).toBe(0)
  })

  test('has no latency if no response reports one', async () => {
    const { askOften, pacer } = setUp()
    await askOften(20)
    expect(pacer.hosts.progress()[0]?.latencyMs).toBeNull()
  })
})

describe('Crawl-delay', () => {
  test('is the minimum interval from the first request after it is known', async () => {
    const { pacer, ask, askOften } = setUp()
    const robots = await ask()
    await pacer.hosts.setDelay(ORIGIN, 2500)
    const moments = await askOften(30)
    expect((moments[0] ?? 0) - robots).toBeGreaterThanOrEqual(2500)
    expect(new Set(gaps(moments).map((gap) => Math.abs(gap - 2537) <= 1))).toEqual(new Set([true]))
  })

  test('is limited to a minute and reported if it is longer', async () => {
    const { pacer, ask, interval, events } = setUp()
    await ask()
    await pacer.hosts.setDelay(ORIGIN, 600_000)
    await pacer.hosts.setDelay(ORIGIN, 600_000)
    expect(events).toEqual([{ type: 'paced', host: HOST, intervalMs: 60_000, askedMs: 600_000 }])
    expect(await interval()).toBe(60_000)
  })

  test('applies to this machine too, and ends when robots.txt no longer has it', async () => {
    const host = 'localhost:9'
    const { pacer, ask, interval } = setUp()
    await pacer.hosts.setDelay(`http://${host}`, 500)
    const [first, second] = [await ask(GOOD, host), await ask(GOOD, host)]
    expect(second - first).toBeGreaterThanOrEqual(500)
    await pacer.hosts.setDelay(`http://${host}`, null)
    expect(await interval(host)).toBe(0)
    const third = await ask(GOOD, host)
    expect(await ask(GOOD, host)).toBe(third)
  })

  test('stays when another origin of the host has none', async () => {
    const { pacer, interval } = setUp()
    await pacer.hosts.setDelay(`https://${HOST}`, 3000)
    await pacer.hosts.setDelay(`http://${HOST}`, null)
    expect(await interval()).toBe(3000)
    await pacer.hosts.setDelay(`https://${HOST}`, null)
    expect(await interval()).toBe(1000)
  })

  test('stays when only another process has read it, unless it is a day old', async () => {
    const first = setUp()
    const { store, time } = first
    const body = 'User-agent: *\nCrawl-delay: 10\n'
    await store.writeRobots({ origin: `http://${HOST}`, fetchedAt: time.now, type: 'rules', body, status: 200 })
    await first.pacer.hosts.setDelay(`http://${HOST}`, 10_000)
    await first.ask()
    const second = setUp({ store, time })
    await second.pacer.hosts.setDelay(`https://${HOST}`, null)
    expect(await second.read()).toMatchObject({ floorMs: 10_000, intervalMs: 10_000 })
    time.now += 86_400_000
    const third = setUp({ store, time })
    await third.pacer.hosts.setDelay(`https://${HOST}`, null)
    expect(await third.read()).toMatchObject({ floorMs: 200, intervalMs: 1000 })
  })

  test('applies to the next pacer before it has read robots.txt', async () => {
    const first = setUp()
    await first.pacer.hosts.setDelay(ORIGIN, 5000)
    const last = await first.ask()
    const second = setUp({ store: first.store, time: first.time })
    expect((await second.ask()) - last).toBeGreaterThanOrEqual(5000)
    expect(await second.interval()).toBe(5000)
    await second.pacer.hosts.setDelay(ORIGIN, null)
    expect(await second.interval()).toBe(1000)
  })
})

test('a stored clock that is hours ahead does not block requests', async () => {
  const { store, time, ask } = setUp()
  await store.changeClock(HOST, time.now, (clock) => ({
    ...clock,
    floorMs: 200,
    intervalMs: 200,
    nextAt: START + 3_600_000,
    heldUntil: START + 100 * 3_600_000,
    slowedAt: START + 3_600_000,
  }))
  expect(await ask()).toBe(START)
})

test('progress reports the rate, limit, interval and back-off of each host', async () => {
  const { pacer, askOften, ask, time } = setUp()
  await ask(GOOD, '127.0.0.1:1')
  const moments = await askOften(100, { ...GOOD, latencyMs: 40 })
  expect(time.now - START).toBeGreaterThan(35_000)
  const inMinute = (now: number) =>
    moments.filter((moment) => Math.floor(moment / 1000) > Math.floor(now / 1000) - 60).length
  expect(pacer.hosts.progress()).toEqual([
    {
      host: '127.0.0.1:1',
      requests: 1,
      rpm: 1,
      limitRpm: null,
      intervalMs: 0,
      backoffUntil: null,
      backoffMs: 0,
      latencyMs: null,
    },
    {
      host: HOST,
      requests: 100,
      rpm: inMinute(time.now),
      limitRpm: 300,
      intervalMs: 200,
      backoffUntil: null,
      backoffMs: 0,
      latencyMs: expect.closeTo(40),
    },
  ])
  time.now += 40_000
  expect(inMinute(time.now)).toBeLessThan(100)
  expect(pacer.hosts.progress()[1]?.rpm).toBe(inMinute(time.now))
  const sentAt = await ask(retryAfter(20))
  time.now += 5000
  expect(pacer.hosts.progress()[1]).toMatchObject({
    requests: 101,
    intervalMs: 200,
    limitRpm: 300,
    backoffUntil: sentAt + 20_000,
    backoffMs: 15_000,
  })
  time.now += 300_000
  expect(pacer.hosts.progress()[1]).toMatchObject({ rpm: 0, backoffUntil: null, backoffMs: 0 })
})

describe('lists of a site', () => {
  test('do not change the pace when they are refused one after the other', async () => {
    const { pacer, time, read, events, interval } = setUp()
    for (let i = 0; i < 6; i++) {
      expect(await pacer.takeTurn(HOST)).toEqual(PERMIT)
      await pacer.health.noteOutcome(`${ORIGIN}/list/${i}`, TOO_MANY, time.now, false)
      time.now += 10
    }
    expect(await read()).toMatchObject({ strikes: 0 })
    expect(await interval()).toBe(1000)
    expect(events).toEqual([])
  })

  test('cause a back-off when each responds with Retry-After, but do not park the host', async () => {
    const { pacer, time, read, events } = setUp()
    for (let i = 0; i < 6; i++) {
      expect(await pacer.takeTurn(HOST)).toEqual(PERMIT)
      await pacer.health.noteOutcome(`${ORIGIN}/list/${i}`, retryAfter(3), time.now, false)
    }
    expect(await read()).toMatchObject({ strikes: 1, heldUntil: time.now + 3000 })
    expect(events.filter(({ type }) => type === 'parked')).toEqual([])
  })
})

test('an address that times out does not make its host count as slow', async () => {
  const { ask, askOften, interval } = setUp()
  const quick: FetchOutcome = { ...GOOD, latencyMs: 20 }
  await askOften(80, quick)
  const before = await interval()
  await ask(failed({ reason: 'timeout', latencyMs: 10_000 }), HOST, 'hangs')
  await askOften(20, quick)
  expect(await interval()).toBe(before)
})
