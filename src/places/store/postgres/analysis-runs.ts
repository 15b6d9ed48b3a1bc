import { PharosError } from '../../../core/errors.ts'
import type { Database, Sql } from '../../../store/postgres/database/database.ts'
import { lock } from '../../../store/postgres/database/locks.ts'
import type { Analyses, AnalysisRun, RunHolder, RunProgress, RunRequest } from '../../ports/analyses.ts'
import { type EventRecord, type RunRecord, toEvent, toRun, toRunColumns } from '../common/run-record.ts'

/** Analysis runs and their events. */
export type AnalysisRuns = Pick<Analyses, 'beginRun' | 'changeRun' | 'findRun' | 'listRuns' | 'addEvent' | 'listEvents'>

const RUNS = `SELECT id, status, stage, started_at AS "startedAt", ended_at AS "endedAt", heartbeat_at AS "heartbeatAt", runner,
    analysis_version AS "analysisVersion", page_limit AS "pageLimit", domain_limit AS "domainLimit", skip_pages AS "skipPages",
    skip_domains AS "skipDomains", dry_run AS "dryRun", is_verbose AS verbose, last_progress AS progress, summary, error
  FROM analysis_runs`
const NEWEST = 'ORDER BY started_at DESC, number DESC'

/** Maximum number of stored runs; the oldest are deleted first. */
const MAX_RUNS = 1000

/** Queries analysis runs. */
export function createAnalysisRuns(db: Database): AnalysisRuns {
  return {
    beginRun: (request) => db.transaction((sql) => beginRun(sql, request)),
    changeRun: (holder, change) =>
      db.transaction(async (sql) => {
        const found = await sql.get<RunRecord>(`${RUNS} WHERE id = $1 FOR UPDATE`, [holder.id])
        if (found?.status !== 'running' || found.runner !== holder.runner) return false
        await updateRun(sql, { ...toRun(found), ...change })
        return true
      }),
    findRun: async (id) => {
      const found = await db.get<RunRecord>(`${RUNS} WHERE id = $1`, [id])
      return found && toRun(found)
    },
    listRuns: ({ limit, offset }) =>
      db.snapshot(async (sql) => {
        const counted = await sql.get<{ total: number }>('SELECT count(*) AS total FROM analysis_runs')
        const items = await sql.all<RunRecord>(`${RUNS} ${NEWEST} LIMIT $1 OFFSET $2`, [limit, offset])
        return { total: counted?.total ?? 0, items: items.map(toRun) }
      }),
    addEvent: async ({ runId, at, stage, message, details }) => {
      await db.transaction((sql) =>
        sql.run('INSERT INTO analysis_run_events (run_id, ts, stage, message, details) VALUES ($1, $2, $3, $4, $5)', [
          runId,
          at,
          stage,
          message,
          details && JSON.stringify(details),
        ]),
      )
    },
    listEvents: async (runId, limit) => {
      const found = await db.all<EventRecord>(
        `SELECT id, run_id AS "runId", ts AS at, stage, message, details FROM analysis_run_events WHERE run_id = $1
         ORDER BY id DESC LIMIT $2`,
        [runId, limit],
      )
      return found.map(toEvent)
    },
  }
}

/** Stores the progress of a run inside the caller's transaction; false when another process has taken it over. */
export async function keepProgress(
  sql: Sql,
  { id, runner }: RunHolder,
  progress: RunProgress,
  now: number,
): Promise<boolean> {
  const changed = await sql.run(
    `UPDATE analysis_runs SET last_progress = $1, heartbeat_at = $2
     WHERE id = $3 AND status = 'running' AND runner IS NOT DISTINCT FROM $4`,
    [JSON.stringify(progress), now, id, runner],
  )
  return changed > 0
}

async function beginRun(sql: Sql, { run, isAbandoned, canResume }: RunRequest): Promise<AnalysisRun> {
  await lock(sql, 'runs')
  const [newest] = (await sql.all<RunRecord>(`${RUNS} ${NEWEST} LIMIT 1`)).map(toRun)
  for (const open of (await sql.all<RunRecord>(`${RUNS} WHERE status = 'running'`)).map(toRun)) {
    if (!isAbandoned(open)) throw new PharosError('ANALYSIS_RUNNING', { run: open.id })
    if (open.id !== newest?.id || !canResume(open)) {
      await updateRun(sql, { ...open, status: 'cancelled', endedAt: open.heartbeatAt })
    }
  }
  const isUnfinished = newest?.status === 'running' || newest?.status === 'cancelled'
  if (newest === undefined || !isUnfinished || !canResume(newest)) {
    await insertRun(sql, run)
    return run
  }
  const { runner, heartbeatAt } = run
  const resumed: AnalysisRun = { ...newest, status: 'running', endedAt: null, error: null, runner, heartbeatAt }
  await updateRun(sql, resumed)
  return resumed
}

async function insertRun(sql: Sql, run: AnalysisRun): Promise<void> {
  const columns = toRunColumns(run)
  const { analysisVersion, pageLimit, domainLimit, skipPages, skipDomains, dryRun, verbose } = columns
  const options = [analysisVersion, pageLimit, domainLimit, skipPages, skipDomains, dryRun, verbose]
  await sql.run(
    `INSERT INTO analysis_runs (id, status, stage, ended_at, summary, last_progress, error, runner, heartbeat_at, started_at,
       analysis_version, page_limit, domain_limit, skip_pages, skip_domains, dry_run, is_verbose)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
    [...changingColumns(columns), columns.startedAt, ...options],
  )
  const surplusRuns = `(SELECT id FROM analysis_runs ${NEWEST} OFFSET ${MAX_RUNS})`
  await sql.run(`DELETE FROM analysis_run_events WHERE run_id IN ${surplusRuns}`)
  await sql.run(`DELETE FROM analysis_runs WHERE id IN ${surplusRuns}`)
}

async function updateRun(sql: Sql, run: AnalysisRun): Promise<void> {
  await sql.run(
    `UPDATE analysis_runs SET status = $2, stage = $3, ended_at = $4, summary = $5, last_progress = $6, error = $7,
       runner = $8, heartbeat_at = $9 WHERE id = $1`,
    changingColumns(toRunColumns(run)),
  )
}

function changingColumns(run: RunRecord): unknown[] {
  const { id, status, stage, endedAt, summary, progress, error, runner, heartbeatAt } = run
  return [id, status, stage, endedAt, summary, progress, error, runner, heartbeatAt]
}
