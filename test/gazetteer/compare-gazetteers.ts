import type { NameKind, PlaceRecord } from '../../src/places/analysis/place.ts'
import type { Gazetteer, GazetteerImportResult, PlaceQuery } from '../../src/places/ports/gazetteer.ts'
import { OWN_SOURCE, placeWith } from './import.contract.ts'

/** All answers of a gazetteer, so that two can be compared. */
export async function queryAll(gazetteer: Gazetteer): Promise<ReadonlyMap<string, unknown>> {
  const answers = new Map<string, unknown>()
  const places: unknown[] = []
  for await (const place of gazetteer.exportPlaces()) places.push(place)
  // Compared as text, because the order of fields is part of the exported file.
  answers.set(
    'export',
    places.map((place) => JSON.stringify(place)),
  )
  answers.set('summary', await gazetteer.summary())
  answers.set('index', Buffer.from((await gazetteer.readIndex()) ?? []).toString('hex'))
  answers.set('validate', await gazetteer.validate())
  answers.set('inspect', await gazetteer.inspect())
  for (const query of listQueries()) answers.set(JSON.stringify(query), await gazetteer.listPlaces(query))
  for (const name of ['Dublin', 'Georgia', 'Ireland', 'a', 'town', '日本']) {
    answers.set(`resolve ${name}`, await gazetteer.resolve(name, 20))
  }
  for (let id = 1; id <= places.length; id += Math.ceil(places.length / 50)) {
    answers.set(`find ${id}`, await gazetteer.findPlace(id))
  }
  answers.set('names', [...(await gazetteer.listNames([5, 3, 999_999, 3]))])
  return answers
}

function* listQueries(): Generator<PlaceQuery> {
  const filters = [
    {},
    { text: 'du' },
    { text: 'to' },
    { kind: 'city', countryCode: 'ie' },
    { minPopulation: 1 },
  ] as const
  for (const sort of [undefined, 'name', 'population', 'country', 'kind'] as const) {
    for (const order of ['ascending', 'descending'] as const) {
      for (const filter of filters) yield { ...filter, ...(sort && { sort }), order, offset: 3, limit: 20 }
    }
  }
  for (const filter of filters) yield { ...filter, offset: 0, limit: 20 }
}

/** Imports the same odd records into a gazetteer in several imports, and returns the results. */
export async function importOddRecords(gazetteer: Gazetteer, seed: number): Promise<GazetteerImportResult[]> {
  const random = createRandom(seed)
  const results: GazetteerImportResult[] = []
  for (let now = 1; now <= 4; now++) {
    const source = { ...OWN_SOURCE, name: random(2) === 0 ? 'own' : 'other', version: String(random(2)) }
    const records = Array.from({ length: 1 + random(12) }, () => createOddRecord(random))
    results.push(await gazetteer.importPlaces(source, records, now))
  }
  return results
}

const RELATIONS = ['admin_parent', 'contains', 'member_of'] as const

/** Creates one of a few places, so that many are duplicates, contain each other or share an id. */
function createOddRecord(random: (below: number) => number): PlaceRecord {
  const pick = <T>(...some: readonly [T, ...T[]]): T => some[random(some.length)] ?? some[0]
  const few = <T>(make: () => T): T[] => Array.from({ length: random(3) }, make)
  const ref = () => `r${random(8)}`
  return placeWith({
    ref: ref(),
    kind: pick('city', 'city', 'region', 'country', 'town' as 'city'),
    countryCode: pick('IE', 'FR', null, 'FR', 'IE', 'IE', 'fr'),
    population: pick(null, 0, 5, 5, 7, -1),
    lat: pick(1, 1, 1, 0, null, 91),
    lng: pick(2, 2, 0, null),
    extra: pick(null, { feature: 'PPLC' }, { capital: ['a'] }, { capital: 'a', feature: 5 }, { note: 'a "b" \\ é' }),
    names: [
      ...few(() => ({
        name: pick('Dublin', 'Du Town', 'town', 'Tò', ' - ', 'A town'),
        lang: pick('en', null, 'ga'),
        kind: pick<NameKind>('common', 'alias', 'official', 'demonym'),
        isPreferred: random(2) === 0,
        isOfficial: random(2) === 0,
      })),
      ...few(
        () =>
          ({ name: `Place ${random(3)}`, lang: 'en', kind: 'common', isPreferred: false, isOfficial: false }) as const,
      ),
    ],
    parents: few(() => ({ ref: pick(ref(), ref(), 'nowhere'), relation: pick(...RELATIONS, RELATIONS[0]) })),
    externalIds: few(() => ({ source: pick('a', 'b'), id: String(random(5)) })),
  })
}

function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}
