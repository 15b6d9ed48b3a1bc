import type { PlaceKind } from '../../../library/ports/findings.ts'
import type { Database, Sql } from '../../../store/postgres/database/database.ts'
import { normalizeName, type Place, type PlaceName } from '../../analysis/place.ts'
import type {
  ExportedPlace,
  Gazetteer,
  GazetteerSummary,
  ListedPlace,
  PlaceArticle,
  PlaceDetails,
  PlaceQuery,
  StoredGazetteerSource,
} from '../../ports/gazetteer.ts'
import { fromSource, type PlaceColumns, toPlace, writeOrder } from '../common/place-columns.ts'
import { createChecks } from './gazetteer-checks.ts'
import { createImport } from './gazetteer-import.ts'
import { readState, updateNameIndex } from './gazetteer-index.ts'

const PLACE_COLUMNS = `p.id, n.name, p.kind, p.country_code AS "countryCode", p.adm1_code AS "adm1Code", p.adm2_code AS "adm2Code",
  p.population, p.timezone, p.lat, p.lng, p.bbox, p.source, p.extra, p.status, p.valid_from AS "validFrom", p.valid_to AS "validTo"`

const PLACES = `SELECT ${PLACE_COLUMNS} FROM places p JOIN place_names n ON n.id = p.canonical_name_id`

/** Maximum number of children in the details of a place. */
const MAX_CHILDREN = 200

/** Batch size of the export. */
const EXPORTED_AT_ONCE = 500

/** Queries places. */
export function createGazetteer(db: Database): Gazetteer {
  const importMixed = createImport(db)
  return {
    importPlaces: (source, records, now, signal) => importMixed(fromSource(records, source), now, signal),
    importMixed,
    indexNames: () => updateNameIndex(db, undefined, true),
    summary: () => db.snapshot(summarize),
    revision: async () => (await readState(db)).revision,
    listPlaces: (query) => db.snapshot((sql) => listPlaces(sql, query)),
    listNames: async (ids) => {
      const found = await db.all<{ id: number; name: string }>(
        `SELECT p.id, n.name FROM places p JOIN place_names n ON n.id = p.canonical_name_id WHERE p.id = ANY ($1)`,
        [ids],
      )
      const names = new Map(found.map(({ id, name }) => [id, name]))
      return new Map(ids.flatMap((id) => (names.has(id) ? [[id, names.get(id) ?? ''] as const] : [])))
    },
    findPlace: (id) => db.snapshot((sql) => findPlace(sql, id)),
    resolve: async (name, limit) => {
      const found = await db.all<PlaceColumns>(
        `${PLACES} WHERE p.id IN (SELECT place_id FROM place_names WHERE normalized = $1 AND name_kind <> 'demonym')
         ORDER BY CASE p.kind WHEN 'city' THEN 0 WHEN 'region' THEN 1 ELSE 2 END, p.population DESC NULLS LAST, p.id LIMIT $2`,
        [normalizeName(name), limit],
      )
      return found.map(toPlace)
    },
    listArticles: (placeId, limit) => listArticles(db, placeId, limit),
    listMentions: (limit, host) => listMentions(db, limit, host),
    async *exportPlaces() {
      for (let last = 0; ; ) {
        const batch = await db.snapshot((sql) => exportBatch(sql, last))
        yield* batch.places
        if (batch.places.length < EXPORTED_AT_ONCE) return
        last = batch.last
      }
    },
    ...createChecks(db),
    readIndex: async () => {
      const found = await db.get<{ index: Uint8Array | null }>('SELECT name_index AS index FROM gazetteer_state')
      return found?.index ?? undefined
    },
  }
}

