import type { Gazetteer } from '../../library/gazetteer.ts'
import type { Database, Write } from './database.ts'

/** Prepares what is kept there. */
export function createGazetteer(_db: Database, _write: Write): Gazetteer {
  return {} as Gazetteer
}
