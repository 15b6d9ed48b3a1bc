import type { Context } from 'hono'
import { html } from 'hono/html'
import { HTTPException } from 'hono/http-exception'
import { countOf, writeNumber } from '../../core/text/count.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { renderPage } from '../../http/pages/layout.ts'
import {
  type Column,
  type Html,
  type Part,
  type Row,
  writeAddress,
  writeChoice,
  writeCounters,
  writeFacts,
  writeField,
  writeFilters,
  writeHref,
  writeMoment,
  writeOutsideLink,
  writePages,
  writePill,
  writePlaceLink,
  writeTable,
  writeText,
} from '../../http/pages/parts.ts'
import { readNumber, readText, readWord } from '../../http/pages/query.ts'
import type { HttpPorts } from '../../http/ports.ts'
import { PLACE_KINDS, type PlaceKind } from '../../library/ports/findings.ts'
import type { Place, PlaceName } from '../analysis/place.ts'
import type {
  GazetteerSummary,
  ListedPlace,
  PlaceDetails,
  PlaceMention,
  PlaceQuery,
  StoredGazetteerSource,
} from '../ports/gazetteer.ts'
import { writeHubTable } from './hub-pages.ts'
import { readMentions, readSummary } from './place-records.ts'
import type { AnalysisStores } from './place-stores.ts'
import { countByCountry, readOutlines, writeCoverageMap, writePlaceMap, writePosition } from './world-map.ts'

const PLACES_PATH = '/gazetteer/places'
const MAX_ON_MAP = 300
const MAX_IN_TABLE = 100
const PAGE_SIZE = 100
/** Above the number of countries in the world. */
const MAX_COUNTRIES = 400
const MAX_CITIES = 50
const MAX_ARTICLES = 100
const MAX_NAMES = 300
/** A list with more names is collapsed at first. */
const MAX_EXPANDED_NAMES = 12
const SORTS = ['name', 'population', 'country', 'kind'] as const

/** Shown when the gazetteer is empty, with the command that fills it. */
const NO_PLACES: Part = html`<p>No places are known yet.</p><p class="quiet">Run <code>pharos gazetteer import</code>: it fetches countries, regions and cities of the world, with their licences.</p>`

/** `/gazetteer`: how many places are known and from which data, and which places the pages name. An empty gazetteer shows how to fill it. */
export async function renderGazetteer(c: Context, ports: HttpPorts): Promise<Html> {
  const host = readText(c, 'host')?.toLowerCase()
  const summary = await readSummary(ports)
  const mentions = await readMentions(ports, MAX_ON_MAP, host)
  const isEmpty = summary.countries + summary.regions + summary.cities + summary.others === 0
  return renderPage({
    title: 'Places',
    section: 'Places',
    body: isEmpty
      ? html`<div class="panel empty">${NO_PLACES}</div>`
      : html`${writeCounters([
          ['Countries', 'countries', summary.countries],
          ['Regions', 'regions', summary.regions],
          ['Cities', 'cities', summary.cities],
          ['Names', 'names', summary.names],
          ['Sources', 'sources', summary.sources.length],
        ])}
<div class="controls">${writeFilters('/gazetteer/places', [writeField('Name of a place', 'q', '')], 'Find a place')}${writePlaceNavigation()}</div>
<h2>${host === undefined ? 'Places that the pages name' : html`Places that the pages of ${writeText(host)} name`}</h2>
${writeMentions(await readOutlines(ports), mentions, host)}
${writeSources(summary)}`,
  })
}

/** Links to the other gazetteer pages. */
function writePlaceNavigation(): Html {
  return html`<nav class="pager" aria-label="Places"><a href="/gazetteer/countries">Countries</a>${PLACE_KINDS.filter((kind) => kind !== 'country').map((kind) => html`<a href="/gazetteer/kind/${kind}">${KIND_WORDS[kind]}</a>`)}<a href="/hubs">Hubs</a></nav>`
}

const KIND_WORDS: Readonly<Record<PlaceKind, string>> = {
  country: 'Countries',
  region: 'Regions',
  city: 'Cities',
  poi: 'Points of interest',
  supranational: 'Supranational',
}

