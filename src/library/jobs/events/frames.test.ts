import { describe, expect, test } from 'vitest'
import { type Frame, type ProgressFrame, parseFrame, writeFinalStats, writeFrame } from './frames.ts'

const PROGRESS: ProgressFrame = {
  visited: 3,
  downloaded: 2,
  found: 9,
  saved: 2,
  unchanged: 0,
  skipped: 1,
  errors: 0,
  bytes: 1234,
  queueSize: 6,
  currentDownloadsCount: 1,
  currentDownloads: [{ url: 'https://docs.example/a\nPROBLEM {}', ageMs: 12 }],
  paused: false,
  robotsLoaded: true,
  sitemapCount: 1,
  sitemapEnqueued: 4,
  domain: 'docs.example',
  domainRpm: 12,
  domainLimit: null,
  domainBackoffMs: 0,
  domainRateLimited: false,
  domainIntervalMs: 200,
  perHost: { 'docs.example': { rpm: 12, limitRpm: 300, backoffUntil: null, intervalMs: 200 } },
  perHostLimits: { 'docs.example': { rateLimited: false, limit: 300, intervalMs: 200, backoffMs: 0 } },
  crawlId: 'c',
  sourceId: null,
}

const URL_OF_PAGE = 'https://docs.example/a'
const NOTE = { kind: 'page-cap', scope: 'docs.example', target: null, message: 'a\u2028b', details: { maxPages: 3 } }

const FRAMES: readonly Frame[] = [
  { type: 'PROGRESS', data: PROGRESS },
  {
    type: 'QUEUE',
    data: { action: 'drop', url: URL_OF_PAGE, depth: 1, host: null, reason: 'max-depth', queueSize: 2, alias: null },
  },
  { type: 'CACHE', data: { url: URL_OF_PAGE, source: 'library', ageSeconds: 90 } },
  { type: 'ERROR', data: { url: URL_OF_PAGE, kind: 'http', code: 404, message: null } },
  { type: 'PROBLEM', data: NOTE },
  { type: 'MILESTONE', data: { ...NOTE, details: null } },
]

describe('frame', () => {
  test.each(FRAMES)('$type is written as one line and parsed back unchanged', (frame) => {
    const line = writeFrame(frame)
    expect(line).toMatch(new RegExp(`^${frame.type} \\{.*\\}$`, 's'))
    expect(line).not.toContain('\n')
    expect(parseFrame(line)).toEqual(frame)
  })

  test('parseFrame drops unknown fields', () => {
    expect(parseFrame('CACHE {"url":"u","source":"s","ageSeconds":null,"more":1}')).toEqual({
      type: 'CACHE',
      data: { url: 'u', source: 's', ageSeconds: null },
    })
  })

  test.each([
    '',
    'PROGRESS',
    'PROGRESS ',
    'PROGRESS {}',
    'PROGRESS null',
    'CACHE [1]',
    'CACHE {"url":1,"source":"s","ageSeconds":null}',
    'QUEUE {"action":"eaten","url":"u","depth":null,"host":null,"reason":null,"queueSize":0,"alias":null}',
    'cache {"url":"u","source":"s","ageSeconds":null}',
    'constructor {}',
    ' CACHE {"url":"u","source":"s","ageSeconds":null}',
    'CACHE {"url":"u","source":"s","ageSeconds":null} …',
    'Final stats: 3 pages visited',
  ])('parseFrame rejects %j', (line) => {
    expect(parseFrame(line)).toBeUndefined()
  })
})

test('the final line contains the number of visits', () => {
  expect(writeFinalStats(PROGRESS)).toBe('Final stats: 3 pages visited, 2 downloaded, 2 saved, 0 errors')
})
