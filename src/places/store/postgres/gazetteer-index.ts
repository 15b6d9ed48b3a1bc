import { createHash } from 'node:crypto'
import type { Database, Sql } from '../../../store/postgres/database/database.ts'
import type { IndexedPlace } from '../../analysis/name-forms.ts'
import { INDEX_VERSION } from '../../analysis/name-index.ts'
import type { NameKind } from '../../analysis/place.ts'
import { writeNameIndex } from '../../analysis/write-name-index.ts'

/** Batch size for reading places. */
const PLACES_AT_ONCE = 5000

/** The revision of the name index, and whether the index exists. */
interface NameIndexState {
  readonly revision: string
  readonly hasIndex: boolean
}

interface NameRow {
  readonly place: number
  readonly name: string
  readonly lang: string
  readonly kind: NameKind
  readonly isPreferred: boolean
}

/** Rebuilds the name index when the places or its format changed, or when forced. */
export async function updateNameIndex(
  db: Database,
  signal: AbortSignal | undefined,
  isForced: boolean = false,
): Promise<void> {
  const revision = await readRevision(db)
  const state = await readState(db)
  const isUpToDate = state.revision === revision && (state.hasIndex || revision === '')
  if (isUpToDate && !isForced) return
  signal?.throwIfAborted()
  const index = revision === '' ? null : writeNameIndex(await db.snapshot(readPlaces), revision)
  signal?.throwIfAborted()
  await db.run('UPDATE gazetteer_state SET revision = $1, name_index = $2', [revision, index && Buffer.from(index)])
}

/** The state of the name index, without reading the index itself. */
export async function readState(sql: Sql): Promise<NameIndexState> {
  const found = await sql.get<NameIndexState>(
    'SELECT revision, name_index IS NOT NULL AS "hasIndex" FROM gazetteer_state',
  )
  return found ?? { revision: '', hasIndex: false }
}

/** A digest of all places, which changes with them; empty when there are none. */
export async function readRevision(sql: Sql): Promise<string> {
  const digest = createHash('sha256').update(`index ${INDEX_VERSION}\n`)
  let places = 0
  for (let last = 0; ; ) {
    const batch = await sql.all<{ id: number; digest: Buffer | null }>(
      'SELECT id, digest FROM places WHERE id > $1 ORDER BY id LIMIT $2',
      [last, PLACES_AT_ONCE],
    )
    for (const place of batch) digest.update(place.digest ?? '')
    places += batch.length
    last = batch.at(-1)?.id ?? last
    if (batch.length < PLACES_AT_ONCE) break
  }
  return places === 0 ? '' : digest.digest('hex').slice(0, 16)
}

async function readPlaces(sql: Sql): Promise<IndexedPlace[]> {
  const indexed: IndexedPlace[] = []
  for (let last = 0; ; ) {
    const places = await sql.all<Omit<IndexedPlace, 'names'>>(
      `SELECT p.id, p.kind, n.name, p.country_code AS "countryCode", p.adm1_code AS "adm1Code", p.population,
         coalesce(p.extra::json ->> 'feature' = 'PPLC', false) AS "isCapital"
       FROM places p JOIN place_names n ON n.id = p.canonical_name_id
       WHERE p.id > $1 AND p.status = 'current' ORDER BY p.id LIMIT $2`,
      [last, PLACES_AT_ONCE],
    )
    const [first, end] = [places[0], places.at(-1)]
    if (first === undefined || end === undefined) return indexed
    const names = await sql.all<NameRow>(
      `SELECT place_id AS place, name, lang, name_kind AS kind, is_preferred AS "isPreferred"
       FROM place_names WHERE place_id BETWEEN $1 AND $2 ORDER BY id`,
      [first.id, end.id],
    )
    const grouped = Map.groupBy(names, ({ place }) => place)
    for (const place of places) {
      const rows = grouped.get(place.id) ?? []
      indexed.push({ ...place, names: rows.map(({ place: _, lang, ...name }) => ({ ...name, lang: lang || null })) })
    }
    last = end.id
  }
}
