import { expect, test } from 'vitest'
import type { RobotsRecord } from '../ledger.ts'
import type { Resource } from '../resource.ts'
import { RobotsRules } from './robots-rules.ts'

const ORIGIN = 'https://e.com'

function found(body: string): Resource {
  return { type: 'found', url: `${ORIGIN}/robots.txt`, snapshot: { url: `${ORIGIN}/robots.txt`, body } }
}

function failing(status: number | null): Resource {
  return { type: 'failed', reason: status === null ? 'network' : 'http-server-error', detail: 'x', status }
}

function setUp(answers: Resource[], stored = new Map<string, RobotsRecord>()) {
  const requested: string[] = []
  const time = { now: 1_000_000 }
  const signals: AbortSignal[] = []
  const slept: number[] = []
  const delays: (readonly [origin: string, delayMs: number | null])[] = []
  const rules = new RobotsRules({
    async fetchResource(url, { signal } = {}) {
      requested.push(url)
      if (signal !== undefined) signals.push(signal)
      await Promise.resolve()
      return answers.shift() ?? { type: 'missing', status: 404 }
    },
    ledger: {
      readRobots: async (origin) => stored.get(origin),
      writeRobots: async (record) => {
        stored.set(record.origin, record)
      },
    },
    clock: {
      now: () => time.now,
      sleep: async (ms) => {
        slept.push(ms)
        time.now += ms
      },
    },
    async setDelay(origin, delayMs) {
      delays.push([origin, delayMs])
    },
  })
  return { rules, requested, stored, time, signals, slept, delays }
}

test('fetches the rules of an origin once for concurrent callers', async () => {
  const robots = 'User-agent: *\nDisallow: /x\nCrawl-delay: 2\nSitemap: /s.xml'
  const { rules, requested, stored, delays } = setUp([found(robots)])
  expect(await Promise.all([rules.judge(`${ORIGIN}/x/1`), rules.judge(`${ORIGIN}/a`)])).toEqual([
    { allowed: false, reason: 'robots-disallow', pattern: 'Disallow: /x', readAt: 1_000_000 },
    { allowed: true },
  ])
  expect(delays).toEqual([[ORIGIN, 2000]])
  expect(await rules.sitemaps(`${ORIGIN}/any/page`)).toEqual([`${ORIGIN}/s.xml`])
  expect(requested).toEqual([`${ORIGIN}/robots.txt`])
  expect(stored.get(ORIGIN)).toMatchObject({ type: 'rules', status: 200, fetchedAt: 1_000_000 })
})

test('fetches separate rules for each origin', async () => {
  const { rules, requested } = setUp([found('User-agent: *\nDisallow: /')])
  expect(await rules.judge('https://e.com/a')).toMatchObject({ allowed: false })
  expect(await rules.judge('http://e.com/a')).toEqual({ allowed: true })
  expect(await rules.judge('https://e.com:8443/a')).toEqual({ allowed: true })
  expect(requested).toEqual(['https://e.com/robots.txt', 'http://e.com/robots.txt', 'https://e.com:8443/robots.txt'])
})

test.each<[string, Resource, object]>([
  ['404', { type: 'missing', status: 404 }, { allowed: true }],
  ['403', { type: 'missing', status: 403 }, { allowed: true }],
  ['too many redirects', { type: 'failed', reason: 'redirect-loop', detail: 'x', status: null }, { allowed: true }],
  ['503', failing(503), { allowed: false, reason: 'robots-unreachable', pattern: 'robots.txt answered 503' }],
  ['no connection', failing(null), { allowed: false, reason: 'network', pattern: 'x' }],
  [
    'no answer in time',
    { type: 'failed', reason: 'timeout', detail: 'x', status: null },
    { allowed: false, reason: 'robots-unreachable', pattern: 'robots.txt could not be fetched: x' },
  ],
])('a robots.txt with the result "%s" decides for all addresses', async (_what, answer, expected) => {
  const { rules, delays } = setUp([answer, answer, answer])
  expect(await rules.judge(`${ORIGIN}/a`)).toMatchObject(expected)
  expect(await rules.sitemaps(ORIGIN)).toEqual([])
  // A robots.txt that could not be read sets no crawl delay.
  expect(delays).toEqual('reason' in expected ? [] : [[ORIGIN, null]])
})

