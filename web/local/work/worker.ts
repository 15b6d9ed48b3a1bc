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
  startSession(new URL(/* @vite-ignore */ '..', import.meta.url).href),
  (message) => scope.postMessage(message),
  false,
)
scope.onmessage = ({ data }) => answer(data)
scope.postMessage({ type: 'ready' })
