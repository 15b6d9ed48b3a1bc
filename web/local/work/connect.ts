import { enableOffline } from '../offline.ts'
import { UserError } from '../user-error.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import type { OperationName, Operations, Progress } from './operations.ts'
import workerUrl from './worker.ts?worker&url'

/** The connection to the session, in a worker or in the page. */
export interface SessionConnection {
  /** Sends a request. Rejects with a {@link UserError}, or with an `AbortError` if it was cancelled. */
  ask<Name extends OperationName>(
    name: Name,
    ask: Parameters<Operations[Name]>[0],
    options?: RequestOptions,
  ): Promise<ReturnType<Operations[Name]>>
}

/** Cancellation and progress of a request. */
export interface RequestOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

/** Timeout for the first message of a worker. */
const START_TIMEOUT_MS = 10_000

/**
 * Starts a worker, or runs the session in the page if there can be no worker, or none with a content security policy. A worker gets its
 * policy from the headers of its own script, not from the page. Static hosts send none; the service worker adds it.
 */
export async function connectSession(): Promise<SessionConnection> {
  const isHeld = (await hasPolicy()) || ((await enableOffline()) && (await hasPolicy()))
  const started = isHeld ? await startWorker() : undefined
  if (started !== undefined) {
    const { worker, lock } = started
    const line = createRequestChannel((message) => worker.postMessage(message))
    const lose = (problem: string) => {
      worker.terminate()
      line.fail(problem)
    }
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => line.hear(data)
    worker.onerror = (event) => lose(event.message)
    // The lock becomes free only when the worker has died.
    if (lock !== null) navigator.locks?.request(lock, () => lose('')).catch(() => undefined)
    return line
  }
  await loadScript(workerUrl)
  const { answerInPage } = globalThis
  if (answerInPage === undefined)
    throw new UserError('A part of this page could not be started.', 'Load the page again.')
  const line = createRequestChannel((message) => answer(message))
  const answer = answerInPage((message) => line.hear(message))
  return line
}

/**
 * Whether scripts are served with a policy that denies by default. The script of the worker is in the same folder and is served the same
 * way.
 */
async function hasPolicy(): Promise<boolean> {
  try {
    const { ok, headers } = await fetch(import.meta.url)
    return ok && (headers.get('content-security-policy') ?? '').includes("default-src 'none'")
  } catch {
    return false
  }
}

/** Also resolves if loading fails; the caller notices that the exported function is missing. */
function loadScript(src: string): Promise<unknown> {
  return new Promise((resolve) => {
    const script = Object.assign(document.createElement('script'), { type: 'module', src })
    script.onload = resolve
    script.onerror = resolve
    document.head.append(script)
  })
}

interface StartedWorker {
  readonly worker: Worker
  readonly lock: string | null
}

function startWorker(): Promise<StartedWorker | undefined> {
  return new Promise((resolve) => {
    try {
      const worker = new Worker(workerUrl, { type: 'module' })
      const give = (result: StartedWorker | undefined) => {
        clearTimeout(patience)
        worker.onmessage = null
        worker.onerror = null
        if (result === undefined) worker.terminate()
        resolve(result)
      }
      const patience = setTimeout(() => give(undefined), START_TIMEOUT_MS)
      worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
        give({ worker, lock: data.type === 'ready' ? data.lock : null })
      }
      worker.onerror = () => give(undefined)
    } catch {
      // The browser has no workers, or they are forbidden.
      resolve(undefined)
    }
  })
}

interface PendingRequest {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
  readonly onProgress: RequestOptions['onProgress']
}

/** Matches responses to requests by number. */
function createRequestChannel(say: (message: ToWorker) => void): Pick<SessionConnection, 'ask'> & {
  hear(message: FromWorker): void
  fail(problem: string): void
} {
  const waiting = new Map<number, PendingRequest>()
  let asked = 0
  let lost: UserError | undefined
  const take = (id: number) => {
    const found = waiting.get(id)
    waiting.delete(id)
    return found
  }
  return {
    ask: (name, ask, { signal, onProgress } = {}) =>
      new Promise((resolve, reject) => {
        if (lost !== undefined) return reject(lost)
        const id = asked++
        // The table of operations guarantees the type of the response.
        waiting.set(id, { resolve: resolve as PendingRequest['resolve'], reject, onProgress })
        signal?.addEventListener('abort', () => say({ type: 'stop', id }), { once: true })
        if (signal?.aborted) reject(signal.reason)
        else say({ type: 'ask', id, name, ask })
      }),
    hear(message) {
      if (message.type === 'ready') return
      if (message.type === 'progress') waiting.get(message.id)?.onProgress?.(message.progress)
      if (message.type === 'done') take(message.id)?.resolve(message.answer)
      if (message.type === 'failed') take(message.id)?.reject(new UserError(message.told.message, message.told.advice))
      if (message.type === 'stopped') take(message.id)?.reject(new DOMException('Stopped', 'AbortError'))
    },
    fail(problem) {
      const advice =
        'Load the page anew; what was kept is as it was. If it happens again, choose a smaller part of the folder.'
      lost ??= new UserError(`The work ended unexpectedly: ${problem || 'the browser gives no reason'}.`, advice)
      for (const { reject } of waiting.values()) reject(lost)
      waiting.clear()
    },
  }
}
