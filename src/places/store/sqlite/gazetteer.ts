import { setImmediate as pause } from 'node:timers/promises'
import { PharosError } from '../../../core/errors.ts'
import type { PlaceKind } from '../../../library/ports/findings.ts'
import type { Database, Write } from '../../../store/sqlite/database/database.ts'
import { normalizeName, type Place, type PlaceName } from '../../analysis/place.ts'
import type {
  ExportedPlace,
  Gazetteer,
  GazetteerSummary,
  ListedPlace,
  NamedPlace,
  PlaceArticle,
  PlaceQuery,
  StoredGazetteerSource,
} from '../../ports/gazetteer.ts'
import { fromSource, type PlaceColumns, toPlace, writeOrder } from '../common/place-columns.ts'
import { createChecks } from './gazetteer-checks.ts'
import { createImport } from './gazetteer-import.ts'
import { createNameIndexUpdater } from './gazetteer-index.ts'

interface NameColumns extends Omit<PlaceName, 'lang' | 'isPreferred' | 'isOfficial'> {
  readonly lang: string
  readonly isPreferred: number
  readonly isOfficial: number
}

const PLACE_COLUMNS = `p.id, n.name, p.kind, p.country_code AS countryCode, p.adm1_code AS adm1Code, p.adm2_code AS adm2Code,
  p.population, p.timezone, p.lat, p.lng, p.bbox, p.source, p.extra, p.status, p.valid_from AS validFrom, p.valid_to AS validTo`

const PLACES = `SELECT ${PLACE_COLUMNS} FROM places p JOIN place_names n ON n.id = p.canonical_name_id`

const NAMES = `SELECT name, lang, name_kind AS kind, is_preferred AS isPreferred, is_official AS isOfficial
  FROM place_names WHERE place_id = ?`

/** Maximum number of children in the details of a place. */
const MAX_CHILDREN = 200

/** Batch size of the export. */
const EXPORTED_AT_ONCE = 500

const TABLES = ['places', 'place_names', 'place_words', 'place_hierarchy', 'place_sources', 'place_external_ids']

/** Creates the place queries. A library without the tables has an empty gazetteer. */
export function createGazetteer(db: Database, write: Write): Gazetteer {
  const countTables = db.prepare<string[], number>(
    `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN (${TABLES.map(() => '?').join(', ')})`,
  )
  return countTables.pluck().get(...TABLES) === TABLES.length ? createFull(db, write) : createEmpty(db.name)
}

