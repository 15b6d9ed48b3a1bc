import { describe, expect, test } from 'vitest'
import { CITIES, COUNTRIES, PLACES } from '../../../test/plan/small-world.ts'
import { parseAddress } from './address.ts'
import { createCountryNames } from './country-names.ts'
import { learnSpelling } from './site-spelling.ts'
import { type Slot, writeHubUrl, writeSlotPattern } from './slot.ts'
import { type AddressOrigin, SlotIndex } from './slot-index.ts'

const patternsOf = (slots: readonly Slot[]) => slots.map((slot) => writeSlotPattern(slot))

function learn(paths: readonly string[], origin: AddressOrigin = 'listed'): SlotIndex {
  const index = new SlotIndex(createCountryNames(PLACES), PLACES)
  for (const path of paths) {
    const address = parseAddress(`https://news.example${path}`)
    if (address !== undefined) index.note(address, origin)
  }
  return index
}

/** The address that an index guesses for a country in its only country slot. */
function guess(index: SlotIndex, code: string): string {
  const [slot] = index.listHubSlots()
  const country = COUNTRIES.find(({ countryCode }) => countryCode === code)
  if (slot === undefined || country === undefined) return 'none'
  return writeHubUrl(slot, learnSpelling(slot.names, [...slot.hubs.values()]).write(country)).replace(
    'https://news.example',
    '',
  )
}

describe('country slots in addresses', () => {
  const urlForms: readonly (readonly [what: string, paths: readonly string[], pattern: string, guessed: string])[] = [
    ['names', ['/world/france', '/world/germany', '/world/china'], '/world/{country}', '/world/south-africa'],
    [
      'folders',
      ['/news/world/france/', '/news/world/germany/', '/news/world/china/'],
      '/news/world/{country}/',
      '/news/world/south-africa/',
    ],
    [
      'files',
      ['/nations/france.html', '/nations/germany.html', '/nations/china.html'],
      '/nations/{country}.html',
      '/nations/south-africa.html',
    ],
    ['codes', ['/c/us/', '/c/gb/', '/c/cn/', '/c/fr/', '/c/jp/'], '/c/{country}/', '/c/za/'],
    [
      'words after the country',
      ['/topics/france-news', '/topics/germany-news', '/topics/china-news', '/topics/tech-news'],
      '/topics/{country}-news',
      '/topics/south-africa-news',
    ],
    [
      'words before the country',
      ['/t/news-from-france', '/t/news-from-germany', '/t/news-from-china'],
      '/t/news-from-{country}',
      '/t/news-from-south-africa',
    ],
    [
      'umlauts written out',
      ['/welt/frankreich', '/welt/oesterreich', '/welt/deutschland'],
      '/welt/{country}',
      '/welt/suedafrika',
    ],
    [
      'Spanish names',
      ['/paises/francia', '/paises/alemania', '/paises/japon'],
      '/paises/{country}',
      '/paises/sudafrica',
    ],
    [
      'Chinese names',
      ['/国家/法国', '/国家/德国', '/国家/日本'].map((path) => encodeURI(path)),
      '/国家/{country}',
      encodeURI('/国家/南非'),
    ],
    [
      'capitalized names',
      ['/Country/France', '/Country/Germany', '/Country/United_Kingdom'],
      '/Country/{country}',
      '/Country/South_Africa',
    ],
    [
      'a language prefix',
      ['/en/world/france', '/en/world/germany', '/en/world/china', '/de/welt/indien'],
      '/en/world/{country}',
      '/en/world/south-africa',
    ],
  ]

  test.each(urlForms)('the country pattern is learned from addresses with %s', (_, paths, pattern, guessed) => {
    const index = learn(paths)
    expect(patternsOf(index.listHubSlots())).toEqual([pattern])
    expect(guess(index, 'ZA')).toBe(guessed)
  })

  test('the spelling of known addresses decides among several names of a country', () => {
    const usual = ['/world/france', '/world/germany', '/world/china']
    expect(guess(learn(usual), 'CI')).toBe('/world/ivory-coast')
    expect(guess(learn([...usual, '/world/usa', '/world/uk-and-ireland']), 'GB')).toBe('/world/united-kingdom')
    expect(guess(learn(['/pays/allemagne', '/pays/chine', '/pays/japon']), 'CI')).toBe('/pays/cote-divoire')
  })

  test('a long country name does not count as a headline', () => {
    const index = learn(['/world/saint-vincent-and-the-grenadines', '/world/france', '/world/germany'])
    expect(index.listHubSlots()[0]?.placeIds.size).toBe(3)
  })
})

