import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CrawlSummary } from '../../src/crawl/events.ts'
import { splitMilestones } from '../../src/library/crawl/split-milestones.ts'
import type { ProgressFrame, QueueAction } from '../../src/library/jobs/events/frames.ts'
import type { JobLog, JobRecord, LogPage, StoredNote } from '../../src/library/ports/job-log.ts'
import type { LibraryStore } from '../../src/library/ports/library-store.ts'
import type { CrawlRunOptions } from '../../src/library/ports/store.ts'
import { addSourceTo } from '../embed/filled-store.ts'
import { event, frameOf, jobOf, KEEP_ALL, note } from './job-notes.ts'

/** Contract of every job history. Each test has a history of its own. */
export function describeJobLog(open: () => Promise<LibraryStore>): void {
  let store: LibraryStore
  let log: JobLog

  beforeEach(async () => {
    store = await open()
    log = store.jobLog
  })
  afterEach(() => store.close())

  const urlsOf = async (jobId: string, page: Partial<LogPage> & { readonly action?: QueueAction } = {}) =>
    (await log.listQueueEvents(jobId, { limit: 100, ...page })).map(({ url }) => url)
  const idOf = async (url: string) => {
    const found = (await log.listQueueEvents('a', { limit: 1000 })).find((event) => event.url === url)
    return found?.id ?? Number.NaN
  }
  const listIds = async () => (await log.list(100)).items.map(({ id }) => id)

  describe('jobs', () => {
    test('are found as they were added and changed, and unknown jobs are not found', async () => {
      const job = jobOf('a', { args: ['https://a.test/', '--depth=2'] })
      await log.add(job)
      expect(await log.find('a')).toEqual({ ...job, events: 0, lastEventAt: null })
      expect(await log.find('b')).toBeUndefined()
      const change = {
        status: 'running',
        process: { pid: 7, began: '12345' },
        startedAt: 20,
        crawlId: 'crawl',
        sourceId: 'source',
        restarts: 1,
        progress: PROGRESS,
        problem: 'none yet',
      } as const
      await log.change('a', change)
      expect(await log.find('a')).toEqual({ ...job, ...change, events: 0, lastEventAt: null })
      await log.change('a', { process: null, progress: null, problem: null, status: 'failed', endedAt: 30 })
      expect(await log.find('a')).toMatchObject({ process: null, progress: null, status: 'failed', crawlId: 'crawl' })
      await log.change('b', { status: 'done' })
      expect(await listIds()).toEqual(['a'])
    })

    test('are not added twice', async () => {
      await log.add(jobOf('a'))
      await expect(log.add(jobOf('a', { url: 'https://other.test/' }))).rejects.toThrow()
      expect(await log.find('a')).toMatchObject({ url: 'https://a.test/' })
    })

    test('are listed by start time, newest first, after the queued ones', async () => {
      await log.add(jobOf('late', { status: 'running', createdAt: 1, startedAt: 90 }))
      await log.add(jobOf('waiting', { createdAt: 5 }))
      await log.add(jobOf('early', { status: 'done', createdAt: 80, startedAt: 85, endedAt: 99 }))
      await log.add(jobOf('never', { status: 'cancelled', createdAt: 86, endedAt: 87 }))
      await log.add(jobOf('also early', { status: 'stopped', createdAt: 80, startedAt: 85, endedAt: 99 }))
      await log.add(jobOf('waiting more', { createdAt: 6 }))
      const order = ['waiting more', 'waiting', 'late', 'never', 'also early', 'early']
      expect(await listIds()).toEqual(order)
      const { total, items } = await log.list(2)
      expect([total, items.map(({ id }) => id)]).toEqual([6, order.slice(0, 2)])
    })

    test('are listed oldest first if they are open', async () => {
      const running = jobOf('running', { status: 'running', createdAt: 2, startedAt: 3 })
      await log.add(jobOf('done', { status: 'done', createdAt: 1, endedAt: 2 }))
      await log.add(jobOf('queued', { createdAt: 5 }))
      await log.add(running)
      expect(await log.listOpen()).toEqual([running, jobOf('queued', { createdAt: 5 })])
      await log.change('running', { status: 'failed', endedAt: 9 })
      expect((await log.listOpen()).map(({ id }) => id)).toEqual(['queued'])
    })

    test('have the number of their queue events and the time of the last one', async () => {
      await log.add(jobOf('a'))
      await log.add(jobOf('b'))
      await log.append([event('a', '/1', { at: 50 }), event('b', '/1', { at: 51 }), event('a', '/2', { at: 40 })])
      await log.append([note('problem', 'a', 'x', { at: 99 }), event('unknown', '/1')])
      const counts = (await log.list(9)).items.map(({ id, events, lastEventAt }) => [id, events, lastEventAt])
      expect(counts).toEqual([
        ['b', 1, 51],
        ['a', 2, 50],
      ])
      await log.change('a', { status: 'running', startedAt: 60 })
      expect(await log.find('a')).toMatchObject({ events: 2, lastEventAt: 50 })
    })
  })

  describe('crawls that no job ran', () => {
    const begin = async (id: string, startedAt: number, options: Partial<CrawlRunOptions> = {}) => {
      const heartbeat = { startedAt, heartbeatAt: startedAt, endedAt: null, summary: null, runner: 'one' }
      const given = { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} }
      const base = { id, sourceId: 'docs', kind: 'recrawl', state: 'running' } as const
      await store.beginCrawl({ ...base, ...heartbeat, options: { ...given, ...options } }, 1)
    }
    const run = async (id: string, startedAt: number, summary: CrawlSummary | null, options = {}) => {
      await begin(id, startedAt, options)
      await store.endCrawl(id, summary, startedAt + 5, 'one')
    }

    test('are listed between jobs once they have ended, with their counts', async () => {
      await addSourceTo(store, 'docs')
      await log.add(jobOf('early', { status: 'done', startedAt: 20, endedAt: 30 }))
      await run('terminal', 40, SUMMARY)
      await log.add(jobOf('late', { status: 'failed', startedAt: 60, endedAt: 70 }))
      await log.add(jobOf('waiting'))
      await run('stopped', 80, null)
      await begin('running', 100)
      expect(await listIds()).toEqual(['waiting', 'stopped', 'late', 'terminal', 'early'])
      expect(await log.list(3)).toMatchObject({ total: 5, items: [{}, {}, { id: 'late' }] })
      expect(await log.find('terminal')).toMatchObject({
        ...{ url: 'https://docs.test/', status: 'done', createdAt: 40, startedAt: 40, endedAt: 45 },
        ...{ sourceId: 'docs', crawlId: 'terminal', process: null, args: [], events: 0, problem: null },
        progress: { visited: 9, downloaded: 7, saved: 1, unchanged: 6, errors: 2, unread: 4, bytes: 100 },
      })
      expect(await log.find('stopped')).toMatchObject({ status: 'stopped', progress: { visited: 0 } })
      expect(await log.find('running')).toBeUndefined()
      expect((await log.listOpen()).map(({ id }) => id)).toEqual(['waiting'])
      await run('lossy', 200, { ...SUMMARY, end: 'gate', problem: 'too many pages are missing' })
      expect(await log.find('lossy')).toMatchObject({ status: 'failed', problem: 'too many pages are missing' })
      await store.removeSource('docs')
      expect(await listIds()).toEqual(['waiting', 'late', 'early'])
    })

    test('do not include crawls of jobs, or runs for changes in a watched folder', async () => {
      await addSourceTo(store, 'docs')
      await run('of a job', 20, SUMMARY)
      await run('told too late', 40, null)
      await run('focused', 50, SUMMARY, { isFocused: true })
      await log.add(
        jobOf('job', {
          status: 'done',
          createdAt: 39,
          startedAt: 41,
          endedAt: 46,
          crawlId: 'of a job',
          sourceId: 'docs',
        }),
      )
      await run('of a killed server', 70, null)
      await log.add(jobOf('killed', { status: 'running', url: 'https://docs.test/', createdAt: 69, startedAt: 70 }))
      expect(await listIds()).toEqual(['killed', 'job'])
      expect(await log.find('of a job')).toBeUndefined()
    })
  })

  describe('queue events', () => {
    test('are listed newest first, with all their fields', async () => {
      await log.append([
        event('a', '/1', {
          at: 10,
          action: 'drop',
          reason: 'query-skip',
          alias: 'https://a.test/',
          depth: null,
          host: null,
        }),
        event('b', '/x'),
        event('a', '/2', { at: 9, action: 'dequeued', queueSize: 7 }),
      ])
      const found = await log.listQueueEvents('a', { limit: 10 })
      expect(found).toEqual([
        { ...frameOf('/2', { action: 'dequeued', queueSize: 7 }), id: expect.any(Number), jobId: 'a', at: 9 },
        {
          ...frameOf('/1', { action: 'drop', reason: 'query-skip', alias: 'https://a.test/', depth: null, host: null }),
          id: expect.any(Number),
          jobId: 'a',
          at: 10,
        },
      ])
      expect(found[0]?.id).toBeGreaterThan(found[1]?.id ?? 0)
    })

    test('are paged in both directions, without gaps or duplicates', async () => {
      const paths = Array.from({ length: 7 }, (_, i) => `/${i + 1}`)
      for (const path of paths) await log.append([event('a', path), event('b', path)])
      expect(await urlsOf('a', { limit: 3 })).toEqual(['/7', '/6', '/5'])
      expect(await urlsOf('a', { limit: 3, before: await idOf('/5') })).toEqual(['/4', '/3', '/2'])
      expect(await urlsOf('a', { limit: 3, before: await idOf('/2') })).toEqual(['/1'])
      expect(await urlsOf('a', { limit: 3, before: await idOf('/1') })).toEqual([])
      expect(await urlsOf('a', { limit: 3, after: await idOf('/2') })).toEqual(['/5', '/4', '/3'])
      expect(await urlsOf('a', { limit: 3, after: await idOf('/5') })).toEqual(['/7', '/6'])
      expect(await urlsOf('a', { after: await idOf('/7') })).toEqual([])
      expect(await urlsOf('a', { before: await idOf('/6'), after: await idOf('/2') })).toEqual(['/5', '/4', '/3'])
      expect(await urlsOf('nobody')).toEqual([])
    })

    test('are filtered by action, with paging', async () => {
      const actions: QueueAction[] = ['enqueued', 'drop', 'enqueued', 'retry', 'enqueued', 'drop']
      await log.append(actions.map((action, i) => event('a', `/${i}`, { action })))
      expect(await urlsOf('a', { action: 'enqueued' })).toEqual(['/4', '/2', '/0'])
      expect(await urlsOf('a', { action: 'enqueued', before: await idOf('/3') })).toEqual(['/2', '/0'])
      expect(await urlsOf('a', { action: 'enqueued', after: await idOf('/0'), limit: 1 })).toEqual(['/2'])
      expect(await urlsOf('a', { action: 'dequeued' })).toEqual([])
    })
  })

  describe.each(['problem', 'milestone'] as const)('a %s', (type) => {
    const list = async (filter: Parameters<JobLog['listProblems']>[0]) =>
      (await (type === 'problem' ? log.listProblems(filter) : log.listMilestones(filter))).map(({ target }) => target)

    test('is stored with all fields, separately from the other kind', async () => {
      const details = { hosts: ['a.test', 'b.test'], count: 2, nested: { quote: '"\n\u{1F600}' } }
      await log.append([
        { jobId: 'a', at: 5, type, data: { kind: 'k', scope: 's', target: 't', message: 'words', details } },
        { jobId: 'a', at: 6, type, data: { kind: 'k', scope: null, target: null, message: null, details: null } },
      ])
      const [problems, milestones] = [await log.listProblems({ limit: 9 }), await log.listMilestones({ limit: 9 })]
      const [found, others] = type === 'problem' ? [problems, milestones] : [milestones, problems]
      const id = expect.any(Number)
      expect(found).toEqual([
        { id, jobId: 'a', at: 6, kind: 'k', scope: null, target: null, message: null, details: null },
        { id, jobId: 'a', at: 5, kind: 'k', scope: 's', target: 't', message: 'words', details },
      ])
      expect(others).toEqual([])
    })

    test('is found by every filter, with paging in both directions', async () => {
      await log.append([
        note(type, 'a', '1', { kind: 'robots', scope: 'x.test' }),
        note(type, 'b', '2', { kind: 'robots', scope: 'y.test' }),
        note(type, 'a', '3', { kind: 'slow', scope: 'x.test' }),
        note(type, 'a', '4', { kind: 'robots', scope: 'y.test' }),
      ])
      const rows = await (type === 'problem' ? log.listProblems({ limit: 9 }) : log.listMilestones({ limit: 9 }))
      const idAt = (target: string) => rows.find((row) => row.target === target)?.id ?? Number.NaN
      expect(await list({ limit: 9 })).toEqual(['4', '3', '2', '1'])
      expect(await list({ limit: 9, jobId: 'a' })).toEqual(['4', '3', '1'])
      expect(await list({ limit: 9, kind: 'robots' })).toEqual(['4', '2', '1'])
      expect(await list({ limit: 9, scope: 'x.test' })).toEqual(['3', '1'])
      expect(await list({ limit: 9, jobId: 'a', kind: 'robots', scope: 'y.test' })).toEqual(['4'])
      expect(await list({ limit: 2, before: idAt('4') })).toEqual(['3', '2'])
      expect(await list({ limit: 2, after: idAt('1') })).toEqual(['3', '2'])
      expect(await list({ limit: 1, after: idAt('1'), jobId: 'a' })).toEqual(['3'])
    })
  })

  test('a milestone is kept once for each job, kind and scope, and a problem as often as it occurs', async () => {
    for (const type of ['milestone', 'problem'] as const) {
      await log.append([note(type, 'a', '1', { scope: 'x.test' }), note(type, 'a', '2', { scope: 'x.test' })])
      await log.append([note(type, 'a', '3', { scope: 'x.test' }), note(type, 'b', '4', { scope: 'x.test' })])
      await log.append([note(type, 'a', '5'), note(type, 'a', '6'), note(type, 'a', '7', { kind: 'other' })])
    }
    const targets = (notes: readonly StoredNote[]) => notes.map(({ target }) => target)
    expect(targets(await log.listMilestones({ limit: 9 }))).toEqual(['7', '5', '4', '1'])
    expect(targets(await log.listProblems({ limit: 9 }))).toHaveLength(7)
  })

  test('a host has the milestones that any job reached there', async () => {
    await log.append([
      note('milestone', 'a', '1', { kind: 'depth2-coverage', scope: 'x.test' }),
      note('milestone', 'b', '2', { kind: 'downloads-1k', scope: 'x.test' }),
      note('milestone', 'b', '3', { kind: 'full-understanding', scope: 'y.test' }),
      note('problem', 'b', '4', { kind: 'patterns-learned', scope: 'x.test' }),
    ])
    const kinds = ['full-understanding', 'downloads-1k', 'patterns-learned', 'depth2-coverage']
    expect(await splitMilestones({ jobLog: log }, 'x.test', kinds)).toEqual({
      met: ['downloads-1k', 'depth2-coverage'],
      unmet: ['full-understanding', 'patterns-learned'],
    })
    expect(await splitMilestones({}, 'x.test', ['downloads-1k'])).toEqual({ met: [], unmet: ['downloads-1k'] })
  })

  describe('trimming', () => {
    const fill = async (jobId: string, count: number, more: Partial<JobRecord> = {}) => {
      await log.add(jobOf(jobId, more))
      await log.append(Array.from({ length: count }, (_, i) => event(jobId, `/${jobId}${i}`)))
    }

    test('removes nothing that is within the limits of the rule', async () => {
      await fill('a', 3)
      expect(await log.trim(KEEP_ALL)).toBe(0)
      expect(await log.trim({ ...KEEP_ALL, eventsPerJob: 3, events: 3, jobs: 1 })).toBe(0)
      expect(await urlsOf('a')).toHaveLength(3)
    })

    test('keeps the newest events of each job, and does not change the counts', async () => {
      await fill('a', 5)
      await fill('b', 1)
      expect(await log.trim({ ...KEEP_ALL, eventsPerJob: 2 })).toBe(3)
      expect(await urlsOf('a')).toEqual(['/a4', '/a3'])
      expect(await urlsOf('b')).toEqual(['/b0'])
      expect(await log.find('a')).toMatchObject({ events: 5 })
    })

    test('keeps the newest events overall', async () => {
      await fill('a', 3)
      await fill('b', 3)
      expect(await log.trim({ ...KEEP_ALL, events: 4 })).toBe(2)
      expect([...(await urlsOf('a')), ...(await urlsOf('b'))]).toEqual(['/a2', '/b2', '/b1', '/b0'])
      expect(await log.trim({ ...KEEP_ALL, events: 4 })).toBe(0)
      expect(await log.trim({ ...KEEP_ALL, events: 0 })).toBe(4)
    })

    test('never leads to an id being used twice', async () => {
      await fill('a', 3)
      const last = await idOf('/a2')
      await log.trim({ ...KEEP_ALL, events: 0 })
      await log.append([event('a', '/again')])
      expect(await idOf('/again')).toBeGreaterThan(last)
    })

    test('removes the events of jobs that ended long ago, and keeps the jobs', async () => {
      await fill('old', 2, { status: 'done', endedAt: 99 })
      await fill('new', 2, { status: 'done', endedAt: 100 })
      await fill('open', 2, { status: 'running', startedAt: 1 })
      await log.append([note('problem', 'old', 'kept')])
      expect(await log.trim({ ...KEEP_ALL, eventsSince: 100 })).toBe(2)
      expect(await Promise.all(['old', 'new', 'open'].map(async (id) => (await urlsOf(id)).length))).toEqual([0, 2, 2])
      expect(await log.find('old')).toMatchObject({ events: 2 })
      expect(await log.listProblems({ limit: 9 })).toHaveLength(1)
    })

    test('keeps the configured number of problems and of milestones', async () => {
      await log.append(['1', '2', '3'].flatMap((at) => [note('problem', 'a', at), note('milestone', at, at)]))
      expect(await log.trim({ ...KEEP_ALL, notes: 2 })).toBe(2)
      expect((await log.listProblems({ limit: 9 })).map(({ target }) => target)).toEqual(['3', '2'])
      expect((await log.listMilestones({ limit: 9 })).map(({ target }) => target)).toEqual(['3', '2'])
    })

    test('removes the jobs that ended first with all their notes, and never an open job', async () => {
      await fill('second', 2, { status: 'done', endedAt: 20 })
      await fill('first', 2, { status: 'failed', endedAt: 10 })
      await fill('last', 2, { status: 'stopped', endedAt: 30 })
      await fill('open', 1)
      await log.append([note('problem', 'first', 'p'), note('milestone', 'first', 'm'), note('problem', 'last', 'p')])
      expect(await log.trim({ ...KEEP_ALL, jobs: 2 })).toBe(2 + 2 + 2 + 2)
      expect((await listIds()).sort()).toEqual(['last', 'open'])
      expect(await urlsOf('first')).toEqual([])
      expect(await log.listProblems({ limit: 9 })).toMatchObject([{ jobId: 'last' }])
      expect(await log.listMilestones({ limit: 9 })).toEqual([])
      expect(await log.trim({ ...KEEP_ALL, jobs: 0 })).toBe(2 + 1 + 1)
      expect(await listIds()).toEqual(['open'])
      expect(await urlsOf('open')).toHaveLength(1)
    })
  })

  test('a new library has the built-in crawl types', async () => {
    const types = await log.listTypes()
    expect(types.map(({ name }) => name)).toEqual([
      'basic',
      'sitemap-only',
      'basic-with-sitemap',
      'intelligent',
      'history',
      'docs',
    ])
    for (const { name, description, declaration } of types) {
      expect(description).not.toBe('')
      expect(declaration).toMatchObject({ crawlType: name })
    }
    expect(types[1]?.declaration).toEqual({ crawlType: 'sitemap-only', useSitemap: true, sitemapOnly: true })
  })
}

