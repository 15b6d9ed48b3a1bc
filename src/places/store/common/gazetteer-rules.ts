import type { GazetteerIssue } from '../../ports/gazetteer.ts'

/** Maximum number of example places in an issue. */
const MAX_EXAMPLES = 10

/** A consistency check: a query that returns the ids of faulty places. */
export interface Check {
  readonly kind: string
  readonly message: string
  readonly query: string
}

/** Rules that must hold: a violation is an error. Constraints of the tables enforce some of them. */
export const RULES: readonly Check[] = [
  {
    kind: 'no-names',
    message: 'places without any name',
    query: 'SELECT id FROM places WHERE NOT EXISTS (SELECT 1 FROM place_names n WHERE n.place_id = places.id)',
  },
  {
    kind: 'no-canonical-name',
    message: 'places whose display name is not among their names',
    query: `SELECT id FROM places WHERE NOT EXISTS
      (SELECT 1 FROM place_names n WHERE n.id = places.canonical_name_id AND n.place_id = places.id)`,
  },
  {
    kind: 'official-canonical-name',
    message: 'places shown by their official name, although they have a common one',
    query: `SELECT p.id FROM places p JOIN place_names n ON n.id = p.canonical_name_id WHERE n.name_kind = 'official'
      AND EXISTS (SELECT 1 FROM place_names o WHERE o.place_id = p.id AND o.name_kind IN ('common', 'endonym'))`,
  },
  {
    kind: 'unknown-kind',
    message: 'places of unknown kind or status',
    query: `SELECT id FROM places WHERE kind NOT IN ('country', 'region', 'city', 'poi', 'supranational')
      OR status NOT IN ('current', 'historical')`,
  },
  {
    kind: 'off-the-map',
    message: 'places with invalid coordinates or a negative population',
    query: 'SELECT id FROM places WHERE lat NOT BETWEEN -90 AND 90 OR lng NOT BETWEEN -180 AND 180 OR population < 0',
  },
  {
    kind: 'code-in-small-letters',
    message: 'places with a code that is not in capitals',
    query: `SELECT id FROM places WHERE country_code <> upper(country_code) OR adm1_code <> upper(adm1_code)
      OR adm2_code <> upper(adm2_code)`,
  },
  {
    kind: 'lost-name',
    message: 'names of missing places',
    query: 'SELECT DISTINCT place_id FROM place_names WHERE place_id NOT IN (SELECT id FROM places)',
  },
  {
    kind: 'lost-relation',
    message: 'relations to missing places, or of a place to itself',
    query: `SELECT child FROM place_hierarchy WHERE parent = child OR parent NOT IN (SELECT id FROM places)
      OR child NOT IN (SELECT id FROM places)`,
  },
  {
    kind: 'circle',
    message: 'places that contain each other',
    query: `SELECT a.child FROM place_hierarchy a JOIN place_hierarchy b
      ON b.parent = a.child AND b.child = a.parent AND b.relation = a.relation`,
  },
  {
    kind: 'repeated-code',
    message: 'countries, or regions of one country, with the same code',
    query: `SELECT id FROM places WHERE kind = 'country' AND country_code IN
        (SELECT country_code FROM places WHERE kind = 'country' GROUP BY country_code HAVING count(*) > 1)
      UNION SELECT id FROM places WHERE kind = 'region' AND (country_code, adm1_code) IN
        (SELECT country_code, adm1_code FROM places WHERE kind = 'region' GROUP BY 1, 2 HAVING count(*) > 1)`,
  },
]

/** SQL that differs between databases. */
export interface Dialect {
  /** Whether two columns are equal, or both null. */
  readonly isSame: (a: string, b: string) => string
  /** The number of capitals in the facts of a country. */
  readonly countCapitals: string
  /** The GeoNames feature of the place `p`. */
  readonly feature: string
}

