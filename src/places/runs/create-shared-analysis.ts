import type { Feed } from '../../library/jobs/events/feed.ts'
import type { WorkQueue } from '../../library/jobs/queue.ts'
import type { PlacesLibrary } from '../ports/places-library.ts'
import { frameOf } from './analysis-frames.ts'
import type { AnalysisRunner } from './analysis-runner.ts'
import { beginRun, fillOptions } from './begin-run.ts'

/** Options of {@link createSharedAnalysis}. */
export interface SharedAnalysisOptions {
  readonly library: () => Promise<PlacesLibrary>
  readonly queue: () => Promise<WorkQueue>
  readonly feed: Pick<Feed, 'tell'>
}

/** Has workers execute analysis runs, one at a time. Another worker automatically resumes an interrupted run. */
export function createSharedAnalysis({ library, queue, feed }: SharedAnalysisOptions): AnalysisRunner {
  return {
    async start(options) {
      fillOptions(options)
      const opened = await library()
      const { run } = await beginRun(opened, { options }, null)
      const workQueue = await queue()
      // The queue may still hold the run from before its interruption. If sending fails, a worker finds the run anyway.
      await opened.workers?.runExclusively((statement) =>
        workQueue.sendAgain('analysis', { id: run.id, key: 'library' }, statement),
      )
      feed.tell('analysis', null, { ...frameOf(run) })
      return run
    },
    recover: async () => undefined,
    close: async () => undefined,
  }
}
