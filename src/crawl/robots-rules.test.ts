import { expect, test } from 'vitest'
import type { RobotsRecord } from './ledger.ts'
import type { Resource } from './resource.ts'
import { RobotsRules } from './robots-rules.ts'

const ORIGIN = 'https://e.com'

function found(body: string): Resource {
  return { type: 'found', url: `${ORIGIN}/robots.txt`, snapshot: { url: `${ORIGIN}/robots.txt`, body } }
}

function failing(status: number | null): Resource {
  return { type: 'failed', reason: status === null ? 'network' : 'http-server-error', detail: 'x', status }
}

function setUp(answers: Resource[], stored = new Map<string, RobotsRecord>()) {
  const asked: string[] = []
  const time = { now: 1_000_000 }
  const signals: AbortSignal[] = []
  const rules = new RobotsRules({
    async fetchResource(url, { signal } = {}) {
      asked.push(url)
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
    clock: { now: () => time.now, sleep: async () => {} },
  })
  return { rules, asked, stored, time, signals }
}

test('rules are fetched once for an origin, however many ask', async () => {
  const { rules, asked, stored } = setUp([found('User-agent: *\nDisallow: /x\nCrawl-delay: 2\nSitemap: /s.xml')])
  expect(
    await Promise.all([rules.judge(`${ORIGIN}/x/1`), rules.judge(`${ORIGIN}/a`), rules.crawlDelayMs(ORIGIN)]),
  ).toEqual([{ allowed: false, reason: 'robots-disallow', pattern: 'Disallow: /x' }, { allowed: true }, 2000])
  expect(await rules.sitemaps(`${ORIGIN}/any/page`)).toEqual([`${ORIGIN}/s.xml`])
  expect(asked).toEqual([`${ORIGIN}/robots.txt`])
  expect(stored.get(ORIGIN)).toMatchObject({ type: 'rules', status: 200, fetchedAt: 1_000_000 })
})

test('origins have rules of their own', async () => {
  const { rules, asked } = setUp([found('User-agent: *\nDisallow: /')])
  expect(await rules.judge('https://e.com/a')).toMatchObject({ allowed: false })
  expect(await rules.judge('http://e.com/a')).toEqual({ allowed: true })
  expect(await rules.judge('https://e.com:8443/a')).toEqual({ allowed: true })
  expect(asked).toEqual(['https://e.com/robots.txt', 'http://e.com/robots.txt', 'https://e.com:8443/robots.txt'])
})

test.each<[string, Resource, object]>([
  ['404', { type: 'missing', status: 404 }, { allowed: true }],
  ['403', { type: 'missing', status: 403 }, { allowed: true }],
  ['too many redirects', { type: 'failed', reason: 'redirect-loop', detail: 'x', status: null }, { allowed: true }],
  ['503', failing(503), { allowed: false, reason: 'robots-unreachable', pattern: 'robots.txt answered 503' }],
  [
    'no answer',
    failing(null),
    { allowed: false, reason: 'robots-unreachable', pattern: 'robots.txt could not be fetched' },
  ],
])('%s decides for everything', async (_what, answer, expected) => {
  const { rules } = setUp([answer])
  expect(await rules.judge(`${ORIGIN}/a`)).toEqual(expected)
  expect([await rules.crawlDelayMs(ORIGIN), await rules.sitemaps(ORIGIN)]).toEqual([null, []])
})

test('an unreachable robots.txt is asked for again after a minute', async () => {
  const { rules, asked, time } = setUp([failing(500), found('')])
  expect(await rules.judge(`${ORIGIN}/a`)).toMatchObject({ allowed: false })
  time.now += 59_999
  expect(await rules.judge(`${ORIGIN}/a`)).toMatchObject({ allowed: false })
  time.now += 1
  expect(await rules.judge(`${ORIGIN}/a`)).toEqual({ allowed: true })
  expect(asked).toHaveLength(2)
})

test('what the ledger holds is used for an hour, by others too', async () => {
  const first = setUp([found('User-agent: *\nDisallow: /x')])
  await first.rules.judge(`${ORIGIN}/x`)
  const second = setUp([found('')], first.stored)
  second.time.now += 3_599_999
  expect(await second.rules.judge(`${ORIGIN}/x`)).toMatchObject({ allowed: false })
  expect(second.asked).toEqual([])
  second.time.now += 1
  expect(await second.rules.judge(`${ORIGIN}/x`)).toEqual({ allowed: true })
  expect(second.asked).toHaveLength(1)
})

test('one who leaves does not take the answer from the others', async () => {
  const { rules, asked, signals } = setUp([found('User-agent: *\nDisallow: /')])
  const leaving = new AbortController()
  const left = rules.judge(`${ORIGIN}/a`, leaving.signal)
  const staying = rules.judge(`${ORIGIN}/a`, new AbortController().signal)
  leaving.abort(new Error('left'))
  await expect(left).rejects.toThrow('left')
  expect(await staying).toMatchObject({ allowed: false })
  expect([asked.length, signals.length]).toEqual([1, 1])
})

test('when all have left the fetch is given up, and the next one starts anew', async () => {
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
