import type { AnalysisRun, RunOptions } from '../ports/analyses.ts'

/** Runs analyses for a server in separate processes and reports their progress to the feed. */
export interface AnalysisRunner {
  /**
   * Begins a run. If the last run was interrupted, and the options are empty or equal to those of that run, it is resumed instead. Resolves
   * once the run is recorded. Throws `ANALYSIS_RUNNING` while another run is active, and `ANALYSIS_START_FAILED` if the process cannot be
   * started.
   */
  start(options: Partial<RunOptions>): Promise<AnalysisRun>
  /** Resumes a run whose process died with an earlier server, or dies while this server is up. */
  recover(): Promise<void>
  /** Stops the current process so that the next server resumes its run. */
  close(): Promise<void>
}

/** Analysis runner of a worker, which executes runs that a server has recorded. */
export interface AnalysisWorker extends AnalysisRunner {
  /**
   * Executes or resumes a recorded run; returns false if this worker did not finish it and another must take it. An abort leaves the run
   * open.
   */
  take(runId: string, signal: AbortSignal): Promise<boolean>
  /** Returns the id of an open run that no process executes. */
  findAbandoned(): Promise<string | undefined>
}
