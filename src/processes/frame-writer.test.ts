import { expect, test } from 'vitest'
import type { CrawlEvent, CrawlProgress, CrawlSummary } from '../crawl/events.ts'
import type { Reason } from '../crawl/ledger-reasons.ts'
import type { Frame, FrameType } from '../library/jobs/events/frames.ts'
import { FrameWriter } from './frame-writer.ts'

const START = 'https://docs.example/'

const PROGRESS: CrawlProgress = {
  visited: 1,
  indexed: 1,
  unchanged: 0,
  skipped: 0,
  failed: 0,
  bytes: 10,
  queued: 4,
  maxPages: 30,
  current: Array.from({ length: 7 }, (_, n) => ({ url: `${START}${n}`, ageMs: n })),
  isPaused: false,
  hasRobots: true,
  hosts: [
    {
      host: 'docs.example',
      requests: 2,
      rpm: 2,
      limitRpm: 300,
      intervalMs: 200,
      backoffUntil: 5000,
      backoffMs: 4000,
      latencyMs: 3,
    },
  ],
  elapsedMs: 100,
}

const SUMMARY: CrawlSummary = {
  crawlId: 'c1',
  kind: 'recrawl',
  end: 'completed',
  ledger: {
    total: 3,
    states: { pending: 1, leased: 1, indexed: 1, unchanged: 0, skipped: 0, failed: 0, gone: 0 },
    reasons: {},
  },
  visited: 1,
  indexed: 1,
  unchanged: 0,
  skipped: 0,
  failed: 0,
  removed: 0,
  withheld: 0,
  cappedAt: null,
  parked: [],
  incomplete: null,
  overflow: 0,
  newInRefresh: 0,
  bytes: 10,
  requests: 2,
  elapsedMs: 100,
  problem: null,
  uselessReason: null,
}

/** Passes events to a writer, each at its time, and returns the frames. */
function write(
  events: readonly (readonly [at: number, event: CrawlEvent])[],
  say: (line: string) => void = () => {},
): readonly Frame[] {
  const frames: Frame[] = []
  let now = 0
  const writer = new FrameWriter({
    sourceId: 's1',
    startUrl: START,
    now: () => now,
    write: (frame) => frames.push(frame),
    say,
  })
  for (const [at, event] of events) {
    now = at
    writer.tell(event)
  }
  return frames
}

function dataOf<T extends FrameType>(frames: readonly Frame[], type: T): Extract<Frame, { type: T }>['data'][] {
  // The type of a frame determines the type of its data.
  return frames.filter((frame) => frame.type === type).map(({ data }) => data as never)
}

const started: CrawlEvent = { type: 'started', crawlId: 'c1', kind: 'add', isResumed: false }
const ended = (more: Partial<CrawlSummary> = {}): CrawlEvent => ({ type: 'ended', summary: { ...SUMMARY, ...more } })

function settled(url: string, more: Partial<Extract<CrawlEvent, { type: 'settled' }>> = {}): CrawlEvent {
  const usual = { state: 'indexed', reason: null, status: 200, detail: null, bytes: 10, chunks: 1 } as const
  return { type: 'settled', url, ...usual, ...more }
}

test('progress is reported first, last, and at limited intervals in between', () => {
  const progress: CrawlEvent = { type: 'progress', ...PROGRESS }
  const frames = write([
    [0, started],
    [250, progress],
    [299, progress],
    [300, progress],
    [590, progress],
    [620, progress],
    [630, ended()],
  ])
  expect(frames.map(({ type }) => type)).toEqual(Array(4).fill('PROGRESS'))
  const [first, second, , last] = dataOf(frames, 'PROGRESS')
  expect(first).toMatchObject({ visited: 0, crawlId: 'c1', sourceId: 's1', domain: 'docs.example', domainRpm: null })
  expect(second).toMatchObject({
    saved: 1,
    queueSize: 4,
    maxPages: 30,
    currentDownloadsCount: 7,
    robotsLoaded: true,
    domainRpm: 2,
    domainLimit: 300,
    domainBackoffMs: 4000,
    domainRateLimited: true,
    perHost: { 'docs.example': { rpm: 2, limitRpm: 300, backoffUntil: '1970-01-01T00:00:05.000Z', intervalMs: 200 } },
    perHostLimits: { 'docs.example': { rateLimited: true, limit: 300, intervalMs: 200, backoffMs: 4000 } },
  })
  expect(second?.currentDownloads).toHaveLength(5)
  expect(last).toMatchObject({ queueSize: 2, currentDownloadsCount: 0, currentDownloads: [], saved: 1 })
})

