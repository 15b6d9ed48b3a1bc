import { describeFailure } from './describe-failure.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { BACKGROUND_OPERATIONS, type OperationName, type Operations } from './operations.ts'
import type { Session } from './session.ts'
import { createTask } from './task.ts'

/** Runs the requests of the page one after another, because two writers of one index would conflict. Background work runs in parallel. */
export function serveRequests(
  session: Session,
  post: (message: FromWorker) => void,
  isInPage: boolean,
): (message: ToWorker) => void {
  const stops = new Map<number, AbortController>()
  let last: Promise<void> = Promise.resolve()
  return (message) => {
    if (message.type === 'stop') {
      stops.get(message.id)?.abort()
      return
    }
    const stop = new AbortController()
    stops.set(message.id, stop)
    if (BACKGROUND_OPERATIONS.has(message.name)) void answer(message, stop)
    else last = last.then(() => answer(message, stop))
  }

  async function answer({ id, name, input }: Extract<ToWorker, { type: 'ask' }>, stop: AbortController): Promise<void> {
    const task = createTask(stop.signal, (progress) => post({ type: 'progress', id, progress }), isInPage)
    try {
      stop.signal.throwIfAborted()
      // The page types its requests by the same table, so the cast is safe.
      const typedInput = input as Parameters<Operations[OperationName]>[0] & never
      post({ type: 'done', id, answer: await session.run(name, typedInput, task) })
    } catch (error) {
      post(stop.signal.aborted ? { type: 'stopped', id } : { type: 'failed', id, error: describeFailure(error) })
    } finally {
      stops.delete(id)
    }
  }
}
