import type { Database, Write } from '../../../store/sqlite/database/database.ts'
import type { PlaceTables } from '../../ports/places-library.ts'
import { createAnalyses } from './analyses.ts'
import { createGazetteer } from './gazetteer.ts'
import { createPlaceHubs } from './place-hubs.ts'
import { createPlanMemory } from './plan-memory.ts'

/** Creates the queries of all tables of places. */
export function createPlaceTables(db: Database, write: Write): PlaceTables {
  return {
    gazetteer: createGazetteer(db, write),
    analyses: createAnalyses(db, write),
    placeHubs: createPlaceHubs(db, write),
    planMemory: createPlanMemory(db, write),
  }
}
