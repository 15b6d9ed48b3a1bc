import { describe, expect, test } from 'vitest'
import { classifyPage } from '../../core/classify/classify-page.ts'
import { extractPage } from '../../core/extract/extract-page.ts'
import type { Page } from '../../core/model.ts'
import type { PlaceHub } from '../../library/ports/findings.ts'
import type { IndexedPlace } from './name-forms.ts'
import { openPlaceMatcher } from './open-matcher.ts'
import { detectPlaceHub } from './place-hub.ts'
import { writeNameIndex } from './write-name-index.ts'

const PLACES = openPlaceMatcher(
  writeNameIndex(
    [
      placeOf(1, 'country', 'France', 'FR', 67_000_000, ['FR']),
      placeOf(2, 'country', 'Chad', 'TD', 17_000_000, ['TD']),
      placeOf(3, 'city', 'Lyon', 'FR', 500_000),
      placeOf(4, 'city', 'Gaming', 'AT', 3_000),
      placeOf(5, 'city', 'Reading', 'GB', 230_000),
      placeOf(6, 'region', 'Normandy', 'FR', 3_300_000),
      placeOf(7, 'country', 'United States', 'US', 335_000_000, ['US', 'USA']),
      placeOf(8, 'country', 'Georgia', 'GE', 3_700_000, ['GE']),
      placeOf(9, 'region', 'Georgia', 'US', 10_700_000),
      placeOf(10, 'country', 'Turkey', 'TR', 85_000_000, ['TR']),
      placeOf(11, 'country', 'China', 'CN', 1_400_000_000, ['CN']),
      placeOf(12, 'country', 'Jordan', 'JO', 11_000_000, ['JO']),
      placeOf(13, 'country', 'Jersey', 'JE', 103_000, ['JE']),
      placeOf(14, 'city', 'Amman', 'JO', 1_200_000),
      placeOf(15, 'city', 'Springfield', 'FR', 9_000),
      placeOf(16, 'city', 'Springfield', 'US', 160_000),
      placeOf(17, 'region', 'Kent', 'GB', 1_800_000),
      placeOf(18, 'region', 'Somerset', 'GB', 970_000),
      placeOf(19, 'city', 'Kent', 'US', 137_000),
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
  codes: readonly string[] = [],
): IndexedPlace {
  const names = [
    { name, lang: 'en', kind: 'common' as const, isPreferred: true },
    ...codes.map((code) => ({ name: code, lang: null, kind: 'abbrev' as const, isPreferred: false })),
  ]
  return { id, kind, name, countryCode, adm1Code: null, population, names }
}

const ITEMS = Array.from(
  { length: 15 },
  (_, i) => `<li><a href="/2026/03/${10 + i}/harbour-closed-for-${i}-days">Harbour closed for ${i} days</a></li>`,
).join('')

function read(path: string, { title = 'France', body = `<ul>${ITEMS}</ul>`, head = '' } = {}): Page {
  const extraction = extractPage({
    url: `https://news.example${path}`,
    body: `<html lang="en"><head><title>${title}</title>${head}</head><body><h1>${title}</h1>${body}</body></html>`,
  })
  if (extraction.type !== 'page') throw new Error(`no page: ${extraction.reason}`)
  return extraction.page
}

function hubOf(page: Page): PlaceHub | null {
  return detectPlaceHub(page, classifyPage(page), PLACES)
}

describe('detectPlaceHub on hubs', () => {
  test('a hub has place, topic and evidence', () => {
    expect(hubOf(read('/world/france'))).toEqual({
      url: 'https://news.example/world/france',
      host: 'news.example',
      placeId: 1,
      placeSlug: 'france',
      placeKind: 'country',
      topicSlug: 'world',
      topicLabel: 'World',
      topicKind: 'path-segment',
      title: 'France',
      navLinks: 0,
      articleLinks: 15,
      evidence: {
        reason: 'nav-or-hub',
        slug: 'france',
        placeKind: 'country',
        placeLabel: 'France',
        placeSource: 'url',
        urlMatches: ['France'],
        nav_links_count: 0,
        article_links_count: 15,
        word_count: expect.any(Number),
        topic: { slug: 'world', label: 'World', kind: 'path-segment', source: 'url' },
      },
    })
  })

  test.each([
    ['/nations/france.html', 'france', 'nations'],
    ['/topics/france-news', 'france', 'topics'],
    ['/c/fr/', 'fr', null],
    ['/france', 'france', null],
    ['/france/politics', 'france', 'politics'],
    ['/world/france/lyon', 'france', 'world'],
  ])('recognises a hub at %s', (path, place, topic) => {
    expect(hubOf(read(path))).toMatchObject({ placeSlug: place, topicSlug: topic })
  })

  test('a hub is about a later place in its address if the title names it', () => {
    expect(hubOf(read('/france/lyon', { title: 'News from Lyon' }))).toMatchObject({
      placeSlug: 'lyon',
      topicSlug: 'france',
    })
  })

  test("a hub's topic is the section of its page if the address has the same topic or none", () => {
    const head = '<meta property="article:section" content="World news">'
    expect(hubOf(read('/world-news/france', { head }))).toMatchObject({
      topicKind: 'section',
      topicLabel: 'World news',
    })
    expect(hubOf(read('/france', { head }))).toMatchObject({ topicKind: 'section', topicSlug: 'world-news' })
  })

  test.each([
    ['/world/france?page=2', 'France - Page 2 of 9'],
    ['/world/france/page/2', 'France (page 2)'],
    ['/world/france-p2', 'France | Seite 2'],
    ['/world/france/seite/3', 'Page 3 France'],
  ])('the hub of %s has the address of its first page and a title without the page number', (path, title) => {
    expect(hubOf(read(path, { title }))).toMatchObject({ url: 'https://news.example/world/france', title: 'France' })
  })

  test('a hub without pagination keeps its title', () => {
    expect(hubOf(read('/world/france', { title: 'France: page 2 of history' }))?.title).toBe(
      'France: page 2 of history',
    )
  })

  test('the address decides between places of the same name', () => {
    expect(hubOf(read('/us/georgia', { title: 'Georgia' }))).toMatchObject({ placeId: 9, placeKind: 'region' })
    expect(hubOf(read('/world/georgia', { title: 'Georgia' }))).toMatchObject({ placeId: 8, placeKind: 'country' })
    expect(hubOf(read('/france/springfield', { title: 'Springfield' }))?.placeId).toBe(15)
    expect(hubOf(read('/us/springfield', { title: 'Springfield' }))?.placeId).toBe(16)
  })

  test.each(['kent', 'somerset'])('the region in /sport/%s has the topic, also if its name is a surname', (slug) => {
    const name = `${slug[0]?.toUpperCase()}${slug.slice(1)}`
    for (const title of [name, `${name} | Sport | The Example`, `Sport: ${name}`]) {
      const hub = hubOf(read(`/sport/${slug}`, { title }))
      expect([title, hub]).toEqual([
        title,
        expect.objectContaining({ placeKind: 'region', placeSlug: slug, topicSlug: 'sport' }),
      ])
    }
    // Without a topic, or below people, the page is about a person.
    if (slug !== 'kent') return
    for (const path of ['/kent', '/author/kent']) expect(hubOf(read(path, { title: name }))).toBeNull()
  })

  test('a page named like a person or thing is a hub if address and heading show that the place is meant', () => {
    expect(hubOf(read('/world/jordan', { title: 'Jordan' }))?.placeId).toBe(12)
    expect(hubOf(read('/topics/turkey', { title: 'Turkey: latest news' }))?.placeId).toBe(10)
    expect(hubOf(read('/china', { title: 'China' }))?.placeId).toBe(11)
    const body = `<p>What happens in Amman.</p><ul>${ITEMS}</ul>`
    expect(hubOf(read('/sports/jordan', { title: 'Jordan', body }))?.placeId).toBe(12)
  })
})

describe('detectPlaceHub on other pages', () => {
  test('a page about a place that the gazetteer lacks is not a hub', () => {
    expect(hubOf(read('/world/atlantis', { title: 'Atlantis' }))).toBeNull()
  })

  test('an article about a place is not a hub', () => {
    const body =
      `<p>${'The harbour was closed for two days while divers looked for the anchor. '.repeat(4)}</p>`.repeat(4)
    expect(hubOf(read('/2026/03/05/france', { body }))).toBeNull()
    expect(hubOf(read('/world/france', { body }))).toBeNull()
  })

  test('a page about a topic whose word is also a town is not a hub', () => {
    expect(hubOf(read('/reading', { title: 'Reading' }))).toBeNull()
    expect(hubOf(read('/topics/gaming', { title: 'Gaming' }))).toBeNull()
  })

  test.each([
    ['/about/us', 'About us'],
    ['/contact/us', 'Contact us'],
    ['/recipes/turkey', 'Turkey recipes'],
    ['/recipes/turkey', 'Turkey'],
    ['/shop/china', 'China'],
    ['/author/jordan', 'Jordan'],
    ['/author/jordan', 'Articles by Jordan Smith'],
    ['/sports/jersey', 'Jersey'],
    ['/world/jordan', 'The week in pictures'],
    ['/author/lyon', 'Lyon'],
  ])('%s with the title %s is not a hub', (path, title) => {
    expect(hubOf(read(path, { title }))).toBeNull()
  })

  test('a page whose title does not name the town or region is not a hub', () => {
    expect(hubOf(read('/team/lyon', { title: 'Our players' }))).toBeNull()
    expect(hubOf(read('/world/normandy', { title: 'The landing' }))).toBeNull()
    expect(hubOf(read('/world/normandy', { title: 'Normandy' }))?.placeKind).toBe('region')
  })

  test('a path segment for a language does not make a page a hub', () => {
    const page = read('/fr/', { title: 'Accueil' })
    expect(hubOf({ ...page, language: 'fr' })).toBeNull()
    expect(hubOf({ ...page, language: null })).toBeNull()
    expect(hubOf(read('/fr/shop/shoes'))).toBeNull()
  })

  test('a page with an unknown country code is not a hub, nor is one with a place early in the path', () => {
    expect(hubOf(read('/c/zz/'))).toBeNull()
    expect(hubOf(read('/france/shop/shoes'))).toBeNull()
  })
})
