import { expect, test } from 'vitest'
import { type CrawlFields, checkFields, DEFAULT_FIELDS, writeCrawlBody } from '../../web/dashboard/home/crawl-form.ts'

/* Tests the request body that the dashboard form sends. */

const FILLED: CrawlFields = {
  ...DEFAULT_FIELDS,
  startUrl: 'news.example/world',
  hubMaxPages: '20',
  hubMaxDays: '30',
  intMaxSeeds: ' 7 ',
  intTargetHosts: 'news.example, other.example',
  plannerVerbosity: '0',
  force: true,
}

const PLAN = {
  ...{ hubMaxPages: 20, hubMaxDays: 30, intMaxSeeds: 7, plannerVerbosity: 0 },
  intTargetHosts: 'news.example, other.example',
}

test('plan options are sent only for planned crawls, and `force` only for a history crawl', () => {
  const basic = writeCrawlBody({ ...FILLED, crawlType: 'basic' }, true)
  expect(basic).toMatchObject({ startUrl: 'https://news.example/world', crawlType: 'basic', queue: true })
  expect(Object.keys(basic).filter((name) => name in PLAN || name === 'force')).toEqual([])
  const intelligent = writeCrawlBody({ ...FILLED, crawlType: 'intelligent' }, true)
  expect(intelligent).toMatchObject(PLAN)
  expect(intelligent).not.toHaveProperty('force')
  const history = writeCrawlBody({ ...FILLED, crawlType: 'history' }, false)
  expect(history).toMatchObject({ ...PLAN, force: true })
  expect(history).not.toHaveProperty('queue')
})

test('a package, repository or archive is sent as typed, and a local path is refused', () => {
  for (const startUrl of [
    'npm:left-pad@1.2.0',
    'git@github.com:a/b.git',
    'pkg:npm/%40a/b',
    'honojs/hono',
    'https://a.example/m.zip',
  ]) {
    expect(checkFields({ ...DEFAULT_FIELDS, startUrl })).toEqual({})
    expect(writeCrawlBody({ ...DEFAULT_FIELDS, startUrl: ` ${startUrl} ` }, true)).toMatchObject({ startUrl })
  }
  for (const startUrl of ['/home/me/docs', './docs', '~/docs', 'file:///docs', 'git+file:///docs']) {
    expect(checkFields({ ...DEFAULT_FIELDS, startUrl }).startUrl).toContain('pharos add')
  }
})

test('a scheme is completed as the server does it: https, or http on loopback', () => {
  const completed = { 'docs.example/guide': 'https://docs.example/guide', 'localhost:3000': 'http://localhost:3000' }
  for (const [startUrl, expected] of Object.entries({ ...completed, '127.0.0.1:8080/a': 'http://127.0.0.1:8080/a' })) {
    expect(writeCrawlBody({ ...DEFAULT_FIELDS, startUrl }, true)).toMatchObject({ startUrl: expected })
  }
})

test('a hidden field causes no error', () => {
  const wrong = { ...FILLED, hubMaxPages: '0', intMaxSeeds: 'many' }
  expect(checkFields({ ...wrong, crawlType: 'docs' })).toEqual({})
  expect(checkFields({ ...wrong, crawlType: 'intelligent' })).toEqual({
    hubMaxPages: 'A whole number from 1 on',
    intMaxSeeds: 'A whole number from 1 on',
  })
})
