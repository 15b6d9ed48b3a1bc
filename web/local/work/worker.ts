import { newId } from '../keep/new-id.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { serveRequests } from './serve-requests.ts'
import { startSession } from './start-session.ts'

/** The global scope of a worker. The worker types of TypeScript conflict with those of pages, so this declares the part in use. */
interface Scope {
  postMessage(message: FromWorker): void
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null
}

/** Runs the session in the page, which loads this script because the page bundle does not contain the session. */
export type AnswerInPage = (send: (message: FromWorker) => void) => (message: ToWorker) => void

declare global {
  // The bundle of a worker has no exports, so the page accesses it through this global.
  var answerInPage: AnswerInPage | undefined
}

// Only a page has a document.
if (globalThis.document === undefined) answerInWorker(globalThis as unknown as Scope)
else globalThis.answerInPage = (send) => serveRequests(startSession(document.baseURI, false), send, true)

function answerInWorker(scope: Scope): void {
  // The script of the worker is in a subfolder of the page.
  const answer = serveRequests(
    startSession(new URL(/* @vite-ignore */ '..', import.meta.url).href, true),
    (message) => scope.postMessage(message),
    false,
  )
  scope.onmessage = ({ data }) => answer(data)
  // No event tells the page that a worker died, for example because it ran out of memory. The page detects it when this lock becomes free.
  const lock = `llmx-ingestor ${newId()}`
  const ready = (held: string | null) => scope.postMessage({ type: 'ready', lock: held })
  const hold = () => {
    ready(lock)
    return new Promise<never>(() => undefined)
  }
  if (navigator.locks === undefined) ready(null)
  else navigator.locks.request(lock, hold).catch(() => ready(null))
}
