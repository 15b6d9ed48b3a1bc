import type { PlaceHubs } from '../../library/place-hubs.ts'
import type { Database, Write } from './database.ts'

/** Prepares what is kept there. */
export function createPlaceHubs(_db: Database, _write: Write): PlaceHubs {
  return {} as PlaceHubs
}
