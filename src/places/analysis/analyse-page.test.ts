import { describe, expect, test } from 'vitest'
import { extractPage } from '../../core/extract/extract-page.ts'
import type { Page } from '../../core/model.ts'
import { analysePage } from './analyse-page.ts'
import { EMPTY_MATCHER, type PlaceMatch, type PlaceMatcher } from './matcher.ts'
import type { IndexedPlace } from './name-forms.ts'
import { openPlaceMatcher } from './open-matcher.ts'
import { writeNameIndex } from './write-name-index.ts'

const PLACES = openPlaceMatcher(
  writeNameIndex(
    [
      placeOf(1, 'country', 'France', 'FR', 50_000_000),
      placeOf(2, 'country', 'Japan', 'JP', 50_000_000),
      placeOf(3, 'country', 'Chad', 'TD', 50_000_000),
    ],
    'test',
  ),
)

function placeOf(
  id: number,
  kind: IndexedPlace['kind'],
  name: string,
  countryCode: string,
  population: number,
): IndexedPlace {
  const names = [{ name, lang: 'en', kind: 'common' as const, isPreferred: true }]
  return { id, kind, name, countryCode, adm1Code: null, population, names }
}

const TEXT = `<p>A <a href="/japan/chad">good trade deal</a> between France and Japan was signed on Monday, after years in which neither
  side had been happy with the old trade deal.</p><pre><code>const place = 'Chad'</code></pre><p>Ministers in France said that the
  trade deal was not bad for farmers, who had feared the worst, but that Japan would have to open its harbours.</p>`

function read(body: string, path = '/world/2026/03/05/trade-deal-with-france-signed', lang = 'en-GB'): Page {
  const html = `<html${lang === '' ? '' : ` lang="${lang}"`}><head><title>France signs trade deal</title><meta name="author" content="Anna Smith">
    <meta property="article:published_time" content="2026-03-05T10:00:00Z"><meta property="article:section" content="World"></head>
    <body><article><h1>France signs trade deal</h1>${body}</article></body></html>`
  const extraction = extractPage({ url: `https://news.example${path}`, body: html })
  if (extraction.type !== 'page') throw new Error(`no page: ${extraction.reason}`)
  return extraction.page
}

test('the country of the host decides between places of one name', () => {
  const places = ['US', 'GB'].flatMap((countryCode, i): IndexedPlace[] => [
    placeOf(i + 1, 'city', 'Birmingham', countryCode, 200_000 + i * 800_000),
    placeOf(i + 3, 'country', `Land ${countryCode}`, countryCode, 50_000_000),
  ])
  const towns = openPlaceMatcher(writeNameIndex(places, 'test'))
  const page = read('<p>The mayor of the city resigned in Birmingham on Monday.</p>'.repeat(5))
  const countriesOf = (hostCountry?: string) =>
    new Set(
      analysePage(page, towns, hostCountry === undefined ? undefined : { hostCountry }).analysis.findings.places.map(
        ({ country_code }) => country_code,
      ),
    )
  expect(countriesOf()).toEqual(new Set(['GB']))
  expect(countriesOf('US')).toEqual(new Set(['US']))
})

describe('an article', () => {
  const page = read(TEXT)
  const { analysis, hub } = analysePage(page, PLACES)

  test("an article's facts are extracted", () => {
    expect(analysis).toMatchObject({
      analysis_version: 2,
      kind: 'article',
      title: 'France signs trade deal',
      author: 'Anna Smith',
      published_at: '2026-03-05T10:00:00Z',
      modified_at: null,
      section: 'World',
      language: 'en',
      language_source: 'page',
    })
    expect(hub).toBeNull()
  })

  test('places have the offsets of their names, and link targets and code are ignored', () => {
    const { places } = analysis.findings
    const sources = { title: page.title, text: page.markdown, url: page.url }
    expect(places.map(({ source, place }) => `${source} ${place}`)).toEqual(
      expect.arrayContaining(['title France', 'url France', 'text France', 'text Japan']),
    )
    for (const { source, place, offset_start, offset_end } of places) {
      expect(sources[source].slice(offset_start, offset_end).toLowerCase()).toBe(place.toLowerCase())
    }
    expect(places.map(({ place }) => place)).not.toContain('Chad')
    expect(new Set(places.map((place) => JSON.stringify(place))).size).toBe(places.length)
  })

  test('key phrases and sentiment are marked as best effort', () => {
    const { findings, notes, meta } = analysis.meta.deepAnalysis
    expect(findings.keyPhrases[0]?.phrase).toBe('trade deal')
    expect(findings.sentiment?.label).toMatch(/^(?:positive|neutral|negative)$/)
    expect(notes).toContain('best effort')
    expect(meta).toMatchObject({ version: 1, url: page.url })
  })

  test('analysing the same page again gives the same result', () => {
    expect(analysePage(page, PLACES)).toEqual(analysePage(page, PLACES))
  })

  test('a page can be analysed without a gazetteer', () => {
    expect(analysePage(page, EMPTY_MATCHER).analysis.findings.places).toEqual([])
  })
})

describe('other pages', () => {
  test('a page in a language other than English has no sentiment', () => {
    const body = `<p>${'Die Regierung hat am Montag beschlossen, dass die neuen Regeln gelten sollen. '.repeat(4)}</p>`
    const { analysis } = analysePage(read(body, '/a', ''), PLACES)
    expect(analysis).toMatchObject({ language: 'de', language_source: 'text' })
    expect(analysis.meta.deepAnalysis.findings.sentiment).toBeNull()
  })

  test('a page with hardly any text has the kind minimal', () => {
    const { analysis } = analysePage(read('<p>Come back later.</p>', '/a'), PLACES)
    expect(analysis).toMatchObject({ kind: 'minimal', meta: { method: 'minimal@v1' } })
  })

  test('a navigation page has the kind nav and can be a hub', () => {
    const items = Array.from(
      { length: 15 },
      (_, i) => `<li><a href="/2026/03/${10 + i}/a-b-c">Deal ${i} signed</a></li>`,
    )
    const { analysis, hub } = analysePage(read(`<ul>${items.join('')}</ul>`, '/world/france?page=2'), PLACES)
    expect(analysis.kind).toBe('nav')
    expect(hub).toMatchObject({ url: 'https://news.example/world/france', topicKind: 'section' })
  })

  test('a page with thousands of places keeps the first five hundred', () => {
    const match = PLACES.inText('France')[0] as PlaceMatch
    const many: PlaceMatcher = {
      ...EMPTY_MATCHER,
      inText: (text) =>
        Array.from({ length: text.length > 100 ? 2000 : 1 }, (_, i) => ({ ...match, start: i, end: i + 6 })),
    }
    expect(analysePage(read(TEXT), many).analysis.findings.places).toHaveLength(500)
  })
})