function createFull(db: Database, write: Write): Gazetteer {
  const sql = preparePlaces(db)
  const mentionSql = prepareMentions(db)
  const revision = (): string => sql.selectState.get() ?? ''
  const namesOf = (id: number): PlaceName[] => sql.selectNames.all(id).map(toName)
  const exportPlace = ({ ref, ...columns }: PlaceColumns & { ref: string }): ExportedPlace => {
    const { id, name: _, source, ...facts } = toPlace(columns)
    return {
      ref,
      ...facts,
      names: namesOf(id),
      parents: sql.selectDirectParents.all(id),
      externalIds: sql.selectIds.all(id),
      source,
    }
  }
  const summarize = db.transaction((): GazetteerSummary => {
    const counts = new Map(sql.countKinds.all().map(({ kind, count }) => [kind, count]))
    const countOf = (kind: PlaceKind): number => counts.get(kind) ?? 0
    return {
      countries: countOf('country'),
      regions: countOf('region'),
      cities: countOf('city'),
      others: countOf('poi') + countOf('supranational'),
      names: sql.countNames.get() ?? 0,
      sources: sql.selectSources.all(),
      revision: revision(),
    }
  })

  const importMixed = createImport(db, write)
  const nameIndex = createNameIndexUpdater(db, write)
  return {
    importPlaces: (source, records, now, signal) => importMixed(fromSource(records, source), now, signal),
    importMixed,
    indexNames: () => nameIndex.update(undefined, true),
    summary: async () => summarize(),
    revision: async () => revision(),
    listPlaces: async (query) => listPlaces(db, sql, query),
    listNames: async (ids) =>
      new Map(ids.map((id) => [id, sql.selectName.get(id) ?? ''] as const).filter(([, name]) => name !== '')),
    findPlace: async (id) => {
      const place = sql.selectPlace.get(id)
      if (place === undefined) return undefined
      return {
        place: toPlace(place),
        names: namesOf(id),
        externalIds: sql.selectIds.all(id),
        parents: sql.selectParents.all(id).map(toPlace),
        children: sql.selectChildren.all(id).map(toPlace),
        childCount: sql.countChildren.get(id) ?? 0,
      }
    },
    resolve: async (name, limit) => sql.selectByName.all(normalizeName(name), limit).map(toPlace),
    listArticles: async (placeId, limit) => mentionSql.selectArticles.all(placeId, limit),
    listMentions: async (limit, host = undefined) => {
      const found =
        host === undefined
          ? mentionSql.selectMentions.all({ limit })
          : mentionSql.selectHostMentions.all({ host, limit })
      return found.map(({ pages, hubs, ...place }) => ({ place: toPlace(place), pages, hubs }))
    },
    async *exportPlaces() {
      for (let last = 0; ; ) {
        const batch = sql.selectExportBatch.all(last)
        for (const columns of batch) yield exportPlace(columns)
        last = batch.at(-1)?.id ?? last
        if (batch.length < EXPORTED_AT_ONCE) return
        await pause()
      }
    },
    ...createChecks(db),
    readIndex: async () => sql.selectIndex.get() ?? undefined,
  }
}

function listPlaces(db: Database, sql: PlaceStatements, query: PlaceQuery) {
  const { where, values } = writeCondition(query)
  const total = db.prepare<[typeof values], number>(`SELECT count(*) FROM places p${where}`).pluck().get(values)
  // Selects the few places first, so that the join fetches only their names.
  const order = `${writeExactFirst(query)}${writeOrder(query)}`
  const items = db
    .prepare<[typeof values], PlaceColumns>(
      `${PLACES} WHERE p.id IN (SELECT p.id FROM places p${where} ORDER BY ${order} LIMIT @limit OFFSET @offset)
       ORDER BY ${order}`,
    )
    .all({ ...values, limit: query.limit, offset: query.offset })
  return { total: total ?? 0, items: items.map((columns) => toListed(sql, toPlace(columns), values['begin'])) }
}

function toListed(sql: PlaceStatements, place: Place, begin: string | number | undefined): ListedPlace {
  const parameters = { id: place.id, begin: String(begin), canonical: place.name }
  const matched = begin === undefined ? undefined : sql.selectMatch.get(parameters)
  const region = place.kind === 'region' ? undefined : sql.selectRegion.get(place.id)
  return { ...place, matched: matched === place.name ? null : (matched ?? null), region: region ?? null }
}

type PlaceStatements = ReturnType<typeof preparePlaces>

