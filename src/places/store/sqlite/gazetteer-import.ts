import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Write } from '../../../store/sqlite/database/database.ts'
import type { PlaceRecord } from '../../analysis/place.ts'
import type { GazetteerSource, SourcedPlace } from '../../ports/gazetteer.ts'
import { type ImportOutcome, type ImportPlaces, ImportTally, type ParentRefs } from '../common/import-tally.ts'
import { digestOf, distinctNames, FACT_COLUMNS, toFactValues } from '../common/place-facts.ts'
import { scriptOf } from '../common/script-of.ts'
import { createPlaceLinks } from './gazetteer-hierarchy.ts'
import { createNameIndexUpdater } from './gazetteer-index.ts'

/** Batch size for reading records. */
const RECORDS_AT_ONCE = 2000
/** Maximum duration of a transaction; the commit adds about half. */
const MAX_TRANSACTION_MS = 180
/** Pause between transactions that lets other writers in. */
const PAUSE_MS = 10
/** Page cache for an import, in KiB: its index writes are spread over the file, and the normal cache is too small for them. */
const IMPORT_CACHE_KIB = 128 * 1024

/** A record cannot be stored; the message says why. */
class RecordRefusedError extends Error {}

/**
 * Creates the import. Unchanged records are skipped, so an interrupted import continues where it stopped, and an import of unchanged
 * records changes nothing.
 */
export function createImport(db: Database, write: Write): ImportPlaces {
  const writer = createRecordWriter(db)
  const indexing = createNameIndexUpdater(db, write)
  const countPlaces = db.prepare<[string], number>('SELECT count(*) FROM places WHERE source = ?').pluck()
  const upsertSource = db.prepare<[GazetteerSource & { now: number; places: number }]>(
    `INSERT INTO place_sources (name, version, license, attribution, url, imported_at, places)
     VALUES (@name, @version, @license, @attribution, @url, @now, @places)
     ON CONFLICT DO UPDATE SET version = excluded.version, license = excluded.license, attribution = excluded.attribution,
       url = excluded.url, imported_at = excluded.imported_at, places = excluded.places
     WHERE version <> excluded.version OR license <> excluded.license OR attribution <> excluded.attribution
       OR url IS NOT excluded.url OR places <> excluded.places`,
  )

  return async (places, now, signal) => {
    const tally = new ImportTally()
    const importBatch = async (batch: readonly SourcedPlace[]): Promise<void> => {
      for (let done = 0; done < batch.length; ) {
        signal?.throwIfAborted()
        const outcomes = await write(() => writer.writeSome(batch, done)).catch((error: unknown) => {
          if (!isRefusal(error)) throw error
          // The batch was rolled back, so each record is now written on its own, which is slower.
          return write(() => writer.writeEach(batch, done))
        })
        tally.addOutcomes(batch.slice(done), outcomes)
        done += outcomes.length
        await sleep(PAUSE_MS)
      }
    }
    /** Links records whose parents were imported after them. Repeats while links change, because each place may be a parent of others. */
    const linkUnlinked = async (): Promise<void> => {
      const { unlinked } = tally
      for (let isChanged = unlinked.length > 0; isChanged; ) {
        isChanged = false
        for (let done = 0; done < unlinked.length; ) {
          signal?.throwIfAborted()
          const outcomes = await write(() => writer.linkSome(unlinked, done))
          isChanged ||= outcomes.includes(true)
          done += outcomes.length
          await sleep(PAUSE_MS)
        }
      }
      for (const record of unlinked) tally.addProblem(writer.explainMissingParent(record))
    }
    const cacheBefore = Number(db.pragma('cache_size', { simple: true }))
    db.pragma(`cache_size = -${IMPORT_CACHE_KIB}`)
    try {
      let batch: SourcedPlace[] = []
      for await (const place of places) {
        batch.push(place)
        if (batch.length < RECORDS_AT_ONCE) continue
        await importBatch(batch)
        batch = []
      }
      await importBatch(batch)
      await linkUnlinked()
      await write(() => {
        for (const source of tally.sources.values()) {
          upsertSource.run({ ...source, now, places: countPlaces.get(source.name) ?? 0 })
        }
      })
      await indexing.update(signal)
    } finally {
      db.pragma(`cache_size = ${cacheBefore}`)
    }
    return tally.result
  }
}

interface RecordWriter {
  /** Writes records, starting at an index, until the time limit: at least one. Throws when a record is refused. */
  writeSome(places: readonly SourcedPlace[], from: number): readonly ImportOutcome[]
  /** Like `writeSome`, but skips refused records. */
  writeEach(places: readonly SourcedPlace[], from: number): readonly ImportOutcome[]
  /** Links stored records to the existing places; tells for each whether anything changed. */
  linkSome(records: readonly ParentRefs[], from: number): readonly boolean[]
  /** Why an existing place cannot be a parent of a record; null when it can, or when it does not exist. */
  explainMissingParent(record: ParentRefs): string | null
}

