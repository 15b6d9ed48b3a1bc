import { newId } from '../keep/new-id.ts'
import { answerWith } from './answering.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { startSession } from './start-session.ts'

/** The worker as it sees itself, without the library of types for workers, which contradicts the one for pages. */
interface Scope {
  postMessage(message: FromWorker): void
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null
}

const scope = globalThis as unknown as Scope
// The worker lies in a folder of the page's own.
const answer = answerWith(
  startSession(new URL(/* @vite-ignore */ '..', import.meta.url).href, true),
  (message) => scope.postMessage(message),
  false,
)
scope.onmessage = ({ data }) => answer(data)

/** Nobody tells the page when a worker is gone, for want of memory for instance; that its lock is free again does. */
const lock = `llmx-ingestor ${newId()}`
const ready = (held: string | null) => scope.postMessage({ type: 'ready', lock: held })
const hold = () => {
  ready(lock)
  return new Promise<never>(() => undefined)
}
if (navigator.locks === undefined) ready(null)
else navigator.locks.request(lock, hold).catch(() => ready(null))
