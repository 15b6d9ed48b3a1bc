import { createHash } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { CLASSIFIER_VERSION } from '../../src/core/classify/classify-page.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { analysePage } from '../../src/places/analysis/analyse-page.ts'
import { ANALYSIS_VERSION, type AnalysePage } from '../../src/places/analysis/page-analysis.ts'
import type { AnalysisRun, AnalysisVersions } from '../../src/places/ports/analyses.ts'
import { type AnalyseInput, type AnalysisEvent, analyseLibrary } from '../../src/places/runs/analyse-library.ts'
import { judgeDomain, judgeLocale } from '../../src/places/runs/judge-domain.ts'
import { listReached } from '../../src/places/runs/reached-milestones.ts'
import { chooseRepetitions } from '../library-location.ts'
import { importPlaces } from './some-places.ts'
import { COUNTRIES, storeNews } from './stored-news.ts'

const HOST = 'news.example.uk'
/** Number of articles in the stored news. */
export const ARTICLES: number = 20
const PAGES = 15 + ARTICLES

/** The result of a run. */
export interface AnalysisResult {
  readonly run: AnalysisRun
  readonly events: readonly AnalysisEvent[]
  readonly isResumed: boolean
}

/** Runs an analysis to its end, or until `signal` stops it. */
export async function analyse(
  library: OpenLibrary,
  input: AnalyseInput = {},
  signal?: AbortSignal,
): Promise<AnalysisResult> {
  const events: AnalysisEvent[] = []
  for await (const event of analyseLibrary(library, input, signal)) events.push(event)
  const first = events[0]
  const last = events.at(-1)
  if (first?.type !== 'started' || last?.type !== 'ended') throw new Error(`the run ended with the event ${last?.type}`)
  return { run: last.run, events, isResumed: first.isResumed }
}

async function readPendingCount(library: OpenLibrary, version = ANALYSIS_VERSION): Promise<number> {
  return library.analyses.countPending(await pendingCriteria(library, { version }))
}

/** The versions that decide which pages are pending: the current ones, except those in `other`. */
async function pendingCriteria(library: OpenLibrary, other: Partial<AnalysisVersions> = {}): Promise<AnalysisVersions> {
  const revision = await library.gazetteer.revision()
  return { version: ANALYSIS_VERSION, revision, classifierVersion: CLASSIFIER_VERSION, ...other }
}

function keyOf(path: string): [string, string] {
  return [`source of ${HOST}`, `https://${HOST}${path}`]
}

/** Stores a page again, as a later crawl does. */
async function storeAgain(library: OpenLibrary, path: string, addedText = ''): Promise<void> {
  const [sourceId, key] = keyOf(path)
  const stored = await library.store.readPage(sourceId, key)
  if (stored === undefined) throw new Error(`${path} is not stored`)
  const { markdown, contentHash } = stored.page
  const changed = { markdown: markdown + addedText, contentHash: addedText === '' ? contentHash : 'f'.repeat(64) }
  const find = { key, url: key, host: HOST, depth: 1, foundOn: null, discovery: 'link', refusal: null } as const
  const record = { page: { ...stored.page, ...changed }, chunks: [], links: [] }
  await library.store.adopt({ sourceId, crawlId: 'again', now: 5, find, record, finds: [] })
}

/** Stores news, and the places that they mention. */
export async function fillWithNews({ store, gazetteer }: OpenLibrary, hasPlaces: boolean): Promise<void> {
  expect(await storeNews(store, { articles: ARTICLES })).toBe(PAGES)
  if (hasPlaces) await importPlaces(gazetteer)
}

/**
 * The contract of analysis runs: what they store, and how they resume. `openNews` may return a copy where that is faster than filling a
 * library.
 */