const SUMMARY: CrawlSummary = {
  ...{
    crawlId: '',
    kind: 'recrawl',
    end: 'completed',
    parked: [],
    incomplete: null,
    problem: null,
    uselessReason: null,
  },
  ...{ visited: 9, indexed: 1, unchanged: 6, skipped: 0, failed: 2, removed: 0, withheld: 0, cappedAt: 5, unread: 4 },
  ...{ overflow: 0, newInRefresh: 0, bytes: 100, requests: 9, elapsedMs: 5 },
  ledger: {
    total: 0,
    states: { pending: 0, leased: 0, indexed: 0, unchanged: 0, skipped: 0, failed: 0, gone: 0 },
    reasons: {},
  },
}

const PROGRESS: ProgressFrame = {
  visited: 1,
  downloaded: 2,
  found: 3,
  saved: 4,
  unchanged: 5,
  skipped: 6,
  errors: 7,
  bytes: 8,
  queueSize: 9,
  currentDownloadsCount: 1,
  currentDownloads: [{ url: 'https://a.test/now', ageMs: 12 }],
  paused: false,
  robotsLoaded: true,
  sitemapCount: 1,
  sitemapEnqueued: 10,
  domain: 'a.test',
  domainRpm: 60,
  domainLimit: null,
  domainBackoffMs: 0,
  domainRateLimited: false,
  domainIntervalMs: 1000,
  perHost: { 'a.test': { rpm: 60, limitRpm: null, backoffUntil: null, intervalMs: 1000 } },
  perHostLimits: { 'a.test': { rateLimited: false, limit: null, intervalMs: 1000, backoffMs: 0 } },
  crawlId: 'crawl',
  sourceId: 'source',
}
