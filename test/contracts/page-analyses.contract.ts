import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Classification } from '../../src/core/model.ts'
import type { Settlement } from '../../src/crawl/settlement.ts'
import { splitMilestones } from '../../src/library/crawl/split-milestones.ts'
import type { HubVerdict, LearnedPattern, PlaceHub } from '../../src/library/ports/findings.ts'
import type { LibraryStore } from '../../src/library/ports/library-store.ts'
import { EMPTY_MATCHER } from '../../src/places/analysis/matcher.ts'
import type { PlaceTables } from '../../src/places/ports/places-library.ts'
import { createPlans } from '../../src/places/store/open-places.ts'
import { addSourceTo, recordOf } from '../embed/filled-store.ts'
import { classificationOf } from './classifications.ts'

/** Runs SQL that every store understands, over a separate connection. */
export interface SqlAccess {
  all(text: string): Promise<readonly unknown[]>
  run(text: string): Promise<unknown>
  close(): unknown
}

/** A library for one test, and SQL access to it. */
export interface AnalyzedLibrary {
  readonly store: LibraryStore & PlaceTables
  readonly sql: SqlAccess
}

const HOST = 'docs.test'
const at = (page: string) => `https://${HOST}${page}`
const pathsOf = (items: readonly { readonly url: string }[]) => items.map(({ url }) => url.slice(at('').length))

const hubOf = (page: string, more: Partial<PlaceHub> = {}): PlaceHub => ({
  url: at(page),
  host: HOST,
  placeId: 7,
  placeSlug: 'chad',
  placeKind: 'country',
  topicSlug: 'world',
  topicLabel: 'World',
  topicKind: 'section',
  title: 'Chad',
  navLinks: 12,
  articleLinks: 30,
  evidence: { by: 'analysis' },
  ...more,
})

const verdictOf = (page: string, more: Partial<HubVerdict> = {}): HubVerdict => ({
  url: at(page),
  pattern: '/world/{country}',
  placeId: 7,
  placeSlug: 'chad',
  placeKind: 'country',
  origin: 'guessed',
  state: 'confirmed',
  status: 200,
  title: null,
  navLinks: 3,
  articleLinks: 4,
  checkedAt: 60,
  ...more,
})

const patternOf = (pattern: string, more: Partial<LearnedPattern> = {}): LearnedPattern => ({
  pattern,
  role: 'place-hub',
  seen: 5,
  hits: 3,
  misses: 1,
  confidence: 0.75,
  examples: [at('/world/chad')],
  ...more,
})