/** The statements that read the articles and hubs of places. */
function prepareMentions(db: Database) {
  const writeMentions = (articlesSql: string, hubCondition: string): string => `SELECT ${PLACE_COLUMNS}, m.pages, m.hubs
    FROM (SELECT place_id, sum(pages) AS pages, sum(hubs) AS hubs FROM (
        SELECT a.place_id, count(DISTINCT a.page) AS pages, 0 AS hubs FROM ${articlesSql} GROUP BY a.place_id
        UNION ALL
        SELECT place_id, 0, count(*) FROM place_hubs WHERE place_id IS NOT NULL${hubCondition} GROUP BY place_id)
      GROUP BY place_id) m
      JOIN places p ON p.id = m.place_id JOIN place_names n ON n.id = p.canonical_name_id
    ORDER BY m.pages DESC, m.hubs DESC, p.id LIMIT @limit`
  return {
    // Selects the few articles first, so that the join fetches only their titles.
    selectArticles: db.prepare<[number, number], PlaceArticle>(
      `SELECT a.url, g.title, CASE a.part WHEN 0 THEN 'title' WHEN 1 THEN 'url' ELSE 'text' END AS source, a.mentions, a.firstSeenAt
       FROM (SELECT page, min(article_url) AS url, count(*) AS mentions, min(first_seen_at) AS firstSeenAt,
           min(CASE source WHEN 'title' THEN 0 WHEN 'url' THEN 1 ELSE 2 END) AS part
         FROM article_places WHERE place_id = ?
         GROUP BY page ORDER BY part, firstSeenAt DESC, page DESC LIMIT ?) a
         JOIN pages g ON g.id = a.page
       ORDER BY a.part, a.firstSeenAt DESC, a.page DESC`,
    ),
    selectMentions: db.prepare<[{ limit: number }], PlaceColumns & MentionCounts>(
      writeMentions('article_places a', ''),
    ),
    // Starts from the pages of the host: starting from all mentions would need one lookup of the page for each.
    selectHostMentions: db.prepare<[{ host: string; limit: number }], PlaceColumns & MentionCounts>(
      writeMentions(
        `ledger l CROSS JOIN article_places a ON a.page = l.id WHERE l.source IN (SELECT source FROM host_counts WHERE host = @host) AND l.host = @host`,
        ' AND host = @host',
      ),
    ),
  }
}

/** The statements that read places. */
function preparePlaces(db: Database) {
  return {
    selectState: db.prepare<[], string>('SELECT revision FROM gazetteer_state').pluck(),
    selectIndex: db.prepare<[], Uint8Array | null>('SELECT name_index FROM gazetteer_state').pluck(),
    countKinds: db.prepare<[], { kind: PlaceKind; count: number }>(
      'SELECT kind, count(*) AS count FROM places GROUP BY kind',
    ),
    countNames: db.prepare<[], number>('SELECT count(*) FROM place_names').pluck(),
    selectSources: db.prepare<[], StoredGazetteerSource>(
      'SELECT name, version, license, attribution, url, imported_at AS importedAt, places FROM place_sources ORDER BY imported_at, rowid',
    ),
    selectPlace: db.prepare<[number], PlaceColumns>(`${PLACES} WHERE p.id = ?`),
    selectNames: db.prepare<[number], NameColumns>(`${NAMES} ORDER BY id`),
    selectIds: db.prepare<[number], { source: string; id: string }>(
      'SELECT source, ext_id AS id FROM place_external_ids WHERE place_id = ? ORDER BY source, ext_id',
    ),
    selectParents: db.prepare<[number], PlaceColumns>(
      `SELECT ${PLACE_COLUMNS} FROM place_hierarchy h JOIN places p ON p.id = h.parent
         JOIN place_names n ON n.id = p.canonical_name_id
       WHERE h.child = ? ORDER BY h.relation, h.depth, h.parent`,
    ),
    selectChildren: db.prepare<[number], PlaceColumns>(
      `SELECT ${PLACE_COLUMNS} FROM place_hierarchy h JOIN places p ON p.id = h.child
         JOIN place_names n ON n.id = p.canonical_name_id
       WHERE h.parent = ? AND h.depth = 1 ORDER BY p.population DESC, p.sort_name, p.id LIMIT ${MAX_CHILDREN}`,
    ),
    countChildren: db
      .prepare<[number], number>('SELECT count(DISTINCT child) FROM place_hierarchy WHERE parent = ? AND depth = 1')
      .pluck(),
    selectByName: db.prepare<[string, number], PlaceColumns>(
      `${PLACES} WHERE p.id IN (SELECT place_id FROM place_names WHERE normalized = ? AND name_kind <> 'demonym')
       ORDER BY CASE p.kind WHEN 'city' THEN 0 WHEN 'region' THEN 1 ELSE 2 END, p.population DESC, p.id LIMIT ?`,
    ),
    selectName: db
      .prepare<[number], string>(
        'SELECT n.name FROM places p JOIN place_names n ON n.id = p.canonical_name_id WHERE p.id = ?',
      )
      .pluck(),
    selectMatch: db
      .prepare<[{ id: number; begin: string; canonical: string }], string>(
        `SELECT name FROM place_names WHERE place_id = @id AND instr(' ' || normalized, ' ' || @begin) > 0
         ORDER BY normalized = @begin DESC, name = @canonical DESC, is_preferred DESC, id LIMIT 1`,
      )
      .pluck(),
    selectRegion: db.prepare<[number], NamedPlace>(
      `SELECT r.id, n.name FROM place_hierarchy h JOIN places r ON r.id = h.parent AND r.kind = 'region'
         JOIN place_names n ON n.id = r.canonical_name_id
       WHERE h.child = ? ORDER BY h.depth, r.id LIMIT 1`,
    ),
    selectExportBatch: db.prepare<[number], PlaceColumns & { ref: string }>(
      `SELECT p.ref, ${PLACE_COLUMNS} FROM places p JOIN place_names n ON n.id = p.canonical_name_id
       WHERE p.id > ? ORDER BY p.id LIMIT ${EXPORTED_AT_ONCE}`,
    ),
    selectDirectParents: db.prepare<[number], ExportedPlace['parents'][number]>(
      `SELECT p.ref, h.relation FROM place_hierarchy h JOIN places p ON p.id = h.parent
       WHERE h.child = ? AND h.depth = 1 ORDER BY h.relation, h.parent`,
    ),
  }
}

