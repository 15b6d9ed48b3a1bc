import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PlaceRecord } from '../../src/places/analysis/place.ts'
import { beginRun } from '../../src/places/runs/begin-run.ts'
import { openTestServer, type TestServer } from './server.ts'

/* Default and maximum lengths of the lists of analyses, places and hubs. */

const PLACES = 1010
const HOSTS = 205
const RUNS = 205
const EVENTS = 505
const PAGES = 25
const PROBLEMS = 510

let server: TestServer
let runId = ''
/** A place that pages name. */
let placeId = 0

function placeOf(number: number): PlaceRecord {
  const name = number <= 12 ? 'Springfield' : `Place ${number}`
  return {
    ...{ ref: `own:${number}`, kind: 'city', countryCode: 'QQ', adm1Code: 'W1', adm2Code: null, timezone: null },
    // The first place is south of the map, at the western edge; all others are at the eastern edge.
    ...{ population: number, lat: number === 1 ? -89 : 10, lng: number === 1 ? -179.9 : 180, bbox: null, extra: null },
    ...{ status: 'current', validFrom: null, validTo: null, externalIds: [] },
    parents: number === 0 ? [] : [{ ref: 'own:region', relation: 'admin_parent' }],
    names: [{ name, lang: 'en', kind: 'common', isPreferred: true, isOfficial: false }],
  }
}

const REGION: PlaceRecord = {
  ...placeOf(0),
  ...{ ref: 'own:region', kind: 'region', adm1Code: 'W1', lat: null, lng: null },
  names: [{ name: 'Westland', lang: 'en', kind: 'common', isPreferred: true, isOfficial: false }],
}

beforeAll(async () => {
  server = await openTestServer({ isShared: true })
  const library = await server.library()
  const { gazetteer, placeHubs, analyses } = library
  const own = { name: 'own', version: '1', license: 'CC0-1.0', attribution: 'me', url: null }
  await gazetteer.importPlaces(own, [REGION, ...Array.from({ length: PLACES }, (_, i) => placeOf(i + 1))], 1)
  const hubs = Array.from({ length: PLACES }, (_, i) => {
    const host = `h${i % HOSTS}.example`
    return {
      ...{ url: `https://${host}/${i}`, host, placeId: i + 2, placeSlug: `p${i}`, placeKind: 'city' as const },
      ...{
        topicSlug: null,
        topicLabel: null,
        topicKind: null,
        title: null,
        navLinks: 1,
        articleLinks: 1,
        evidence: {},
      },
    }
  })
  await placeHubs.write(hubs, 1)
  ;[placeId = 0] = (await gazetteer.resolve('Springfield', 1)).map(({ id }) => id)
  fillPages(join(server.folder, 'library.db'))
  for (let i = 0; i < RUNS; i++) {
    const { run } = await beginRun(library, {}, 'me')
    await analyses.changeRun({ id: run.id, runner: 'me' }, { status: 'completed', stage: 'done', endedAt: Date.now() })
    runId = run.id
  }
  for (let i = 0; i < EVENTS; i++) {
    await analyses.addEvent({ runId, at: i, stage: 'pages', message: `event ${i}`, details: null })
  }
  const notes = Array.from({ length: PROBLEMS }, (_, i) => {
    const target = `https://a.example/world/${i}`
    const data = { kind: 'missing-hub', scope: 'a.example', target, message: `${target} is not there`, details: null }
    return { jobId: 'job', at: i + 1, type: 'problem' as const, data }
  })
  await library.jobLog.append(notes)
})

afterAll(() => server?.dispose())

/** Adds pages that name a place, each in its text and every fifth in its title as well. */
function fillPages(path: string): void {
  const db = new Sqlite(path)
  try {
    db.pragma('foreign_keys = OFF')
    const addRow = db.prepare(
      `INSERT INTO ledger (id, source, state, depth, key, url, host, discovery, first_seen_at)
       VALUES (@id, 1, 'indexed', 0, @url, @url, 'a.example', 'link', 1)`,
    )
    const addPage = db.prepare(`INSERT INTO pages VALUES (@id, 0, 0, 'Page ' || @id, '{}', '')`)
    const addPlace = db.prepare(
      `INSERT INTO article_places (page, article_url, place_id, place, place_kind, method, source, offset_start, offset_end, first_seen_at)
       VALUES (@id, @url, @placeId, '', 'city', 'gazetteer', @source, 0, 1, 100 + @id)`,
    )
    for (let id = 1; id <= PAGES; id++) {
      const page = { id, url: `https://a.example/${id}`, placeId }
      addRow.run(page)
      addPage.run(page)
      addPlace.run({ ...page, source: 'text' })
      if (id % 5 === 0) addPlace.run({ ...page, source: 'title' })
    }
  } finally {
    db.close()
  }
}

