import type { Library } from '../library.ts'
import { beginRun, fillOptions } from '../operations/begin-run.ts'
import { frameOf } from './analysis-frames.ts'
import type { AnalysisRunner } from './analysis-runner.ts'
import type { Feed } from './feed.ts'
import type { JobQueue } from './queue.ts'

/** What such a runner is made with. */
export interface SharedAnalysisOptions {
  readonly library: () => Promise<Library>
  readonly queue: () => Promise<JobQueue>
  readonly feed: Pick<Feed, 'tell'>
}

/** Has runs of analysis gone through by workers, one at a time. One that was broken off is taken by another by itself. */
export function createSharedAnalysis({ library, queue, feed }: SharedAnalysisOptions): AnalysisRunner {
  return {
    async start(options) {
      fillOptions(options)
      const opened = await library()
      const { run } = await beginRun(opened, { options }, null)
      const waiting = await queue()
      // The queue may still know it from before it was broken off. Should this fail, a worker finds it.
      await opened.workers?.inTurn((statement) =>
        waiting.sendAgain('analysis', { id: run.id, key: 'library' }, statement),
      )
      feed.tell('analysis', null, { ...frameOf(run) })
      return run
    },
    recover: async () => undefined,
    close: async () => undefined,
  }
}
