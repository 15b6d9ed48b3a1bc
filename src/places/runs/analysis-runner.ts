import type { BackgroundRuns, RunWorker } from '../../library/jobs/background-runs.ts'
import type { AnalysisRun, RunOptions } from '../ports/analyses.ts'

interface AnalysisStarter {
  /**
   * Begins a run. If the last run was interrupted, and the options are empty or equal to those of that run, it is resumed instead. Resolves
   * once the run is recorded. Throws `ANALYSIS_RUNNING` while another run is active, and `ANALYSIS_START_FAILED` if the process cannot be
   * started.
   */
  start(options: Partial<RunOptions>): Promise<AnalysisRun>
}

/** Runs analyses for a server in separate processes and reports their progress to the feed. */
export type AnalysisRunner = AnalysisStarter & Omit<BackgroundRuns, 'start'>

/** Analysis runner of a worker, which executes runs that a server has recorded. */
export type AnalysisWorker = AnalysisStarter & Omit<RunWorker, 'start'>
