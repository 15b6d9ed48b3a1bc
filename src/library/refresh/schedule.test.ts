import { describe, expect, test } from 'vitest'
import { DEFAULT_SCOPE } from '../../core/url/scope.ts'
import { DEFAULT_OPTIONS } from '../crawl/create-run.ts'
import { DEFAULT_SETTINGS, type RefreshSchedule, type Source } from '../source.ts'
import {
  beginAttempt,
  createSchedule,
  isDue,
  parseEvery,
  scheduleAfterCrawl,
  scheduleAfterProblem,
  writeSchedule,
} from './schedule.ts'

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const NOW = Date.UTC(2026, 0, 1)

function sourceWith(refresh?: RefreshSchedule): Source {
  const url = 'https://docs.test/'
  return {
    ...{ id: 'docs', name: 'docs', version: null, url, siteUrl: url, scope: DEFAULT_SCOPE, createdAt: 0 },
    settings: DEFAULT_SETTINGS,
    ...(refresh === undefined ? {} : { refresh }),
  }
}

const COMPLETED = { end: 'completed', parked: [], problem: null } as const
const RECRAWL = { kind: 'recrawl', options: DEFAULT_OPTIONS } as const

describe('parseEvery', () => {
  test.each([
    ['12h', 12 * HOUR],
    ['1d', DAY],
    ['2w', 14 * DAY],
    ['10m', 10 * MINUTE],
    ['never', null],
    ['Never', null],
  ])('reads %s', (text, ms) => expect(parseEvery('--every', text)).toBe(ms))

  test.each(['', '5m', '90', '0', '-1d', 'daily', '367d', '1d 2h'])('refuses %j, and names the limits', (text) => {
    expect(() => parseEvery('--every', text)).toThrow(
      `--every: expected a duration from 10m to 366d such as 12h, 1d or 2w, or never, got ${JSON.stringify(text)}`,
    )
  })
})

test('a source is due after its interval, and at most a tenth or an hour later', () => {
  const dueTimes = Array.from({ length: 200 }, (_, i) => createSchedule(`source ${i}`, DAY, NOW).dueAt - NOW - DAY)
  expect(Math.min(...dueTimes)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...dueTimes)).toBeLessThan(HOUR)
  // Sources with the same interval are spread over the hour.
  expect(new Set(dueTimes.map((ms) => Math.floor(ms / (5 * MINUTE)))).size).toBe(12)
  expect(createSchedule('source 1', DAY, NOW)).toEqual(createSchedule('source 1', DAY, NOW))
  expect(createSchedule('source 1', 10 * MINUTE, NOW).dueAt - NOW).toBeLessThan(11 * MINUTE)
})

test.each([
  [10 * MINUTE, [10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440]],
  [DAY, [60, 120, 240, 480, 960, 1440, 1440]],
  [14 * DAY, [60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360, 20_160, 20_160]],
])(
  'attempts with an interval of %i ms follow after growing delays, up to a day or the interval',
  (everyMs, minutes) => {
    let schedule = createSchedule('docs', everyMs, NOW)
    const delays = minutes.map(() => {
      schedule = beginAttempt('docs', schedule, NOW)
      return schedule.dueAt - NOW
    })
    for (const [i, delay] of delays.entries()) {
      const expected = (minutes[i] ?? 0) * MINUTE
      expect(delay).toBeGreaterThanOrEqual(expected)
      expect(delay).toBeLessThan(expected + Math.min(HOUR, expected / 10))
    }
    expect(schedule.attempts).toBe(minutes.length)
  },
)

test('a completed crawl of the whole source sets the next time from its end', () => {
  const failed = beginAttempt('docs', beginAttempt('docs', createSchedule('docs', DAY, NOW), NOW), NOW)
  const { refresh } = scheduleAfterCrawl(sourceWith(failed), RECRAWL, COMPLETED, NOW + HOUR)
  expect(refresh).toEqual(createSchedule('docs', DAY, NOW + HOUR))
})

test.each([
  ['at the loss gate', { end: 'gate', parked: [], problem: '90 of 100 pages would go' }, '90 of 100 pages would go'],
  ['without a page', { end: 'failed', parked: [], problem: 'no answer' }, 'no answer'],
  [
    'without a host that stayed unavailable',
    { end: 'completed', parked: [{ host: 'a.test', detail: 'status 503' }], problem: null },
    'a.test: status 503',
  ],
] as const)('a crawl that ended %s is tried again later, with its problem', (_, summary, problem) => {
  const begun = beginAttempt('docs', createSchedule('docs', DAY, NOW - DAY), NOW)
  const { refresh } = scheduleAfterCrawl(sourceWith(begun), RECRAWL, summary, NOW + 5 * HOUR)
  expect(refresh).toMatchObject({ attempts: 1, problem })
  expect((refresh?.dueAt ?? 0) - NOW).toBeGreaterThanOrEqual(6 * HOUR)
  expect((refresh?.dueAt ?? 0) - NOW).toBeLessThan(7 * HOUR)
})

test('crawls of a part of a source, stopped crawls and sources without a schedule change nothing', () => {
  const scheduled = sourceWith(createSchedule('docs', DAY, NOW))
  expect(scheduleAfterCrawl(sourceWith(), RECRAWL, COMPLETED, NOW)).toEqual({})
  expect(scheduleAfterCrawl(scheduled, { ...RECRAWL, kind: 'retry' }, COMPLETED, NOW)).toEqual({})
  const scoped = { ...DEFAULT_OPTIONS, scope: { maxPages: 1 } }
  expect(scheduleAfterCrawl(scheduled, { kind: 'recrawl', options: scoped }, COMPLETED, NOW)).toEqual({})
  const focused = { ...DEFAULT_OPTIONS, isFocused: true }
  expect(scheduleAfterCrawl(scheduled, { kind: 'recrawl', options: focused }, COMPLETED, NOW)).toEqual({})
  expect(scheduleAfterCrawl(scheduled, RECRAWL, { ...COMPLETED, end: 'cancelled' }, NOW)).toEqual({})
  expect(scheduleAfterProblem(scheduled, 'late')).toEqual({})
})

test('a clock that was ahead neither delays a source for long nor starts it again and again', () => {
  const ahead = createSchedule('docs', DAY, NOW + 400 * DAY)
  expect(isDue(ahead, NOW)).toBe(true)
  const begun = beginAttempt('docs', ahead, NOW)
  expect(isDue(begun, NOW)).toBe(false)
  expect(isDue(begun, NOW - 30 * MINUTE)).toBe(false)
  expect(isDue(createSchedule('docs', DAY, NOW), NOW - 10 * MINUTE)).toBe(false)
})

test('the text says when the next crawl follows, and what went wrong', () => {
  const schedule = { everyMs: DAY, dueAt: NOW + 5 * HOUR - 5, attempts: 0, problem: null }
  expect(writeSchedule(schedule, NOW)).toBe('every 1d, next in 5h')
  expect(writeSchedule(schedule, NOW + DAY)).toBe('every 1d, next now')
  expect(writeSchedule({ ...schedule, attempts: 1 }, NOW)).toBe('every 1d, last one unfinished, attempt 2 in 5h')
  const failed = { ...schedule, attempts: 3, problem: 'status 503' }
  expect(writeSchedule(failed, NOW)).toBe('every 1d, last one failed: status 503, attempt 4 in 5h')
  expect(writeSchedule(failed, NOW, true)).toBe('every 1d, now running')
})
