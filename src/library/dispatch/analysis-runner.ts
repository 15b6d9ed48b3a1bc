import type { AnalysisRun, RunOptions } from '../analyses.ts'

/** Runs analyses for a server, as processes of their own, and tells the feed how far they are. */
export interface AnalysisRunner {
  /**
   * Begins a run, or takes up the last one where that was broken off and the same is asked for, or nothing. It is recorded when this
   * resolves. Refused with `ANALYSIS_RUNNING` while another one goes on, and with `ANALYSIS_START_FAILED` where its process cannot be
   * started.
   */
  start(options: Partial<RunOptions>): Promise<AnalysisRun>
  /** Takes up a run whose process went with an earlier server, or goes while this one looks on. */
  recover(): Promise<void>
  /** Ends what runs in such a way that it goes on with the next server. */
  close(): Promise<void>
}

/** The same for a worker, which goes through runs that a server has recorded. */
export interface AnalysisWorker extends AnalysisRunner {
  /**
   * Goes through a recorded run, or goes on with it; false where it did not come to its end here and is for another. Aborted, it is left
   * as it is.
   */
  take(runId: string, signal: AbortSignal): Promise<boolean>
  /** The id of a run that is open, and that no process goes through. */
  findLeft(): Promise<string | undefined>
}