function writeMentions(
  outlines: Parameters<typeof writeCoverageMap>[0],
  mentions: readonly PlaceMention[],
  host: string | undefined,
): Html {
  const countries = countByCountry(mentions)
  const where = host === undefined ? '' : ` of ${host}`
  const filter = html`<div class="controls">${writeFilters('/gazetteer', [writeField('Only pages of the host', 'host', host)], 'Choose a host')}</div>`
  return html`${filter}${writeCoverageMap(outlines, countries, `${countries.length === 1 ? '1 country' : `${writeNumber(countries.length)} countries`} that pages${where} name; the stronger the color, the more pages`)}
${writeTable({
  caption:
    mentions.length > MAX_IN_TABLE
      ? `The ${MAX_IN_TABLE} places with the most pages`
      : countOf(mentions.length, 'place'),
  columns: [
    { label: 'Place', look: 'address' },
    { label: 'Kind', look: 'word' },
    { label: 'Country', look: 'word' },
    { label: 'Pages', look: 'number' },
    { label: 'Hubs', look: 'number' },
  ],
  rows: mentions.slice(0, MAX_IN_TABLE).map(({ place, pages, hubs }) => ({
    cells: [
      writePlaceLink(place),
      place.kind,
      writeCountryLink(place.countryCode),
      writeNumber(pages),
      hubs === 0 ? '0' : html`<a href="${writeHref('/hubs', { place: place.id })}">${writeNumber(hubs)}</a>`,
    ],
  })),
  empty: html`<p>No page is known to name a place.</p><p class="quiet">Places are found by an <a href="/analysis/ssr">analysis</a> of the stored pages, once there are places to look for.</p>`,
})}`
}

function writeCountryLink(code: string | null): Part {
  return code === null ? '' : html`<a href="/gazetteer/country/${encodeURIComponent(code)}">${code}</a>`
}

function writeSources({ sources }: GazetteerSummary): Html {
  return html`<h2>Where the places come from</h2>
${writeTable({
  caption: countOf(sources.length, 'source'),
  columns: [
    { label: 'Credit', look: 'address' },
    { label: 'Source', look: 'word' },
    { label: 'Licence', look: 'word' },
    { label: 'Places', look: 'number' },
    { label: 'Imported', look: 'time' },
  ],
  rows: sources.map(sourceRow),
  empty: NO_PLACES,
})}`
}

function sourceRow({ name, version, license, attribution, url, importedAt, places }: StoredGazetteerSource): Row {
  return {
    cells: [
      html`${writeText(attribution)}${url === null ? '' : html`<small>${writeOutsideLink(url)}</small>`}`,
      html`${writeText(name)}<small>${writeText(version)}</small>`,
      writeText(license),
      writeNumber(places),
      writeMoment(importedAt),
    ],
  }
}

/** `/gazetteer/places`: places by name, kind, country and size. */
export function renderPlaces(c: Context, stores: AnalysisStores): Promise<Html> {
  return renderList(c, stores, '/gazetteer/places', readWord(c, 'kind', PLACE_KINDS))
}

/** `/gazetteer/kind/:kind`: the places of one kind. */
export function renderKind(c: Context, stores: AnalysisStores): Promise<Html> {
  const kind = PLACE_KINDS.find((known) => known === c.req.param('kind'))
  if (kind === undefined) {
    throw new HTTPException(404, { message: `There is no such kind of place: it is one of ${PLACE_KINDS.join(', ')}.` })
  }
  return renderList(c, stores, `/gazetteer/kind/${kind}`, kind, KIND_WORDS[kind])
}

async function renderList(
  c: Context,
  { gazetteer }: AnalysisStores,
  path: string,
  kind: PlaceKind | undefined,
  title = 'Gazetteer',
): Promise<Html> {
  const text = readText(c, 'q')
  const cc = readText(c, 'cc')
  const adm1 = readText(c, 'adm1')
  const minpop = readNumber(c, 'minpop')
  const sort = readWord(c, 'sort', SORTS)
  const dir = readWord(c, 'dir', ['asc', 'desc'] as const)
  const offset = readNumber(c, 'offset') ?? 0
  const order: PlaceQuery['order'] = dir === undefined ? undefined : dir === 'asc' ? 'ascending' : 'descending'
  const { total, items } = await gazetteer.listPlaces({
    ...withoutUndefined({ text, kind, countryCode: cc?.toUpperCase(), adm1Code: adm1?.toUpperCase() }),
    ...withoutUndefined({ minPopulation: minpop, sort, order }),
    offset,
    limit: PAGE_SIZE,
  })
  const isFiltered =
    [text, cc, adm1, minpop].some((value) => value !== undefined) || (kind !== undefined && path === PLACES_PATH)
  const hasKindFilter = path === PLACES_PATH
  const query = { q: text, kind: hasKindFilter ? kind : undefined, cc, adm1, minpop, sort, dir }
  return renderPage({
    title,
    section: 'Gazetteer',
    body: html`<div class="controls">${
      total === 0 && !isFiltered
        ? ''
        : writeFilters(path, [
            writeField('Name', 'q', text),
            ...(hasKindFilter ? [writeChoice('Kind', 'kind', kind, PLACE_KINDS)] : []),
            writeField('Country', 'cc', cc),
            writeField('Region', 'adm1', adm1),
            writeField('Minimum population', 'minpop', minpop, 'number'),
            writeChoice('Sorted by', 'sort', sort, SORTS, 'population'),
            writeChoice('Order', 'dir', dir, ['asc', 'desc'], 'usual'),
          ])
    }${writePlaceNavigation()}</div>
${writePlaceTable(items, `${writeNumber(items.length)} of ${countOf(total, 'place')}`, isFiltered ? html`<p>No place passes these filters.</p><p><a href="${path}">Show all</a></p>` : NO_PLACES)}
${writePages({ path, query, offset, limit: PAGE_SIZE, total })}`,
  })
}

