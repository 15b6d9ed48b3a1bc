import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { openLibrary } from '../../src/open-library.ts'
import type { PlaceRecord } from '../../src/places/analysis/place.ts'
import { isOnPostgres, locateLibrary } from '../library-location.ts'
import { runCrawl, UNPACED } from '../sites/crawl.ts'
import type { Site } from '../sites/site.ts'
import { ARTICLE, COUNTRIES, fillNews } from './news-fixture.ts'
import { type Answer, openStream, openTestServer, type TestServer, until } from './server.ts'
import * as shapes from './shapes.ts'

/* Tests analysis runs, the gazetteer, hubs and address histories on a real server with a library filled by a real crawl. */

let server: TestServer
let site: Site
let host: string

beforeAll(async () => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'pharos-news-'))
  site = await fillNews(folder)
  host = new URL(site.origin).host
  server = await openTestServer({ folder, isShared: true })
})

afterAll(async () => {
  await server?.dispose()
  await site?.close()
})

async function get<T>(path: string, shape: z.ZodType<T>): Promise<T> {
  const answer = await server.ask(path)
  expect([path, answer.status, answer.text.slice(0, 300)]).toEqual([path, 200, answer.text.slice(0, 300)])
  return shape.parse(answer.body)
}

async function expectRefusal(answer: Promise<Answer>, status: number, code: string): Promise<string> {
  const { status: got, body } = await answer
  const { error, code: gotCode } = shapes.failure.parse(body)
  expect([got, gotCode]).toEqual([status, code])
  return error
}

/** A place from a user's own file. */
const OWN_PLACE: PlaceRecord = {
  ref: 'own:1',
  kind: 'country',
  countryCode: 'QQ',
  ...{ adm1Code: null, adm2Code: null, population: null, timezone: null, lat: null, lng: null, bbox: null },
  ...{ status: 'current', validFrom: null, validTo: null, extra: null, parents: [], externalIds: [] },
  names: [{ name: 'Ruritania', lang: 'en', kind: 'common', isPreferred: true, isOfficial: false }],
}

/** Sends the form that starts a run. */
function sendForm(fields: string): Promise<Answer> {
  return server.ask('/analysis/start', {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
    body: fields,
  })
}

/** Requests a page as a browser does. */
async function show(path: string, status = 200): Promise<string> {
  const answer = await server.ask(path, { headers: { accept: 'text/html' } })
  expect([path, answer.status]).toEqual([path, status])
  expect(answer.headers.get('content-type')).toMatch(/^text\/html/)
  return answer.text
}

describe('before any analysis', () => {
  test('lists are empty, and the pages say what to do', async () => {
    expect(await get('/api/analysis', shapes.runs)).toEqual({ total: 0, items: [] })
    expect(await show('/analysis/ssr')).toContain('Nothing has been analysed yet')
    expect((await server.ask('/analysis/latest')).headers.get('location')).toBe('/analysis/ssr')
    expect(await get('/api/hubs', shapes.hubs)).toEqual({ total: 0, items: [] })
    expect(await get('/api/places/mentions', shapes.mentions)).toEqual({ count: 0, items: [] })
    expect(await show('/gazetteer')).toContain('No page is known to name a place')
    expect(await show('/hubs')).toContain('No hub is known yet')
  })

  test('pages are classified by the crawl itself', async () => {
    const { items } = await get(`/api/urls?classification=article&details=1`, shapes.urlsWithDetails)
    expect(items.map(({ url }) => url)).toEqual([`${site.origin}${ARTICLE}`])
    expect(items[0]).toMatchObject({ classification: 'article' })
    expect(items[0]?.combined_confidence).toBeGreaterThan(0)
    // The combined hint is the class itself, and not a second opinion.
    const all = (await get('/api/urls?details=1', shapes.urlsWithDetails)).items
    expect(all.map(({ combined_hint, combined_confidence }) => [combined_hint, combined_confidence])).toEqual(
      all.map(({ classification, confidence }) => [classification, confidence]),
    )
  })
})

