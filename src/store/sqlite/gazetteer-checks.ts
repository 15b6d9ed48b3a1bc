import { setImmediate as pause } from 'node:timers/promises'
import { normalizeName } from '../../analysis/place.ts'
import type { Gazetteer, GazetteerIssue } from '../../library/gazetteer.ts'
import type { Database } from './database.ts'
import { readRevision } from './gazetteer-index.ts'

/** Places that are named with an issue. */
const MAX_EXAMPLES = 10

/** So many names are compared at a time. */
const NAMES_AT_ONCE = 20_000

/** Something that is looked for: a query that gives the ids of the places it is wrong with. */
interface Check {
  readonly kind: string
  readonly message: string
  readonly places: string
}

/** What the tables themselves refuse or keep, unless somebody wrote to them by other means. */
const RULES: readonly Check[] = [
  {
    kind: 'no-names',
    message: 'places without any name',
    places: 'SELECT id FROM places WHERE NOT EXISTS (SELECT 1 FROM place_names n WHERE n.place_id = places.id)',
  },
  {
    kind: 'no-canonical-name',
    message: 'places that are shown by a name they do not have',
    places: `SELECT id FROM places WHERE NOT EXISTS
      (SELECT 1 FROM place_names n WHERE n.id = places.canonical_name_id AND n.place_id = places.id)`,
  },
  {
    kind: 'official-canonical-name',
    message: 'places that are shown by their official name, though they have another one',
    places: `SELECT p.id FROM places p JOIN place_names n ON n.id = p.canonical_name_id WHERE n.name_kind = 'official'
      AND EXISTS (SELECT 1 FROM place_names o WHERE o.place_id = p.id AND o.name_kind IN ('common', 'endonym'))`,
  },
  {
    kind: 'unknown-kind',
    message: 'places of no known kind or status',
    places: `SELECT id FROM places WHERE kind NOT IN ('country', 'region', 'city', 'poi', 'supranational')
      OR status NOT IN ('current', 'historical')`,
  },
  {
    kind: 'off-the-map',
    message: 'places with coordinates that there are not, or with fewer people than none',
    places: 'SELECT id FROM places WHERE lat NOT BETWEEN -90 AND 90 OR lng NOT BETWEEN -180 AND 180 OR population < 0',
  },
  {
    kind: 'code-in-small-letters',
    message: 'places with a code that is not in capitals',
    places: `SELECT id FROM places WHERE country_code <> upper(country_code) OR adm1_code <> upper(adm1_code)
      OR adm2_code <> upper(adm2_code)`,
  },
  {
    kind: 'lost-name',
    message: 'names of places that are not there',
    places: 'SELECT DISTINCT place_id FROM place_names WHERE place_id NOT IN (SELECT id FROM places)',
  },
  {
    kind: 'lost-relation',
    message: 'relations with places that are not there, or of a place with itself',
    places: `SELECT child FROM place_hierarchy WHERE parent = child OR parent NOT IN (SELECT id FROM places)
      OR child NOT IN (SELECT id FROM places)`,
  },
  {
    kind: 'circle',
    message: 'places that lie in each other',
    places: `SELECT a.child FROM place_hierarchy a JOIN place_hierarchy b
      ON b.parent = a.child AND b.child = a.parent AND b.relation = a.relation`,
  },
  {
    kind: 'repeated-code',
    message: 'countries, or regions of one country, with the same code',
    places: `SELECT id FROM places WHERE kind = 'country' AND country_code IN
        (SELECT country_code FROM places WHERE kind = 'country' GROUP BY country_code HAVING count(*) > 1)
      UNION SELECT id FROM places WHERE kind = 'region' AND (country_code, adm1_code) IN
        (SELECT country_code, adm1_code FROM places WHERE kind = 'region' GROUP BY 1, 2 HAVING count(*) > 1)`,
  },
]

