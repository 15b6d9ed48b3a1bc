import type { ErrorMessage } from '../user-error.ts'
import type { OperationName, Progress } from './operations.ts'

/** Messages from the page to the worker. */
export type ToWorker =
  | { readonly type: 'ask'; readonly id: number; readonly name: OperationName; readonly input: unknown }
  | { readonly type: 'stop'; readonly id: number }

/** Messages from the worker to the page. `ready` is sent once and first; `lock` is a lock that the worker holds as long as it lives. */
export type FromWorker =
  | { readonly type: 'ready'; readonly lock: string | null }
  | { readonly type: 'progress'; readonly id: number; readonly progress: Progress }
  | { readonly type: 'done'; readonly id: number; readonly answer: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly error: ErrorMessage }
  | { readonly type: 'stopped'; readonly id: number }
