import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { addJobOptions, type CrawlJob, readJob } from '../../src/cli/crawl-job.ts'
import type { PharosError } from '../../src/core/errors.ts'
import { parseCrawlRequest } from '../../src/library/jobs/crawl-request.ts'
import { isSameStart } from '../../src/library/jobs/tracked-job.ts'

const DEFAULTS = { libraryPath: '/data/library.db' }

/** The job that a process parses from its arguments. */
function readArgs(args: readonly string[]): CrawlJob {
  const command = addJobOptions(new Command('crawl-job'))
  command.parse([...args, '--job-id=1b4e28ba-2fa1-11d2-883f-0016d3cca427', '--library=/data/library.db'], {
    from: 'user',
  })
  return readJob(command, command.args[0])
}

/** The job that results from a request body. */
function readBody(body: Readonly<Record<string, unknown>>): CrawlJob {
  return readArgs(parseCrawlRequest({ startUrl: 'https://docs.example/', ...body }, DEFAULTS).args)
}

function startOf(body: Readonly<Record<string, unknown>>) {
  const { target } = readBody(body)
  if (target.type !== 'start') throw new Error('the job crawls a source, not a start')
  return target
}

/** The settings that differ from those of an empty body. */
function changesOf(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const [defaults, changed] = [readBody({}), readBody(body)].map(({ config }) => new Map(Object.entries(config.values)))
  return Object.fromEntries([...(changed ?? [])].filter(([name, value]) => value !== defaults?.get(name)))
}