export function describeRuns(
  openEmptyLibrary: () => Promise<OpenLibrary>,
  openNews: (hasPlaces: boolean) => Promise<OpenLibrary> = async (hasPlaces) => {
    const library = await openEmptyLibrary()
    await fillWithNews(library, hasPlaces)
    return library
  },
): void {
  const opened: OpenLibrary[] = []
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((library) => library.close()))
  })
  const closeLater = async (opening: Promise<OpenLibrary>): Promise<OpenLibrary> => {
    const library = await opening
    opened.push(library)
    return library
  }
  const openEmpty = (): Promise<OpenLibrary> => closeLater(openEmptyLibrary())
  /** A library with news, and optionally the places that they mention. */
  const open = ({ hasPlaces = false } = {}): Promise<OpenLibrary> => closeLater(openNews(hasPlaces))

  describe('a run', () => {
    test.each([false, true])(
      'never counts more pages than its total, although a crawl adds pages meanwhile (dry run: %s)',
      async (dryRun) => {
        const library = await open()
        const events: AnalysisEvent[] = []
        for await (const event of analyseLibrary(library, { batch: 10, options: { dryRun } })) {
          if (!events.some(({ type }) => type === 'progress') && event.type === 'progress') {
            await storeNews(library.store, { articles: 25, host: 'later.example.uk' })
          }
          events.push(event)
        }
        const reports = events.flatMap((event) => (event.type === 'progress' ? [event.progress] : []))
        expect(reports.filter(({ pages, totalPages }) => pages > totalPages)).toEqual([])
        expect(reports.at(-1)).toMatchObject({ pages: PAGES + 15 + 25, totalPages: PAGES + 15 + 25 })
      },
    )

    test('ends with all its pages analysed, although some are removed meanwhile', async () => {
      const library = await open()
      await storeNews(library.store, { articles: 25, host: 'later.example.uk' })
      const events: AnalysisEvent[] = []
      for await (const event of analyseLibrary(library, { batch: 10 })) {
        if (!events.some(({ type }) => type === 'progress') && event.type === 'progress') {
          await library.store.removeSource('source of later.example.uk')
        }
        events.push(event)
      }
      const last = events.at(-1)
      expect(last?.type === 'ended' && last.run.progress).toMatchObject({ pages: PAGES, totalPages: PAGES })
    })

    test('analyses all pages and hosts, finds hubs and milestones, and stores its events', async () => {
      const library = await open({ hasPlaces: true })
      const { run } = await analyse(library)
      expect(run).toMatchObject({ status: 'completed', stage: 'done', error: null })
      expect(run.progress).toMatchObject({ pages: PAGES, totalPages: PAGES, articles: ARTICLES, failed: 0, domains: 1 })
      expect(run.progress.places).toBeGreaterThan(ARTICLES)
      expect(run.progress.hubs).toBeGreaterThanOrEqual(COUNTRIES.length)
      expect(await library.analyses.findRun(run.id)).toEqual(run)
      expect(await readPendingCount(library)).toBe(0)

      const hub = await library.analyses.read(...keyOf('/world/france'))
      expect(hub?.classification.kind).toBe('nav')
      expect(hub?.analysis?.analysis_version).toBe(ANALYSIS_VERSION)
      expect(await library.placeHubs.find(`https://${HOST}/world/france`)).toMatchObject({ placeSlug: 'france' })
      const [france] = await library.gazetteer.resolve('France', 1)
      expect((await library.gazetteer.listArticles(france?.id ?? 0, 5)).length).toBeGreaterThan(0)

      const events = await library.analyses.listEvents(run.id, 100)
      const stages = events.map(({ stage }) => stage).reverse()
      expect([...new Set(stages)]).toEqual(['db-setup', 'pages', 'domains', 'milestones', 'done'])
      expect(stages.filter((stage) => stage === 'db-setup')).toHaveLength(2)
      expect(run.summary).toMatchObject({ pages: PAGES, articles: ARTICLES, domains: 1, news: 1, milestones: 1 })
    })

    test('a run without a gazetteer finds no places, but does everything else', async () => {
      const library = await open()
      const { run } = await analyse(library)
      expect(run.progress).toMatchObject({ pages: PAGES, articles: ARTICLES, places: 0, hubs: 0 })
      expect(run.summary).toMatchObject({ gazetteerRevision: '' })
    })

    test('does nothing in a library without pages', async () => {
      const library = await openEmpty()
      const { run } = await analyse(library)
      expect(run).toMatchObject({ status: 'completed', progress: { pages: 0, domains: 0, milestones: 0 } })
    })

    test('records a page that cannot be analysed, continues, and retries it only in the next run', async () => {
      const library = await open()
      const analysedUrls: string[] = []
      const { run, events } = await analyse(library, {
        analyse: (page, places) => {
          analysedUrls.push(page.url)
          if (page.url.endsWith('/world/kenya')) throw new Error('unexpected')
          return analysePage(page, places)
        },
      })
      expect(run).toMatchObject({ status: 'completed', progress: { pages: PAGES, failed: 1 } })
      expect(new Set(analysedUrls).size).toBe(analysedUrls.length)
      const failures = events.filter(
        (event) => event.type === 'stage' && event.message === 'a page could not be analysed',
      )
      expect(failures).toMatchObject([{ details: { url: `https://${HOST}/world/kenya`, problem: 'unexpected' } }])
      expect(await readPendingCount(library)).toBe(1)
      expect((await analyse(library)).run.progress).toMatchObject({ pages: 1, navs: 1, failed: 0 })
    })

    test('a run that fails stores the reason and is not resumed', async () => {
      const library = await open()
      const openPlaces = async () => {
        throw new Error('the names are broken')
      }
      await expect(analyse({ ...library, openPlaces })).rejects.toThrow('the names are broken')
      const [failed] = (await library.analyses.listRuns({ limit: 1, offset: 0 })).items
      expect(failed).toMatchObject({ status: 'failed', error: 'the names are broken' })
      expect((await analyse(library)).run.id).not.toBe(failed?.id)
    })
  })

  describe('incremental analysis', () => {
    test('an unchanged library needs no new analysis', async () => {
      const library = await open()
      await analyse(library)
      const before = await library.analyses.read(...keyOf('/world'))
      expect((await analyse(library)).run.progress).toMatchObject({
        pages: 0,
        totalPages: 0,
        domains: 1,
        milestones: 0,
      })
      expect(await library.analyses.read(...keyOf('/world'))).toEqual(before)
    })

    test('analyses a page whose content changed, but not a page that was stored again unchanged', async () => {
      const library = await open()
      await analyse(library)
      await storeAgain(library, '/world')
      expect(await readPendingCount(library)).toBe(0)
      await storeAgain(library, '/world', '\n\nMore.')
      expect(await library.readClass(...keyOf('/world'))).toBeUndefined()
      expect((await analyse(library)).run.progress).toMatchObject({ pages: 1 })
      expect(await library.readClass(...keyOf('/world'))).toBe('nav')
    })

    test('analyses a page again that changes while it is being analysed', async () => {
      const library = await open()
      const { listPending } = library.analyses
      const analyses = {
        ...library.analyses,
        // The page changes after it was read and before its result is written.
        listPending: async (query: Parameters<typeof listPending>[0]) => {
          const pages = await listPending(query)
          if (pages.length > 0) await storeAgain(library, '/world', '\n\nMore.')
          return pages
        },
      }
      await analyse({ ...library, analyses })
      expect(await readPendingCount(library)).toBe(1)
      expect(await library.readClass(...keyOf('/world'))).toBeUndefined()
    })

    test('analyses everything again when the gazetteer changed', async () => {
      const library = await open({ hasPlaces: true })
      const { run: first } = await analyse(library)
      await importPlaces(library.gazetteer, ['Warsaw', 'Lima'])
      const { run } = await analyse(library)
      expect(run.progress.pages).toBe(PAGES)
      expect(run.progress.places).toBeGreaterThan(first.progress.places)
      expect(await readPendingCount(library)).toBe(0)
    })

    test('results of a newer version stay, and results of an older version are replaced', async () => {
      const library = await open()
      const analyseAsVersion =
        (version: number): AnalysePage =>
        (page, places) => {
          const analysed = analysePage(page, places)
          return { ...analysed, analysis: { ...analysed.analysis, analysis_version: version } }
        }
      const versionOf = async () => (await library.analyses.read(...keyOf('/world')))?.analysis?.analysis_version
      await analyse(library, { analyse: analyseAsVersion(ANALYSIS_VERSION - 1) })
      expect(await versionOf()).toBe(ANALYSIS_VERSION - 1)
      expect((await analyse(library)).run.progress.pages).toBe(PAGES)
      expect(await versionOf()).toBe(ANALYSIS_VERSION)
      const next = ANALYSIS_VERSION + 1
      await importPlaces(library.gazetteer)
      await analyse(library, { analyse: analyseAsVersion(next) })
      expect(await versionOf()).toBe(next)
      expect(await readPendingCount(library)).toBe(0)
      expect(await readPendingCount(library, next + 1)).toBe(PAGES)
      const revision = 'another gazetteer'
      expect(await library.analyses.countPending(await pendingCriteria(library, { revision }))).toBe(0)
      expect(await library.analyses.countPending(await pendingCriteria(library, { revision, version: next }))).toBe(
        PAGES,
      )
    })

    test('analyses everything again when the classifier is newer', async () => {
      const library = await open()
      await analyse(library)
      const classifierVersion = CLASSIFIER_VERSION + 1
      expect(await library.analyses.countPending(await pendingCriteria(library, { classifierVersion }))).toBe(PAGES)
      const query = { ...(await pendingCriteria(library, { classifierVersion })), after: 0, limit: 3 }
      expect(await library.analyses.listPending(query)).toHaveLength(3)
      expect(await readPendingCount(library)).toBe(0)
    })

    test('removing a page also removes its analysis', async () => {
      const library = await open({ hasPlaces: true })
      await analyse(library)
      const [france] = await library.gazetteer.resolve('France', 1)
      expect((await library.gazetteer.listArticles(france?.id ?? 0, 5)).length).toBeGreaterThan(0)
      expect(await library.analyses.readLocale(HOST)).toEqual({ countryCode: 'GB', confidence: 1 })
      await library.store.removeSource(`source of ${HOST}`)
      expect(await library.analyses.readLocale(HOST)).toBeUndefined()
      expect(await library.analyses.read(...keyOf('/world/france'))).toBeUndefined()
      expect(await library.gazetteer.listArticles(france?.id ?? 0, 5)).toEqual([])
      expect(await library.placeHubs.find(`https://${HOST}/world/france`)).toBeUndefined()
    })
  })

  test('the numbered pages of a hub are one hub, with the title of the first stored page', async () => {
    const library = await open({ hasPlaces: true })
    const [sourceId, key] = keyOf('/world/france')
    const stored = await library.store.readPage(sourceId, key)
    if (stored === undefined) throw new Error(`${key} is not stored`)
    const store = async (path: string) => {
      const url = `https://${HOST}${path}`
      const page = {
        ...stored.page,
        url,
        title: `France, ${path}`,
        contentHash: createHash('sha256').update(url).digest('hex'),
      }
      const find = { key: url, url, host: HOST, depth: 1, foundOn: null, discovery: 'link', refusal: null } as const
      await library.store.adopt({
        sourceId,
        crawlId: 'again',
        now: 5,
        find,
        record: { page, chunks: [], links: [] },
        finds: [],
      })
    }
    for (const path of ['/world/france?page=2', '/world/nigeria?page=2', '/world/nigeria?page=3']) await store(path)
    const { run } = await analyse(library, { batch: 7 })
    const { total } = await library.placeHubs.list({ offset: 0, limit: 1 })
    expect(run.progress).toMatchObject({ pages: PAGES + 3, hubs: total })
    expect(await library.placeHubs.find(key)).toMatchObject({ title: 'France' })
    expect(await library.placeHubs.find(`https://${HOST}/world/nigeria`)).toMatchObject({
      title: 'France, /world/nigeria?page=2',
    })
  })

  describe('options', () => {
    test('limit pages and hosts', async () => {
      const library = await open()
      await storeNews(library.store, { host: 'other.example.fr', articles: 2 })
      const { run } = await analyse(library, { options: { pageLimit: 12, domainLimit: 1 }, batch: 5 })
      expect(run.progress).toMatchObject({ pages: 12, totalPages: 12, domains: 1 })
      expect(await library.analyses.readDomain('other.example.fr')).toBeUndefined()
    })

    test('skip pages or hosts', async () => {
      const library = await open()
      const { run } = await analyse(library, { options: { skipPages: true } })
      expect(run.progress).toMatchObject({ pages: 0, totalPages: 0, domains: 1 })
      expect(await readPendingCount(library)).toBe(PAGES)
      const other = await open()
      await analyse(other, { options: { skipDomains: true } })
      expect(await readPendingCount(other)).toBe(0)
      expect(await other.analyses.readDomain(HOST)).toBeUndefined()
    })

    test('a dry run reports the results, and stores only the run itself', async () => {
      const library = await open({ hasPlaces: true })
      const { run } = await analyse(library, { options: { dryRun: true } })
      expect(run.progress).toMatchObject({ pages: PAGES, articles: ARTICLES, domains: 1 })
      expect(run.progress.places).toBeGreaterThan(0)
      expect(await readPendingCount(library)).toBe(PAGES)
      expect((await library.analyses.read(...keyOf('/world/france')))?.analysis ?? null).toBeNull()
      expect(await library.placeHubs.find(`https://${HOST}/world/france`)).toBeUndefined()
      expect(await library.analyses.readDomain(HOST)).toBeUndefined()
      expect(await library.jobLog.listMilestones({ limit: 10 })).toEqual([])
      expect(await library.analyses.findRun(run.id)).toMatchObject({ status: 'completed', options: { dryRun: true } })
    })

    test('verbose reports every batch and host', async () => {
      const library = await open()
      const quiet = await analyse(library, { options: { dryRun: false, pageLimit: 10 }, batch: 5 })
      const verbose = await analyse(library, { options: { verbose: true, pageLimit: 10 }, batch: 5 })
      const count = ({ events }: AnalysisResult) => events.filter(({ type }) => type === 'stage').length
      expect(count(verbose) - count(quiet)).toBe(3)
    })

    const refused: readonly [Required<AnalyseInput>['options'], string][] = [
      [{ analysisVersion: ANALYSIS_VERSION + 1 }, `this program supports versions up to ${ANALYSIS_VERSION}`],
      [{ analysisVersion: 0 }, 'analysisVersion: expected a whole number from 1 up, got 0'],
      [{ pageLimit: 0 }, 'pageLimit: expected a whole number from 1 up, got 0'],
      [{ domainLimit: 1.5 }, 'domainLimit: expected a whole number from 1 up, got 1.5'],
    ]
    test.each(chooseRepetitions(refused, refused, refused.slice(0, 1)))('%j is refused', async (options, message) => {
      const library = await open()
      await expect(analyse(library, { options })).rejects.toThrow(message)
      expect((await library.analyses.listRuns({ limit: 1, offset: 0 })).total).toBe(0)
    })
  })

  async function drain(events: AsyncIterable<AnalysisEvent>): Promise<void> {
    for await (const _ of events);
  }

  describe('exclusive runs', () => {
    test('a second run is refused while the first is active, and may begin after it', async () => {
      const library = await open()
      const first = analyseLibrary(library)
      await first.next()
      await expect(analyse(library)).rejects.toMatchObject({ code: 'ANALYSIS_RUNNING' })
      await drain(first)
      expect((await analyse(library)).run.status).toBe('completed')
    })

    test('another process takes over a run without a heartbeat, and the first process can no longer write', async () => {
      const library = await open()
      const first = analyseLibrary(library, { batch: 5 })
      for (let event = await first.next(); event.value?.type !== 'progress'; event = await first.next());
      const later = { ...library.clock, now: () => Date.now() + 120_000 }
      const { run, isResumed } = await analyse({
        ...library,
        clock: later,
        runner: { ...library.runner, id: 'another' },
      })
      expect(isResumed).toBe(true)
      expect(run.progress).toMatchObject({ pages: PAGES, articles: ARTICLES })
      await expect(drain(first)).rejects.toMatchObject({ code: 'ANALYSIS_RUNNING' })
      expect(await library.analyses.findRun(run.id)).toEqual(run)
    })
  })

  describe('an interrupted run', () => {
    /** Stops a run after the given number of batches of five. */
    async function interrupt(
      library: OpenLibrary,
      input: AnalyseInput,
      batches: number,
    ): Promise<AnalysisResult['run']> {
      const stop = new AbortController()
      let seen = 0
      let last: AnalysisRun | undefined
      for await (const event of analyseLibrary(library, { ...input, batch: 5 }, stop.signal)) {
        if (event.type === 'progress' && ++seen === batches) stop.abort()
        if (event.type === 'started' || event.type === 'ended') last = event.run
      }
      if (last === undefined) throw new Error('the run never started')
      return last
    }

    test('is cancelled, and resumes with its id and counters', async () => {
      const library = await open({ hasPlaces: true })
      const interrupted = await interrupt(library, {}, 2)
      expect(interrupted).toMatchObject({ status: 'cancelled', stage: 'pages', progress: { pages: 10 } })
      const { run, isResumed } = await analyse(library)
      expect(isResumed).toBe(true)
      const other = await open({ hasPlaces: true })
      const whole = await analyse(other)
      expect(run).toMatchObject({ id: interrupted.id, status: 'completed', error: null })
      expect(run.summary).toEqual(whole.run.summary)
      expect(run.progress).toEqual(whole.run.progress)
    })

    test('restarts at the first page when the gazetteer has changed', async () => {
      const library = await open({ hasPlaces: true })
      const interrupted = await interrupt(library, {}, 2)
      await importPlaces(library.gazetteer, ['Warsaw', 'Lima'])
      const { run } = await analyse(library)
      expect(run).toMatchObject({ id: interrupted.id, progress: { pages: 10 + PAGES, totalPages: 10 + PAGES } })
      expect(await readPendingCount(library)).toBe(0)
      expect(run.summary).toMatchObject({ gazetteerRevision: await library.gazetteer.revision() })
    })

    test('restarts at the first page after a while, because earlier pages may be pending by now', async () => {
      const library = await open()
      const later = { ...library.clock, now: () => Date.now() + 7_200_000 }
      const interrupted = await interrupt(library, {}, 2)
      await storeAgain(library, '/world', '\n\nMore.')
      const { run } = await analyse({ ...library, clock: later })
      expect(run).toMatchObject({ id: interrupted.id, progress: { pages: PAGES + 1, totalPages: PAGES + 1 } })
      expect(await readPendingCount(library)).toBe(0)
      // A dry run stores nothing, so it starts again.
      const other = await open()
      const options = { dryRun: true }
      await interrupt(other, { options }, 2)
      const dry = await analyse({ ...other, clock: later }, { options })
      expect(dry.run.progress).toMatchObject({ pages: PAGES, totalPages: PAGES, articles: ARTICLES })
    })

    const moments: readonly [string, (event: AnalysisEvent) => boolean][] = [
      ['its first milestone', (event) => event.type === 'milestone'],
      ['its first host', (event) => event.type === 'progress' && event.stage === 'domains'],
      ['its last step', (event) => event.type === 'stage' && event.stage === 'done'],
    ]
    test.each(chooseRepetitions(moments, moments, moments.slice(0, 1)))(
      'resumes after a stop at %s with the same result as an uninterrupted one',
      async (_, isMoment) => {
        const [library, other] = [await open(), await open()]
        for (const { store } of [library, other]) await storeNews(store, { host: 'other.example.fr', articles: 10 })
        const whole = await analyse(other)
        // Leaving the loop abandons the run without ending it.
        for await (const event of analyseLibrary(library)) if (isMoment(event)) break
        const { run, isResumed } = await analyse(library)
        expect(isResumed).toBe(true)
        expect(run.summary).toEqual(whole.run.summary)
        expect(run.summary).toMatchObject({ domains: 2, milestones: 2 })
        expect(await library.jobLog.listMilestones({ limit: 10 })).toHaveLength(2)
      },
    )

    test('resumes only for the same options or without options, and `verbose` may differ', async () => {
      const library = await open()
      const interrupted = await interrupt(library, { options: { pageLimit: 20 } }, 1)
      const other = await analyse(library, { options: { pageLimit: 3 } })
      expect(other.run.id).not.toBe(interrupted.id)
      expect(other.run.progress.pages).toBe(3)
      const next = await interrupt(library, { options: { pageLimit: 20 } }, 1)
      const same = await analyse(library, { options: { pageLimit: 20, verbose: true } })
      expect(same.run).toMatchObject({ id: next.id, progress: { pages: 20 } })
    })

    test('a call without options does not resume a dry run', async () => {
      const library = await open()
      const dry = await interrupt(library, { options: { dryRun: true } }, 1)
      const { run } = await analyse(library)
      expect(run.id).not.toBe(dry.id)
      expect(run.progress.pages).toBe(PAGES)
    })

    test('stays open with `isLeftOpen`, and the next process continues it', async () => {
      const library = await open()
      const leftOpen = await interrupt(library, { isLeftOpen: true }, 2)
      expect(await library.analyses.findRun(leftOpen.id)).toMatchObject({
        status: 'running',
        runner: null,
        progress: { pages: 10 },
      })
      expect((await analyse(library)).run).toMatchObject({
        id: leftOpen.id,
        status: 'completed',
        progress: { pages: PAGES },
      })
    })
  })

  describe('hosts', () => {
    test('a host with many dated articles in sections is news', async () => {
      const library = await open()
      const { run } = await analyse(library)
      expect(await library.analyses.readDomain(HOST)).toMatchObject({
        pages: PAGES,
        articles: ARTICLES,
        sections: 6,
        datedRatio: 1,
        score: 0.2 + 0.2 + 0.3,
        isNews: true,
        rateLimited15: 0,
        countryCode: 'GB',
        languages: ['en'],
      })
      expect(run.progress.news).toBe(1)
    })

    const NOTHING = { host: 'a.example', pages: 9, articles: 0, sections: 0, datedRatio: 0, analysedAt: 1 }
    const FIGURES = { ...NOTHING, rateLimited15: 0, rateLimited60: 0, languages: [] }

    test.each([
      [{ articles: 40 }, 0.4, true],
      [{ articles: 39 }, 0.39, false],
      [{ articles: 1000, sections: 100, datedRatio: 1 }, 1, true],
      [{ articles: 5, sections: 2, datedRatio: 0.2 }, 0.33, false],
    ])('a host with %j has the score %d', (figures, score, isNews) => {
      const judged = judgeDomain({ ...FIGURES, ...figures }, null)
      expect(judged.score).toBeCloseTo(score, 10)
      expect(judged.isNews).toBe(isNews)
    })

    test.each([
      ['www.bbc.co.uk', 'GB'],
      ['lemonde.fr:8080', 'FR'],
      ['example.com', null],
      ['startup.io', null],
      ['127.0.0.1', null],
      ['europa.eu', null],
    ])('the country of %s is %s', (host, country) => {
      expect(judgeLocale(host, [])).toEqual({ countryCode: country, confidence: country === null ? 0 : 1 })
    })

    test.each([
      ['example.com', { CA: 15, US: 5 }, 'CA', 0.75],
      ['example.com', { CA: 11, US: 9 }, null, 0],
      ['example.com', { CA: 19 }, null, 0],
      ['example.fr', { CA: 99 }, 'FR', 1],
    ])('the country of %s, with titles about %j, is %s', (host, titles, countryCode, confidence) => {
      const mentions = Object.entries(titles).map(([code, pages]) => ({ countryCode: code, pages }))
      expect(judgeLocale(host, mentions)).toEqual({ countryCode, confidence })
    })

    test('a host has its country before its pages are analysed', async () => {
      const library = await open({ hasPlaces: true })
      await storeNews(library.store, { host: 'news.example.com', articles: 30 })
      const countriesByHost = new Map<string, Set<string | undefined>>()
      await analyse(library, {
        analyse: (page, places, context) => {
          const { host } = new URL(page.url)
          countriesByHost.set(host, (countriesByHost.get(host) ?? new Set()).add(context?.hostCountry))
          return analysePage(page, places, context)
        },
      })
      expect(countriesByHost.get(HOST)).toEqual(new Set(['GB']))
      expect(countriesByHost.get('news.example.com')).toEqual(new Set([undefined]))
      const found = await library.analyses.listTitleCountries('news.example.com')
      expect(found.length).toBeGreaterThan(1)
      expect(found.map(({ pages }) => pages)).toEqual(found.map(({ pages }) => pages).sort((a, b) => b - a))
    })

    test('count their rate-limited responses of the last 15 and 60 minutes', async () => {
      const library = await open()
      const [sourceId] = keyOf('/')
      const urls = ['a', 'b'].map((name) => `https://${HOST}/${name}`)
      const now = library.clock.now()
      for (const [i, url] of urls.entries()) {
        const at = now - (i === 0 ? 60_000 : 40 * 60_000)
        const find = { key: url, url, host: HOST, depth: 1, foundOn: null, discovery: 'link', refusal: null } as const
        await library.store.offer(sourceId, 'crawl', [find], at)
        const [visit] = await library.store.lease({
          sourceId,
          limit: 1,
          now: at,
          until: at + 1,
          horizon: at * 2,
          isBreadthFirst: false,
        })
        if (visit === undefined) throw new Error(`${url} cannot be leased`)
        await library.store.settle({
          visit,
          crawlId: 'crawl',
          now: at,
          state: 'failed',
          reason: 'rate-limited',
          status: 429,
        })
      }
      expect(await library.analyses.measureDomain(HOST, now)).toMatchObject({ rateLimited15: 1, rateLimited60: 2 })
    })
  })

  describe('milestones', () => {
    test('milestones are stored once, by the crawl or the run that reached them first', async () => {
      const library = await open()
      const { run } = await analyse(library)
      expect(await library.jobLog.listMilestones({ limit: 10 })).toMatchObject([
        {
          jobId: 'analysis-run',
          kind: 'depth2-coverage',
          scope: HOST,
          details: { source: 'analysis-run', runId: run.id, depth2: ARTICLES },
        },
      ])
      await analyse(library)
      expect(await library.jobLog.listMilestones({ limit: 10 })).toHaveLength(1)
      const other = await open()
      const data = { kind: 'depth2-coverage', scope: HOST, target: null, message: null, details: null }
      await other.jobLog.append([{ jobId: 'a crawl', at: 1, type: 'milestone', data }])
      expect((await analyse(other)).run.progress.milestones).toBe(0)
      expect(await other.jobLog.listMilestones({ limit: 10 })).toMatchObject([{ jobId: 'a crawl' }])
    })

    test('are stored again for a site that was removed and added again', async () => {
      const library = await open()
      await analyse(library)
      await library.store.removeSource(`source of ${HOST}`)
      expect(await library.jobLog.listMilestones({ limit: 10 })).toEqual([])
      const data = { kind: 'depth2-coverage', scope: HOST, target: null, message: null, details: null }
      await library.jobLog.append([{ jobId: 'a crawl', at: 0, type: 'milestone', data }])
      await storeNews(library.store, { articles: ARTICLES })
      expect((await analyse(library)).run.progress.milestones).toBe(1)
      expect(await library.jobLog.listMilestones({ limit: 10 })).toHaveLength(2)
      expect((await analyse(library)).run.progress.milestones).toBe(0)
    })

    test('are reached at their thresholds', () => {
      const kindsOf = (counts: { downloads?: number; depth2?: number; articles?: number }) =>
        listReached([{ host: HOST, downloads: 0, depth2: 0, articles: 0, ...counts }], 'run').map(({ kind }) => kind)
      expect(kindsOf({ downloads: 999, depth2: 9, articles: 999 })).toEqual([])
      expect(kindsOf({ downloads: 1000, depth2: 10, articles: 1000 })).toEqual([
        'downloads-1k',
        'depth2-coverage',
        'articles-identified-1k',
      ])
      expect(kindsOf({ articles: 10_000 })).toEqual(['articles-identified-1k', 'articles-identified-10k'])
    })

    test('depend on the stored pages of each host', async () => {
      const library = await open()
      await analyse(library)
      expect(await library.analyses.listAchievements()).toEqual([
        { host: HOST, downloads: PAGES, depth2: ARTICLES, articles: ARTICLES },
      ])
    })
  })
}