test('a requested pause is reported immediately, and not as a problem', () => {
  const frames = write([
    [0, started],
    [10, { type: 'paused', cause: 'requested', detail: 'd' }],
    [20, { type: 'resumed', cause: 'requested', pausedMs: 10 }],
    [30, { type: 'paused', cause: 'disk-full', detail: 'no room' }],
    [40, { type: 'resumed', cause: 'disk-full', pausedMs: 10 }],
  ])
  expect(dataOf(frames, 'PROGRESS').map(({ paused }) => paused)).toEqual([false, true, false])
  expect(dataOf(frames, 'PROBLEM')).toEqual([
    { kind: 'paused-disk-full', scope: 'docs.example', target: START, message: 'no room', details: {} },
  ])
})

const FRAME_REASONS: readonly (readonly [Reason, string])[] = [
  ['off-site', 'off-domain'],
  ['scheme', 'bad-url'],
  ['bad-url', 'bad-url'],
  ['max-depth', 'max-depth'],
  ['overflow', 'overflow'],
  ['duplicate', 'duplicate'],
  ['canonical', 'duplicate'],
  ['query-skip', 'query-skip'],
  ['session-id', 'query-skip'],
  ['robots-disallow', 'robots-disallow'],
  ['blocked', 'blocked'],
]

test.each(FRAME_REASONS)('an address dropped for %s is reported with the reason %s', (reason, frameReason) => {
  const url = `${START}a?b=c`
  const frames = write([
    [0, { type: 'dropped', url, depth: 1, reason, pattern: null, target: START }],
    [1, settled(url, { state: 'skipped', reason })],
  ])
  const queue = dataOf(frames, 'QUEUE')
  expect(queue).toMatchObject([
    { action: 'drop', url, depth: 1, host: 'docs.example', reason: frameReason },
    { action: 'drop', url, depth: null, reason: frameReason },
  ])
  expect(queue[0]?.alias).toBe(frameReason === 'query-skip' ? START : null)
})

test('each step of an address through the queue is reported', () => {
  const url = `${START}a`
  const frames = write([
    [0, { type: 'enqueued', url, depth: 1, discovery: 'sitemap' }],
    [0, { type: 'enqueued', url: `${START}b`, depth: 1, discovery: 'link' }],
    [1, { type: 'begun', url, depth: 1 }],
    [2, { type: 'retry', url, reason: 'timeout', attempt: 1, delayMs: 10 }],
    [3, { type: 'begun', url, depth: 1 }],
    [4, settled(url)],
    [5, { type: 'dropped', url: `${START}c`, depth: 2, reason: 'max-depth', pattern: '1', target: null }],
    [6, { type: 'discovery', discovery: 'sitemap', url: `${START}sitemap.xml`, found: 1, detail: '1 entries' }],
    [7, ended()],
  ])
  expect(
    dataOf(frames, 'QUEUE').map(({ action, depth, reason, queueSize }) => [action, depth, reason, queueSize]),
  ).toEqual([
    ['enqueued', 1, null, 1],
    ['enqueued', 1, null, 2],
    ['dequeued', 1, null, 2],
    ['retry', 1, 'retriable-error', 2],
    ['dequeued', 1, null, 2],
    ['drop', 2, 'max-depth', 1],
  ])
  expect(dataOf(frames, 'PROGRESS')).toMatchObject([{ found: 2, downloaded: 1, sitemapCount: 1, sitemapEnqueued: 1 }])
})