interface MentionCounts {
  readonly pages: number
  readonly hubs: number
}

/** The gazetteer of a library that has no gazetteer tables. */
function createEmpty(library: string): Gazetteer {
  const refuse = async (): Promise<never> => {
    throw new PharosError('LIBRARY_UNUSABLE', { library, problem: 'it has no tables for places' })
  }
  return {
    importPlaces: refuse,
    importMixed: refuse,
    indexNames: async () => undefined,
    summary: async () => ({ countries: 0, regions: 0, cities: 0, others: 0, names: 0, sources: [], revision: '' }),
    revision: async () => '',
    listPlaces: async () => ({ total: 0, items: [] }),
    findPlace: async () => undefined,
    resolve: async () => [],
    listNames: async () => new Map(),
    listArticles: async () => [],
    listMentions: async () => [],
    async *exportPlaces() {},
    validate: async () => [],
    inspect: async () => [],
    readIndex: async () => undefined,
  }
}

type Values = Record<string, string | number>

function writeCondition(query: PlaceQuery): { readonly where: string; readonly values: Values } {
  const { text, kind, countryCode, adm1Code, minPopulation } = query
  const conditions: string[] = []
  const values: Values = {}
  const add = (condition: string, name: string, value: string | number | undefined): void => {
    if (value === undefined) return
    conditions.push(condition)
    values[name] = value
  }
  add('p.kind = @kind', 'kind', kind)
  add('p.country_code = @country', 'country', countryCode?.toUpperCase())
  add('p.adm1_code = @adm1', 'adm1', adm1Code?.toUpperCase())
  add('p.population >= @least', 'least', minPopulation)
  const begin = text === undefined ? '' : normalizeName(text)
  if (begin !== '') {
    conditions.push(`p.id IN (SELECT place_id FROM place_names WHERE normalized >= @begin AND normalized < @end
      UNION SELECT place_id FROM place_words WHERE word >= @begin AND word < @end)`)
    values['begin'] = begin
    values['end'] = `${begin}\u{10ffff}`
  }
  return { where: conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`, values }
}

/** Exact name matches come before mere prefix matches. */
function writeExactFirst({ text = '', sort }: PlaceQuery): string {
  if (sort !== undefined || normalizeName(text) === '') return ''
  return 'p.id IN (SELECT place_id FROM place_names WHERE normalized = @begin) DESC, '
}

function toName({ lang, isPreferred, isOfficial, ...name }: NameColumns): PlaceName {
  return { ...name, lang: lang || null, isPreferred: isPreferred === 1, isOfficial: isOfficial === 1 }
}