describe('a request body for a crawl', () => {
  test('gives a job without options if it has only a start URL', () => {
    expect(parseCrawlRequest({ startUrl: ' https://docs.example/a#b ', mode: 'fast', unknown: 1 }, DEFAULTS)).toEqual({
      url: 'https://docs.example/a',
      args: ['https://docs.example/a', '--depth=2'],
    })
    expect(startOf({})).toEqual({
      type: 'start',
      input: {
        url: 'https://docs.example/',
        scope: { maxDepth: 2 },
        crawlType: undefined,
        maxAgeMs: 0,
        maxAgeMsOf: {},
      },
    })
    expect(changesOf({})).toEqual({})
  })

  const inputs: readonly (readonly [Record<string, unknown>, Record<string, unknown>])[] = [
    [{ crawlType: 'basic' }, { crawlType: 'basic' }],
    [{ crawlType: 'sitemap-only' }, { crawlType: 'sitemap-only' }],
    [{ crawlType: 'basic-with-sitemap' }, { crawlType: 'basic-with-sitemap' }],
    [{ crawlType: 'docs' }, { crawlType: 'docs' }],
    [{ crawlType: 'intelligent' }, { crawlType: 'intelligent' }],
    [{ render: 'auto' }, { render: 'auto' }],
    [{ scope: 'domain' }, { scope: { reach: 'domain', maxDepth: 2 } }],
    [{ depth: 0 }, { scope: { maxDepth: 0 } }],
    [{ depth: '3' }, { scope: { maxDepth: 3 } }],
    [{ maxPages: 7 }, { scope: { maxDepth: 2, maxPages: 7 } }],
    [{ allowQueryUrls: true }, { scope: { maxDepth: 2, allowQueryUrls: true } }],
    [{ allowQueryUrls: false }, { scope: { maxDepth: 2 } }],
    [{ useSitemap: false }, { crawlType: 'basic' }],
    [{ useSitemap: true }, { crawlType: 'basic-with-sitemap' }],
    [{ sitemapOnly: true }, { crawlType: 'sitemap-only' }],
    [{ useSitemap: true, sitemapOnly: true }, { crawlType: 'sitemap-only' }],
    [{ crawlType: 'basic', useSitemap: true, sitemapOnly: true }, { crawlType: 'basic' }],
    [{ refetchIfOlderThan: '6h' }, { maxAgeMs: 21_600_000 }],
    [{ maxAge: '90' }, { maxAgeMs: 90_000 }],
    [{ maxAge: 15 }, { maxAgeMs: 15_000 }],
    [{ refetchIfOlderThan: '0', maxAge: '7d' }, { maxAgeMs: 0 }],
    [{ refetchArticleIfOlderThan: '7d' }, { maxAgeMsOf: { article: 604_800_000 } }],
    [{ refetchHubIfOlderThan: '10m' }, { maxAgeMsOf: { hub: 600_000 } }],
    [{ preferCache: true }, { maxAgeMs: Number.MAX_SAFE_INTEGER }],
    [{ preferCache: true, maxAge: '0' }, { maxAgeMs: 0 }],
    [{ preferCache: false }, { maxAgeMs: 0 }],
  ]

  test.each(inputs)('%j gives the crawl %j', (body, expected) => {
    expect(startOf(body).input).toEqual({ ...startOf({}).input, ...expected })
  })

  const settings: readonly (readonly [Record<string, unknown>, Record<string, unknown>])[] = [
    [{ concurrency: 3 }, { concurrency: 3 }],
    [{ maxPages: 70 }, { maxSitemapEntries: 70 }],
    // The queue is on disk, so a limit on its length must not drop pages.
    [{ maxQueue: 20_000 }, {}],
    [{ maxQueue: 10 }, {}],
    [{ requestTimeoutMs: 4000 }, { answerTimeout: 4000, firstByteTimeout: 4000 }],
    [{ requestTimeoutMs: 20_000 }, { answerTimeout: 20_000 }],
    [{ slow: true }, { requestInterval: 1000 }],
    [
      { pacerJitterMinMs: 30, pacerJitterMaxMs: 90 },
      { jitterMin: 30, jitterMax: 90 },
    ],
    [{ pacerJitterMinMs: 300 }, { jitterMin: 300, jitterMax: 300 }],
    [{ pacerJitterMaxMs: 10 }, { jitterMin: 10, jitterMax: 10 }],
    [{ dbPath: 'other.db' }, { library: '/data/other.db' }],
    [{ dbPath: '/data/other.db' }, { library: '/data/other.db' }],
    [{ dbPath: '/data/library.db' }, {}],
    [{ fastStart: true }, {}],
  ]

  test('sets a minimum delay with `slow`, which applies to sites on this machine too', () => {
    expect(readBody({ slow: true }).minDelayMs).toBe(1000)
    expect(readBody({}).minDelayMs).toBe(0)
    // Jitter extends a delay, so it needs one on this machine too, where requests are not spaced otherwise.
    expect(readBody({ pacerJitterMinMs: 200 }).minDelayMs).toBe(1)
    expect(readBody({ pacerJitterMaxMs: 300 }).minDelayMs).toBe(1)
    expect(readBody({ pacerJitterMinMs: 0, pacerJitterMaxMs: 0 }).minDelayMs).toBe(0)
  })

  test.each(settings)('%j changes the settings to %j', (body, expected) => {
    expect(changesOf(body)).toEqual(expected)
  })

  const PLANNER = {
    hubMaxPages: 5,
    hubMaxDays: 30,
    intMaxSeeds: 20,
    intTargetHosts: ['a.example', 'b.example'],
    plannerVerbosity: 2,
  }

  test('has planner options only for planned crawls', () => {
    const { intMaxSeeds: maxSeeds, intTargetHosts: targetHosts, plannerVerbosity: verbosity, ...rest } = PLANNER
    const expected = { ...rest, maxSeeds, targetHosts, verbosity }
    for (const crawlType of ['intelligent', 'history']) {
      expect(startOf({ crawlType, ...PLANNER }).input).toMatchObject({ crawlType, planner: expected })
    }
    const withHostText = startOf({ crawlType: 'intelligent', ...PLANNER, intTargetHosts: ' A.example, b.example,' })
    expect(withHostText.input.planner).toEqual(expected)
    expect(parseCrawlRequest({ startUrl: 'https://docs.example/', ...PLANNER }, DEFAULTS).args).toHaveLength(2)
    expect(startOf({ crawlType: 'basic', ...PLANNER }).input).not.toHaveProperty('planner')
    expect(startOf({ crawlType: 'history', force: true }).input.force).toBe(true)
    expect(startOf({ crawlType: 'history' }).input).not.toHaveProperty('force')
  })

  const refused: readonly (readonly [unknown, string])[] = [
    [[], 'the body'],
    ['https://docs.example/', 'the body'],
    [{}, 'startUrl'],
    [{ startUrl: 7 }, 'startUrl'],
    [{ startUrl: 'docs' }, 'docs'],
    [{ startUrl: 'file:///etc/passwd' }, 'file'],
    [{ startUrl: 'https://user:secret@docs.example/' }, 'user name or password'],
    [{ crawlType: 'deep' }, 'crawlType'],
    [{ render: 'firefox' }, 'render'],
    [{ depth: -1 }, 'depth'],
    [{ depth: 1.5 }, 'depth'],
    [{ depth: null }, 'depth'],
    [{ maxPages: 0 }, 'maxPages'],
    [{ concurrency: 257 }, 'concurrency'],
    [{ slow: 'yes' }, 'slow'],
    [{ maxAge: '6 weeks' }, 'maxAge'],
    [{ refetchHubIfOlderThan: '-1h' }, 'refetchHubIfOlderThan'],
    [{ pacerJitterMinMs: 9, pacerJitterMaxMs: 3 }, 'pacerJitterMinMs'],
    [{ intTargetHosts: ['a b'] }, 'intTargetHosts'],
    [{ plannerVerbosity: 4 }, 'plannerVerbosity'],
    [{ dbPath: '/etc/passwd' }, 'dbPath'],
    [{ dbPath: '../other.db' }, 'dbPath'],
    [{ dbPath: '/data/../other.db' }, 'dbPath'],
    [{ dbPath: '/data/sub/other.db' }, 'dbPath'],
    [{ dbPath: '--library=/etc/x.db' }, 'dbPath'],
    [{ dbPath: ':memory:' }, 'dbPath'],
  ]

  test.each(refused)('%j is refused, and the error names %s', (body, part) => {
    const needsStart = typeof body === 'object' && !Array.isArray(body) && part !== 'startUrl'
    const request = needsStart ? { startUrl: 'https://docs.example/', ...body } : body
    const failure = catchError(() => parseCrawlRequest(request, DEFAULTS))
    expect(['USAGE', 'URL_INVALID']).toContain(failure.code)
    expect(failure.message).toContain(part)
    expect(failure.message).not.toContain('secret')
  })

  test('cannot name another library if the server uses PostgreSQL', () => {
    const defaults = { libraryPath: 'postgres://me@db.example/pharos' }
    const start = { startUrl: 'https://docs.example/' }
    expect(parseCrawlRequest({ ...start, dbPath: defaults.libraryPath }, defaults).args).toEqual([
      start.startUrl,
      '--depth=2',
    ])
    for (const dbPath of ['other.db', '/data/library.db', 'postgres://me@db.example/other']) {
      const failure = catchError(() => parseCrawlRequest({ ...start, dbPath }, defaults))
      expect(failure).toMatchObject({ code: 'USAGE', message: expect.stringContaining('dbPath') })
    }
  })

  test('uses the default start URL of the server if it names none', () => {
    const request = parseCrawlRequest(undefined, { ...DEFAULTS, defaultStartUrl: 'https://home.example/' })
    expect(request.url).toBe('https://home.example/')
  })

  test('gives arguments whose values cannot be mistaken for flags', () => {
    const { args } = parseCrawlRequest({ startUrl: 'https://docs.example/?--library=/x', crawlType: 'docs' }, DEFAULTS)
    expect(args).toEqual(['https://docs.example/?--library=/x', '--crawl-type=docs', '--depth=2'])
    expect(readArgs(args).config.values.library).toBe('/data/library.db')
  })
})