test('addresses that are already stored and addresses that failed are reported', () => {
  const frames = write([
    [0, settled('https://a.example/1', { state: 'unchanged', status: 304, bytes: 0, storedMs: 90_400 })],
    [0, settled('https://a.example/2', { state: 'unchanged', status: null, bytes: 0, storedMs: 1000 })],
    [0, settled('https://a.example/3', { state: 'failed', reason: 'not-found', status: 404, detail: 'answered 404' })],
    [0, settled('https://a.example/4', { state: 'failed', reason: 'timeout', status: null })],
    [0, settled('https://a.example/5', { state: 'failed', reason: 'tls', status: null })],
    [0, settled('https://a.example/6', { state: 'failed', reason: 'page-defect', status: 200 })],
  ])
  expect(dataOf(frames, 'CACHE')).toEqual([
    { url: 'https://a.example/1', source: 'not-modified', ageSeconds: 90 },
    { url: 'https://a.example/2', source: 'library', ageSeconds: 1 },
  ])
  expect(dataOf(frames, 'ERROR').map(({ kind, code, message }) => [kind, code, message])).toEqual([
    ['http', 404, 'not-found: answered 404'],
    ['timeout', null, 'timeout'],
    ['network', null, 'tls'],
    ['save', 200, 'page-defect'],
  ])
})

test('events that need attention are reported as problems', () => {
  const frames = write([
    [0, { type: 'parked', host: 'slow.example', reason: 'rate-limited', detail: 'Retry-After 900' }],
    [0, { type: 'held', host: 'slow.example', untilMs: 1000, reason: 'timeout', strikes: 2 }],
    [0, { type: 'paced', host: 'slow.example', intervalMs: 60_000, askedMs: 90_000 }],
    [
      0,
      ended({
        end: 'gate',
        problem: '30 pages',
        withheld: 30,
        cappedAt: 5,
        overflow: 2,
        incomplete: 'x',
        uselessReason: 'login',
      }),
    ],
  ])
  expect(dataOf(frames, 'PROBLEM').map(({ kind, scope, target }) => [kind, scope, target])).toEqual([
    ['host-parked', 'docs.example', 'slow.example'],
    ['host-held', 'docs.example', 'slow.example'],
    ['crawl-delay-cut', 'docs.example', 'slow.example'],
    ['loss-gate', 'docs.example', START],
    ['page-cap', 'docs.example', START],
    ['address-overflow', 'docs.example', START],
    ['start-failed', 'docs.example', START],
    ['coverage-open', 'docs.example', START],
  ])
  expect(dataOf(write([[0, ended()]]), 'PROBLEM')).toEqual([])
})

test('the end of a run with a page limit reports its unread addresses', () => {
  const frames = write([[0, ended({ indexed: 5, cappedAt: 5, unread: 45 })]])
  expect(dataOf(frames, 'PROGRESS').at(-1)).toMatchObject({ saved: 5, unread: 45 })
  expect(dataOf(frames, 'PROBLEM')).toMatchObject([
    { message: 'the cap of 5 was reached: 45 known addresses not read', details: { maxPages: 5, unread: 45 } },
  ])
})

test('milestones and problems of a plan become frames, and its messages become lines', () => {
  const lines: string[] = []
  const note = { target: `${START}world`, message: 'it is so', details: { count: 3 } }
  const frames = write(
    [
      [0, { type: 'milestone', kind: 'hubs-seeded', ...note }],
      [1, { type: 'problem', kind: 'missing-hub', ...note }],
      [2, { type: 'plan', level: 1, message: 'eight guesses' }],
      [3, { type: 'enqueued', url: `${START}world`, depth: 0, discovery: 'planner' }],
    ],
    (line) => lines.push(line),
  )
  const data = { scope: 'docs.example', target: `${START}world`, message: 'it is so', details: { count: 3 } }
  expect(dataOf(frames, 'MILESTONE')).toEqual([{ kind: 'hubs-seeded', ...data }])
  expect(dataOf(frames, 'PROBLEM')).toEqual([{ kind: 'missing-hub', ...data }])
  expect(lines).toEqual(['[plan] eight guesses'])
  expect(dataOf(frames, 'QUEUE')).toMatchObject([{ action: 'enqueued', reason: 'intelligent-seed' }])
})