/** What is allowed and worth a look. */
const DOUBTS: readonly Check[] = [
  {
    kind: 'duplicate',
    message: 'cities of one region with the same name, less than about 5 km apart',
    places: `SELECT b.id FROM places a JOIN places b ON b.sort_name = a.sort_name AND b.id > a.id AND b.kind = 'city'
        AND b.country_code = a.country_code AND b.adm1_code IS a.adm1_code
      WHERE a.kind = 'city' AND abs(a.lat - b.lat) < 0.05 AND abs(a.lng - b.lng) < 0.05`,
  },
  {
    kind: 'no-population',
    message: 'cities whose people nobody has counted',
    places: `SELECT id FROM places WHERE kind = 'city' AND population IS NULL`,
  },
  {
    kind: 'no-coordinates',
    message: 'cities and countries that are nowhere on the map',
    places: `SELECT id FROM places WHERE kind IN ('city', 'country') AND (lat IS NULL OR lng IS NULL)`,
  },
  {
    kind: 'null-island',
    message: 'places at 0, 0, where there is only water',
    places: 'SELECT id FROM places WHERE lat = 0 AND lng = 0',
  },
  {
    kind: 'no-city',
    message: 'countries without any city',
    places: `SELECT id FROM places c WHERE kind = 'country' AND NOT EXISTS
      (SELECT 1 FROM places p WHERE p.country_code = c.country_code AND p.kind = 'city')`,
  },
  {
    kind: 'no-capital',
    message: 'countries whose capital is none of the cities',
    places: `SELECT id FROM places c WHERE kind = 'country' AND json_array_length(extra, '$.capital') > 0 AND NOT EXISTS
      (SELECT 1 FROM places p WHERE p.country_code = c.country_code AND p.kind = 'city' AND p.extra ->> 'feature' = 'PPLC')`,
  },
  {
    kind: 'no-english-name',
    message: 'countries without a name in English',
    places: `SELECT id FROM places WHERE kind = 'country' AND NOT EXISTS
      (SELECT 1 FROM place_names n WHERE n.place_id = places.id AND n.lang = 'en' AND n.name_kind <> 'demonym')`,
  },
  {
    kind: 'orphan',
    message: 'cities and regions that lie in nothing',
    places: `SELECT id FROM places WHERE kind IN ('city', 'region')
      AND NOT EXISTS (SELECT 1 FROM place_hierarchy h WHERE h.child = places.id)`,
  },
  {
    kind: 'unknown-country',
    message: 'places with the code of a country that is not there',
    places: `SELECT id FROM places WHERE country_code NOT IN
      (SELECT country_code FROM places WHERE kind = 'country' AND country_code IS NOT NULL)`,
  },
  {
    kind: 'unknown-region',
    message: 'cities with the code of a region that is not there',
    places: `SELECT id FROM places WHERE kind = 'city' AND adm1_code IS NOT NULL AND adm1_code <> '00'
      AND (country_code, adm1_code) NOT IN (SELECT country_code, adm1_code FROM places WHERE kind = 'region')`,
  },
  {
    kind: 'region-without-city',
    message: 'regions whose code no city has',
    places: `SELECT id FROM places WHERE kind = 'region' AND (country_code, adm1_code) NOT IN
      (SELECT country_code, adm1_code FROM places WHERE kind = 'city' AND adm1_code IS NOT NULL)`,
  },
]

/** Prepares the checks. Each is one query: even of a whole world it takes a few seconds at most. */
export function createChecks(db: Database): Pick<Gazetteer, 'validate' | 'inspect'> {
  const run = async (checks: readonly Check[], severity: GazetteerIssue['severity']): Promise<GazetteerIssue[]> => {
    const issues: GazetteerIssue[] = []
    for (const { kind, message, places } of checks) {
      const ids = db.prepare<[], number>(places).pluck().all()
      if (ids.length > 0) issues.push({ kind, severity, message, ...summarize(ids) })
      // Each is over soon; others have their turn in between.
      await pause()
    }
    return issues
  }
  const selectState = db.prepare<[], { revision: string; hasIndex: number }>(
    'SELECT revision, name_index IS NOT NULL AS hasIndex FROM gazetteer_state',
  )
  const selectNames = db.prepare<[number], { id: number; place: number; name: string; normalized: string }>(
    `SELECT id, place_id AS place, name, normalized FROM place_names WHERE id > ? ORDER BY id LIMIT ${NAMES_AT_ONCE}`,
  )
  const findMisspelt = async (): Promise<number[]> => {
    const found = new Set<number>()
    for (let last = 0; ; await pause()) {
      const some = selectNames.all(last)
      for (const { place, name, normalized } of some) if (normalizeName(name) !== normalized) found.add(place)
      last = some.at(-1)?.id ?? last
      if (some.length < NAMES_AT_ONCE) return [...found]
    }
  }

  return {
    async validate() {
      const issues = await run(RULES, 'error')
      const misspelt = await findMisspelt()
      if (misspelt.length > 0) {
        const message =
          'places with a name that is compared by another spelling than this program would: import them again'
        issues.push({ kind: 'outdated-name', severity: 'error', message, ...summarize(misspelt) })
      }
      const revision = readRevision(db)
      const state = selectState.get()
      if (revision !== (state?.revision ?? '') || (revision !== '' && state?.hasIndex !== 1)) {
        const message = 'the names that are looked for are not those of the places: import again'
        issues.push({ kind: 'outdated-index', severity: 'error', message, count: 1, examples: [] })
      }
      return issues
    },
    inspect: () => run(DOUBTS, 'warning'),
  }
}

function summarize(ids: readonly number[]): Pick<GazetteerIssue, 'count' | 'examples'> {
  return { count: ids.length, examples: ids.slice(0, MAX_EXAMPLES) }
}