/** Contract for the analysis data of a store, and for its removal together with pages and sources. */
export function describePageAnalyses(open: () => Promise<AnalyzedLibrary>): void {
  let store: LibraryStore & PlaceTables
  let sql: SqlAccess
  beforeEach(async () => {
    ;({ store, sql } = await open())
    await addSourceTo(store, 'docs')
  })
  afterEach(async () => {
    await sql.close()
    await store.close()
  })

  const settle = async (page: string, crawlId: string, answer: Pick<Settlement, 'state'> & Partial<Settlement>) => {
    const url = at(page)
    const find = { key: url, url, host: HOST, depth: 1, foundOn: null, discovery: 'link', refusal: null } as const
    await store.offer('docs', crawlId, [find], 10)
    const [visit] = await store.lease({
      sourceId: 'docs',
      limit: 1,
      now: 20,
      until: 90,
      horizon: 1e6,
      isBreadthFirst: false,
    })
    if (visit === undefined) throw new Error(`${page} was not leased`)
    return store.settle({ visit, crawlId, now: 30, ...answer })
  }
  const recordWith = (page: string, text: string, classification?: Classification) => ({
    ...recordOf(at(page), text, {}),
    ...(classification && { classification }),
  })
  const index = (page: string, classification?: Classification, crawlId = 'c1') =>
    settle(page, crawlId, {
      state: 'indexed',
      status: 200,
      record: recordWith(page, `words of ${page}`, classification),
    })

  const count = async (table: string) => {
    const [found] = (await sql.all(`SELECT count(*) AS rows FROM ${table}`)) as { rows: number }[]
    return found?.rows
  }
  /** Some places, three of them countries. */
  const addPlaces = () =>
    sql.run(`INSERT INTO places (id, ref, kind, source) VALUES
      (7, 'TD', 'country', 's'), (8, 'NE', 'country', 's'), (9, 'ML', 'country', 's'), (10, 'c', 'city', 's')`)

  describe('the class of a page', () => {
    const readAnalyses = () =>
      sql.all('SELECT kind, analysis_version AS version, analysis FROM page_analyses ORDER BY page')
    const countPlaces = () => count('article_places')
    /** Writes the result of an analysis run. */
    const analyze = async () => {
      await sql.run(
        `UPDATE page_analyses SET analysis_version = 1, gazetteer_revision = 'r', analysed_at = 1, analysis = '{}'`,
      )
      await sql.run(
        `INSERT INTO article_places SELECT page, 'u', 7, 'p', 'city', 'gazetteer', 'text', 0, 4, NULL, 1 FROM page_analyses`,
      )
    }
    const fresh = (kind: string) => ({ kind, version: null, analysis: null })
    const analyzed = (kind: string) => ({ kind, version: 1, analysis: '{}' })

    test('is written with the content of the page, and replaces the findings about the old content', async () => {
      await index('/a', classificationOf('article'))
      expect(await readAnalyses()).toEqual([fresh('article')])
      const [kept] = (await sql.all('SELECT classification FROM page_analyses')) as { classification: string }[]
      expect(JSON.parse(kept?.classification ?? '')).toEqual(classificationOf('article'))
      await analyze()
      const other = recordWith('/a', 'other words', classificationOf('nav'))
      await settle('/a', 'c2', { state: 'indexed', record: other })
      expect(await readAnalyses()).toEqual([fresh('nav')])
      expect(await countPlaces()).toBe(0)
      // No run has analyzed the third content, and the class of the second does not apply to it.
      await settle('/a', 'c3', { state: 'indexed', record: recordWith('/a', 'third') })
      expect(await readAnalyses()).toEqual([])
    })

    test('is written alone if the content is unchanged, and outdates the analysis only if a field that the analysis uses changed', async () => {
      await index('/a', classificationOf('article'))
      await analyze()
      const record = recordWith('/a', 'words of /a', classificationOf('nav'))
      await settle('/a', 'c2', { state: 'unchanged', record })
      expect(await readAnalyses()).toEqual([analyzed('nav')])
      await settle('/a', 'c3', { state: 'unchanged', status: 304 })
      expect(await readAnalyses()).toEqual([analyzed('nav')])
      await settle('/a', 'c4', {
        state: 'unchanged',
        record: { ...record, page: { ...record.page, section: 'World' } },
      })
      // The next run analyzes the page again. Until then the earlier findings stay.
      expect(await readAnalyses()).toEqual([{ ...analyzed('nav'), version: null }])
      expect(await countPlaces()).toBe(1)
    })

    test('is also written for a page that is stored without a visit', async () => {
      const find = {
        key: at('/a'),
        url: at('/a'),
        host: HOST,
        depth: 0,
        foundOn: null,
        discovery: 'llms-full',
      } as const
      const adopt = (crawlId: string, classification?: Classification) =>
        store.adopt({
          sourceId: 'docs',
          crawlId,
          now: 5,
          find: { ...find, refusal: null },
          record: recordWith('/a', 'text', classification),
          finds: [],
        })
      await adopt('c1')
      expect(await readAnalyses()).toEqual([])
      await adopt('c2', classificationOf('other'))
      expect(await readAnalyses()).toEqual([fresh('other')])
    })

    test('is removed with the page', async () => {
      await index('/a', classificationOf('article'))
      await analyze()
      await settle('/a', 'c2', { state: 'failed', reason: 'removed', isProvenGone: true })
      await store.removeProven('docs', 'c2', false, 50)
      expect([await readAnalyses(), await countPlaces()]).toEqual([[], 0])
    })
  })

  describe('place hubs', () => {
    const list = async (query: object = {}) => store.placeHubs.list({ offset: 0, limit: 10, ...query })

    test('are stored, and known fields are not overwritten by empty ones', async () => {
      await store.placeHubs.write([hubOf('/world/chad')], 50)
      const emptyFields = { topicSlug: null, topicLabel: null, topicKind: null, title: null } as const
      await store.placeHubs.write(
        [hubOf('/world/chad', { ...emptyFields, navLinks: 1, evidence: { by: 'other', n: 1 } })],
        70,
      )
      const kept = { ...hubOf('/world/chad'), navLinks: 1, evidence: { by: 'other', n: 1 } }
      expect(await store.placeHubs.find(at('/world/chad'))).toEqual({ ...kept, firstSeenAt: 50, lastSeenAt: 70 })
      await store.placeHubs.write([hubOf('/world/chad', { placeId: 9, placeSlug: 'mali' })], 60)
      const found = await store.placeHubs.find(at('/world/chad'))
      expect(found).toMatchObject({ placeId: 9, placeSlug: 'mali', lastSeenAt: 70 })
      expect(await store.placeHubs.find(at('/none'))).toBeUndefined()
    })

    test('are listed by host, place, kind and topic, with paging', async () => {
      await store.placeHubs.write(
        [
          hubOf('/world/niger', { placeId: 8, placeSlug: 'niger' }),
          hubOf('/world/chad'),
          hubOf('/sport/chad', { topicSlug: 'sport', topicLabel: 'Sport' }),
          hubOf('/paris', { placeId: 10, placeSlug: 'paris', placeKind: 'city', topicSlug: null }),
          { ...hubOf('/x'), url: 'https://more.test/x', host: 'more.test' },
        ],
        50,
      )
      const paths = async (query: object) => pathsOf((await list({ host: HOST, ...query })).items)
      expect(await paths({})).toEqual(['/paris', '/sport/chad', '/world/chad', '/world/niger'])
      expect(await paths({ placeId: 7 })).toEqual(['/sport/chad', '/world/chad'])
      expect(await paths({ placeKind: 'city' })).toEqual(['/paris'])
      expect(await paths({ topicSlug: 'world', placeId: 8 })).toEqual(['/world/niger'])
      expect(await paths({ offset: 1, limit: 2 })).toEqual(['/sport/chad', '/world/chad'])
      expect((await list({ host: HOST, limit: 1 })).total).toBe(4)
      expect((await list()).total).toBe(5)
      expect(await store.placeHubs.listHosts(9)).toEqual([
        { host: HOST, hubs: 4 },
        { host: 'more.test', hubs: 1 },
      ])
    })

    test('are removed with their last page', async () => {
      const pages = ['/world/chad', '/world/chad?page=2', '/world/chad/page/3']
      for (const page of [...pages, '/world/chad/news']) await index(page)
      await store.placeHubs.write([hubOf('/world/chad'), hubOf('/world/mali')], 50)
      const hasHub = async () => (await store.placeHubs.find(at('/world/chad'))) !== undefined
      const remove = async (page: string) => {
        await settle(page, `c ${page}`, { state: 'failed', reason: 'removed', isProvenGone: true })
        await store.removeProven('docs', `c ${page}`, false, 50)
      }
      for (const page of pages) {
        expect(await hasHub()).toBe(true)
        await remove(page)
      }
      expect(await hasHub()).toBe(false)
      expect((await list()).total).toBe(1)
    })

    test('stay as long as one of two sources of the site has the page', async () => {
      await addSourceTo(store, 'more')
      await index('/world/chad')
      await index('/world/mali')
      await store.placeHubs.write([hubOf('/world/chad'), hubOf('/world/mali')], 50)
      const url = at('/world/chad?page=2')
      const find = { key: url, url, host: HOST, depth: 0, foundOn: null, discovery: 'link', refusal: null } as const
      const record = recordWith('/world/chad?page=2', 'more')
      await store.adopt({ sourceId: 'more', crawlId: 'c9', now: 5, find, record, finds: [] })
      await store.removeSource('docs')
      expect(pathsOf((await list()).items)).toEqual(['/world/chad'])
    })

    test('cover a number of countries, and the coverage lists missing hubs', async () => {
      expect(await store.placeHubs.coverage(HOST)).toEqual({
        host: HOST,
        hubs: 0,
        countries: 0,
        countriesCovered: 0,
        missing: [],
        missingCount: 0,
        patterns: [],
        topics: [],
      })
      await addPlaces()
      await store.placeHubs.write([hubOf('/sport/chad', { topicSlug: 'sport', topicLabel: 'Sport' })], 50)
      await store.planMemory.writePatterns(HOST, [patternOf('/world/{country}')], 50)
      const missing = { state: 'missing', status: 404 } as const
      await store.planMemory.writeVerdicts(HOST, [
        verdictOf('/world/chad'),
        verdictOf('/world/niger', { placeId: 8, placeSlug: 'niger', ...missing }),
        verdictOf('/world/mali', { placeId: 9, placeSlug: 'mali', state: 'rejected' }),
        // Most guesses by the second pattern fail, so only an address that the site lists counts as missing.
        verdictOf('/c/td', { pattern: '/c/{country}', ...missing }),
        verdictOf('/c/ne', { pattern: '/c/{country}', placeId: 8, placeSlug: 'niger', origin: 'listed', ...missing }),
      ])
      expect(await store.placeHubs.coverage(HOST)).toMatchObject({ hubs: 2, countries: 3, countriesCovered: 1 })
      const missingPaths = async () => pathsOf((await store.placeHubs.coverage(HOST)).missing)
      expect(await missingPaths()).toEqual(['/c/ne'])
      await store.planMemory.writeVerdicts(HOST, [
        verdictOf('/world/mali', { placeId: 9, placeSlug: 'mali', checkedAt: 90 }),
      ])
      expect(await missingPaths()).toEqual(['/c/ne', '/world/niger'])
      const { topics, patterns, countriesCovered } = await store.placeHubs.coverage(HOST)
      expect(countriesCovered).toBe(2)
      expect(topics).toEqual([{ slug: 'sport', label: 'Sport', hubs: 1 }])
      expect(patterns).toEqual([patternOf('/world/{country}')])
      expect(pathsOf(await store.placeHubs.listVerdicts(HOST, 'confirmed', 1))).toEqual(['/world/mali'])
      expect(await store.placeHubs.findVerdict(at('/c/td'))).toMatchObject({
        pattern: '/c/{country}',
        state: 'missing',
      })
      expect(await store.placeHubs.findVerdict(at('/c/none'))).toBeUndefined()
    })

    test('are listed as missing once per place if they were guessed, and not if the place has a hub under another spelling', async () => {
      await addPlaces()
      const missing = { state: 'missing', status: 404 } as const
      const niger = { placeId: 8, placeSlug: 'niger' }
      await store.planMemory.writeVerdicts(HOST, [
        verdictOf('/world/chad'),
        verdictOf('/world/td', missing),
        verdictOf('/world/mali', { placeId: 9, placeSlug: 'mali' }),
        verdictOf('/world/ml', { placeId: 9, ...missing, placeSlug: 'mali' }),
        verdictOf('/world/ne', { ...niger, ...missing }),
        verdictOf('/world/niger', { ...niger, ...missing }),
        verdictOf('/world/tchad', { origin: 'listed', ...missing }),
        verdictOf('/world/africa', { origin: 'listed', placeId: 7, placeSlug: 'chad', ...missing }),
        verdictOf('/world/more-1'),
        verdictOf('/world/more-2'),
      ])
      const { missing: missingHubs, missingCount } = await store.placeHubs.coverage(HOST)
      // Addresses that the site lists count one by one, guessed ones once for each place.
      expect(pathsOf(missingHubs)).toEqual(['/world/africa', '/world/tchad', '/world/ne'])
      expect([missingCount, missingHubs[2]?.placeId]).toEqual([3, 8])
    })

    test('are listed as missing up to a limit, with the total number', async () => {
      const verdicts = Array.from({ length: 503 }, (_, i) =>
        verdictOf(`/c/${i}`, { placeId: null, origin: 'listed', state: 'missing', status: 404 }),
      )
      await store.planMemory.writeVerdicts(HOST, verdicts)
      const { missing, missingCount } = await store.placeHubs.coverage(HOST)
      expect([missing.length, missingCount]).toEqual([500, 503])
    })
  })

  describe('plan memory', () => {
    test('holds the latest patterns and verdicts of a host', async () => {
      const memory = store.planMemory
      expect(await memory.readPatterns(HOST)).toEqual([])
      await memory.writePatterns(HOST, [patternOf('/a'), patternOf('/b', { seen: 9 })], 10)
      await memory.writePatterns('more.test', [patternOf('/kept')], 10)
      expect((await memory.readPatterns(HOST)).map(({ pattern }) => pattern)).toEqual(['/b', '/a'])
      await memory.writePatterns(HOST, [patternOf('/c')], 20)
      expect(await memory.readPatterns(HOST)).toEqual([patternOf('/c')])
      expect(await memory.readPatterns('more.test')).toEqual([patternOf('/kept')])
      await memory.writeVerdicts(HOST, [verdictOf('/a'), verdictOf('/b', { state: 'missing', status: 404 })])
      await memory.writeVerdicts(HOST, [verdictOf('/b', { state: 'rejected' })])
      expect(await memory.readVerdicts(HOST)).toEqual([verdictOf('/a'), verdictOf('/b', { state: 'rejected' })])
      expect(await memory.readVerdicts('more.test')).toEqual([])
    })

    test('holds hubs as long as they are confirmed', async () => {
      await store.placeHubs.write([hubOf('/world/chad')], 50)
      await store.planMemory.writeVerdicts(HOST, [
        verdictOf('/world/chad'),
        verdictOf('/world', { placeId: null, placeSlug: null, placeKind: null, pattern: '/{section}' }),
      ])
      expect(await store.placeHubs.find(at('/world/chad'))).toEqual({
        ...hubOf('/world/chad'),
        navLinks: 3,
        articleLinks: 4,
        evidence: { by: 'plan', pattern: '/world/{country}', origin: 'guessed' },
        firstSeenAt: 50,
        lastSeenAt: 60,
      })
      expect(await store.placeHubs.find(at('/world'))).toBeUndefined()
      await store.planMemory.writeVerdicts(HOST, [verdictOf('/world/chad', { state: 'missing', status: 404 })])
      expect(await store.placeHubs.find(at('/world/chad'))).toBeUndefined()
    })

    test('holds an even sample of addresses of earlier crawls, without missing ones', async () => {
      const memory = store.planMemory
      expect(await memory.sampleAddresses('docs', 10)).toEqual([])
      await index('/story', classificationOf('article'))
      await index('/old')
      await settle('/capped', 'c1', { state: 'skipped', reason: 'page-cap' })
      await settle('/lost', 'c1', { state: 'failed', reason: 'not-found', status: 404 })
      await settle('/guess', 'c1', { state: 'skipped', reason: 'guess-missed', status: 404 })
      const off = {
        key: 'https://off.test/',
        url: 'https://off.test/',
        host: 'off.test',
        depth: 1,
        foundOn: null,
      } as const
      const refusal = { reason: 'off-site', pattern: null, target: null } as const
      await store.offer('docs', 'c1', [{ ...off, discovery: 'link', refusal }], 9)
      expect(await memory.sampleAddresses('docs', 10)).toEqual([
        { url: at('/story'), kind: 'article', isPage: true },
        { url: at('/old'), kind: 'unknown', isPage: true },
        { url: at('/capped'), kind: 'unknown', isPage: false },
      ])
      for (let i = 0; i < 95; i++) await index(`/${i}`)
      const some = await memory.sampleAddresses('docs', 10)
      expect(pathsOf(some)).toEqual([4, 14, 24, 34, 44, 54, 64, 74, 84, 94].map((i) => `/${i}`))
      expect(await memory.sampleAddresses('nobody', 10)).toEqual([])
    })

    test('holds the milestones of a crawl, each once', async () => {
      await store.planMemory.writeMilestones('c1', ['b', 'a'])
      await store.planMemory.writeMilestones('c1', ['b', 'c'])
      expect(await store.planMemory.readMilestones('c1')).toEqual(['a', 'b', 'c'])
      expect(await store.planMemory.readMilestones('c2')).toEqual([])
    })
  })

  test('a host has the milestones that a crawl of its source reached, also without a job', async () => {
    const [source] = await store.listSources()
    const host = new URL(source?.siteUrl ?? '').host
    const options = { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} }
    const common = { kind: 'add', state: 'running', endedAt: null, summary: null, runner: null, options } as const
    await store.beginCrawl({ ...common, id: 'c1', sourceId: 'docs', startedAt: 1, heartbeatAt: 1 }, 1000)
    await store.planMemory.writeMilestones('c1', ['patterns-learned'])
    const { jobLog } = store
    const plans = createPlans(store, async () => EMPTY_MATCHER)
    const kinds = ['patterns-learned', 'full-understanding']
    const answer = { met: ['patterns-learned'], unmet: ['full-understanding'] }
    expect(await splitMilestones({ store, jobLog, plans }, host, kinds)).toEqual(answer)
    expect(await splitMilestones({ store, jobLog, plans }, 'more.test', kinds)).toEqual({ met: [], unmet: kinds })
  })

  test('milestones of a removed site do not count when it is added again', async () => {
    const { jobLog } = store
    const plans = createPlans(store, async () => EMPTY_MATCHER)
    const data = { kind: 'full-understanding', scope: HOST, target: null, message: null, details: null }
    await jobLog.append([{ jobId: 'a', at: 5, type: 'milestone', data }])
    const met = async () => (await splitMilestones({ store, jobLog, plans }, HOST, [data.kind])).met
    expect(await met()).toEqual([data.kind])
    const [source] = await store.listSources()
    if (source === undefined) throw new Error('the source is missing')
    await store.removeSource('docs')
    expect(await met()).toEqual([])
    await store.addSource({ ...source, createdAt: 9 })
    expect(await met()).toEqual([])
    await jobLog.append([{ jobId: 'b', at: 9, type: 'milestone', data }])
    expect(await met()).toEqual([data.kind])
  })

  test('the plan memory of a site is removed with its last source', async () => {
    await addSourceTo(store, 'more')
    await index('/a', classificationOf('nav'))
    await store.planMemory.writePatterns(HOST, [patternOf('/world/{country}')], 10)
    await store.planMemory.writePatterns('other.test', [patternOf('/kept')], 10)
    await store.planMemory.writeVerdicts(HOST, [verdictOf('/world/chad')])
    await store.planMemory.writeMilestones('c1', ['patterns-learned'])
    const url = at('/b')
    const find = { key: url, url, host: HOST, depth: 0, foundOn: null, discovery: 'link', refusal: null } as const
    const record = recordWith('/b', 'more', classificationOf('article'))
    await store.adopt({ sourceId: 'more', crawlId: 'c9', now: 5, find, record, finds: [] })
    const countAll = async () => ({
      patterns: (await store.planMemory.readPatterns(HOST)).length,
      verdicts: (await store.planMemory.readVerdicts(HOST)).length,
      hubs: (await store.placeHubs.list({ host: HOST, offset: 0, limit: 9 })).total,
      milestones: (await store.planMemory.readMilestones('c1')).length,
      classes: await count('page_analyses'),
    })
    expect(await countAll()).toEqual({ patterns: 1, verdicts: 1, hubs: 1, milestones: 1, classes: 2 })
    await store.removeSource('docs')
    expect(await countAll()).toEqual({ patterns: 1, verdicts: 1, hubs: 1, milestones: 0, classes: 1 })
    await store.removeSource('more')
    expect(await countAll()).toEqual({ patterns: 0, verdicts: 0, hubs: 0, milestones: 0, classes: 0 })
    expect(await store.planMemory.readPatterns('other.test')).toHaveLength(1)
  })
}
