import { createHash } from 'node:crypto'
import type { Database, Write } from '../../../store/sqlite/database/database.ts'
import type { IndexedPlace } from '../../analysis/name-forms.ts'
import { INDEX_VERSION } from '../../analysis/name-index.ts'
import type { NameKind } from '../../analysis/place.ts'
import { writeNameIndex } from '../../analysis/write-name-index.ts'

/** Batch size for reading places: one long read would keep the write-ahead log from being truncated. */
const PLACES_AT_ONCE = 2000

/** Maintains the name index, which matching reads. */
export interface NameIndexUpdater {
  /** Rebuilds the index when the places or the format of the index changed, or when forced. */
  update(signal: AbortSignal | undefined, isForced?: boolean): Promise<void>
}

interface PlaceRow extends Omit<IndexedPlace, 'names' | 'isCapital'> {
  /** 1 when GeoNames marks the place as the capital of a country. */
  readonly capital: number
}

interface NameRow {
  readonly place: number
  readonly id: number
  readonly name: string
  readonly lang: string
  readonly kind: NameKind
  readonly isPreferred: number
}

/** Creates the statements for the name index. */
export function createNameIndexUpdater(db: Database, write: Write): NameIndexUpdater {
  const selectState = db.prepare<[], { revision: string; hasIndex: number }>(
    'SELECT revision, name_index IS NOT NULL AS hasIndex FROM gazetteer_state',
  )
  const updateState = db.prepare<[string, Uint8Array | null]>('UPDATE gazetteer_state SET revision = ?, name_index = ?')
  const selectPlaces = db.prepare<[number], PlaceRow>(
    `SELECT p.id, p.kind, n.name, p.country_code AS countryCode, p.adm1_code AS adm1Code, p.population,
       p.extra ->> '$.feature' IS 'PPLC' AS capital
     FROM places p JOIN place_names n ON n.id = p.canonical_name_id
     WHERE p.id > ? AND p.status = 'current' ORDER BY p.id LIMIT ${PLACES_AT_ONCE}`,
  )
  const selectNames = db.prepare<[number, number], NameRow>(
    `SELECT place_id AS place, id, name, lang, name_kind AS kind, is_preferred AS isPreferred
     FROM place_names WHERE place_id BETWEEN ? AND ?`,
  )

  function* readPlaces(): Generator<IndexedPlace> {
    for (let last = 0; ; ) {
      const places = selectPlaces.all(last)
      const [first, end] = [places[0], places.at(-1)]
      if (first === undefined || end === undefined) return
      const names = Map.groupBy(selectNames.all(first.id, end.id), ({ place }) => place)
      for (const { capital, ...place } of places)
        yield { ...place, isCapital: capital === 1, names: (names.get(place.id) ?? []).sort(byId).map(toName) }
      last = end.id
    }
  }

  return {
    async update(signal, isForced = false) {
      const revision = readRevision(db)
      const state = selectState.get()
      const isUpToDate = state?.revision === revision && (state.hasIndex === 1 || revision === '')
      if (isUpToDate && !isForced) return
      signal?.throwIfAborted()
      // Building the index only reads places, so other writers do not wait.
      const index = revision === '' ? null : writeNameIndex(readPlaces(), revision)
      signal?.throwIfAborted()
      await write(() => updateState.run(revision, index))
    },
  }
}

/** A digest of all places and of the index version; empty when there are no places. */
export function readRevision(db: Database): string {
  const digest = createHash('sha256').update(`index ${INDEX_VERSION}\n`)
  const selectDigests = db.prepare<[], Buffer | null>('SELECT digest FROM places ORDER BY id').pluck()
  let placeCount = 0
  for (const placeDigest of selectDigests.iterate()) {
    digest.update(placeDigest ?? '')
    placeCount++
  }
  return placeCount === 0 ? '' : digest.digest('hex').slice(0, 16)
}

function byId(a: NameRow, b: NameRow): number {
  return a.id - b.id
}

function toName({ name, lang, kind, isPreferred }: NameRow): IndexedPlace['names'][number] {
  return { name, lang: lang || null, kind, isPreferred: isPreferred === 1 }
}
