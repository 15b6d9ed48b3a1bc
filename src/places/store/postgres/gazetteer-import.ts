import type { Database, Sql } from '../../../store/postgres/database/database.ts'
import { lock } from '../../../store/postgres/database/locks.ts'
import { writePostgresJson } from '../../../store/postgres/database/postgres-json.ts'
import type { PlaceRecord } from '../../analysis/place.ts'
import type { GazetteerSource, SourcedPlace } from '../../ports/gazetteer.ts'
import { type ImportOutcome, type ImportPlaces, ImportTally, type ParentRefs } from '../common/import-tally.ts'
import { digestOf, distinctNames, FACT_COLUMNS, type NormalizedName, toFactValues } from '../common/place-facts.ts'
import { scriptOf } from '../common/script-of.ts'
import { listCyclicParents, PlaceLinks } from './gazetteer-hierarchy.ts'
import { updateNameIndex } from './gazetteer-index.ts'

/** Number of records per transaction. */
const RECORDS_AT_ONCE = 1000

/** A record cannot be stored; the message says why. */
class RecordRefusedError extends Error {}

/**
 * Imports records. Unchanged records are skipped, so an interrupted import continues where it stopped, and an import of unchanged
 * records changes nothing.
 */
export function createImport(db: Database): ImportPlaces {
  return async (places, now, signal) => {
    const tally = new ImportTally()
    const importBatch = async (batch: readonly SourcedPlace[]): Promise<void> => {
      signal?.throwIfAborted()
      tally.addOutcomes(batch, await writeBatch(db, batch))
    }
    let batch: SourcedPlace[] = []
    for await (const place of places) {
      batch.push(place)
      if (batch.length < RECORDS_AT_ONCE) continue
      await importBatch(batch)
      batch = []
    }
    if (batch.length > 0) await importBatch(batch)
    const { unlinked } = tally
    await linkLateParents(db, unlinked, signal)
    for (const [i, cyclicParent] of (await listCyclicParents(db, unlinked)).entries()) {
      if (cyclicParent === undefined) continue
      const ref = unlinked[i]?.ref
      tally.addProblem(`${ref}: it cannot lie in ${cyclicParent}, because ${cyclicParent} lies in ${ref}`)
    }
    await db.transaction(async (sql) => {
      for (const source of tally.sources.values()) await writeSource(sql, source, now)
    })
    await updateNameIndex(db, signal)
    return tally.result
  }
}

/**
 * Writes a batch in one transaction. If a record is refused, the batch is rolled back and each record is written on its own, which is
 * slower.
 */
async function writeBatch(db: Database, batch: readonly SourcedPlace[]): Promise<ImportOutcome[]> {
  const begin = (sql: Sql) => lock(sql, 'gazetteer')
  try {
    return await db.transaction(async (sql) => {
      await begin(sql)
      return writeRecords(sql, batch)
    })
  } catch (error) {
    if (!isRefusal(error)) throw error
  }
  return db.transaction(async (sql) => {
    await begin(sql)
    const outcomes: ImportOutcome[] = []
    for (const place of batch) outcomes.push(await writeSingle(sql, place))
    return outcomes
  })
}

async function writeSingle(sql: Sql, place: SourcedPlace): Promise<ImportOutcome> {
  await sql.run('SAVEPOINT record')
  try {
    const [outcome] = await writeRecords(sql, [place])
    await sql.run('RELEASE SAVEPOINT record')
    if (outcome === undefined) throw new TypeError('a record has no outcome')
    return outcome
  } catch (error) {
    if (!isRefusal(error)) throw error
    await sql.run('ROLLBACK TO SAVEPOINT record')
    return { status: 'refused', names: 0, problem: `${place.record.ref}: ${describe(error)}`, hasMissingParent: false }
  }
}

/** A record with the stored state of its place. */
interface PlaceDraft {
  readonly record: PlaceRecord
  readonly source: string
  readonly names: readonly NormalizedName[]
  readonly canonical: NormalizedName
  readonly digest: Buffer
  readonly known: KnownPlace | undefined
  readonly id: number
}

