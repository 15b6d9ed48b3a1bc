import { PharosError } from '../../../core/errors.ts'
import type { Database, Write } from '../../../store/sqlite/database/database.ts'
import type { Analyses, AnalysisRun, RunHolder, RunProgress } from '../../ports/analyses.ts'
import { type EventRecord, type RunRecord, toEvent, toRun, toRunColumns } from '../common/run-record.ts'

/** Analysis runs and their events. */
export interface AnalysisRuns
  extends Pick<Analyses, 'beginRun' | 'changeRun' | 'findRun' | 'listRuns' | 'addEvent' | 'listEvents'> {
  /** Stores the progress of a run inside the caller's transaction; false when another process has taken it over. */
  keepProgress(holder: RunHolder, progress: RunProgress, now: number): boolean
}

/** A run as it is stored, with flags as 1 or 0. */
type RunColumns = Omit<RunRecord, Flag> & Readonly<Record<Flag, number>>

type Flag = 'skipPages' | 'skipDomains' | 'dryRun' | 'verbose'

const RUNS = `SELECT id, status, stage, started_at AS startedAt, ended_at AS endedAt, heartbeat_at AS heartbeatAt, runner,
    analysis_version AS analysisVersion, page_limit AS pageLimit, domain_limit AS domainLimit, skip_pages AS skipPages,
    skip_domains AS skipDomains, dry_run AS dryRun, verbose, last_progress AS progress, summary, error
  FROM analysis_runs`

/** Maximum number of stored runs; the oldest are deleted first. */
const MAX_RUNS = 1000

/** Creates the queries for analysis runs. */
export function createAnalysisRuns(db: Database, write: Write): AnalysisRuns {
  const selectOne = db.prepare<[string], RunColumns>(`${RUNS} WHERE id = ?`)
  const selectOpen = db.prepare<[], RunColumns>(`${RUNS} WHERE status = 'running'`)
  const selectNewest = db.prepare<[number, number], RunColumns>(
    `${RUNS} ORDER BY started_at DESC, rowid DESC LIMIT ? OFFSET ?`,
  )
  const count = db.prepare<[], number>('SELECT count(*) FROM analysis_runs').pluck()
  const insert = db.prepare<[RunColumns]>(
    `INSERT INTO analysis_runs (id, started_at, ended_at, status, stage, analysis_version, page_limit, domain_limit, skip_pages,
       skip_domains, dry_run, verbose, summary, last_progress, error, runner, heartbeat_at)
     VALUES (@id, @startedAt, @endedAt, @status, @stage, @analysisVersion, @pageLimit, @domainLimit, @skipPages, @skipDomains,
       @dryRun, @verbose, @summary, @progress, @error, @runner, @heartbeatAt)`,
  )
  const update = db.prepare<[RunColumns]>(
    `UPDATE analysis_runs SET status = @status, stage = @stage, ended_at = @endedAt, summary = @summary,
       last_progress = @progress, error = @error, runner = @runner, heartbeat_at = @heartbeatAt WHERE id = @id`,
  )
  const updateProgress = db.prepare<[string, number, string, string | null]>(
    `UPDATE analysis_runs SET last_progress = ?, heartbeat_at = ? WHERE id = ? AND status = 'running' AND runner IS ?`,
  )
  const insertEvent = db.prepare<[Omit<EventRecord, 'id'>]>(
    'INSERT INTO analysis_run_events (run_id, ts, stage, message, details) VALUES (@runId, @at, @stage, @message, @details)',
  )
  const selectEvents = db.prepare<[string, number], EventRecord>(
    `SELECT id, run_id AS runId, ts AS at, stage, message, details FROM analysis_run_events WHERE run_id = ?
     ORDER BY id DESC LIMIT ?`,
  )

  const surplusRuns = `(SELECT id FROM analysis_runs ORDER BY started_at DESC, rowid DESC LIMIT -1 OFFSET ${MAX_RUNS})`
  const removals = [
    db.prepare(`DELETE FROM analysis_run_events WHERE run_id IN ${surplusRuns}`),
    db.prepare(`DELETE FROM analysis_runs WHERE id IN ${surplusRuns}`),
  ]

  return {
    beginRun: ({ run, isAbandoned, canResume }) =>
      write(() => {
        const newest = selectNewest.all(1, 0).map(fromColumns)[0]
        for (const open of selectOpen.all().map(fromColumns)) {
          if (!isAbandoned(open)) throw new PharosError('ANALYSIS_RUNNING', { run: open.id })
          if (open.id !== newest?.id || !canResume(open)) {
            update.run(toColumns({ ...open, status: 'cancelled', endedAt: open.heartbeatAt }))
          }
        }
        const isUnfinished = newest?.status === 'running' || newest?.status === 'cancelled'
        if (newest === undefined || !isUnfinished || !canResume(newest)) {
          insert.run(toColumns(run))
          for (const removal of removals) removal.run()
          return run
        }
        const { runner, heartbeatAt } = run
        const resumed: AnalysisRun = { ...newest, status: 'running', endedAt: null, error: null, runner, heartbeatAt }
        update.run(toColumns(resumed))
        return resumed
      }),
    changeRun: (holder, change) =>
      write(() => {
        const found = selectOne.get(holder.id)
        if (found?.status !== 'running' || found.runner !== holder.runner) return false
        update.run(toColumns({ ...fromColumns(found), ...change }))
        return true
      }),
    keepProgress: ({ id, runner }, progress, now) =>
      updateProgress.run(JSON.stringify(progress), now, id, runner).changes > 0,
    findRun: async (id) => {
      const found = selectOne.get(id)
      return found && fromColumns(found)
    },
    listRuns: async ({ limit, offset }) => ({
      total: count.get() ?? 0,
      items: selectNewest.all(limit, offset).map(fromColumns),
    }),
    addEvent: (event) =>
      write(() => void insertEvent.run({ ...event, details: event.details && JSON.stringify(event.details) })),
    listEvents: async (runId, limit) => selectEvents.all(runId, limit).map(toEvent),
  }
}

function toColumns(run: AnalysisRun): RunColumns {
  const { skipPages, skipDomains, dryRun, verbose, ...columns } = toRunColumns(run)
  return {
    ...columns,
    skipPages: Number(skipPages),
    skipDomains: Number(skipDomains),
    dryRun: Number(dryRun),
    verbose: Number(verbose),
  }
}

function fromColumns(found: RunColumns): AnalysisRun {
  return toRun({
    ...found,
    skipPages: found.skipPages === 1,
    skipDomains: found.skipDomains === 1,
    dryRun: found.dryRun === 1,
    verbose: found.verbose === 1,
  })
}
