import type { Database } from '../../../store/postgres/database/database.ts'
import type { PlaceTables } from '../../ports/places-library.ts'
import { createAnalyses } from './analyses.ts'
import { createGazetteer } from './gazetteer.ts'
import { createPlaceHubs } from './place-hubs.ts'
import { createPlanMemory } from './plan-memory.ts'

/** Creates the queries of all tables of places. */
export function createPlaceTables(db: Database): PlaceTables {
  return {
    gazetteer: createGazetteer(db),
    analyses: createAnalyses(db),
    placeHubs: createPlaceHubs(db),
    planMemory: createPlanMemory(db),
  }
}