const PLACE_COLUMNS: readonly Column[] = [
  { label: 'Place', look: 'address' },
  { label: 'Kind', look: 'word' },
  { label: 'Country', look: 'word' },
  { label: 'Region', look: 'word' },
  { label: 'Inhabitants', look: 'number' },
  { label: 'Where', look: 'word' },
]

/** A table of places, without columns that are empty in all rows. */
function writePlaceTable(places: readonly ShownPlace[], caption: string, empty: Part): Html {
  const rows = places.map(placeRow)
  const isUsed = (_: unknown, i: number) => rows.length === 0 || rows.some(({ cells }) => cells[i] !== '')
  const columns = PLACE_COLUMNS.filter(isUsed)
  return writeTable({ caption, columns, rows: rows.map((row) => ({ ...row, cells: row.cells.filter(isUsed) })), empty })
}

/** A place in a list, or a place inside another one. */
type ShownPlace = Place & Partial<Pick<ListedPlace, 'matched' | 'region'>>

function placeRow(place: ShownPlace): Row {
  const { kind, countryCode, population, lat, lng, matched = null, region = null } = place
  return {
    cells: [
      html`${writePlaceLink(place)}${matched === null ? '' : html`<small>${writeText(matched)}</small>`}`,
      kind,
      writeCountryLink(countryCode),
      region === null ? '' : writePlaceLink(region),
      population === null ? '' : writeNumber(population),
      lat === null || lng === null ? '' : writePosition(lat, lng),
    ],
  }
}

/** `/gazetteer/countries`: all countries, by name. */
export async function renderCountries(_: Context, { gazetteer }: AnalysisStores): Promise<Html> {
  const query = { kind: 'country', sort: 'name', offset: 0, limit: MAX_COUNTRIES } as const
  const { items } = await gazetteer.listPlaces(query)
  return renderPage({
    title: 'Countries',
    section: 'Gazetteer',
    body: html`<div class="controls">${writeFilters('/gazetteer/places', [writeField('Name of a place', 'q', '')], 'Find a place')}${writePlaceNavigation()}</div>
${writePlaceTable(items, countOf(items.length, 'place'), NO_PLACES)}`,
  })
}

/** `/gazetteer/country/:cc`: a country with its regions and its largest cities. */
export async function renderCountry(c: Context, stores: AnalysisStores, ports: HttpPorts): Promise<Html> {
  const code = (c.req.param('cc') ?? '').toUpperCase()
  if (!/^[A-Z]{2}$/.test(code))
    throw new HTTPException(400, { message: 'A country is named by two letters, such as FR.' })
  const { gazetteer } = stores
  const list = (kind: PlaceKind, limit: number) => gazetteer.listPlaces({ kind, countryCode: code, offset: 0, limit })
  const [country] = (await list('country', 1)).items
  const details = country === undefined ? undefined : await gazetteer.findPlace(country.id)
  if (details === undefined) throw new HTTPException(404, { message: `No country with the code ${code} is known.` })
  const [regions, cities] = await Promise.all([list('region', PAGE_SIZE), list('city', MAX_CITIES)])
  const more = (kind: PlaceKind, total: number, shown: number) =>
    total > shown
      ? html`<p><a href="${writeHref('/gazetteer/places', { kind, cc: code })}">All ${writeNumber(total)}</a></p>`
      : ''
  return renderPage({
    title: details.place.name,
    section: 'Gazetteer',
    body: html`${await writePlace(details, stores, ports)}
<h2>Regions</h2>${writePlaceTable(regions.items, `${writeNumber(regions.items.length)} of ${countOf(regions.total, 'region')}`, html`<p>No regions of it are known.</p>`)}${more('region', regions.total, regions.items.length)}
<h2>Cities</h2>${writePlaceTable(cities.items, `The largest ${writeNumber(cities.items.length)} of ${writeNumber(cities.total)}`, html`<p>No cities of it are known.</p>`)}${more('city', cities.total, cities.items.length)}`,
  })
}

