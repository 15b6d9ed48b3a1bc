/** Runs over the whole library, such as analyses, which a server starts in processes of their own. */
export interface BackgroundRuns {
  /** Begins or resumes a run; resolves once it is recorded. Throws if that is not possible now. */
  start(options: object): Promise<{ readonly id: string }>
  /** Resumes a run whose process died with an earlier server, or dies while this server is up. */
  recover(): Promise<void>
  /** Stops the current process so that the next server resumes its run. */
  close(): Promise<void>
}

/** Background runs of a worker, which executes runs that a server has recorded. */
export interface RunWorker extends BackgroundRuns {
  /**
   * Executes or resumes a recorded run; returns false if this worker did not finish it and another must take it. An abort leaves the run
   * open.
   */
  take(runId: string, signal: AbortSignal): Promise<boolean>
  /** Returns the id of an open run that no process executes. */
  findAbandoned(): Promise<string | undefined>
}
