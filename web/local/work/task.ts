import type { Steps } from '../../../src/core/search/steps.ts'
import type { Progress } from './operations.ts'

/** The context of an operation: cancellation, progress reports, and yielding to other work. */
export interface Task {
  readonly signal: AbortSignal
  progress(progress: Progress): void
  /** Yields to other work if it is time to. Must be awaited between two pieces of work. */
  yieldIfDue(): Promise<void>
}

/** Progress is reported about ten times a second. */
const REPORT_INTERVAL_MS = 100

/** Work in the page yields after this time, which is too short to notice. */
const YIELD_INTERVAL_MS = 30

/** Creates a task. A worker must occasionally yield to receive messages; the page must yield for every frame. */
export function createTask(signal: AbortSignal, report: (progress: Progress) => void, isInPage: boolean): Task {
  let reportedAt = Number.NEGATIVE_INFINITY
  let stage: Progress['stage'] | undefined
  let yieldedAt = performance.now()
  const yieldIntervalMs = isInPage ? YIELD_INTERVAL_MS : REPORT_INTERVAL_MS
  return {
    signal,
    progress(progress) {
      // The first report of a stage is always sent, because the next one may take a while.
      if (progress.stage === stage && performance.now() - reportedAt < REPORT_INTERVAL_MS) return
      reportedAt = performance.now()
      stage = progress.stage
      report(progress)
    },
    async yieldIfDue() {
      if (performance.now() - yieldedAt < yieldIntervalMs) return
      await nextEventLoopTurn()
      yieldedAt = performance.now()
      signal.throwIfAborted()
    },
  }
}

/** Runs steps to the end and yields between them. If cancelled, the remaining steps do not run. */
export async function runSteps<T>(steps: Steps<T>, task: Task): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await task.yieldIfDue()
  }
}

/** Iterates over pieces and yields to the event loop between them. */
export async function* iterateWithYields<T>(pieces: Iterable<T>, task: Task): AsyncGenerator<T, void, void> {
  for (const piece of pieces) {
    yield piece
    await task.yieldIfDue()
  }
}

/** Yields one turn of the event loop. Timers would wait longer than the work takes. */
export function nextEventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(null)
  })
}