/** `/gazetteer/place/:id`: one place with all its details, and the pages about it. */
export async function renderPlace(c: Context, stores: AnalysisStores, ports: HttpPorts): Promise<Html> {
  const text = c.req.param('id') ?? ''
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new HTTPException(400, { message: 'This is not the number of a place.' })
  const details = await stores.gazetteer.findPlace(Number(text))
  if (details === undefined) throw new HTTPException(404, { message: 'There is no place with this number.' })
  const { place, children, childCount } = details
  return renderPage({
    title: place.name,
    section: 'Gazetteer',
    body: html`${await writePlace(details, stores, ports)}
<h2>Places in it</h2>${writePlaceTable(children, `The largest ${writeNumber(children.length)} of ${writeNumber(childCount)}`, html`<p>None are known.</p>`)}${childCount === 0 ? '' : writeContainedPlacesLink(place)}`,
  })
}

/** A link to all places of a country or region. */
function writeContainedPlacesLink({ kind, name, countryCode, adm1Code }: Place): Part {
  if (countryCode === null || (kind !== 'country' && (kind !== 'region' || adm1Code === null))) return ''
  const query = { cc: countryCode, adm1: kind === 'region' ? (adm1Code ?? undefined) : undefined }
  return html`<p><a href="${writeHref('/gazetteer/places', query)}">All places of ${writeText(name)}</a></p>`
}

async function writePlace(
  details: PlaceDetails,
  { gazetteer, placeHubs }: AnalysisStores,
  ports: HttpPorts,
): Promise<Html> {
  const { place, names, parents, externalIds } = details
  const region = parents.find((parent) => parent.kind === 'region')
  const { kind, countryCode, population, timezone, lat, lng, status, validFrom, validTo, source } = place
  const [pages, hubs] = await Promise.all([
    gazetteer.listArticles(place.id, MAX_ARTICLES),
    placeHubs.list({ placeId: place.id, offset: 0, limit: 50 }),
  ])
  return html`<section class="panel">${writeFacts(
    [
      ['Kind', html`<a href="/gazetteer/kind/${kind}">${kind}</a>`],
      ['Country', countryCode === null ? null : writeCountryLink(countryCode)],
      ['Region', region === undefined ? null : writePlaceLink(region)],
      ['Inhabitants', population === null ? null : writeNumber(population)],
      ['Where', lat === null || lng === null ? null : writePosition(lat, lng)],
      ['Time zone', timezone === null ? null : writeText(timezone)],
      ['Status', status === 'current' ? null : writePill(status)],
      ['Since', validFrom === null ? null : writeText(validFrom)],
      ['Until', validTo === null ? null : writeText(validTo)],
      [
        'Lies in',
        parents.length === 0 ? null : parents.map((parent, i) => html`${i === 0 ? '' : ', '}${writePlaceLink(parent)}`),
      ],
      ['From', writeText(source)],
      [
        'External ids',
        externalIds.length === 0
          ? null
          : writeText(externalIds.map(({ source: issuer, id }) => `${issuer} ${id}`).join(', ')),
      ],
    ],
    'pairs',
  )}</section>
${lat === null || lng === null ? '' : writePlaceMap(await readOutlines(ports), { ...place, lat, lng })}
${writeNames(names)}
<h2>Pages that name it</h2>
${writeTable({
  caption: `${pages.length === MAX_ARTICLES ? 'The first ' : ''}${countOf(pages.length, 'page')}, those that name it in their title or address first`,
  columns: [
    { label: 'Page', look: 'address' },
    { label: 'Named in', look: 'word' },
    { label: 'Times', look: 'number' },
    { label: 'First seen', look: 'time' },
  ],
  rows: pages.map(({ url, title, source: part, mentions, firstSeenAt }) => ({
    cells: [
      html`${writeAddress(url)}<small>${writeText(title)}</small>`,
      part === 'url' ? 'address' : part,
      writeNumber(mentions),
      writeMoment(firstSeenAt),
    ],
  })),
  empty: html`<p>No stored page is known to name it.</p>`,
})}
<h2>Hubs</h2>
${writeHubTable(hubs.items, new Map([[place.id, place.name]]), countOf(hubs.total, 'hub'), html`<p>No hub of it is known.</p>`)}`
}

/** The names of a place, grouped by kind. */
function writeNames(names: readonly PlaceName[]): Html {
  const shown = names.slice(0, MAX_NAMES)
  const kinds = [...new Set(shown.map(({ kind }) => kind))]
  return html`<h2>Names</h2><details class="panel"${names.length > MAX_EXPANDED_NAMES ? '' : html` open`}><summary>${countOf(names.length, 'name')}</summary>${writeFacts(
    kinds.map((kind) => [
      kind,
      shown
        .filter((name) => name.kind === kind)
        .map(
          ({ name, lang }, i) =>
            html`${i === 0 ? '' : ' · '}${writeText(name)}${lang === null ? '' : html` <span class="quiet">${lang}</span>`}`,
        ),
    ]),
  )}${names.length > shown.length ? html`<p class="quiet">and ${countOf(names.length - shown.length, 'name')} more</p>` : ''}</details>`
}