async function summarize(sql: Sql): Promise<GazetteerSummary> {
  const kinds = await sql.all<{ kind: PlaceKind; count: number }>(
    'SELECT kind, count(*) AS count FROM places GROUP BY kind',
  )
  const counts = new Map(kinds.map(({ kind, count }) => [kind, count]))
  const countOf = (kind: PlaceKind): number => counts.get(kind) ?? 0
  const names = await sql.get<{ count: number }>('SELECT count(*) AS count FROM place_names')
  const sources = await sql.all<StoredGazetteerSource>(
    `SELECT name, version, license, attribution, url, imported_at AS "importedAt", places FROM place_sources
     ORDER BY imported_at, number`,
  )
  return {
    countries: countOf('country'),
    regions: countOf('region'),
    cities: countOf('city'),
    others: countOf('poi') + countOf('supranational'),
    names: names?.count ?? 0,
    sources,
    revision: (await readState(sql)).revision,
  }
}

/** An SQL condition with its parameter values. */
interface Condition {
  readonly where: string
  readonly values: unknown[]
  /** The name prefix in normalized form, and its parameter. */
  readonly prefix: { readonly text: string; readonly value: string } | undefined
}

function writeCondition({ text, kind, countryCode, adm1Code, minPopulation }: PlaceQuery): Condition {
  const conditions: string[] = []
  const values: unknown[] = []
  const add = (condition: string, value: unknown): void => {
    if (value !== undefined) conditions.push(`${condition} $${values.push(value)}`)
  }
  add('p.kind =', kind)
  add('p.country_code =', countryCode?.toUpperCase())
  add('p.adm1_code =', adm1Code?.toUpperCase())
  add('p.population >=', minPopulation)
  const normalized = text === undefined ? '' : normalizeName(text)
  if (normalized === '') return { where: joinConditions(conditions), values, prefix: undefined }
  const begin = `$${values.push(normalized)}::text`
  const end = `$${values.push(`${normalized}\u{10ffff}`)}::text`
  conditions.push(`p.id IN (SELECT place_id FROM place_names WHERE normalized >= ${begin} AND normalized < ${end}
    UNION SELECT place_id FROM place_words WHERE word >= ${begin} AND word < ${end})`)
  return { where: joinConditions(conditions), values, prefix: { text: normalized, value: begin } }
}

function joinConditions(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
}

async function listPlaces(sql: Sql, query: PlaceQuery): ReturnType<Gazetteer['listPlaces']> {
  const { where, values, prefix } = writeCondition(query)
  const counted = await sql.get<{ total: number }>(`SELECT count(*) AS total FROM places p${where}`, values)
  // Places with exactly the searched name come before those whose names only begin with it.
  const exactFirst =
    query.sort === undefined && prefix !== undefined
      ? `(p.id IN (SELECT place_id FROM place_names WHERE normalized = ${prefix.value})) DESC, `
      : ''
  const order = exactFirst + withNulls(writeOrder(query))
  const found = await sql.all<PlaceColumns>(
    `${PLACES} WHERE p.id IN (
       SELECT p.id FROM places p${where} ORDER BY ${order} LIMIT $${values.length + 1} OFFSET $${values.length + 2})
     ORDER BY ${order}`,
    [...values, query.limit, query.offset],
  )
  return { total: counted?.total ?? 0, items: await describeListed(sql, found.map(toPlace), prefix?.text) }
}

/** Sorts null as the lowest value. Only nullable columns get this clause, so that the order matches the indexes. */
function withNulls(order: string): string {
  return order
    .replaceAll(/(?<=p\.(?:population|country_code) )DESC/g, 'DESC NULLS LAST')
    .replaceAll(/(?<=p\.(?:population|country_code) )ASC/g, 'ASC NULLS FIRST')
}

