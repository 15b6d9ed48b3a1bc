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
    input: Parameters<Operations[Name]>[0],
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
 * Starts a worker. If that is impossible, or if the worker would have no content security policy, the session runs in the page. A worker
 * gets its policy from the headers of its own script. Static hosts send none, so the service worker adds them.
 */
export async function connectSession(): Promise<SessionConnection> {
  const isPolicyApplied = (await hasPolicy()) || ((await enableOffline()) && (await hasPolicy()))
  const started = isPolicyApplied ? await startWorker() : undefined
  if (started !== undefined) {
    const { worker, lock } = started
    const channel = createRequestChannel((message) => worker.postMessage(message))
    const fail = (problem: string) => {
      worker.terminate()
      channel.fail(problem)
    }
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => channel.receive(data)
    worker.onerror = (event) => fail(event.message)
    // The lock becomes free only if the worker has died.
    if (lock !== null) navigator.locks?.request(lock, () => fail('')).catch(() => undefined)
    return channel
  }
  await loadScript(workerUrl)
  const { answerInPage } = globalThis
  if (answerInPage === undefined) throw new UserError('A part of this page could not be started.', 'Reload the page.')
  const channel = createRequestChannel((message) => answer(message))
  const answer = answerInPage((message) => channel.receive(message))
  return channel
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

/** Resolves even if loading fails; the caller then finds no `answerInPage`. */
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
      const finish = (result: StartedWorker | undefined) => {
        clearTimeout(timer)
        worker.onmessage = null
        worker.onerror = null
        if (result === undefined) worker.terminate()
        resolve(result)
      }
      const timer = setTimeout(() => finish(undefined), START_TIMEOUT_MS)
      worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
        finish({ worker, lock: data.type === 'ready' ? data.lock : null })
      }
      worker.onerror = () => finish(undefined)
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
function createRequestChannel(post: (message: ToWorker) => void): Pick<SessionConnection, 'ask'> & {
  receive(message: FromWorker): void
  fail(problem: string): void
} {
  const pending = new Map<number, PendingRequest>()
  let nextId = 0
  let failure: UserError | undefined
  const take = (id: number) => {
    const request = pending.get(id)
    pending.delete(id)
    return request
  }
  return {
    ask: (name, input, { signal, onProgress } = {}) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) return reject(failure)
        const id = nextId++
        // The table of operations guarantees the type of the response.
        pending.set(id, { resolve: resolve as PendingRequest['resolve'], reject, onProgress })
        signal?.addEventListener('abort', () => post({ type: 'stop', id }), { once: true })
        if (signal?.aborted) reject(signal.reason)
        else post({ type: 'ask', id, name, input })
      }),
    receive(message) {
      if (message.type === 'ready') return
      if (message.type === 'progress') pending.get(message.id)?.onProgress?.(message.progress)
      if (message.type === 'done') take(message.id)?.resolve(message.answer)
      if (message.type === 'failed')
        take(message.id)?.reject(new UserError(message.error.message, message.error.advice))
      if (message.type === 'stopped') take(message.id)?.reject(new DOMException('Stopped', 'AbortError'))
    },
    fail(problem) {
      const advice =
        'Reload the page; the stored indexes are unchanged. If it happens again, choose a smaller part of the folder.'
      failure ??= new UserError(`The work ended unexpectedly: ${problem || 'the browser gives no reason'}.`, advice)
      for (const { reject } of pending.values()) reject(failure)
      pending.clear()
    },
  }
}
