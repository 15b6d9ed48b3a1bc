import type { Database, Sql } from '../../../store/postgres/database/database.ts'
import { normalizeName } from '../../analysis/place.ts'
import type { Gazetteer, GazetteerIssue } from '../../ports/gazetteer.ts'
import {
  type Check,
  createOutdatedNameIssue,
  listSanityChecks,
  OUTDATED_INDEX,
  RULES,
  summarize,
} from '../common/gazetteer-rules.ts'
import { readRevision, readState } from './gazetteer-index.ts'

/** Batch size for comparing names. */
const NAMES_AT_ONCE = 20_000

const SANITY_CHECKS = listSanityChecks({
  isSame: (a, b) => `${a} IS NOT DISTINCT FROM ${b}`,
  countCapitals: `CASE json_typeof(extra::json -> 'capital') WHEN 'array' THEN json_array_length(extra::json -> 'capital') END`,
  feature: `p.extra::json ->> 'feature'`,
})

/** Creates the consistency checks of the gazetteer. */
export function createChecks(db: Database): Pick<Gazetteer, 'validate' | 'inspect'> {
  return {
    async validate() {
      const issues = await runChecks(db, RULES, 'error')
      const outdated = await findOutdatedNames(db)
      if (outdated.length > 0) issues.push(createOutdatedNameIssue(outdated))
      const revision = await readRevision(db)
      const state = await readState(db)
      if (revision !== state.revision || (revision !== '' && !state.hasIndex)) issues.push(OUTDATED_INDEX)
      return issues
    },
    inspect: () => runChecks(db, SANITY_CHECKS, 'warning'),
  }
}

async function runChecks(
  sql: Sql,
  checks: readonly Check[],
  severity: GazetteerIssue['severity'],
): Promise<GazetteerIssue[]> {
  const issues: GazetteerIssue[] = []
  for (const { kind, message, query } of checks) {
    const found = await sql.all<{ id: number }>(`SELECT c.id FROM (${query}) AS c (id)`)
    if (found.length > 0) issues.push({ kind, severity, message, ...summarize(found.map(({ id }) => id)) })
  }
  return issues
}

async function findOutdatedNames(sql: Sql): Promise<number[]> {
  const found = new Set<number>()
  for (let last = 0; ; ) {
    const batch = await sql.all<{ id: number; place: number; name: string; normalized: string }>(
      'SELECT id, place_id AS place, name, normalized FROM place_names WHERE id > $1 ORDER BY id LIMIT $2',
      [last, NAMES_AT_ONCE],
    )
    for (const { place, name, normalized } of batch) if (normalizeName(name) !== normalized) found.add(place)
    last = batch.at(-1)?.id ?? last
    if (batch.length < NAMES_AT_ONCE) return [...found]
  }
}