interface KnownPlace {
  readonly id: number
  readonly ref: string
  readonly source: string
  readonly digest: Buffer | null
}

async function writeRecords(sql: Sql, batch: readonly SourcedPlace[]): Promise<ImportOutcome[]> {
  const drafts = await draftAll(sql, batch)
  const isCurrent = ({ known, digest }: PlaceDraft) => known?.digest?.equals(digest) === true
  const draftsToWrite = drafts.filter((draft) => !isCurrent(draft))
  const links = new PlaceLinks(sql)
  await links.prepare(drafts.map(({ record }) => record))
  const takenId = await findTakenId(sql, draftsToWrite)
  await writePlaces(sql, draftsToWrite)
  await writeNames(sql, draftsToWrite)
  if (takenId !== undefined) throw new RecordRefusedError(`${takenId.source} ${takenId.id} is another place`)
  await writeExternalIds(sql, draftsToWrite)
  const outcomes: ImportOutcome[] = []
  for (const draft of drafts) {
    const { isChanged, hasMissingParent } = await links.put(draft.id, draft.record, draft.known === undefined)
    const status = isCurrent(draft) ? (isChanged ? 'changed' : 'kept') : draft.known === undefined ? 'added' : 'changed'
    outcomes.push({ status, names: draft.names.length, problem: null, hasMissingParent })
  }
  await links.flush()
  return outcomes
}

async function draftAll(sql: Sql, batch: readonly SourcedPlace[]): Promise<PlaceDraft[]> {
  const found = await sql.all<KnownPlace>('SELECT id, ref, source, digest FROM places WHERE ref = ANY ($1)', [
    batch.map(({ record }) => record.ref),
  ])
  const known = new Map(found.map((place) => [place.ref, place]))
  let last = await lastNumber(sql, 'places')
  const seen = new Set<string>()
  return batch.map(({ record, source }) => {
    // A record that comes twice is an update the second time, so the batch is written record by record.
    if (seen.has(record.ref)) throw new RecordRefusedError('it occurs twice')
    seen.add(record.ref)
    const names = distinctNames(record)
    const canonical = names.find(({ isPreferred }) => isPreferred) ?? names[0]
    if (canonical === undefined) throw new RecordRefusedError('it has no name')
    const knownPlace = known.get(record.ref)
    const id = knownPlace?.id ?? ++last
    return { record, source: source.name, names, canonical, digest: digestOf(record, names), known: knownPlace, id }
  })
}

/** The last number in use. Imports are serialized, so numbers follow the order of records. */
async function lastNumber(sql: Sql, table: 'places' | 'place_names'): Promise<number> {
  const found = await sql.get<{ last: number }>(`SELECT coalesce(max(id), 0) AS last FROM ${table}`)
  return found?.last ?? 0
}

/** SQL types of the columns of {@link FACT_COLUMNS}. */
const FACT_TYPES: Readonly<Partial<Record<(typeof FACT_COLUMNS)[number], string>>> = {
  population: 'bigint',
  lat: 'float8',
  lng: 'float8',
  digest: 'bytea',
}

async function writePlaces(sql: Sql, drafts: readonly PlaceDraft[]): Promise<void> {
  if (drafts.length === 0) return
  const facts = drafts.map(({ record, canonical, digest }) => toFactValues(record, canonical.normalized, digest))
  const extra = drafts.map(({ record }) => (record.extra === null ? null : writePostgresJson(record.extra)))
  const columns = FACT_COLUMNS.map((column, i) => (column === 'extra' ? extra : facts.map((row) => row[i])))
  const types = FACT_COLUMNS.map((column, i) => `$${i + 4}::${FACT_TYPES[column] ?? 'text'}[]`)
  await sql.run(
    `INSERT INTO places AS p (id, ref, source, ${FACT_COLUMNS.join(', ')})
     SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], ${types.join(', ')})
     ON CONFLICT (id) DO UPDATE SET ${FACT_COLUMNS.map((column) => `${column} = excluded.${column}`).join(', ')},
       canonical_name_id = NULL`,
    [
      drafts.map(({ id }) => id),
      drafts.map(({ record }) => record.ref),
      drafts.map(({ source }) => source),
      ...columns,
    ],
  )
  const changed = drafts.filter(({ known }) => known !== undefined).map(({ id }) => id)
  if (changed.length === 0) return
  for (const table of ['place_names', 'place_words', 'place_external_ids']) {
    await sql.run(`DELETE FROM ${table} WHERE place_id = ANY ($1)`, [changed])
  }
}

