import type { OpenLibrary } from '../../src/open-library.ts'
import type { PlaceRecord } from '../../src/places/analysis/place.ts'
import { analyse } from '../analysis/runs.contract.ts'
import { importPlaces } from '../analysis/some-places.ts'
import { storeNews } from '../analysis/stored-news.ts'
import { addSourceTo, writePage } from '../embed/filled-store.ts'
import { fillLog, fillRows } from '../http/fill-library.ts'

const NEWS = 'news.example.uk'
const SPACE = { model: 'four', fingerprint: 'f'.repeat(64), dimensions: 4 }

/** The amount of data in a library. */
export interface FillOptions {
  /** @default 'docs' */
  readonly name?: string
  /** Pages with two chunks each. @default 30 with data of every kind, otherwise 6 */
  readonly pages?: number
  /** Whether to add data of every kind besides pages. @default false */
  readonly hasAllKinds?: boolean
}

/** Fills a library as crawls, analyses, servers and models do: with pages and chunks, or with data of every kind. */
export async function fillLibrary(library: OpenLibrary, options: FillOptions = {}): Promise<void> {
  const { name = 'docs', hasAllKinds: isWhole = false, pages = isWhole ? 30 : 6 } = options
  const { store } = library
  await addSourceTo(store, name)
  const chunks: string[] = []
  for (let i = 0; i < pages; i++) {
    const text = `# Lantern ${i}\n\nThe kiln of ${name} is lit at ${i}.\n---\nÜber the tower 😀 no. ${i} nobody knows.`
    chunks.push(...(await writePage(store, name, `/p${i}`, text, { title: `Page ${i} \u{1f600}` })))
  }
  if (!isWhole) return
  await store.updateSource(name, { refresh: { everyMs: 86_400_000, dueAt: 5, attempts: 1, problem: 'no answer' } })
  await fillVectors(library, name, chunks)
  await fillCrawlFacts(library, name)
  await fillAnalyses(library)
  await fillLog(library)
  await fillRows(library)
  // Removes a source before the last page is written, so that the row ids have gaps.
  await addSourceTo(store, 'gone')
  await writePage(store, 'gone', '/x', 'soon gone')
  await store.removeSource('gone')
  await writePage(store, name, '/late', 'Written after others were removed.')
}

async function fillVectors(
  { store, vectors }: OpenLibrary,
  sourceId: string,
  chunks: readonly string[],
): Promise<void> {
  const [refused = '', ...others] = chunks
  const written = others.slice(0, 20).map((chunkId, i) => {
    const vector = Float32Array.of(Math.cos(i), Math.sin(i), 0, 0)
    return { sourceId, chunkId, vector }
  })
  await vectors?.write(SPACE, written)
  await vectors?.refuse(SPACE, [{ sourceId, chunkId: refused, problem: 'too long' }])
  await store.indexMissingChunks()
}

async function fillCrawlFacts({ store, planMemory }: OpenLibrary, sourceId: string): Promise<void> {
  const host = `${sourceId}.test`
  const crawlId = `crawl of ${sourceId}`
  const list = {
    url: `https://${host}/llms-full.txt`,
    etag: '"1"',
    lastModified: null,
    contentHash: 'a',
    contextHash: 'b',
  }
  await store.writeList(sourceId, crawlId, { ...list, pages: 2, named: [`https://${host}/named`] })
  await store.writeRobots({
    origin: `https://${host}`,
    fetchedAt: 5,
    type: 'rules',
    status: 200,
    body: 'User-agent: *\n',
  })
  await store.changeClock(host, 1000, (clock) => ({ ...clock, nextAt: 1234.5, intervalMs: 250.25 }))
  const find = { key: `https://${host}/a?b=1`, url: `https://${host}/a?b=1`, host, depth: 2, foundOn: null } as const
  const refusal = { reason: 'session-id', pattern: '?b', target: `https://${host}/a` } as const
  await store.offer(sourceId, crawlId, [{ ...find, discovery: 'link', refusal }], 50, [
    { url: `https://${host}/p1`, aliasUrl: find.url, classification: 'session-id', reason: 'b' },
  ])
  await store.checkAliases(sourceId, 60)
  await planMemory.writeMilestones(crawlId, ['patterns-learned'])
}

async function fillAnalyses(library: OpenLibrary): Promise<void> {
  const { store, gazetteer, planMemory } = library
  await storeNews(store, { host: NEWS, articles: 12 })
  await importPlaces(gazetteer)
  await gazetteer.importPlaces({ name: 'own', version: '1', license: 'CC0', attribution: 'us', url: null }, [DELHI], 3)
  await analyse(library)
  const pattern = {
    pattern: '/world/{country}',
    role: 'place-hub',
    seen: 5,
    hits: 3,
    misses: 1,
    confidence: 0.75,
  } as const
  await planMemory.writePatterns(NEWS, [{ ...pattern, examples: [`https://${NEWS}/world/france`] }], 70)
  const verdict = { pattern: pattern.pattern, placeSlug: 'chad', placeKind: 'country', origin: 'guessed' } as const
  const counts = { status: 404, title: null, navLinks: 3, articleLinks: 4, checkedAt: 60, placeId: null }
  await planMemory.writeVerdicts(NEWS, [{ ...verdict, ...counts, url: `https://${NEWS}/world/chad`, state: 'missing' }])
}

/** A place with data in every field. */
const DELHI: PlaceRecord = {
  ref: 'test:New Delhi',
  ...{ kind: 'city', countryCode: 'IN', population: 250_000, adm1Code: '07', adm2Code: null, timezone: 'Asia/Kolkata' },
  ...{ lat: 28.6, lng: 77.2, bbox: null, status: 'current', validFrom: '1911', validTo: null, extra: { seat: true } },
  names: [
    { name: 'New Delhi', lang: 'en', kind: 'official', isPreferred: true, isOfficial: true },
    { name: 'नई दिल्ली', lang: 'hi', kind: 'endonym', isPreferred: false, isOfficial: true },
  ],
  parents: [{ ref: 'iso:IN', relation: 'admin_parent' }],
  externalIds: [{ source: 'geonames', id: '1261481' }],
}
