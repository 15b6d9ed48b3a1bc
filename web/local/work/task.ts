import type { Steps } from '../../../src/core/search/steps.ts'
import type { Progress } from './operations.ts'

/** Something that takes time: it can be stopped, tells how far it is, and lets others have their turn. */
export interface Task {
  readonly signal: AbortSignal
  progress(progress: Progress): void
  /** To be awaited between two pieces of work. */
  breathe(): Promise<void>
}

/** Progress is worth telling some ten times a second. */
const TOLD_EVERY_MS = 100

/** Work in the page itself gives way after so long, which nobody notices. */
const SLICE_MS = 30

/** Makes a task. In a worker messages must get through now and then; in the page its pictures must, all the time. */
export function createTask(signal: AbortSignal, tell: (progress: Progress) => void, isInPage: boolean): Task {
  let toldAt = Number.NEGATIVE_INFINITY
  let stage: Progress['stage'] | undefined
  let breathedAt = performance.now()
  const slice = isInPage ? SLICE_MS : TOLD_EVERY_MS
  return {
    signal,
    progress(progress) {
      // Of another stage nobody may hear again for a while.
      if (progress.stage === stage && performance.now() - toldAt < TOLD_EVERY_MS) return
      toldAt = performance.now()
      stage = progress.stage
      tell(progress)
    },
    async breathe() {
      if (performance.now() - breathedAt < slice) return
      await turn()
      breathedAt = performance.now()
      signal.throwIfAborted()
    },
  }
}

/** Goes through steps to their end and lets others have their turn between them. One that is stopped leaves the rest of them as they are. */
export async function goThrough<T>(steps: Steps<T>, task: Task): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await task.breathe()
  }
}

/** Pieces of something, with a turn for others between them. */
export async function* withBreaks<T>(pieces: Iterable<T>, task: Task): AsyncGenerator<T, void, void> {
  for (const piece of pieces) {
    yield piece
    await task.breathe()
  }
}

/** A turn of the event loop. Timers would wait for longer than the work takes. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(null)
  })
}