async function writeNames(sql: Sql, drafts: readonly PlaceDraft[]): Promise<void> {
  const entries = drafts.flatMap((draft) => draft.names.map((name) => ({ draft, name })))
  if (entries.length === 0) return
  const last = await lastNumber(sql, 'place_names')
  const numbers = entries.map((_, i) => last + 1 + i)
  await sql.run(
    `INSERT INTO place_names (id, place_id, name, normalized, lang, script, name_kind, is_preferred, is_official, source)
     SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bool[],
       $9::bool[], $10::text[])`,
    [
      numbers,
      entries.map(({ draft }) => draft.id),
      entries.map(({ name }) => name.name),
      entries.map(({ name }) => name.normalized),
      entries.map(({ name }) => name.lang ?? ''),
      entries.map(({ name }) => scriptOf(name.normalized)),
      entries.map(({ name }) => name.kind),
      entries.map(({ name }) => name.isPreferred),
      entries.map(({ name }) => name.isOfficial),
      // Null when the place already has this source.
      entries.map(({ draft: { known, source } }) => (known === undefined || known.source === source ? null : source)),
    ],
  )
  const canonical = entries.flatMap(({ draft, name }, i) =>
    name === draft.canonical ? [{ place: draft.id, name: numbers[i] ?? 0 }] : [],
  )
  await sql.run(
    `UPDATE places p SET canonical_name_id = c.name FROM unnest($1::bigint[], $2::bigint[]) AS c (place, name)
     WHERE p.id = c.place`,
    [canonical.map(({ place }) => place), canonical.map(({ name }) => name)],
  )
  const words = entries.flatMap(({ draft, name }) => {
    const [, ...others] = name.normalized.split(' ')
    return others.map((word) => ({ word, place: draft.id }))
  })
  await sql.run(
    'INSERT INTO place_words (word, place_id) SELECT * FROM unnest($1::text[], $2::bigint[]) ON CONFLICT DO NOTHING',
    [words.map(({ word }) => word), words.map(({ place }) => place)],
  )
}

type ExternalId = PlaceRecord['externalIds'][number]

async function writeExternalIds(sql: Sql, drafts: readonly PlaceDraft[]): Promise<void> {
  const entries = drafts.flatMap(({ id: place, record }) =>
    record.externalIds.map((externalId) => ({ ...externalId, place })),
  )
  if (entries.length === 0) return
  // The same id may occur twice.
  await sql.run(
    `INSERT INTO place_external_ids (source, ext_id, place_id) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
     ON CONFLICT DO NOTHING`,
    [entries.map(({ source }) => source), entries.map(({ id }) => id), entries.map(({ place }) => place)],
  )
}