test('retries an unreachable robots.txt after five seconds, then once a minute', async () => {
  const { rules, requested, slept, time } = setUp([failing(500), failing(null), found('User-agent: *\nDisallow: /x')])
  const first = await rules.judge(`${ORIGIN}/a`)
  expect(first).toMatchObject({ allowed: false, retryAt: time.now + 5000 })
  time.now += 4999
  expect(await rules.judge(`${ORIGIN}/b`)).toEqual(first)
  expect(requested).toHaveLength(1)
  time.now += 1
  expect(await rules.judge(`${ORIGIN}/a`)).toMatchObject({ allowed: false, retryAt: null })
  expect(requested).toHaveLength(2)
  time.now += 59_999
  expect(await rules.judge(`${ORIGIN}/a`)).toMatchObject({ allowed: false, retryAt: null })
  time.now += 1
  expect(await rules.judge(`${ORIGIN}/a`)).toEqual({ allowed: true })
  expect([requested.length, slept]).toEqual([3, []])
})

test('requests robots.txt once from a host that the network guard refuses', async () => {
  const refused: Resource = { type: 'failed', reason: 'address-refused', detail: 'x', status: null }
  const { rules, requested } = setUp([refused])
  expect(await rules.judge(`${ORIGIN}/a`)).toEqual({ allowed: false, reason: 'address-refused', pattern: 'x' })
  expect(requested).toHaveLength(1)
})

test('uses rules that cannot be fetched again until they are a day old', async () => {
  const day = 24 * 3_600_000
  const failures = Array.from({ length: 9 }, () => failing(503))
  const { rules, requested, time, slept } = setUp([found('User-agent: *\nDisallow: /x'), ...failures])
  await rules.judge(`${ORIGIN}/a`)
  const began = time.now
  time.now = began + 3_600_000
  expect(await rules.judge(`${ORIGIN}/a`)).toEqual({ allowed: true })
  expect(await rules.judge(`${ORIGIN}/x`)).toMatchObject({ allowed: false, reason: 'robots-disallow' })
  // One failure is enough for a minute, and no caller waits.
  expect([requested.length, slept]).toEqual([2, []])
  time.now += 60_000
  expect(await rules.judge(`${ORIGIN}/a`)).toEqual({ allowed: true })
  expect(requested).toHaveLength(3)
  time.now = began + day
  expect(await rules.judge(`${ORIGIN}/a`)).toMatchObject({ allowed: false, reason: 'robots-unreachable' })
})

test('keeps the parsed rules of the last thousand origins', async () => {
  const stored = new Map<string, RobotsRecord>()
  const { rules } = setUp([], stored)
  for (let i = 0; i <= 1000; i++) await rules.judge(`https://h${i}.com/`)
  stored.clear()
  await rules.judge('https://h1000.com/')
  await rules.judge('https://h1.com/')
  expect([...stored.keys()]).toEqual([])
  await rules.judge('https://h0.com/')
  expect([...stored.keys()]).toEqual(['https://h0.com'])
})

test('uses rules from the ledger for an hour, in other processes too', async () => {
  const first = setUp([found('User-agent: *\nDisallow: /x')])
  await first.rules.judge(`${ORIGIN}/x`)
  const second = setUp([found('')], first.stored)
  second.time.now += 3_599_999
  expect(await second.rules.judge(`${ORIGIN}/x`)).toMatchObject({ allowed: false })
  expect(second.requested).toEqual([])
  second.time.now += 1
  expect(await second.rules.judge(`${ORIGIN}/x`)).toEqual({ allowed: true })
  expect(second.requested).toHaveLength(1)
})

test('a caller that aborts does not cancel the fetch for others', async () => {
  const { rules, requested, signals } = setUp([found('User-agent: *\nDisallow: /')])
  const leaving = new AbortController()
  const left = rules.judge(`${ORIGIN}/a`, leaving.signal)
  const staying = rules.judge(`${ORIGIN}/a`, new AbortController().signal)
  leaving.abort(new Error('left'))
  await expect(left).rejects.toThrow('left')
  expect(await staying).toMatchObject({ allowed: false })
  expect([requested.length, signals.length]).toEqual([1, 1])
})

test('aborts the fetch when all callers have aborted, and the next call starts a new one', async () => {
  const signals: AbortSignal[] = []
  const rules = new RobotsRules({
    fetchResource: (_url, { signal } = {}) => {
      if (signal === undefined) throw new TypeError('no signal')
      signals.push(signal)
      if (signals.length > 1) return Promise.resolve(found(''))
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
    ledger: { readRobots: async () => undefined, writeRobots: async () => {} },
    clock: { now: () => 0, sleep: async () => {} },
  })
  const leaving = new AbortController()
  const left = rules.judge(`${ORIGIN}/a`, leaving.signal)
  await new Promise((resolve) => setTimeout(resolve))
  leaving.abort(new Error('left'))
  await expect(left).rejects.toThrow('left')
  expect(await rules.judge(`${ORIGIN}/a`)).toEqual({ allowed: true })
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
})
