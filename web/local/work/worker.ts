import { newId } from '../keep/new-id.ts'
import { answerWith } from './answering.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { startSession } from './start-session.ts'

/** The worker as it sees itself, without the library of types for workers, which contradicts the one for pages. */
interface Scope {
  postMessage(message: FromWorker): void
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null
}

/** Answers in a page that works itself, which loads this script as the only copy of what works. */
export type AnswerInPage = (send: (message: FromWorker) => void) => (message: ToWorker) => void

declare global {
  // The bundle of a worker exports nothing: this is how the page gets what it loads.
  var answerInPage: AnswerInPage | undefined
}

// A page has a document, a worker has none.
if (globalThis.document === undefined) answerInWorker(globalThis as unknown as Scope)
else globalThis.answerInPage = (send) => answerWith(startSession(document.baseURI, false), send, true)

function answerInWorker(scope: Scope): void {
  // The worker lies in a folder of the page's own.
  const answer = answerWith(
    startSession(new URL(/* @vite-ignore */ '..', import.meta.url).href, true),
    (message) => scope.postMessage(message),
    false,
  )
  scope.onmessage = ({ data }) => answer(data)
  // No event tells the page that a worker is gone, for want of memory for instance; that its lock is free again does.
  const lock = `llmx-ingestor ${newId()}`
  const ready = (held: string | null) => scope.postMessage({ type: 'ready', lock: held })
  const hold = () => {
    ready(lock)
    return new Promise<never>(() => undefined)
  }
  if (navigator.locks === undefined) ready(null)
  else navigator.locks.request(lock, hold).catch(() => ready(null))
}
