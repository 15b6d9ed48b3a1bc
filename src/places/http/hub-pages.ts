import type { Context } from 'hono'
import { html } from 'hono/html'
import { countOf, writeNumber } from '../../core/text/count.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { renderPage } from '../../http/pages/layout.ts'
import {
  type Column,
  type Html,
  isWebUrl,
  type Part,
  type Row,
  writeAddress,
  writeChoice,
  writeCounters,
  writeField,
  writeFilters,
  writeHostLink,
  writeHref,
  writeMoment,
  writePages,
  writePercent,
  writePlaceLink,
  writeTable,
  writeText,
} from '../../http/pages/parts.ts'
import { readNumber, readText, readWord } from '../../http/pages/query.ts'
import { type HubCoverage, PLACE_KINDS, type StoredHub } from '../../library/ports/findings.ts'
import type { HubQuery } from '../ports/place-hubs.ts'
import type { AnalysisStores } from './place-stores.ts'

const PATH = '/hubs'
const PAGE_SIZE = 100
const MAX_HOSTS = 100
const MAX_MISSING = 200
const MAX_PATTERNS = 100
/** How many places with the same name are checked for hubs. */
const MAX_SAME_NAME = 10

/** `/hubs`: hub pages by host, place and topic; for a single host also its coverage of the world. */
export async function renderHubs(c: Context, { placeHubs, gazetteer }: AnalysisStores): Promise<Html> {
  const host = readText(c, 'host')?.toLowerCase()
  const placeText = readText(c, 'place')
  const placeId = placeText === undefined ? undefined : await findPlaceId(placeText, { placeHubs, gazetteer })
  const placeKind = readWord(c, 'kind', PLACE_KINDS)
  const topicSlug = readText(c, 'topic')
  const offset = readNumber(c, 'offset') ?? 0
  const filter: Omit<HubQuery, 'offset' | 'limit'> = withoutUndefined({ host, placeId, placeKind, topicSlug })
  const { total, items } = await placeHubs.list({ ...filter, offset, limit: PAGE_SIZE })
  const coverage = host === undefined ? undefined : await placeHubs.coverage(host)
  const displayedHubs = [...items, ...(coverage?.missing.slice(0, MAX_MISSING) ?? [])]
  const ids = [placeId ?? null, ...displayedHubs.map((hub) => hub.placeId)].filter((id) => id !== null)
  const names = await gazetteer.listNames([...new Set(ids)])
  const query = { host, place: placeText, kind: placeKind, topic: topicSlug }
  return renderPage({
    title: 'Hubs',
    section: 'Hubs',
    body: html`<p class="quiet">Hubs are pages that mainly link to articles about a place, or about one topic in that place. Crawls of the type intelligent look for them, and an <a href="/analysis/ssr">analysis</a> finds them among stored pages.</p>
<div class="controls">${writeFilters(PATH, [
      writeField('Host', 'host', host),
      writeField('Place, by name or number', 'place', placeText),
      writeChoice('Kind of place', 'kind', placeKind, PLACE_KINDS),
      writeField('Topic', 'topic', topicSlug),
    ])}</div>
${placeId === undefined ? '' : html`<p>Hubs of ${writePlaceName(names, placeId, placeText ?? '')}</p>`}
${coverage === undefined ? '' : writeCoverage(coverage, names)}
${coverage === undefined && placeId === undefined && topicSlug === undefined ? await writeHosts(placeHubs.listHosts(MAX_HOSTS)) : ''}
<h2>${host === undefined ? 'Hubs' : html`Hubs of ${writeText(host)}`}</h2>
${writeHubTable(
  items,
  names,
  `${writeNumber(items.length)} of ${countOf(total, 'hub')}`,
  html`<p>No hub ${total === 0 && Object.keys(filter).length === 0 ? 'is known yet' : 'passes these filters'}.</p><p class="quiet">Run <code>pharos gazetteer import</code> for the places of the world, then crawl with the type intelligent, or <a href="/analysis/ssr">analyse</a> what is stored.</p>`,
)}
${writePages({ path: PATH, query, offset, limit: PAGE_SIZE, total })}`,
  })
}

/**
 * Returns a number as the place id, unchecked. Looks up any other text as a name, preferring a place with a hub; returns 0, which is never
 * an id, if no place has that name.
 */
async function findPlaceId(text: string, { placeHubs, gazetteer }: Pick<AnalysisStores, 'placeHubs' | 'gazetteer'>) {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const sameName = await gazetteer.resolve(text, MAX_SAME_NAME)
  for (const { id } of sameName) {
    if ((await placeHubs.list({ placeId: id, offset: 0, limit: 1 })).total > 0) return id
  }
  return sameName[0]?.id ?? 0
}

async function writeHosts(list: Promise<readonly { readonly host: string; readonly hubs: number }[]>): Promise<Html> {
  const hosts = await list
  return html`<h2>By host</h2>
${writeTable({
  caption: countOf(hosts.length, 'host'),
  columns: [
    { label: 'Host', look: 'address' },
    { label: 'Hubs', look: 'number' },
  ],
  rows: hosts.map(({ host, hubs }) => ({ cells: [writeHostLink(host), writeNumber(hubs)] })),
  empty: html`<p>No host has hubs yet.</p>`,
})}`
}