describe('addresses without a country pattern', () => {
  const others: readonly (readonly [what: string, paths: readonly string[]])[] = [
    ['of two countries', ['/world/france', '/world/germany']],
    ['of documentation', ['/guide/install', '/guide/java', '/guide/china', '/api/client', '/api/server', '/api/japan']],
    ['of languages', ['/de/guide', '/fr/guide', '/it/guide', '/ja/guide', '/es/guide', '/in/guide', '/gb/guide']],
    [
      'of which most are something else',
      ['france', 'germany', 'china', 'football', 'budget', 'films', 'weather'].map((word) => `/tag/${word}`),
    ],
    ['of articles', ['france', 'germany', 'china', 'india'].map((word) => `/world/${word}/2024/05/03/a-vote`)],
    ['with page numbers', ['france', 'germany', 'china'].map((word) => `/world/${word}?page=2`)],
    ['with queries', ['france', 'germany', 'china'].map((word) => `/world/${word}?sort=date`)],
    ['of headlines', ['france', 'germany', 'china'].map((word) => `/w/${word}-wins-the-cup-again-at-last`)],
    ['of articles with numbers', ['france', 'germany', 'china', 'india'].map((word) => `/w/${word}-1`)],
  ]

  test.each(others)('no country pattern is found in addresses %s', (_, paths) => {
    expect(patternsOf(learn(paths).listHubSlots())).toEqual([])
  })
})

test('SlotIndex recognizes city slots', () => {
  const [found] = learn(CITIES.map((city) => `/local/${city}`)).listOtherPlaceSlots()
  expect(found?.kind).toBe('city')
  expect(found && writeSlotPattern(found.slot, found.kind)).toBe('/local/{city}')
})

describe('region slots', () => {
  test('the regions of one country are recognized, even if they share names with cities and countries', () => {
    const index = learn(['/us/texas', '/us/ohio', '/us/georgia', '/us/utah'])
    const [slot] = index.listHubSlots()
    expect(patternsOf(index.listHubSlots())).toEqual(['/us/{region}'])
    expect([...(slot?.hubs.values() ?? [])].map(({ place }) => place.countryCode)).toEqual(['US', 'US', 'US', 'US'])
    expect(slot?.names.all.map(({ name }) => name)).toEqual([
      'Texas',
      'Florida',
      'Ohio',
      'Georgia',
      'New Mexico',
      'Utah',
    ])
  })

  test.each([
    ['of three regions', ['/us/texas', '/us/ohio', '/us/utah']],
    [
      'of words that only contain a region',
      ['texas', 'ohio', 'utah', 'florida', 'a', 'b', 'c', 'd'].map((word) => `/tag/x${word}`),
    ],
    [
      'of which only half are regions',
      ['texas', 'ohio', 'utah', 'florida', 'sport', 'film', 'food', 'art'].map((word) => `/tag/${word}`),
    ],
  ])('no region pattern is found in addresses %s', (_, paths) => {
    expect(patternsOf(learn(paths).listHubSlots())).toEqual([])
  })
})

test('words that differ only in case are different addresses', () => {
  const index = learn(['/wiki/France', '/wiki/Germany', '/wiki/FRANCE', '/wiki/China'])
  expect([...(index.listHubSlots()[0]?.hubs.keys() ?? [])]).toEqual(['France', 'Germany', 'FRANCE', 'China'])
})

test('the number of slots stays limited with many addresses', () => {
  const index = new SlotIndex(createCountryNames(PLACES), PLACES)
  const words = ['alpha', 'beta', 'gamma', 'delta', 'omega', 'sigma']
  const addresses = Array.from({ length: 30_000 }, (_, n) => {
    const path = `${words[n % 6]}${n % 977}/${words[n % 5]}${(n * 7) % 1999}/${words[n % 4]}${n}`
    return parseAddress(`https://docs.example/${path}`)
  })
  for (const address of addresses) if (address !== undefined) index.note(address, 'listed')
  for (const path of ['france', 'germany', 'china']) {
    const address = parseAddress(`https://docs.example/world/${path}`)
    if (address !== undefined) index.note(address, 'listed')
  }
  expect(index.size).toBeLessThanOrEqual(20_000)
  expect(patternsOf(index.listHubSlots())).toEqual(['/world/{country}'])
})