describe('an analysis run', () => {
  let runId: string

  test('is started, reports its progress, and ends', async () => {
    const stream = await openStream(`${server.origin}/events?logs=0`)
    const { status, body } = await server.post('/api/analysis/start', { verbose: true, pagelimit: 1 })
    expect(status).toBe(202)
    runId = body.runId
    expect(body).toEqual({
      ...{ runId, detailUrl: `/analysis/${runId}/ssr`, apiUrl: `/api/analysis/${runId}` },
      // A misspelled field causes a notice.
      notices: [expect.stringContaining('"pagelimit"')],
    })
    // Only one run is allowed at a time, and the refusal names it.
    const busy = await server.post('/api/analysis/start')
    expect(shapes.failure.parse(busy.body)).toMatchObject({
      ...{
        code: 'ANALYSIS_RUNNING',
        error: expect.stringContaining(runId),
        runId,
        detailUrl: `/analysis/${runId}/ssr`,
      },
      advice: expect.stringContaining(`/analysis/${runId}/ssr`),
    })
    expect(busy.status).toBe(409)
    // Without scripts the form redirects to the run, and the browser refreshes that page by itself.
    const { status: formStatus, headers } = await sendForm('')
    expect([formStatus, headers.get('location')]).toEqual([303, `/analysis/${runId}/ssr`])
    expect(await show(`/analysis/${runId}/ssr`)).toContain('<noscript><meta http-equiv="refresh"')
    await expectRefusal(server.post('/api/analysis/start', { pageLimit: 0 }), 400, 'USAGE')
    await expectRefusal(server.post('/api/analysis/start', { analysisVersion: 999_999 }), 400, 'USAGE')
    const done = await stream.until(({ name, data }) => name === 'analysis' && data.status === 'completed')
    expect(done.data).toMatchObject({ runId, stage: 'done', jobId: null, error: null })
    expect(done.data.lastProgress.pages).toBeGreaterThan(4)
    stream.close()
  })

  test('is stored with its options, summary and events, newest first', async () => {
    const { total, items } = await get('/api/analysis?limit=1000', shapes.runs)
    expect([total, items[0]?.id]).toEqual([1, runId])
    expect(items[0]).toMatchObject({
      ...{ status: 'completed', stage: 'done', pageLimit: null, domainLimit: null, error: null },
      ...{ skipPages: false, skipDomains: false, dryRun: false, verbose: true },
    })
    const { run, events } = await get(`/api/analysis/${runId}`, shapes.run)
    expect(run).toEqual(items[0])
    expect(events.map(({ id }) => id)).toEqual(events.map(({ id }) => id).toSorted((a, b) => b - a))
    expect(new Set(events.map(({ stage }) => stage))).toEqual(
      new Set(['db-setup', 'pages', 'domains', 'milestones', 'done']),
    )
    expect((await get(`/api/analysis/${runId}?eventsLimit=2`, shapes.run)).events).toEqual(events.slice(0, 2))
    expect((await get(`/api/analysis/${runId}?limit=2`, shapes.run)).events).toEqual(events.slice(0, 2))
    expect((await get('/api/analysis?offset=1', shapes.runs)).items).toEqual([])
    await expectRefusal(server.ask('/api/analysis/nobody'), 404, 'RUN_UNKNOWN')
    await expectRefusal(server.ask('/api/analysis/no%20id'), 400, 'USAGE')
    expect((await server.ask('/api/analysis?limit=0')).body.items).toHaveLength(1)
    await expectRefusal(server.ask('/api/analysis?limit=x'), 400, 'USAGE')
    await expectRefusal(server.ask(`/api/analysis/${runId}?eventsLimit=some`), 400, 'USAGE')
  })

  test('has a page, and is in the list of runs', async () => {
    const list = await show('/analysis/ssr')
    expect(list).toContain(`href="/analysis/${runId}/ssr"`)
    expect(list).toContain('<span class="pill pill-good" data-field="status">completed</span>')
    const body = await show(`/analysis/${runId}/ssr`)
    expect(body).toMatch(/<progress data-progress max="(\d+)" value="\1">/)
    expect(body).toContain('verbose')
    for (const label of ['Navigation pages', 'Mentions of places', 'Hubs of places']) {
      expect(body).toMatch(new RegExp(`<dt>${label}</dt><dd data-counter="\\w+">[1-9]`))
    }
    // The events do not repeat the numbers of the summary.
    expect(body).not.toMatch(/{&quot;(?:analysisVersion|pages)&quot;/)
    // A finished run is not polled.
    expect(body).not.toContain('data-poll')
    expect(body).not.toContain('http-equiv')
    expect((await server.ask('/analysis/latest')).headers.get('location')).toBe(`/analysis/${runId}/ssr`)
    // Job pages redirect an analysis run to its own page.
    expect((await server.ask('/queues/analysis-run/ssr')).headers.get('location')).toBe('/analysis/latest')
    expect(await show('/analysis/nobody/ssr', 404)).toContain('There is no analysis run with this id')
  })

  test('refuses invalid values of its seven options, and names the option', async () => {
    for (const [field, value] of [
      ['pageLimit', 0],
      ['domainLimit', 'many'],
      ['analysisVersion', -1],
      ['skipPages', 'yes'],
      ['skipDomains', 1],
      ['dryRun', 'x'],
      ['verbose', []],
    ] as const) {
      const answer = await server.post('/api/analysis/start', { [field]: value })
      expect([answer.status, answer.body]).toMatchObject([400, { code: 'USAGE', field }])
      expect(answer.body.error).toContain(`got ${JSON.stringify(value)}`)
      const wanted = typeof value === 'number' && field !== 'skipDomains' ? 'a whole number from 1 to' : 'expected '
      expect(answer.body.error).toContain(wanted)
      expect(answer.body.error).not.toMatch(/Invalid|Too /)
    }
    await expectRefusal(server.post('/api/analysis/start', { analysisVersion: 999_999 }), 400, 'USAGE')
    expect((await get('/api/analysis', shapes.runs)).total).toBe(1)
  })

  test('starts from a form without scripts as well', async () => {
    const wrong = await sendForm('pageLimit=many')
    expect([wrong.status, wrong.text]).toMatchObject([
      400,
      expect.stringContaining('pageLimit: expected a whole number'),
    ])
    expect((await sendForm('analysisVersion=999999')).status).toBe(400)
    // A user's mistake is logged without a stack trace.
    const logged = server.lines.filter((line) => line.includes('a page could not be rendered')).join()
    expect(logged).toContain('this program supports versions up to')
    expect(logged).not.toMatch(/\bat .*\.ts:\d/)
    const got = await server.ask('/analysis/start', { redirect: 'manual' })
    expect([got.status, got.headers.get('location')]).toEqual([302, '/analysis/ssr'])
    const { status, headers } = await sendForm('pageLimit=1&domainLimit=&dryRun=1&skipDomains=1')
    expect(status).toBe(303)
    const [, id = ''] = /^\/analysis\/([\w-]+)\/ssr$/.exec(headers.get('location') ?? '') ?? []
    const { run } = await until(
      () => get(`/api/analysis/${id}`, shapes.run),
      (answer) => answer.run.status !== 'running',
    )
    expect(run).toMatchObject({ status: 'completed', pageLimit: 1, dryRun: true, skipDomains: true, verbose: false })
    // Everything was analysed before.
    const body = await show(`/analysis/${id}/ssr`)
    expect(body).toContain('Nothing new to analyse')
    expect(body).not.toContain('data-counter="articles"')
  })

  test('a run that cannot be started is answered with 500 and stored as failed', async () => {
    const broken = await openTestServer({ analyser: [join(server.folder, 'there-is-no-such-program')] })
    const { status, body } = await broken.post('/api/analysis/start', {})
    expect([status, body.code]).toEqual([500, 'ANALYSIS_START_FAILED'])
    expect(body.error).not.toContain(server.folder)
    const { body: list } = await broken.ask('/api/analysis')
    expect(list.items.map((run: { status: string }) => run.status)).toEqual(['failed'])
  })
})

describe('the gazetteer', () => {
  test('reports its counts and its attribution', async () => {
    const summary = await get('/api/gazetteer/summary', shapes.gazetteerSummary)
    expect(summary).toMatchObject({ countries: 250, cities: 0 })
    expect(summary.names).toBeGreaterThan(1000)
    expect(summary.sources[0]?.license).toContain('ODbL')
    const body = await show('/gazetteer')
    expect(body).toContain('<dd data-counter="countries">250</dd>')
    expect(body).toContain(summary.sources[0]?.attribution.split('"')[0])
  })

  test('lists places by name, kind, country and size, in any order', async () => {
    const names = async (query: string) =>
      (await get(`/api/gazetteer/places?${query}`, shapes.places)).items.map(({ name }) => name)
    expect(await names('q=franc&kind=country')).toContain('France')
    expect(await names('cc=jp&kind=country')).toEqual(['Japan'])
    expect(await names('kind=country&sort=name&dir=asc&pageSize=2')).toEqual(['Afghanistan', expect.any(String)])
    const all = await get('/api/gazetteer/places?kind=country&pageSize=100000', shapes.places)
    expect([all.total, all.items.length, all.pageSize]).toEqual([250, 200, 200])
    const second = await get('/api/gazetteer/places?kind=country&pageSize=200&page=2', shapes.places)
    expect(second.items).toHaveLength(50)
    const ids = new Set([...all.items, ...second.items].map(({ id }) => id))
    expect(ids.size).toBe(250)
    expect(await names('minpop=1000000000')).not.toContain('France')
    expect(await names('q=nowhere-at-all')).toEqual([])
    for (const query of ['kind=planet', 'sort=weight', 'page=0', 'minpop=many', 'cc=FRA', 'dir=up'])
      await expectRefusal(server.ask(`/api/gazetteer/places?${query}`), 400, 'USAGE')
  })

  test('shows everything about a place, and finds it by any of its names', async () => {
    const { items } = await get('/api/gazetteer/resolve?q=frankreich', shapes.resolved)
    expect(items.map(({ name }) => name)).toEqual(['France'])
    const id = items[0]?.id ?? 0
    const { place, names, size } = await get(`/api/gazetteer/place/${id}`, shapes.place)
    expect(place).toMatchObject({ id, kind: 'country', countryCode: 'FR' })
    expect(names.map(({ name }) => name)).toContain('フランス')
    expect(size.names).toBe(names.length)
    const { items: articles } = await get(`/api/gazetteer/articles?id=${id}`, shapes.articles)
    // The title, the address and the text name the place, and the page is listed once.
    expect(articles[0]).toMatchObject({ url: `${site.origin}${ARTICLE}`, source: 'title' })
    expect(articles[0]?.mentions).toBeGreaterThan(2)
    expect(new Set(articles.map(({ url }) => url)).size).toBe(articles.length)
    expect((await get('/api/gazetteer/resolve?q=nowhere-at-all', shapes.resolved)).items).toEqual([])
    expect((await get('/api/gazetteer/articles?id=999999', shapes.articles)).items).toEqual([])
    await expectRefusal(server.ask('/api/gazetteer/place/999999'), 404, 'PLACE_UNKNOWN')
    for (const path of ['place/x', 'place/0', 'articles', 'articles?id=x', 'resolve', 'resolve?q='])
      await expectRefusal(server.ask(`/api/gazetteer/${path}`), 400, 'USAGE')
  })

  test('has pages that link to each other', async () => {
    const countries = await show('/gazetteer/countries')
    expect(countries.match(/<tr role="row">/g)).toHaveLength(1 + 250)
    const [, path = ''] = /href="(\/gazetteer\/place\/\d+)">France</.exec(countries) ?? []
    for (const shown of [await show(path), await show('/gazetteer/country/fr')]) {
      for (const part of ['<h1>France</h1>', 'フランス', ARTICLE, '/world/france', '<circle class="dot'])
        expect(shown).toContain(part)
    }
    expect(await show('/gazetteer/places?q=japan')).toContain('>Japan</a>')
    // A place found by a foreign name is shown with that name.
    expect(await show('/gazetteer/places?q=frankreich')).toMatch(/>France<\/a><small><span[^>]*>Frankreich</)
    const first = async (query: string) =>
      /href="\/gazetteer\/place\/\d+">([^<]+)/.exec(await show(`/gazetteer/places?kind=country&${query}`))?.[1]
    expect(await first('q=niger')).toBe('Niger')
    expect(await first('q=niger&sort=population')).toBe('Nigeria')
    expect([await first('sort=name&dir=asc'), await first('sort=name&dir=desc')]).toEqual(['Afghanistan', 'Zimbabwe'])
    // Positions are shown with each of the four compass directions.
    for (const [country, sides] of [
      ['fr', /° N, [\d.]+° E/],
      ['br', /° S, [\d.]+° W/],
    ] as const)
      expect(await show(`/gazetteer/country/${country}`)).toMatch(sides)
    expect(await show('/gazetteer/kind/country')).toContain('href="/gazetteer/kind/country?offset=100"')
    expect(await show('/gazetteer/kind/country?offset=200')).toContain('201–250 of 250')
    expect(await show('/gazetteer/kind/planet', 404)).toContain('There is no such kind of place')
    expect(await show('/gazetteer/place/999999', 404)).toContain('There is no place with this number')
    expect(await show('/gazetteer/country/QQ', 404)).toContain('No country with the code QQ')
    expect(await show('/gazetteer/country/france', 400)).toContain('two letters')
    expect(await show('/gazetteer/places?minpop=x', 400)).toContain('minpop: expected a whole number')
  })

  test('shows the mentioned places on a map and in a table', async () => {
    const { items } = await get('/api/places/mentions', shapes.mentions)
    expect(items.map(({ place }) => place.name)).toEqual(expect.arrayContaining(['France', 'Japan', 'Brazil']))
    const france = items.find(({ place }) => place.name === 'France')
    expect(france).toMatchObject({ hubs: 1 })
    const body = await show('/gazetteer')
    // Countries are shaded by how often pages name them; those without an outline are in the table only.
    expect(body).toMatch(/class="area shade-4" d="M1 2l3 4z"><title>France: \d+ mentions/)
    expect(body).toMatch(/class="area shade-\d" d="M[^"]+"><title>Japan: \d+ mention/)
    // A picture hides its links from screen readers, a group does not.
    expect(body).toMatch(/<svg [^>]*role="group"/)
    expect(body).toContain(`>France</a></td>`)
    expect((await get(`/api/places/mentions?host=${host}&limit=1`, shapes.mentions)).items).toHaveLength(1)
    expect((await get('/api/places/mentions?host=elsewhere.example', shapes.mentions)).items).toEqual([])
    expect(await show('/gazetteer?host=elsewhere.example')).not.toContain('class="area')
    await expectRefusal(server.ask('/api/places/mentions?limit=x'), 400, 'USAGE')
  })
})

describe('hubs', () => {
  beforeAll(async () => {
    // The facts that a plan would have learned about the site.
    const { planMemory, jobLog } = await server.library()
    const pattern = '/world/{country}'
    const paths = COUNTRIES.map((country) => `/world/${country}`)
    const examples = [...paths.map((path) => site.origin + path), ...paths]
    await planMemory.writePatterns(
      host,
      [{ pattern, role: 'place-hub', seen: 4, hits: 3, misses: 1, confidence: 0.75, examples }],
      Date.now(),
    )
    await planMemory.writeVerdicts(host, [
      {
        ...{
          url: `${site.origin}/world/atlantis`,
          pattern,
          placeId: null,
          placeSlug: 'atlantis',
          placeKind: 'country',
        },
        ...{ origin: 'listed', state: 'missing', status: 404, title: null, navLinks: 0, articleLinks: 0 },
        checkedAt: Date.now(),
      },
    ])
    const note = {
      scope: host,
      target: `${site.origin}/world/atlantis`,
      message: 'there is no such hub',
      details: null,
    }
    await jobLog.append([
      { jobId: 'plan', at: Date.now(), type: 'problem', data: { ...note, kind: 'missing-hub' } },
      { jobId: 'plan', at: Date.now(), type: 'milestone', data: { ...note, kind: 'hubs-seeded' } },
    ])
  })

  test('are found only for places of the gazetteer, and the pages of one hub count once', async () => {
    const { total, items } = await get('/api/hubs', shapes.hubs)
    expect(new Set(items.map(({ url }) => url.slice(site.origin.length)))).toEqual(
      new Set(COUNTRIES.map((country) => `/world/${country}`)),
    )
    expect(total).toBe(3)
    const france = items.find(({ placeSlug }) => placeSlug === 'france')
    expect(france).toMatchObject({ host, placeKind: 'country', topicSlug: 'world' })
    expect((await get(`/api/gazetteer/hubs?host=${host}`, shapes.gazetteerHubs)).items).toEqual(items)
    expect((await get('/api/gazetteer/hubs?host=elsewhere.example', shapes.gazetteerHubs)).items).toEqual([])
  })

  test('are filtered by host, place, kind and topic', async () => {
    const { items } = await get('/api/hubs?limit=1', shapes.hubs)
    const id = items[0]?.placeId ?? 0
    const totals = async (query: string) => (await get(`/api/hubs?${query}`, shapes.hubs)).total
    expect(await totals(`place=${id}`)).toBe(1)
    expect(await totals(`host=${host}&kind=country&topic=world`)).toBe(3)
    expect(await totals('kind=city')).toBe(0)
    expect(await totals('topic=sport')).toBe(0)
    expect((await get('/api/hubs?offset=2', shapes.hubs)).items).toHaveLength(1)
    for (const query of ['kind=planet', 'place=x', 'limit=none', 'offset=-1'])
      await expectRefusal(server.ask(`/api/hubs?${query}`), 400, 'USAGE')
  })

  test('report their coverage of countries, what is missing, and the patterns', async () => {
    const coverage = await get(`/api/hubs/coverage?host=${host}`, shapes.coverage)
    expect(coverage).toMatchObject({ host, hubs: 3, countriesCovered: 3, countries: 250 })
    expect(coverage.missing.map(({ placeSlug }) => placeSlug)).toEqual(['atlantis'])
    expect(coverage.missingCount).toBe(1)
    expect(coverage.patterns).toMatchObject([{ pattern: '/world/{country}', seen: 4, confidence: 0.75 }])
    expect(coverage.topics).toMatchObject([{ slug: 'world', hubs: 3 }])
    const nothing = await get('/api/hubs/coverage?host=elsewhere.example', shapes.coverage)
    expect(nothing).toMatchObject({ hubs: 0, countriesCovered: 0, missing: [], patterns: [], topics: [] })
    expect((await get('/api/hubs/hosts', shapes.hubHosts)).items).toEqual([{ host, hubs: 3 }])
    await expectRefusal(server.ask('/api/hubs/coverage'), 400, 'USAGE')
  })

  test('have a page for each host with its coverage', async () => {
    expect(await show('/hubs')).toContain(`href="/hubs?host=${encodeURIComponent(host)}"`)
    const body = await show(`/hubs?host=${host}`)
    for (const part of ['3 of 250 countries have a hub', '/world/{country}', 'atlantis', '75 %', '?host='])
      expect(body).toContain(part)
    expect(body).toMatch(/href="\/gazetteer\/place\/\d+">Brazil<\/a>/)
    expect(body).toContain('hubs of places')
    expect(body.match(/\/world\/france<\/span><\/div>/g)).toHaveLength(1)
    expect(await show('/hubs?place=Frankreich')).toContain('1 of 1 hub')
    expect(await show('/hubs?place=nowhere-at-all')).toContain('No hub passes these filters')
    expect(await show('/hubs?topic=world')).toContain('3 of 3 hubs')
    expect(await show('/hubs?host=elsewhere.example')).toContain('No hub passes these filters')
    expect(await show('/hubs?kind=planet', 400)).toContain('kind: expected one of country')
  })

  test('missing hubs are warnings, and reached milestones are listed', async () => {
    const { items } = await get(`/api/problems?scope=${host}`, shapes.problems)
    expect(items).toMatchObject([{ kind: 'missing-hub', severity: 'warn', target: `${site.origin}/world/atlantis` }])
    const { body } = await server.ask(`/api/milestones/met?host=${host}&kinds=full-understanding,%20hubs-seeded`)
    expect(body).toEqual({ host, met: ['hubs-seeded'], unmet: ['full-understanding'] })
    // A history crawl is refused with the names of the milestones that are missing.
    const historyCrawl = { startUrl: `${site.origin}/`, crawlType: 'history' }
    const text = await expectRefusal(server.post('/api/crawl', historyCrawl), 409, 'CRAWL_UNPREPARED')
    for (const kind of ['full-understanding', 'depth2-coverage', 'articles-identified-1k']) expect(text).toContain(kind)
    const list = async () => (await server.ask('/api/sources')).body
    const before = await list()
    const historySource = { url: `${site.origin}/elsewhere/`, crawlType: 'history' }
    await expectRefusal(server.post('/api/sources', historySource), 409, 'CRAWL_UNPREPARED')
    expect(await list()).toEqual(before)
    const recrawlPath = `/api/sources/${encodeURIComponent(`${site.origin}/`)}/recrawl`
    await expectRefusal(server.post(recrawlPath, { crawlType: 'history' }), 409, 'CRAWL_UNPREPARED')
    await expectRefusal(server.ask(`/api/milestones/met?host=${host}`), 400, 'USAGE')
    await expectRefusal(server.ask(`/api/milestones/met?host=${host}&kinds=,`), 400, 'USAGE')
    await expectRefusal(server.ask(`/api/milestones/met?host=${host}&kinds=What%20ever`), 400, 'USAGE')
  })
})

describe('addresses', () => {
  const readDetails = async (path: string) => {
    const { body, status } = await server.ask(`/api/url-details?url=${encodeURIComponent(site.origin + path)}`)
    expect([path, status]).toEqual([path, 200])
    return shapes.urlDetails.parse(body)
  }

  test('are filtered by class and confidence, in percent or as a fraction', async () => {
    const totals = async (query: string) => (await get(`/api/urls?${query}`, shapes.urls)).total
    const navs = await totals('classification=nav')
    expect(navs).toBeGreaterThanOrEqual(3)
    expect(await totals('combinedHint=nav')).toBe(navs)
    expect(await totals('combinedHint=article')).toBe(await totals('classification=article'))
    const half = await totals('minCombinedConfidence=50')
    expect(half).toBeGreaterThan(0)
    expect(await totals('minCombinedConfidence=0.5')).toBe(half)
    expect(await totals('minConfidence=0.5')).toBe(half)
    expect(await totals('minCombinedConfidence=0')).toBe(await totals(''))
    for (const query of ['classification=poem', 'combinedHint=poem', 'minCombinedConfidence=101'])
      await expectRefusal(server.ask(`/api/urls?${query}`), 400, 'USAGE')
    const body = await show('/urls?classification=article')
    expect(body).toContain(ARTICLE)
    expect(body).toContain('Minimum confidence (%)')
    // The page has the same filters as the API, with the same names.
    const countOnPage = async (query: string) => /(\d+) of (\d+) address/.exec(await show(`/urls?${query}`))?.[2]
    const minimum = 'minCombinedConfidence=75'
    expect(await totals(minimum)).toBeLessThan(await totals(''))
    for (const query of ['combinedHint=nav', 'combinedHint=article', minimum, 'minConfidence=0.75', 'q=/world/'])
      expect([query, await countOnPage(query)]).toEqual([query, String(await totals(query))])
    expect(body).toMatch(/<span class="pill pill-good" data-field="">article<\/span> \d+ %/)
    expect(body).toContain('<option value="article" selected>')
    expect(await show('/urls?minCombinedConfidence=900', 400)).toContain('expected a number from 0 to 100')
  })

  test('an article shows its author, dates, language, places, phrases and sentiment', async () => {
    const { classification, analysis, story: moments, hub } = await readDetails(ARTICLE)
    expect(classification).toMatchObject({ kind: 'article', url: { hasDatePath: true } })
    expect(analysis).toMatchObject({
      author: 'Ada Example',
      language: 'en',
      published_at: expect.stringMatching(/^2026-01-05/),
    })
    expect(analysis?.findings.places.map(({ place }) => place)).toEqual(
      expect.arrayContaining(['France', 'Japan', 'Brazil']),
    )
    expect(analysis?.meta.deepAnalysis.findings).toMatchObject({ sentiment: { label: 'positive' } })
    expect(hub).toBeNull()
    expect(moments.map(({ event }) => event)).toEqual(expect.arrayContaining(['found', 'asked', 'analysed']))
    expect(moments.map(({ ts }) => ts)).toEqual(moments.map(({ ts }) => ts).toSorted())
    const body = await show(`/url?url=${encodeURIComponent(site.origin + ARTICLE)}`)
    for (const part of [
      'Ada Example',
      'History',
      'has date path',
      '>France</a>',
      'best effort',
      'Published',
      'Sentiment',
    ])
      expect(body).toContain(part)
  })

  test('a hub shows its place and its aliases', async () => {
    const { hub, sources } = await readDetails('/world/france')
    // A hub has no dates or sentiment: those belong to the articles that it links to.
    const shown = await show(`/url?url=${encodeURIComponent(`${site.origin}/world/france`)}`)
    expect(shown).not.toMatch(/<dt>(?:Published|Modified|Sentiment)<\/dt>/)
    expect(hub).toMatchObject({ placeSlug: 'france', topicSlug: 'world' })
    const aliases = sources[0]?.aliases ?? []
    expect(aliases.map(({ classification }) => classification)).toContain('redirect')
    const { sources: old } = await readDetails('/old-france')
    expect(old[0]?.aliases).toMatchObject([{ url: `${site.origin}/world/france`, exists: true, kind: 'nav' }])
    expect(await show(`/url?url=${encodeURIComponent(`${site.origin}/old-france`)}`)).toContain('exists')
  })

  test('an address with a tracking parameter shows whether the address without it exists, and its kind', async () => {
    const { sources } = await readDetails('/world/france?utm_source=mail')
    const stripped = sources[0]?.aliases.find(({ classification }) => classification === 'superfluous-query')
    expect(stripped).toMatchObject({
      ...{ from: `${site.origin}/world/france?utm_source=mail`, to: `${site.origin}/world/france` },
      ...{ exists: true, kind: 'nav', state: 'indexed', title: 'france news', checkedAt: expect.any(String) },
    })
    const tracked = encodeURIComponent(`${site.origin}/world/france?utm_source=mail`)
    expect(await show(`/url?url=${tracked}`)).toContain('It is another spelling of')
  })

  test('a missing address shows the verdict of the plan and the resulting problem', async () => {
    const { verdict, problems, sources } = await readDetails('/world/atlantis')
    expect(verdict).toMatchObject({ state: 'missing', origin: 'listed', pattern: '/world/{country}' })
    expect(problems).toMatchObject([{ kind: 'missing-hub' }])
    expect(sources[0]?.row).toMatchObject({ state: 'failed', reason: 'not-found' })
    expect(await show(`/url?url=${encodeURIComponent(`${site.origin}/world/atlantis`)}`)).toContain(
      'there is no such hub',
    )
  })

  test('an unknown address is answered with the nearest one and the reason why it is unknown', async () => {
    const near = server.ask(`/api/url-details?url=${encodeURIComponent(`${site.origin}/world/frrance`)}`)
    const error = await expectRefusal(near, 404, 'PAGE_UNKNOWN')
    expect(error).toContain(`did you mean ${site.origin}/world/france?`)
    expect(error).toContain('news has not seen it, no crawled page links to it')
    const elsewhere = server.ask('/api/url-details?url=https://elsewhere.example/')
    const other = await expectRefusal(elsewhere, 404, 'PAGE_UNKNOWN')
    expect(other).toContain('it is on another site')
    const body = await show(`/url?url=${encodeURIComponent(`${site.origin}/world/frrance`)}`, 404)
    expect(body).toContain('The page with the most similar address is')
  })

  test('an address of several sources is shown for each source, with the analysis of one that has it', async () => {
    const url = `${site.origin}${ARTICLE}`
    const path = await locateLibrary(join(server.folder, 'library.db'))
    const library = await openLibrary({ path, version: '0.0.0', allowPrivate: ['127.0.0.0/8'], limits: UNPACED })
    try {
      const source = await addSource(library, { url, name: 'again', settings: { crawlType: 'basic' } })
      await runCrawl(library, source, { kind: 'add' }, site.origin)
    } finally {
      await library.close()
    }
    // The source fetched last comes first and has no analysis yet.
    const { analysis, sources, story: moments } = await readDetails(ARTICLE)
    expect(analysis).toMatchObject({ author: 'Ada Example' })
    expect(sources.map((source) => [source.classification?.kind, source.analysis !== null])).toEqual([
      ['article', false],
      ['article', true],
    ])
    const requests = moments.filter(({ event }) => event === 'asked').map(({ text }) => text)
    expect(requests).toEqual([
      expect.stringMatching(/^was last requested for news, /),
      expect.stringMatching(/for again, /),
    ])
    expect(moments.find(({ event }) => event === 'analysed')?.text).toContain('analysed for news: article')
    expect(moments.map(({ ts }) => ts)).toEqual(moments.map(({ ts }) => ts).toSorted())
  })

  test('count in the analysis of their host', async () => {
    const { body } = await server.ask(`/api/domain-summary?host=${host}`)
    expect(body.analysis).toMatchObject({ host, articles: 1, isNews: false })
    expect(await show(`/domains?host=${host}`)).toContain('Its hubs')
    expect(await show('/domains')).toContain('data-label="Kind">not news</td>')
    const { analyses } = await server.library()
    const domain = await analyses.readDomain(host)
    if (domain === undefined) throw new Error('the host has no analysis')
    await analyses.writeDomain({ ...domain, isNews: true })
    expect((await server.ask(`/api/domain-summary?host=${host}`)).body.analysis.isNews).toBe(true)
    expect(await show('/domains')).toContain('data-label="Kind">news</td>')
  })
})

test('every route answers with zeros and empty lists when the library is empty', async () => {
  const empty = await openTestServer()
  const ask = async (path: string) => {
    const { status, body } = await empty.ask(path)
    expect([path, status]).toEqual([path, 200])
    return body
  }
  expect(await ask('/api/gazetteer/summary')).toMatchObject({
    countries: 0,
    regions: 0,
    cities: 0,
    names: 0,
    sources: [],
  })
  expect(await ask('/api/gazetteer/places')).toMatchObject({ total: 0, items: [] })
  expect(await ask('/api/gazetteer/articles?id=1')).toMatchObject({ items: [] })
  expect(await ask('/api/gazetteer/hubs')).toMatchObject({ host: null, items: [] })
  expect(await ask('/api/gazetteer/resolve?q=Paris')).toMatchObject({ items: [] })
  expect(await ask('/api/hubs')).toEqual({ total: 0, items: [] })
  expect(await ask('/api/hubs/hosts')).toEqual({ count: 0, items: [] })
  expect(await ask('/api/hubs/coverage?host=a.example')).toMatchObject({ countries: 0, countriesCovered: 0 })
  expect(await ask('/api/places/mentions')).toEqual({ count: 0, items: [] })
  expect(await ask('/api/analysis')).toEqual({ total: 0, items: [] })
  expect(await ask('/api/milestones/met?host=a.example&kinds=x')).toEqual({ host: 'a.example', met: [], unmet: ['x'] })
  for (const path of [
    '/gazetteer',
    '/gazetteer/places',
    '/gazetteer/countries',
    '/gazetteer/kind/city',
    '/hubs',
    '/analysis/ssr',
  ]) {
    const { status, text } = await empty.ask(path, { headers: { accept: 'text/html' } })
    expect([path, status]).toEqual([path, 200])
    expect(text).toMatch(/pharos gazetteer import|No place passes|pharos analyze/)
  }
  // Figures are cached for a minute, unless something is imported.
  const { gazetteer } = await empty.library()
  const own = { name: 'own', version: '1', license: 'CC0-1.0', attribution: 'me', url: null }
  await gazetteer.importPlaces(own, [OWN_PLACE], Date.now())
  expect(await ask('/api/gazetteer/summary')).toMatchObject({ countries: 1, sources: [{ name: 'own' }] })
  // A missing file counts as empty; a database that does not answer is an error.
  await empty.hideStore()
  const figures = await empty.ask('/api/gazetteer/summary')
  const runs = await empty.ask('/api/analysis')
  if (isOnPostgres) expect([figures.status, runs.status]).toEqual([503, 503])
  else {
    expect(figures.body).toMatchObject({ countries: 0 })
    expect(runs.body).toEqual({ total: 0, items: [] })
  }
  for (const path of ['/gazetteer', '/analysis/ssr']) {
    expect([path, (await empty.ask(path)).status]).toEqual([path, isOnPostgres ? 503 : 200])
  }
  await empty.showStore()
})
