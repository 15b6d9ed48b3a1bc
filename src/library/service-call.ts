import { tryParseJson } from '../core/json/try-parse-json.ts'
import { parseRetryAfter } from '../core/retry-after.ts'
import { withoutUndefined } from '../core/without-undefined.ts'
import type { Clock } from '../crawl/ports.ts'
import { type HttpClient, ServiceError, type ServiceRequest, type ServiceResponse } from './ports/http-client.ts'

/** A service call with its retry policy. */
export interface ServiceCall extends Omit<ServiceRequest, 'body'> {
  /** Display name of the service, such as `TEI` or `Qdrant`. */
  readonly service: string
  /** Request body, sent as JSON. */
  readonly json?: unknown
  /** Maximum number of retries. @default 0 */
  readonly retries?: number
  /** Delays before retries in milliseconds; the last one repeats. A longer Retry-After of the service takes precedence. */
  readonly delaysMs?: readonly number[]
  /** Decides which failures are retried. @default those with {@link ServiceFailure.isTransient} */
  readonly isWorthRetrying?: (failure: ServiceFailure) => boolean
  /** Whether an error response blames the request although its status blames the service. @default never */
  readonly isRefusal?: (status: number, answer: unknown) => boolean
  /** Called before each delay. */
  readonly onRetry?: (failure: ServiceFailure, attempt: number, delayMs: number) => void
}

/** Kinds of failure. */
export type FailureType =
  | 'not-allowed'
  | 'timeout'
  | 'network'
  | 'server-error'
  | 'rate-limited'
  /** The request or its credentials are invalid. */
  | 'refused'
  | 'too-large'
  /** The response violates the contract of the service. */
  | 'bad-answer'

/** A failed call. The message names the service and contains nothing private. */
export class ServiceFailure extends Error {
  override readonly name = 'ServiceFailure'
  readonly type: FailureType
  readonly status: number | null
  readonly retryAfterMs: number | null
  /** Message of the service on one line; empty if there is none. */
  readonly serviceMessage: string

  constructor(
    type: FailureType,
    message: string,
    details: {
      readonly status?: number
      readonly retryAfterMs?: number | null
      readonly serviceMessage?: string
      readonly cause?: unknown
    } = {},
  ) {
    super(message, details.cause === undefined ? {} : { cause: details.cause })
    this.type = type
    this.status = details.status ?? null
    this.retryAfterMs = details.retryAfterMs ?? null
    this.serviceMessage = details.serviceMessage ?? ''
  }

  /** Whether the same call may succeed later. */
  get isTransient(): boolean {
    return ['timeout', 'network', 'server-error', 'rate-limited'].includes(this.type)
  }
}

/** Maximum Retry-After that is honored; after a longer one, the call fails at once. */
const MAX_RETRY_AFTER_MS = 60_000

/** Calls a service and parses its JSON; undefined for an empty response. Rejects with a {@link ServiceFailure}. */
export async function callService(client: HttpClient, clock: Clock, call: ServiceCall): Promise<unknown> {
  const { retries = 0, delaysMs = [], isWorthRetrying = (failure) => failure.isTransient, onRetry, signal } = call
  for (let attempt = 0; ; attempt++) {
    try {
      return await callOnce(client, clock, call)
    } catch (error) {
      if (!(error instanceof ServiceFailure) || attempt >= retries || !isWorthRetrying(error)) throw error
      const retryAfterMs = error.retryAfterMs ?? 0
      if (retryAfterMs > MAX_RETRY_AFTER_MS) throw error
      const delayMs = Math.max(retryAfterMs, delaysMs[Math.min(attempt, delaysMs.length - 1)] ?? 0)
      onRetry?.(error, attempt + 1, delayMs)
      await clock.sleep(delayMs, signal)
    }
  }
}

async function callOnce(client: HttpClient, clock: Clock, call: ServiceCall): Promise<unknown> {
  const { service, json, method, url, headers, timeoutMs, maxBytes, signal } = call
  let answer: ServiceResponse
  try {
    answer = await client.request({
      method,
      url,
      timeoutMs,
      signal,
      ...withoutUndefined({ headers, maxBytes }),
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    })
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw new ServiceFailure(error.problem, `${service}: ${error.message}`, { cause: error })
  }
  const { status, body } = answer
  const text = new TextDecoder().decode(body)
  if (status < 200 || status > 299) throw createStatusFailure(call, answer, text, clock)
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ServiceFailure('bad-answer', `${service} answered ${status} with a body that is not JSON`, {
      status,
      cause,
    })
  }
}

function createStatusFailure(
  { service, headers: sent = {}, isRefusal = () => false }: ServiceCall,
  { status, headers }: ServiceResponse,
  text: string,
  clock: Clock,
): ServiceFailure {
  const json = tryParseJson(text)
  const serviceMessage = clip(hideKeys(pickMessage(json) ?? text, sent))
  const message = `${service} answered ${status}${serviceMessage === '' ? '' : `: ${serviceMessage}`}`
  const retryAfterMs = parseRetryAfter(headers['retry-after'] ?? null, () => clock.now())
  if (isRefusal(status, json)) return new ServiceFailure('refused', message, { status, serviceMessage })
  if (status === 429) return new ServiceFailure('rate-limited', message, { status, retryAfterMs, serviceMessage })
  if (status >= 500) return new ServiceFailure('server-error', message, { status, retryAfterMs, serviceMessage })
  return new ServiceFailure(status >= 400 ? 'refused' : 'bad-answer', message, { status, serviceMessage })
}

/** Headers that contain keys. */
const KEY_HEADERS = ['authorization', 'api-key']

/** Removes sent keys from a text, because some services repeat an invalid key. */
export function hideKeys(text: string, sent: Readonly<Record<string, string>>): string {
  const keys = KEY_HEADERS.map((name) => (sent[name] ?? '').replace(/^Bearer /, ''))
  return keys.reduce((masked, key) => (key === '' ? masked : masked.replaceAll(key, '…')), text)
}

/** Maximum length of a repeated service message. */
const MAX_MESSAGE_CHARS = 200

/** Puts a service message on one line and clips it. */
function clip(text: string): string {
  const line = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim()
  return line.length > MAX_MESSAGE_CHARS ? `${line.slice(0, MAX_MESSAGE_CHARS)}…` : line
}

/**
 * Extracts the human-readable message of a response: `error`, `message`, `detail`, the first `msg` in them or `status.error`, as TEI,
 * OpenAI, Crawl4AI and Qdrant write it.
 */
function pickMessage(json: unknown): string | undefined {
  if (typeof json === 'string') return json
  if (typeof json !== 'object' || json === null) return undefined
  if (Array.isArray(json)) return pickMessage(json[0])
  for (const name of ['message', 'error', 'detail', 'msg', 'status']) {
    const found = pickMessage((json as Readonly<Record<string, unknown>>)[name])
    if (found !== undefined) return found
  }
  return undefined
}