/** Adds to each place of a list the name by which it was found, and the region that contains it. */
async function describeListed(sql: Sql, places: readonly Place[], prefix: string | undefined): Promise<ListedPlace[]> {
  const ids = places.map(({ id }) => id)
  const matches =
    prefix === undefined
      ? []
      : await sql.all<{ id: number; name: string }>(
          `SELECT DISTINCT ON (m.place_id) m.place_id AS id, m.name
           FROM place_names m JOIN places p ON p.id = m.place_id JOIN place_names n ON n.id = p.canonical_name_id
           WHERE m.place_id = ANY ($1) AND strpos(' ' || m.normalized, ' ' || $2) > 0
           ORDER BY m.place_id, m.normalized = $2 DESC, m.name = n.name DESC, m.is_preferred DESC, m.id`,
          [ids, prefix],
        )
  const regions = await sql.all<{ child: number; id: number; name: string }>(
    `SELECT DISTINCT ON (h.child) h.child, r.id, n.name
     FROM place_hierarchy h JOIN places r ON r.id = h.parent AND r.kind = 'region'
       JOIN place_names n ON n.id = r.canonical_name_id
     WHERE h.child = ANY ($1) ORDER BY h.child, h.depth, r.id`,
    [ids],
  )
  const matchedNames = new Map(matches.map(({ id, name }) => [id, name]))
  const regionsByPlace = new Map(regions.map(({ child, ...region }) => [child, region]))
  return places.map((place) => {
    const name = matchedNames.get(place.id)
    const region = place.kind === 'region' ? undefined : regionsByPlace.get(place.id)
    return { ...place, matched: name === place.name ? null : (name ?? null), region: region ?? null }
  })
}

interface NameColumns extends Omit<PlaceName, 'lang'> {
  readonly place: number
  readonly lang: string
}

async function listNamesOf(sql: Sql, ids: readonly number[]): Promise<ReadonlyMap<number, PlaceName[]>> {
  const found = await sql.all<NameColumns>(
    `SELECT place_id AS place, name, lang, name_kind AS kind, is_preferred AS "isPreferred", is_official AS "isOfficial"
     FROM place_names WHERE place_id = ANY ($1) ORDER BY id`,
    [ids],
  )
  return group(found, ({ place, name, kind, lang, isPreferred, isOfficial }) => [
    place,
    { name, kind, lang: lang || null, isPreferred, isOfficial },
  ])
}

async function listExternalIds(sql: Sql, ids: readonly number[]): Promise<ReadonlyMap<number, ExternalId[]>> {
  const found = await sql.all<ExternalId & { place: number }>(
    `SELECT place_id AS place, source, ext_id AS id FROM place_external_ids WHERE place_id = ANY ($1)
     ORDER BY source, ext_id`,
    [ids],
  )
  return group(found, ({ place, ...external }) => [place, external])
}

type ExternalId = PlaceDetails['externalIds'][number]

function group<Row, T>(rows: readonly Row[], split: (row: Row) => readonly [place: number, item: T]): Map<number, T[]> {
  const groups = new Map<number, T[]>()
  for (const row of rows) {
    const [place, item] = split(row)
    const items = groups.get(place) ?? []
    groups.set(place, items)
    items.push(item)
  }
  return groups
}

async function findPlace(sql: Sql, id: number): Promise<PlaceDetails | undefined> {
  const place = await sql.get<PlaceColumns>(`${PLACES} WHERE p.id = $1`, [id])
  if (place === undefined) return undefined
  const parents = await sql.all<PlaceColumns>(
    `SELECT ${PLACE_COLUMNS} FROM place_hierarchy h JOIN places p ON p.id = h.parent
       JOIN place_names n ON n.id = p.canonical_name_id
     WHERE h.child = $1 ORDER BY h.relation, h.depth, h.parent`,
    [id],
  )
  const children = await sql.all<PlaceColumns>(
    `SELECT ${PLACE_COLUMNS} FROM place_hierarchy h JOIN places p ON p.id = h.child
       JOIN place_names n ON n.id = p.canonical_name_id
     WHERE h.parent = $1 AND h.depth = 1 ORDER BY p.population DESC NULLS LAST, p.sort_name, p.id LIMIT ${MAX_CHILDREN}`,
    [id],
  )
  const counted = await sql.get<{ children: number }>(
    'SELECT count(DISTINCT child) AS children FROM place_hierarchy WHERE parent = $1 AND depth = 1',
    [id],
  )
  return {
    place: toPlace(place),
    names: (await listNamesOf(sql, [id])).get(id) ?? [],
    externalIds: (await listExternalIds(sql, [id])).get(id) ?? [],
    parents: parents.map(toPlace),
    children: children.map(toPlace),
    childCount: counted?.children ?? 0,
  }
}

