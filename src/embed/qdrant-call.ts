import { z } from 'zod'
import { PharosError } from '../core/errors.ts'
import { refuseCredentials } from '../core/url/credentials.ts'
import type { Clock } from '../crawl/ports.ts'
import type { HttpClient } from '../library/http-client.ts'
import { callService, ServiceFailure } from '../library/service-call.ts'

/** How a Qdrant is reached. */
export interface QdrantAccess {
  /** Where it is: `http://localhost:6333`. */
  readonly url: string
  /** Key that it wants to see. */
  readonly key?: string
  /** Time for one answer, in milliseconds. @default 30_000 */
  readonly timeoutMs?: number
  /** Times that a call which failed for a while is made again. @default 3 */
  readonly retries?: number
  readonly client: HttpClient
  readonly clock: Clock
}

/** A call of the REST interface. */
export interface QdrantCall<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below the address of the service, with its query. */
  readonly path: string
  readonly json?: unknown
  /** Schema of its `result`. */
  readonly result: z.ZodType<T>
  readonly signal?: AbortSignal | undefined
}

/** Calls a Qdrant and gives the `result` of its answer. Rejects with a {@link ServiceFailure}. */
export type CallQdrant = <T>(call: QdrantCall<T>) => Promise<T>

const TIMEOUT_MS = 30_000
const RETRIES = 3
const DELAYS_MS = [500, 1000, 2000]

/** Creates what calls a Qdrant. Throws `OPTION_INVALID` for an address with a user name or password. */
export function createQdrantCall(access: QdrantAccess): CallQdrant {
  refuseCredentials('url', access.url, 'key')
  const { client, clock, key } = access
  const base = access.url.replace(/\/+$/, '')
  return async ({ method, path, json, result, signal }) => {
    const answer = await callService(client, clock, {
      service: 'Qdrant',
      method,
      url: `${base}${path}`,
      json,
      retries: access.retries ?? RETRIES,
      delaysMs: DELAYS_MS,
      timeoutMs: access.timeoutMs ?? TIMEOUT_MS,
      signal,
      ...(key === undefined || key === '' ? {} : { headers: { 'api-key': key } }),
    })
    const read = z.object({ result }).safeParse(answer)
    if (read.success) return read.data.result
    throw new ServiceFailure('bad-answer', `Qdrant answered ${method} ${path} with something that it is not known for`)
  }
}

/** Translates a failed call for users of the collection; returns any other error unchanged. */
export function toUnusable(url: string, error: unknown): unknown {
  if (!(error instanceof ServiceFailure)) return error
  return unusable(url, error.message, adviceFor(error), error)
}

/** Says that a Qdrant cannot be used, and what to do about it. */
export function unusable(url: string, problem: string, advice: string, cause?: unknown): PharosError {
  const options = cause === undefined ? {} : { cause }
  return new PharosError('SERVICE_UNUSABLE', { service: 'Qdrant', url, problem, advice }, options)
}

function adviceFor({ type, status }: ServiceFailure): string {
  if (status === 401 || status === 403) return 'give the key that it wants to see, with the right to write (qdrantKey)'
  if (type === 'refused' || type === 'bad-answer') return 'see that a Qdrant of 1.10 or newer answers there'
  return 'see that it runs there and can be reached; nothing is lost, `pharos embed sync` brings it up to date'
}