test.each([
  ['/api/problems', 100],
  ['/api/problems?limit=100000', 500],
  ['/api/analysis', 50],
  ['/api/analysis?limit=100000', 200],
  ['/api/gazetteer/places', 50],
  ['/api/gazetteer/places?pageSize=100000', 200],
  ['/api/gazetteer/articles?id=PLACE', 20],
  ['/api/gazetteer/hubs', 50],
  ['/api/gazetteer/resolve?q=springfield', 10],
  ['/api/hubs', 50],
  ['/api/hubs?limit=100000', 500],
  ['/api/hubs/hosts', 50],
  ['/api/hubs/hosts?limit=100000', 200],
  ['/api/places/mentions', 200],
  ['/api/places/mentions?limit=100000', 1000],
])('%s returns %d items', async (path, count) => {
  const { status, body } = await server.ask(path.replace('PLACE', String(placeId)))
  expect([status, body.items?.length]).toEqual([200, count])
})

test('problems are paged, and the sentence of a problem links its address', async () => {
  const rowsOf = async (query: string) => {
    const { text } = await server.ask(`/problems/ssr${query}`)
    return text.match(/<\/a><span[^>]*> is not there\.</g)?.length
  }
  expect([await rowsOf(''), await rowsOf('?limit=7'), await rowsOf('?limit=100000')]).toEqual([100, 7, 500])
})

test('an analysis run returns 100 events by default and 500 at most', async () => {
  const countOf = async (query: string) => (await server.ask(`/api/analysis/${runId}${query}`)).body.events.length
  expect(await countOf('')).toBe(100)
  expect(await countOf('?eventsLimit=100000')).toBe(500)
  expect(await countOf('?limit=100000')).toBe(500)
  expect(await countOf('?eventsLimit=7&limit=9')).toBe(7)
})

test('pages that name a place are listed once each: matches in the title first, then the newest', async () => {
  const { body } = await server.ask(`/api/gazetteer/articles?id=${placeId}`)
  const listed = body.items.map(({ url, source, mentions }: Record<string, unknown>) => [url, source, mentions])
  expect(listed.slice(0, 6)).toEqual([
    ...[25, 20, 15, 10, 5].map((id) => [`https://a.example/${id}`, 'title', 2]),
    ['https://a.example/24', 'text', 1],
  ])
  const { text } = await server.ask(`/gazetteer/place/${placeId}`)
  expect(text).toContain('Pages that name it')
  expect(text).toContain('25 pages, those that name it')
})

test('places are listed with their region, which links to all of its places', async () => {
  const { text } = await server.ask('/gazetteer/places?q=Place%2077')
  expect(text).toMatch(/>Place 77<\/a>(?!<small>)/)
  const [, href = ''] = /href="(\/gazetteer\/place\/\d+)">Westland<\/a>/.exec(text) ?? []
  const region = await server.ask(href)
  expect(region.text).toContain('The largest 200 of 1,010')
  expect(region.text).toContain('href="/gazetteer/places?cc=QQ&amp;adm1=W1"')
  const all = await server.ask('/gazetteer/places?cc=QQ&adm1=W1')
  expect(all.text).toContain('100 of 1,011 places')
})

test('analysis runs are paged', async () => {
  const rowsOf = async (query: string) => {
    const { text } = await server.ask(`/analysis/ssr${query}`)
    return [text.match(/<tr role="row" data-id="[\w-]+/g)?.length, /(\d+)–(\d+) of (\d+)/.exec(text)?.[0]]
  }
  expect(await rowsOf('')).toEqual([50, '1–50 of 205'])
  expect(await rowsOf('?offset=200')).toEqual([5, '201–205 of 205'])
  expect(await rowsOf('?limit=100000')).toEqual([200, '1–200 of 205'])
})

test('a country that the outlines do not have is left out of the map, and its places stay in the table', async () => {
  const { text } = await server.ask('/gazetteer')
  expect(text).toContain('aria-label="1 country that pages name; the stronger the color, the more pages"')
  expect(text).not.toContain('class="area')
  expect(text).toContain('>Springfield</a>')
})

test('figures and maps are cached until something is imported', async () => {
  const read = async () => {
    const { body } = await server.ask('/api/gazetteer/summary')
    const mentions = await server.ask('/api/places/mentions?limit=1')
    return [body.cities, body.sources[0].license, mentions.body.items[0].pages]
  }
  expect(await read()).toEqual([PLACES, 'CC0-1.0', PAGES])
  const db = new Sqlite(join(server.folder, 'library.db'))
  db.exec(`UPDATE place_sources SET license = 'none'; DELETE FROM article_places WHERE page = 1`)
  db.close()
  expect(await read()).toEqual([PLACES, 'CC0-1.0', PAGES])
  const { gazetteer } = await server.library()
  const own = { name: 'own', version: '2', license: 'CC-BY-4.0', attribution: 'me', url: null }
  await gazetteer.importPlaces(own, [placeOf(PLACES + 1)], 2)
  expect(await read()).toEqual([PLACES + 1, 'CC-BY-4.0', PAGES - 1])
})