/** Checks for data that is allowed but suspicious. */
export function listSanityChecks({ isSame, countCapitals, feature }: Dialect): readonly Check[] {
  return [
    {
      kind: 'duplicate',
      message: 'cities of one region with the same name, less than about 5 km apart',
      query: `SELECT b.id FROM places a JOIN places b ON b.sort_name = a.sort_name AND b.id > a.id AND b.kind = 'city'
        AND b.country_code = a.country_code AND ${isSame('b.adm1_code', 'a.adm1_code')}
      WHERE a.kind = 'city' AND abs(a.lat - b.lat) < 0.05 AND abs(a.lng - b.lng) < 0.05`,
    },
    {
      kind: 'no-population',
      message: 'cities without a population',
      query: `SELECT id FROM places WHERE kind = 'city' AND population IS NULL`,
    },
    {
      kind: 'no-coordinates',
      message: 'cities and countries without coordinates',
      query: `SELECT id FROM places WHERE kind IN ('city', 'country') AND (lat IS NULL OR lng IS NULL)`,
    },
    {
      kind: 'null-island',
      message: 'places at 0, 0, where there is only water',
      query: 'SELECT id FROM places WHERE lat = 0 AND lng = 0',
    },
    {
      kind: 'no-city',
      message: 'countries without any city',
      query: `SELECT id FROM places c WHERE kind = 'country' AND NOT EXISTS
      (SELECT 1 FROM places p WHERE p.country_code = c.country_code AND p.kind = 'city')`,
    },
    {
      kind: 'no-capital',
      message: 'countries whose capital is not among the cities',
      query: `SELECT id FROM places c WHERE kind = 'country' AND ${countCapitals} > 0 AND NOT EXISTS
      (SELECT 1 FROM places p WHERE p.country_code = c.country_code AND p.kind = 'city' AND ${feature} = 'PPLC')`,
    },
    {
      kind: 'no-english-name',
      message: 'countries without a name in English',
      query: `SELECT id FROM places WHERE kind = 'country' AND NOT EXISTS
      (SELECT 1 FROM place_names n WHERE n.place_id = places.id AND n.lang = 'en' AND n.name_kind <> 'demonym')`,
    },
    {
      kind: 'orphan',
      message: 'cities and regions without a parent place',
      query: `SELECT id FROM places WHERE kind IN ('city', 'region')
      AND NOT EXISTS (SELECT 1 FROM place_hierarchy h WHERE h.child = places.id)`,
    },
    {
      kind: 'unknown-country',
      message: 'places with the code of a missing country',
      query: `SELECT id FROM places WHERE country_code NOT IN
      (SELECT country_code FROM places WHERE kind = 'country' AND country_code IS NOT NULL)`,
    },
    {
      kind: 'unknown-region',
      message: 'cities with the code of a missing region',
      query: `SELECT id FROM places WHERE kind = 'city' AND adm1_code IS NOT NULL AND adm1_code <> '00'
      AND (country_code, adm1_code) NOT IN (SELECT country_code, adm1_code FROM places WHERE kind = 'region')`,
    },
    {
      kind: 'region-without-city',
      message: 'regions without a city that has their code',
      query: `SELECT id FROM places WHERE kind = 'region' AND (country_code, adm1_code) NOT IN
      (SELECT country_code, adm1_code FROM places WHERE kind = 'city' AND adm1_code IS NOT NULL)`,
    },
  ]
}

/** The issue for places whose stored names do not match the current rules for normalizing names. */
export function createOutdatedNameIssue(places: readonly number[]): GazetteerIssue {
  const message = 'places with a name that was normalized by other rules: import them again'
  return { kind: 'outdated-name', severity: 'error', message, ...summarize(places) }
}

/** The issue for a name index that does not match the stored places. */
export const OUTDATED_INDEX: GazetteerIssue = {
  kind: 'outdated-index',
  severity: 'error',
  message: 'the name index does not match the places: import again',
  count: 1,
  examples: [],
}

/** The number of places, and the first examples. */
export function summarize(ids: readonly number[]): Pick<GazetteerIssue, 'count' | 'examples'> {
  return { count: ids.length, examples: ids.toSorted((a, b) => a - b).slice(0, MAX_EXAMPLES) }
}
