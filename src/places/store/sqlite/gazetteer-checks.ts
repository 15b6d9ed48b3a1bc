import { setImmediate as pause } from 'node:timers/promises'
import type { Database } from '../../../store/sqlite/database/database.ts'
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
import { readRevision } from './gazetteer-index.ts'

/** Batch size for comparing names. */
const NAMES_AT_ONCE = 20_000

const SANITY_CHECKS = listSanityChecks({
  isSame: (a, b) => `${a} IS ${b}`,
  countCapitals: `json_array_length(extra, '$.capital')`,
  feature: `p.extra ->> 'feature'`,
})

/** Creates the consistency checks. Each is one query, which takes a few seconds at most for the whole world. */
export function createChecks(db: Database): Pick<Gazetteer, 'validate' | 'inspect'> {
  const run = async (checks: readonly Check[], severity: GazetteerIssue['severity']): Promise<GazetteerIssue[]> => {
    const issues: GazetteerIssue[] = []
    for (const { kind, message, query } of checks) {
      const ids = db.prepare<[], number>(query).pluck().all()
      if (ids.length > 0) issues.push({ kind, severity, message, ...summarize(ids) })
      // Yields to the event loop between two checks.
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
  const findOutdatedNames = async (): Promise<number[]> => {
    const found = new Set<number>()
    for (let last = 0; ; await pause()) {
      const batch = selectNames.all(last)
      for (const { place, name, normalized } of batch) if (normalizeName(name) !== normalized) found.add(place)
      last = batch.at(-1)?.id ?? last
      if (batch.length < NAMES_AT_ONCE) return [...found]
    }
  }

  return {
    async validate() {
      const issues = await run(RULES, 'error')
      const outdated = await findOutdatedNames()
      if (outdated.length > 0) issues.push(createOutdatedNameIssue(outdated))
      const revision = readRevision(db)
      const state = selectState.get()
      if (revision !== (state?.revision ?? '') || (revision !== '' && state?.hasIndex !== 1)) {
        issues.push(OUTDATED_INDEX)
      }
      return issues
    },
    inspect: () => run(SANITY_CHECKS, 'warning'),
  }
}