function catchError(work: () => unknown): PharosError {
  try {
    work()
  } catch (error) {
    return error as PharosError
  }
  throw new Error('no error was thrown')
}

describe('a crawl of a source', () => {
  const options = {
    full: true,
    scope: { maxPages: 3, block: ['/a/**'] },
    crawlType: 'basic',
    render: 'auto',
    isFresh: true,
  }

  test('gets the given options', () => {
    const { target } = readArgs(['--source=abc', '--kind=refresh', `--options=${JSON.stringify(options)}`])
    expect(target).toEqual({ type: 'source', source: 'abc', input: { kind: 'refresh', maxAgeMs: 0, ...options } })
  })

  test.each(['{', '[]', '{"scope":{"reach":"moon"}}', '{"render":"firefox"}', '{"maxAgeMs":-1}'])(
    'is refused with the options %s',
    (json) => {
      expect(catchError(() => readArgs(['--source=abc', `--options=${json}`]))).toMatchObject({ code: 'USAGE' })
    },
  )

  test('needs either a start URL or a source, not both', () => {
    expect(catchError(() => readArgs(['https://docs.example/', '--source=abc']))).toMatchObject({ code: 'USAGE' })
    expect(catchError(() => readArgs([]))).toMatchObject({ code: 'USAGE' })
  })
})

test.each([
  ['https://docs.example/guide/', true],
  ['https://docs.example/guide?utm_source=a', true],
  ['https://docs.example/guide#top', true],
  ['https://docs.example/guides', false],
  ['http://docs.example/guide', false],
])('isSameStart compares starts by the address of their source: %s', (startUrl, isSame) => {
  const request = parseCrawlRequest({ startUrl: 'https://docs.example/guide' }, DEFAULTS)
  const other = parseCrawlRequest({ startUrl }, DEFAULTS)
  expect(isSameStart(request, { request: other, sourceId: null })).toBe(isSame)
})
