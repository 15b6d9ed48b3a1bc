import { describe, expect, test } from 'vitest'
import type { CrawlProgress } from '../../crawl/events.ts'
import { RateMeter, writeProgress, writeRate, writeSettled } from './progress.ts'

const START: CrawlProgress = {
  visited: 0,
  indexed: 0,
  unchanged: 0,
  skipped: 0,
  failed: 0,
  bytes: 0,
  queued: 1,
  current: [],
  isPaused: false,
  hasRobots: true,
  hosts: [],
  elapsedMs: 250,
}

const host = (name: string, requests: number, intervalMs = 0, backoffMs = 0) => {
  const limitRpm = intervalMs === 0 ? null : 60_000 / intervalMs
  const backoffUntil = backoffMs === 0 ? null : 1_000_000 + backoffMs
  return { host: name, requests, rpm: requests, limitRpm, intervalMs, backoffUntil, backoffMs, latencyMs: null }
}

describe('live block', () => {
  test('takes one line while nothing is being fetched', () => {
    expect(writeProgress('docs', START, 0)).toBe('docs: 0 pages, 0 errors, 0.0/s, 1 queued, 0s')
  })

  test('shows pages, errors, rate, queue, hosts with their pace, and an address', () => {
    const progress: CrawlProgress = {
      ...START,
      indexed: 1200,
      unchanged: 34,
      failed: 1,
      queued: 5678,
      current: ['https://docs.example/a', 'https://docs.example/b'].map((url) => ({ url, ageMs: 20 })),
      hosts: [host('cdn.example', 3, 0, 4000), host('docs.example', 1300, 200)],
      elapsedMs: 61_900,
    }
    expect(writeProgress('docs@2', progress, 98.4)).toBe(
      [
        'docs@2: 1,234 pages, 1 error, 98/s, 5,678 queued, 1m 1s',
        '  docs.example every 200ms · cdn.example without pause, held for 4s',
        '  2 in flight: https://docs.example/a',
      ].join('\n'),
    )
  })

  test('shows the page limit', () => {
    expect(writeProgress('docs', { ...START, indexed: 120 }, 0, 1500)).toMatch(
      /^docs: 120 of at most 1,500 pages, 0 errors/,
    )
  })

  test('names the three hosts with the most requests', () => {
    const hosts = [host('a', 1), host('b', 9), host('c', 5), host('d', 7), host('e', 2)]
    expect(writeProgress('docs', { ...START, hosts }, 0)).toContain(
      '\n  b without pause · d without pause · c without pause · and 2 more hosts',
    )
  })

  test('replaces control characters in addresses and hosts', () => {
    const progress = { ...START, current: [{ url: 'http://x/\x1b[2J\n', ageMs: 1 }], hosts: [host('\x07', 1)] }
    expect(writeProgress('docs', progress, 0).match(/(?!\n)\p{Cc}/gu)).toBeNull()
    expect(writeProgress('docs', progress, 0).split('\n')).toHaveLength(3)
  })
})

describe('page rate', () => {
  test('covers the time since the start at first, and the last five seconds later', () => {
    const rate = new RateMeter()
    expect(rate.add(0, 0)).toBe(0)
    expect(rate.add(1000, 10)).toBe(10)
    expect(rate.add(5000, 50)).toBe(10)
    expect(rate.add(6000, 150)).toBe(28)
    expect(rate.add(11_000, 150)).toBe(0)
  })

  test.each([
    [0, '0.0'],
    [0.44, '0.4'],
    [9.94, '9.9'],
    [12.5, '13'],
    [1234, '1,234'],
  ])('%d per second is written as %s', (rate, text) => {
    expect(writeRate(rate)).toBe(text)
  })
})

test('a settled address is written in one line', () => {
  const event = { type: 'settled', url: 'http://x/a', status: 200, bytes: 1, chunks: 3, detail: null } as const
  expect(writeSettled({ ...event, state: 'indexed', reason: null })).toBe('indexed http://x/a (3 chunks)')
  expect(writeSettled({ ...event, state: 'unchanged', reason: null })).toBe('unchanged http://x/a')
  expect(writeSettled({ ...event, state: 'failed', reason: 'timeout', detail: 'no answer\x1b' })).toBe(
    'failed http://x/a (timeout: no answer�)',
  )
})