/** How well the hubs of a host cover the world, which hubs are missing, and the learned address patterns of the host. */
function writeCoverage(
  { host, hubs, countriesCovered, countries, missing, missingCount, topics, patterns }: HubCoverage,
  names: PlaceNames,
): Html {
  const share = countries === 0 ? 0 : countriesCovered / countries
  const words = `${writeNumber(countriesCovered)} of ${writeNumber(countries)} countries have a hub of their own`
  return html`${writeCounters([
    ['Hubs', 'hubs', hubs],
    ['Countries with a hub', 'countriesCovered', countriesCovered],
    ['Countries without', 'countriesMissing', countries - countriesCovered],
    ['Expected hubs missing', 'missing', missingCount],
    ['Patterns', 'patterns', patterns.length],
  ])}
<section class="panel"><svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="${words}"><title>${words}</title><rect class="held" x="0" y="0" width="${(share * 100).toFixed(2)}" height="6"/></svg>
<p>${words}${countries === 0 ? '' : ` (${writePercent(share)})`}. <a href="${writeHref('/gazetteer', { host })}">What its pages are about, on a map</a> · <a href="${writeHref('/problems/ssr', { kind: 'missing-hub', scope: host })}">Its missing hubs as problems</a> · <a href="${writeHref('/milestones/ssr', { scope: host })}">Its milestones</a> · <a href="${writeHref('/domains', { host })}">The domain</a></p>
${topics.length === 0 ? '' : html`<p>Topics: ${topics.map(({ slug, label, hubs: count }, i) => html`${i === 0 ? '' : ', '}<a class="text" href="${writeHref(PATH, { host, topic: slug })}">${writeText(label)}</a> <span class="quiet">${writeNumber(count)}</span>`)}</p>`}</section>
<h2>Missing hubs that the site names or its patterns imply</h2>
${writeTable({
  caption:
    missingCount > MAX_MISSING
      ? `The first ${MAX_MISSING} of ${writeNumber(missingCount)}`
      : countOf(missingCount, 'missing hub'),
  columns: [
    { label: 'Address', look: 'address' },
    { label: 'Place', look: 'word' },
    { label: 'Checked', look: 'time' },
  ],
  rows: missing.slice(0, MAX_MISSING).map(({ url, placeId, placeSlug, checkedAt }) => ({
    cells: [writeAddress(url), writePlaceName(names, placeId, placeSlug), writeMoment(checkedAt)],
  })),
  empty: html`<p>None: every hub that the site links to, or that its patterns imply, exists.</p>`,
})}
<h2>Patterns</h2>
${writeTable({
  caption: `${countOf(patterns.length, 'pattern')} of addresses that were learned`,
  columns: [
    { label: 'Pattern', look: 'address' },
    { label: 'Leads to', look: 'word' },
    { label: 'Addresses', look: 'number' },
    { label: 'Confirmed', look: 'number' },
    { label: 'Refuted', look: 'number' },
    { label: 'Confidence', look: 'number' },
    { label: 'Examples', look: 'wide' },
  ],
  rows: patterns.slice(0, MAX_PATTERNS).map((pattern) => patternRow(pattern, host)),
  empty: html`<p>No patterns have been learned yet.</p>`,
})}`
}

type Pattern = HubCoverage['patterns'][number]

/** What the pages at the addresses of a pattern are. */
const ROLE_WORDS: Readonly<Record<Pattern['role'], string>> = {
  section: 'sections',
  'place-hub': 'hubs of places',
  'topic-hub': 'hubs of topics',
  article: 'articles',
  pagination: 'further pages',
  tag: 'tags',
  other: 'others',
}

function patternRow({ pattern, role, seen, hits, misses, confidence, examples }: Pattern, host: string): Row {
  // Removes duplicates: the same example may be stored as an address and as a path.
  const paths = new Map(
    examples.map((example) => [URL.parse(example, `https://${host}`)?.pathname ?? example, example]),
  )
  return {
    cells: [
      html`<code>${writeText(pattern)}</code>`,
      ROLE_WORDS[role],
      writeNumber(seen),
      writeNumber(hits),
      writeNumber(misses),
      writePercent(confidence),
      html`<small>${[...paths.values()].map((example) => html`<div>${isWebUrl(example) ? writeAddress(example) : writeText(example)}</div>`)}</small>`,
    ],
  }
}

/** Names of places by id. */
type PlaceNames = ReadonlyMap<number, string>

/** The linked name of a place, or its slug when the place is unknown. */
function writePlaceName(names: PlaceNames, id: number | null, slug: string | null): Part {
  const name = id === null ? undefined : names.get(id)
  if (id === null || name === undefined) return slug === null ? '' : writeText(slug)
  return writePlaceLink({ id, name })
}

const HUB_COLUMNS: readonly Column[] = [
  { label: 'Address', look: 'address' },
  { label: 'Place', look: 'word' },
  { label: 'Kind', look: 'word' },
  { label: 'Topic', look: 'word' },
  { label: 'Navigation links', look: 'number' },
  { label: 'Article links', look: 'number' },
  { label: 'Last seen', look: 'time' },
]

/** Hubs with the names of their places. */
export function writeHubTable(hubs: readonly StoredHub[], names: PlaceNames, caption: string, empty: Part): Html {
  return writeTable({ caption, columns: HUB_COLUMNS, rows: hubs.map((hub) => hubRow(hub, names)), empty })
}

function hubRow(hub: StoredHub, names: PlaceNames): Row {
  const { url, title, placeId, placeSlug, placeKind, topicLabel, topicSlug, navLinks, articleLinks, lastSeenAt } = hub
  return {
    cells: [
      html`${writeAddress(url)}<small>${title === null ? '' : writeText(title)}</small>`,
      writePlaceName(names, placeId, placeSlug),
      placeKind ?? '',
      topicSlug === null
        ? ''
        : html`<a class="text" href="${writeHref(PATH, { topic: topicSlug })}">${writeText(topicLabel ?? topicSlug)}</a>`,
      writeNumber(navLinks),
      writeNumber(articleLinks),
      writeMoment(lastSeenAt),
    ],
  }
}
