import { parseStored } from '../../../store/common/damage.ts'
import type { Place, PlaceRecord } from '../../analysis/place.ts'
import type { GazetteerSource, PlaceQuery, SourcedPlace } from '../../ports/gazetteer.ts'

/** The columns of a place. */
export interface PlaceColumns extends Omit<Place, 'bbox' | 'extra'> {
  readonly bbox: string | null
  readonly extra: string | null
}

type SortColumn = readonly [column: string, isAscending: boolean]

/** The sort orders of place lists; each one matches an index. */
const ORDERS: Readonly<Record<NonNullable<PlaceQuery['sort']>, readonly SortColumn[]>> = {
  name: [['sort_name', true]],
  population: [['population', false]],
  country: [
    ['country_code', true],
    ['kind', true],
    ['population', false],
  ],
  kind: [
    ['kind', true],
    ['population', false],
  ],
}

/** The ORDER BY columns of a place list. */
export function writeOrder({ sort = 'population', order }: PlaceQuery): string {
  const columns = ORDERS[sort]
  const isReversed = order !== undefined && (order === 'ascending') !== columns[0]?.[1]
  const write = ([column, isAscending]: SortColumn): string =>
    `p.${column} ${isAscending === isReversed ? 'DESC' : 'ASC'}`
  return [...columns, ['id', true] as const].map(write).join(', ')
}

/** Converts a stored place. */
export function toPlace({ bbox, extra, ...place }: PlaceColumns): Place {
  // Both JSON texts were written by the import.
  return {
    ...place,
    bbox: bbox === null ? null : parseStored<Place['bbox']>(bbox),
    extra: extra === null ? null : parseStored<Place['extra']>(extra),
  }
}

/** Adds the same data source to all places. */
export async function* fromSource(
  records: Iterable<PlaceRecord> | AsyncIterable<PlaceRecord>,
  source: GazetteerSource,
): AsyncGenerator<SourcedPlace> {
  for await (const record of records) yield { record, source }
}
