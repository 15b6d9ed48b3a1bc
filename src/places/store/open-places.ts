import type { CrawlPlans } from '../../library/ports/crawl-plans.ts'
import type { PostgresStore } from '../../store/postgres/store.ts'
import type { SqliteStore } from '../../store/sqlite/store.ts'
import { EMPTY_MATCHER, type PlaceMatcher } from '../analysis/matcher.ts'
import type { Gazetteer } from '../ports/gazetteer.ts'
import type { Places, PlaceTables } from '../ports/places-library.ts'

/** Opens the places of a library, on the database of its store. */
export async function openPlaces(store: SqliteStore | PostgresStore): Promise<Places> {
  const tables = await openPlaceTables(store)
  const { gazetteer, analyses, placeHubs, planMemory } = tables
  const openMatcher = createMatcherOpener(gazetteer)
  return {
    ...tables,
    openPlaces: openMatcher,
    plans: createPlans(tables, openMatcher),
    findings: {
      readAnalysis: analyses.read,
      readDomain: analyses.readDomain,
      findHub: placeHubs.find,
      findVerdict: placeHubs.findVerdict,
      readCoverage: async (host) =>
        (await planMemory.readPatterns(host)).length === 0 ? undefined : placeHubs.coverage(host),
    },
  }
}

/** Creates the plans of crawls from their memory and the places. */
export function createPlans(
  { gazetteer, planMemory }: Pick<PlaceTables, 'gazetteer' | 'planMemory'>,
  openMatcher: () => Promise<PlaceMatcher>,
): CrawlPlans {
  return {
    createPlanner: async (crawl) => {
      // Loaded with the first planned crawl.
      const { createPlanner } = await import('../plan/create-planner.ts')
      return createPlanner({ ...crawl, memory: planMemory, places: await openMatcher() })
    },
    hasPlaces: async () => (await gazetteer.revision()) !== '',
    readMilestones: planMemory.readMilestones,
    writeMilestones: planMemory.writeMilestones,
  }
}

/** Opens the tables of places. Loads only those of the database in use. */
export async function openPlaceTables({ access }: SqliteStore | PostgresStore): Promise<PlaceTables> {
  if (access.type === 'sqlite') {
    const { createPlaceTables } = await import('./sqlite/place-tables.ts')
    return createPlaceTables(access.db, access.write)
  }
  const { createPlaceTables } = await import('./postgres/place-tables.ts')
  return createPlaceTables(access.db)
}

/**
 * Reads the names of the gazetteer on first use, and again after a change. An index of another version, or a damaged one, is rebuilt. If
 * that fails, no places are found until the gazetteer changes.
 */
function createMatcherOpener(gazetteer: Gazetteer): () => Promise<PlaceMatcher> {
  let opened: { readonly revision: string; readonly places: PlaceMatcher } = { revision: '', places: EMPTY_MATCHER }
  return async () => {
    const revision = await gazetteer.revision()
    if (opened.revision === revision) return opened.places
    let places = await openNameIndex(gazetteer)
    if (places === undefined) {
      // Rebuilding the index fails in a read-only library.
      await gazetteer.indexNames().catch(() => undefined)
      places = await openNameIndex(gazetteer)
    }
    opened = { revision: await gazetteer.revision(), places: places ?? EMPTY_MATCHER }
    return opened.places
  }
}

/** Opens the stored index of names; undefined if it cannot be read. */
async function openNameIndex(gazetteer: Gazetteer): Promise<PlaceMatcher | undefined> {
  const index = await gazetteer.readIndex()
  if (index === undefined) return undefined
  // Loaded with the first names, because a search needs no place matcher.
  const { openPlaceMatcher } = await import('../analysis/open-matcher.ts')
  try {
    const places = openPlaceMatcher(index)
    return places.revision === '' ? undefined : places
  } catch {
    return undefined
  }
}