/** Lists the articles that mention a place. The limit is applied before the join, so that only titles of listed articles are read. */
function listArticles(sql: Sql, placeId: number, limit: number): Promise<PlaceArticle[]> {
  return sql.all<PlaceArticle>(
    `SELECT a.url, g.title, CASE a.part WHEN 0 THEN 'title' WHEN 1 THEN 'url' ELSE 'text' END AS source, a.mentions,
       a.first AS "firstSeenAt"
     FROM (SELECT page, min(article_url COLLATE "C") AS url, count(*) AS mentions, min(first_seen_at) AS first,
         min(CASE source WHEN 'title' THEN 0 WHEN 'url' THEN 1 ELSE 2 END) AS part
       FROM article_places WHERE place_id = $1
       GROUP BY page ORDER BY part, first DESC, page DESC LIMIT $2) a
       JOIN pages g ON g.id = a.page
     ORDER BY a.part, a.first DESC, a.page DESC`,
    [placeId, limit],
  )
}

async function listMentions(sql: Sql, limit: number, host: string | undefined): ReturnType<Gazetteer['listMentions']> {
  // Starts from the pages of the host, because the mentions of all others would need one lookup each.
  const pages =
    host === undefined
      ? 'article_places a WHERE $2::text IS NULL'
      : 'ledger l JOIN article_places a ON a.page = l.id WHERE l.source IN (SELECT source FROM host_counts WHERE host = $2) AND l.host = $2'
  const found = await sql.all<PlaceColumns & { pages: number; hubs: number }>(
    `SELECT ${PLACE_COLUMNS}, m.pages, m.hubs
     FROM (SELECT place_id, sum(pages)::bigint AS pages, sum(hubs)::bigint AS hubs FROM (
         SELECT a.place_id, count(DISTINCT a.page) AS pages, 0 AS hubs FROM ${pages} GROUP BY a.place_id
         UNION ALL
         SELECT place_id, 0, count(*) FROM place_hubs WHERE place_id IS NOT NULL AND host = coalesce($2, host)
         GROUP BY place_id) b
       GROUP BY place_id) m
       JOIN places p ON p.id = m.place_id JOIN place_names n ON n.id = p.canonical_name_id
     ORDER BY m.pages DESC, m.hubs DESC, p.id LIMIT $1`,
    [limit, host ?? null],
  )
  return found.map(({ pages: count, hubs, ...place }) => ({ place: toPlace(place), pages: count, hubs }))
}

async function exportBatch(sql: Sql, after: number): Promise<{ places: ExportedPlace[]; last: number }> {
  const found = await sql.all<PlaceColumns & { ref: string }>(
    `SELECT p.ref, ${PLACE_COLUMNS} FROM places p JOIN place_names n ON n.id = p.canonical_name_id
     WHERE p.id > $1 ORDER BY p.id LIMIT ${EXPORTED_AT_ONCE}`,
    [after],
  )
  const ids = found.map(({ id }) => id)
  const names = await listNamesOf(sql, ids)
  const externals = await listExternalIds(sql, ids)
  const direct = await sql.all<ExportedPlace['parents'][number] & { child: number }>(
    `SELECT h.child, p.ref, h.relation FROM place_hierarchy h JOIN places p ON p.id = h.parent
     WHERE h.child = ANY ($1) AND h.depth = 1 ORDER BY h.relation, h.parent`,
    [ids],
  )
  const parents = group(direct, ({ child, ...parent }) => [child, parent])
  const places = found.map(({ ref, ...columns }) => {
    const { id, name: _, source, ...facts } = toPlace(columns)
    const related = { names: names.get(id) ?? [], parents: parents.get(id) ?? [], externalIds: externals.get(id) ?? [] }
    return { ref, ...facts, ...related, source }
  })
  return { places, last: ids.at(-1) ?? after }
}
