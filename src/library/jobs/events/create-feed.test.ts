import { expect, test } from 'vitest'
import { createManualClock } from '../../../../test/dispatch/manual-clock.ts'
import { systemClock } from '../../../fetch/clock.ts'
import { createFeed, type FeedOptions } from './create-feed.ts'
import type { Feed, FeedFilter } from './feed.ts'

const ALL: FeedFilter = { logs: true, jobId: null }

function open(options: Partial<FeedOptions> = {}) {
  const clock = createManualClock()
  return { clock, feed: createFeed({ epoch: 'e1', clock, ...options }) }
}

function linesOf(feed: Feed, filter = ALL): unknown[] {
  return feed.read(0, filter, 10_000).events.map(({ json }) => JSON.parse(json).line)
}

test('events are numbered, carry job and time, and are read from a given number', () => {
  const { feed } = open()
  feed.tell('problem', 'a', { kind: 'x', severity: 'info' })
  feed.tell('done', 'b', { code: 0 })
  feed.tell('log', null, {})
  expect(feed.last).toBe(3)
  const { events, upTo, missed } = feed.read(1, ALL, 10)
  expect({ upTo, missed }).toEqual({ upTo: 3, missed: 0 })
  expect(events.map(({ number, name, jobId, json }) => ({ number, name, jobId, payload: JSON.parse(json) }))).toEqual([
    { number: 2, name: 'done', jobId: 'b', payload: { code: 0, jobId: 'b', ts: '2026-01-01T00:00:00.000Z' } },
    { number: 3, name: 'log', jobId: null, payload: { jobId: null, ts: '2026-01-01T00:00:00.000Z' } },
  ])
  expect(feed.read(0, ALL, 1)).toMatchObject({ events: [{ number: 1 }], upTo: 1 })
})

test('a read with a filter skips other events and advances past them', () => {
  const { feed } = open()
  feed.tell('log', 'a', { stream: 'stdout', line: '1' })
  feed.tell('queue', 'b', { url: 'u' })
  feed.tell('jobs', null, { count: 0, items: [] })
  const names = (filter: FeedFilter) => feed.read(0, filter, 10).events.map(({ name }) => name)
  expect(names({ logs: true, jobId: 'a' })).toEqual(['log', 'jobs'])
  expect(names({ logs: false, jobId: null })).toEqual(['queue', 'jobs'])
  expect(feed.read(0, { logs: false, jobId: 'c' }, 10)).toMatchObject({ events: [{ name: 'jobs' }], upTo: 3 })
  expect(JSON.parse(feed.read(2, ALL, 1).events[0]?.json ?? '')).not.toHaveProperty('jobId')
})

test('the buffer bounds the number and size of its events, and a read counts the dropped ones', () => {
  const { feed } = open({ maxEvents: 10 })
  for (let i = 1; i <= 25; i++) feed.tell('queue', 'a', { i })
  const { events, missed } = feed.read(3, ALL, 100)
  expect(events.map(({ number }) => number)).toEqual([16, 17, 18, 19, 20, 21, 22, 23, 24, 25])
  expect(missed).toBe(12)
  expect(feed.read(20, ALL, 100).missed).toBe(0)

  const { feed: small } = open({ maxBytes: 1000 })
  for (let i = 1; i <= 10; i++) small.tell('queue', 'a', { text: 'x'.repeat(300) })
  expect(small.read(0, ALL, 100)).toMatchObject({ events: [{ number: 9 }, { number: 10 }], missed: 8 })
  // An event larger than the buffer is still delivered.
  small.tell('queue', 'a', { text: 'x'.repeat(5000) })
  expect(small.read(10, ALL, 100).events).toHaveLength(1)
})

test('reading from an unknown number returns no events and the last number', () => {
  const { feed } = open()
  feed.tell('queue', 'a', {})
  expect(feed.read(999, ALL, 10)).toMatchObject({ events: [], upTo: 1, missed: 0 })
})

test('log lines are rate-limited, the number of dropped ones is reported after the second, and server lines always pass', async () => {
  const { feed, clock } = open({ logsPerSec: 3, lineChars: 5 })
  for (let i = 1; i <= 8; i++) feed.tell('log', 'a', { stream: 'stdout', line: `line${i}` })
  feed.tell('log', 'a', { stream: 'server', line: 'mine' })
  expect(linesOf(feed)).toEqual(['line1', 'line2', 'line3', 'mine'])
  await clock.advance(999)
  expect(feed.last).toBe(4)
  await clock.advance(1)
  expect(linesOf(feed).at(-1)).toBe('5 log lines were dropped: there were too many in one second')
  feed.tell('log', 'a', { stream: 'stderr', line: 'a long line' })
  expect(linesOf(feed).at(-1)).toBe('a lon… (6 more characters)')
  await clock.advance(5000)
  expect(feed.last).toBe(6)
})

test('equal progress of a job is published once within 200 ms', async () => {
  const { feed, clock } = open()
  const tell = (jobId: string, visited: number) => feed.tell('progress', jobId, { visited })
  tell('a', 1)
  tell('a', 1)
  tell('b', 1)
  expect(feed.last).toBe(2)
  tell('a', 2)
  expect(feed.last).toBe(3)
  await clock.advance(200)
  tell('a', 2)
  expect(feed.last).toBe(4)
  feed.tell('done', 'a', {})
  tell('a', 2)
  expect(feed.last).toBe(6)
})

test('the list of jobs is published at most five times a second, and its last state is always published', async () => {
  const { feed, clock } = open()
  for (let i = 1; i <= 20; i++) {
    feed.tell('jobs', null, { count: i })
    await clock.advance(50)
  }
  await clock.advance(1000)
  const counts = feed.read(0, ALL, 100).events.map(({ json }) => JSON.parse(json).count)
  expect(counts[0]).toBe(1)
  expect(counts.at(-1)).toBe(20)
  expect(counts.length).toBeLessThanOrEqual(6)
  feed.tell('jobs', null, { count: 21 })
  expect(feed.read(0, ALL, 100).events.at(-1)?.json).toContain('21')
})

test('listeners are called once for many events, and one that throws does not block the others', async () => {
  const { feed, clock } = open()
  let calls = 0
  feed.listen(() => {
    throw new Error('this one is broken')
  })
  const stop = feed.listen(() => calls++)
  for (let i = 0; i < 100; i++) feed.tell('queue', 'a', { i })
  expect(calls).toBe(0)
  await clock.advance(0)
  expect(calls).toBe(1)
  feed.tell('queue', 'a', {})
  await clock.advance(49)
  expect(calls).toBe(1)
  await clock.advance(1)
  expect(calls).toBe(2)
  stop()
  feed.tell('queue', 'a', {})
  await clock.advance(1000)
  expect(calls).toBe(2)
})

test('a thousand listeners at the same position share one result', async () => {
  const feed = createFeed({ epoch: 'e1', clock: systemClock })
  const answers = new Set<unknown>()
  const positions = new Array<number>(1000).fill(0)
  for (let i = 0; i < 1000; i++) {
    feed.listen(() => {
      const answer = feed.read(positions[i] ?? 0, { logs: true, jobId: null }, 500)
      positions[i] = answer.upTo
      answers.add(answer)
    })
  }
  for (let i = 0; i < 50; i++) feed.tell('queue', 'a', { i })
  const end = Date.now() + 10_000
  while (positions.some((position) => position < 50) && Date.now() < end) await systemClock.sleep(5)
  expect(positions.every((position) => position === 50)).toBe(true)
  expect(answers.size).toBe(1)
})