/** The first external id that belongs to another place, as if the records were written one after the other. */
async function findTakenId(sql: Sql, drafts: readonly PlaceDraft[]): Promise<ExternalId | undefined> {
  const externalIds = drafts.flatMap(({ record }) => record.externalIds)
  const found = await sql.all<ExternalId & { place: number }>(
    `SELECT e.source, e.ext_id AS id, e.place_id AS place FROM place_external_ids e
     WHERE (e.source, e.ext_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
    [externalIds.map(({ source }) => source), externalIds.map(({ id }) => id)],
  )
  const keyOf = (externalId: ExternalId) => JSON.stringify([externalId.source, externalId.id])
  const owners = new Map(found.map((externalId) => [keyOf(externalId), externalId.place]))
  const idsByPlace = Map.groupBy(found, ({ place }) => place)
  for (const { id, record } of drafts) {
    // The ids of the record itself are replaced.
    for (const externalId of idsByPlace.get(id) ?? []) owners.delete(keyOf(externalId))
    for (const externalId of record.externalIds) {
      if ((owners.get(keyOf(externalId)) ?? id) !== id) return externalId
      owners.set(keyOf(externalId), id)
    }
  }
  return undefined
}

/** Links records whose parents were imported after them. Repeats while links change, because each place may be a parent of others. */
async function linkLateParents(
  db: Database,
  unlinked: readonly ParentRefs[],
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let isChanged = unlinked.length > 0; isChanged; ) {
    isChanged = false
    for (let done = 0; done < unlinked.length; done += RECORDS_AT_ONCE) {
      signal?.throwIfAborted()
      const batch = unlinked.slice(done, done + RECORDS_AT_ONCE)
      isChanged = (await db.transaction((sql) => linkBatch(sql, batch))) || isChanged
    }
  }
}

async function linkBatch(sql: Sql, records: readonly ParentRefs[]): Promise<boolean> {
  await lock(sql, 'gazetteer')
  const found = await sql.all<{ id: number; ref: string }>('SELECT id, ref FROM places WHERE ref = ANY ($1)', [
    records.map(({ ref }) => ref),
  ])
  const ids = new Map(found.map(({ id, ref }) => [ref, id]))
  const links = new PlaceLinks(sql)
  await links.prepare(records)
  let isChanged = false
  for (const record of records) {
    const id = ids.get(record.ref)
    if (id !== undefined && (await links.put(id, record, false)).isChanged) isChanged = true
  }
  await links.flush()
  return isChanged
}

async function writeSource(sql: Sql, source: GazetteerSource, now: number): Promise<void> {
  const { name, version, license, attribution, url } = source
  await sql.run(
    `INSERT INTO place_sources AS s (name, version, license, attribution, url, imported_at, places)
     SELECT $1, $2, $3, $4, $5, $6, count(*) FROM places WHERE source = $1
     ON CONFLICT (name) DO UPDATE SET version = excluded.version, license = excluded.license,
       attribution = excluded.attribution, url = excluded.url, imported_at = excluded.imported_at, places = excluded.places
     WHERE s.version <> excluded.version OR s.license <> excluded.license OR s.attribution <> excluded.attribution
       OR s.url IS DISTINCT FROM excluded.url OR s.places <> excluded.places`,
    [name, version, license, attribution, url, now],
  )
}

/** SQLSTATE classes for invalid values and violated constraints. */
const REFUSAL_CODES = /^2[23]/
/** SQLSTATE for a text that is too long for an index. */
const TOO_LONG = '54000'

/** Whether an error is about the record itself: found by the import, or by the database. */
function isRefusal(error: unknown): error is Error {
  if (error instanceof RecordRefusedError) return true
  return (
    error instanceof Error && 'code' in error && (REFUSAL_CODES.test(String(error.code)) || error.code === TOO_LONG)
  )
}

/** Messages for the table constraints. */
const CONSTRAINT_MESSAGES: Readonly<Record<string, string>> = {
  place_1_kind: 'a place is a country, region, city, poi or supranational',
  place_2_status: 'a place is current or historical',
  place_3_latitude: 'a latitude is between -90 and 90',
  place_4_longitude: 'a longitude is between -180 and 180',
  place_5_population: 'a population is not negative',
  place_6_codes: 'codes are written in capitals',
  name_1_text: 'a name is not empty',
  name_2_kind: 'a name is an endonym, exonym, alias, abbrev, official, common or demonym',
  place_within_others: 'a place does not lie in itself',
}

function describe(error: Error): string {
  if ('code' in error && error.code === TOO_LONG) return 'one of its names or ids is too long'
  return ('constraint' in error ? CONSTRAINT_MESSAGES[String(error.constraint)] : undefined) ?? error.message
}