function createRecordWriter(db: Database): RecordWriter {
  const sql = prepareRecords(db)
  const links = createPlaceLinks(db)

  /** Writes one record. The caller must roll back a refused record, which may be half-written. */
  const writeRecord = (record: PlaceRecord, source: string): ImportOutcome => {
    const names = distinctNames(record)
    const canonical = names.find(({ isPreferred }) => isPreferred) ?? names[0]
    if (canonical === undefined) throw new RecordRefusedError('it has no name')
    const digest = digestOf(record, names)
    const known = sql.selectPlace.get(record.ref)
    if (known?.digest?.equals(digest) === true) {
      const { isChanged, hasMissingParent } = links.put(known.id, record)
      return { status: isChanged ? 'changed' : 'kept', names: names.length, problem: null, hasMissingParent }
    }
    const facts = toFactValues(record, canonical.normalized, digest)
    if (known !== undefined) sql.updatePlace.run(...facts, known.id)
    const id = known?.id ?? Number(sql.insertPlace.run(...facts, record.ref, source).lastInsertRowid)
    if (known !== undefined) {
      for (const clear of sql.clearing) clear.run(id)
    }
    const nameSource = known === undefined || known.source === source ? null : source
    writeNames(sql, id, names, canonical, nameSource)
    for (const { source: externalSource, id: external } of record.externalIds) {
      const owner = sql.selectExternal.get(externalSource, external)
      if (owner === id) continue
      if (owner !== undefined) throw new RecordRefusedError(`${externalSource} ${external} is another place`)
      sql.insertExternal.run(externalSource, external, id)
    }
    const { hasMissingParent } = known === undefined ? links.putNew(id, record) : links.put(id, record)
    return { status: known === undefined ? 'added' : 'changed', names: names.length, problem: null, hasMissingParent }
  }
  // Nested in a transaction, this is a savepoint, which undoes the writes of a refused record.
  const writeWithSavepoint = db.transaction(writeRecord)
  const runForWhile = <T, R>(items: readonly T[], from: number, work: (item: T) => R): R[] => {
    links.clearCache()
    const began = performance.now()
    const outcomes: R[] = []
    for (let i = from; i < items.length && performance.now() - began < MAX_TRANSACTION_MS; i++) {
      const item = items[i]
      if (item !== undefined) outcomes.push(work(item))
    }
    return outcomes
  }

  return {
    writeSome: (places, from) => runForWhile(places, from, ({ record, source }) => writeRecord(record, source.name)),
    writeEach: (places, from) =>
      runForWhile(places, from, ({ record, source }) => {
        try {
          return writeWithSavepoint(record, source.name)
        } catch (error) {
          if (!isRefusal(error)) throw error
          links.clearCache()
          return { status: 'refused', names: 0, problem: `${record.ref}: ${error.message}`, hasMissingParent: false }
        }
      }),
    linkSome: (records, from) =>
      runForWhile(records, from, (record) => {
        const id = sql.selectPlace.get(record.ref)?.id
        return id !== undefined && links.put(id, record).isChanged
      }),
    explainMissingParent: (record) => {
      const cyclicParent = links.findCyclicParent(record)
      if (cyclicParent === undefined) return null
      return `${record.ref}: it cannot lie in ${cyclicParent}, because ${cyclicParent} lies in ${record.ref}`
    },
  }
}

function writeNames(
  sql: ReturnType<typeof prepareRecords>,
  id: number,
  names: ReturnType<typeof distinctNames>,
  canonical: (typeof names)[number],
  nameSource: string | null,
): void {
  const words = new Set<string>()
  for (const placeName of names) {
    const { name, normalized, lang, kind: nameKind, isPreferred, isOfficial } = placeName
    const flags = [isPreferred ? 1 : 0, isOfficial ? 1 : 0]
    const row = sql.insertName.run(
      id,
      name,
      normalized,
      lang ?? '',
      scriptOf(normalized),
      nameKind,
      ...flags,
      nameSource,
    )
    if (placeName === canonical) sql.setCanonical.run(row.lastInsertRowid, id)
    const [, ...others] = normalized.split(' ')
    for (const word of others) words.add(word)
  }
  for (const word of words) sql.insertWord.run(word, id)
}

/** The statements that write a record. */
function prepareRecords(db: Database) {
  return {
    selectPlace: db.prepare<[string], { id: number; source: string; digest: Buffer | null }>(
      'SELECT id, source, digest FROM places WHERE ref = ?',
    ),
    // Positional parameters, because binding by name takes longer than writing the row.
    insertPlace: db.prepare(
      `INSERT INTO places (${FACT_COLUMNS.join(', ')}, ref, source) VALUES (${FACT_COLUMNS.map(() => '?').join(', ')}, ?, ?)`,
    ),
    updatePlace: db.prepare(
      `UPDATE places SET ${FACT_COLUMNS.map((column) => `${column} = ?`).join(', ')}, canonical_name_id = NULL WHERE id = ?`,
    ),
    setCanonical: db.prepare('UPDATE places SET canonical_name_id = ? WHERE id = ?'),
    insertName: db.prepare(
      `INSERT INTO place_names (place_id, name, normalized, lang, script, name_kind, is_preferred, is_official, source)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    insertWord: db.prepare('INSERT OR IGNORE INTO place_words VALUES (?, ?)'),
    insertExternal: db.prepare('INSERT INTO place_external_ids VALUES (?, ?, ?)'),
    selectExternal: db
      .prepare<[string, string], number>('SELECT place_id FROM place_external_ids WHERE source = ? AND ext_id = ?')
      .pluck(),
    clearing: ['place_names', 'place_words', 'place_external_ids'].map((table) =>
      db.prepare(`DELETE FROM ${table} WHERE place_id = ?`),
    ),
  }
}

/** Whether an error is about the record itself: found by the import, or by a table constraint. */
function isRefusal(error: unknown): error is Error {
  if (error instanceof RecordRefusedError) return true
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_CONSTRAINT')
}
