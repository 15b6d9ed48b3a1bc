import { z } from 'zod'
import { PharosError } from '../core/errors.ts'
import { refuseCredentials } from '../core/url/credentials.ts'
import type { Clock } from '../crawl/ports.ts'
import type { HttpClient } from '../library/ports/http-client.ts'
import { callService, ServiceFailure } from '../library/service-call.ts'

/** How to reach a Qdrant server. */
export interface QdrantAccess {
  /** Base URL: `http://localhost:6333`. */
  readonly url: string
  /** API key. */
  readonly key?: string
  /** Timeout of one response, in milliseconds. @default 30_000 */
  readonly timeoutMs?: number
  /** Number of retries after a transient failure. @default 3 */
  readonly retries?: number
  readonly client: HttpClient
  readonly clock: Clock
}

/** A call of the REST API. */
export interface QdrantRequest<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path and query below the base URL. */
  readonly path: string
  readonly json?: unknown
  /** Schema of the response's `result`. */
  readonly result: z.ZodType<T>
  readonly signal?: AbortSignal | undefined
}

/** Calls Qdrant and returns the `result` of the response. Rejects with a {@link ServiceFailure}. */
export type QdrantClient = <T>(call: QdrantRequest<T>) => Promise<T>

const TIMEOUT_MS = 30_000
const RETRIES = 3
const RETRY_DELAYS_MS = [500, 1000, 2000]

/** Creates a Qdrant client. Throws `OPTION_INVALID` for a URL with a user name or password. */
export function createQdrantClient(access: QdrantAccess): QdrantClient {
  refuseCredentials('url', access.url, 'key')
  const { client, clock, key } = access
  const base = access.url.replace(/(?<!\/)\/+$/, '')
  return async ({ method, path, json, result, signal }) => {
    const answer = await callService(client, clock, {
      service: 'Qdrant',
      method,
      url: `${base}${path}`,
      json,
      retries: access.retries ?? RETRIES,
      delaysMs: RETRY_DELAYS_MS,
      timeoutMs: access.timeoutMs ?? TIMEOUT_MS,
      signal,
      ...(key === undefined || key === '' ? {} : { headers: { 'api-key': key } }),
    })
    const read = z.object({ result }).safeParse(answer)
    if (read.success) return read.data.result
    throw new ServiceFailure('bad-answer', `Qdrant answered ${method} ${path} with an unexpected response`)
  }
}

/** Translates a failed call for users of the collection; returns any other error unchanged. */
export function toUnusableError(url: string, error: unknown): unknown {
  if (!(error instanceof ServiceFailure)) return error
  return createUnusableError(url, error.message, adviceFor(error), error)
}

/** The error for an unusable Qdrant, with advice. */
export function createUnusableError(url: string, problem: string, advice: string, cause?: unknown): PharosError {
  const options = cause === undefined ? {} : { cause }
  return new PharosError('SERVICE_UNUSABLE', { service: 'Qdrant', url, problem, advice }, options)
}

function adviceFor({ type, status }: ServiceFailure): string {
  if (status === 401 || status === 403) return 'set qdrantKey to an API key with write access'
  if (type === 'refused' || type === 'bad-answer') return 'check that Qdrant 1.10 or newer is running there'
  return 'check that it is running and reachable; no vectors are lost, and `pharos embed sync` updates the copy'
}
