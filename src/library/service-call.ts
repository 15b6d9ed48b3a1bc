import { parseRetryAfter } from '../core/retry-after.ts'
import type { Clock } from '../crawl/ports.ts'
import { type HttpClient, type ServiceAnswer, ServiceError, type ServiceRequest } from './http-client.ts'

/** A call of a service, and how patient it is. */
export interface ServiceCall extends Omit<ServiceRequest, 'body'> {
  /** How people know the service: `TEI`, `Qdrant`. */
  readonly service: string
  /** What is sent, as JSON. */
  readonly json?: unknown
  /** Times that a failed call is made again. @default 0 */
  readonly retries?: number
  /** Pauses before them, in milliseconds; the last one repeats. One that the service asks for by Retry-After counts where it is longer. */
  readonly delaysMs?: readonly number[]
  /** Which failures are worth another call. @default those that {@link ServiceFailure.isTransient} names */
  readonly isWorthRetrying?: (failure: ServiceFailure) => boolean
  /** Whether an error says that what was asked for is at fault, though its status blames the service. @default never */
  readonly isRefusal?: (status: number, answer: unknown) => boolean
  /** Told before each pause. */
  readonly onRetry?: (failure: ServiceFailure, attempt: number, delayMs: number) => void
}

/** How a call failed. */
export type FailureType =
  | 'not-allowed'
  | 'timeout'
  | 'network'
  | 'server-error'
  | 'rate-limited'
  /** What was sent is at fault, or whoever sent it. */
  | 'refused'
  | 'too-large'
  /** An answer that is not what the contract of the service says. */
  | 'bad-answer'

/** A call that failed. Its message names the service, and holds nothing private. */
export class ServiceFailure extends Error {
  override readonly name = 'ServiceFailure'
  readonly type: FailureType
  readonly status: number | null
  readonly retryAfterMs: number | null
  /** What the service itself says, on one line; empty where it says nothing. */
  readonly told: string

  constructor(
    type: FailureType,
    message: string,
    details: {
      readonly status?: number
      readonly retryAfterMs?: number | null
      readonly told?: string
      readonly cause?: unknown
    } = {},
  ) {
    super(message, details.cause === undefined ? {} : { cause: details.cause })
    this.type = type
    this.status = details.status ?? null
    this.retryAfterMs = details.retryAfterMs ?? null
    this.told = details.told ?? ''
  }

  /** Whether the same call may be answered later. */
  get isTransient(): boolean {
    return ['timeout', 'network', 'server-error', 'rate-limited'].includes(this.type)
  }
}

/** Longest pause that a service may ask for: whoever wants a longer one is not waited for. */
const MOST_PAUSE_MS = 60_000

/** Calls a service and reads its JSON; undefined where it answers with nothing. Rejects with a {@link ServiceFailure}. */
export async function callService(client: HttpClient, clock: Clock, call: ServiceCall): Promise<unknown> {
  const { retries = 0, delaysMs = [], isWorthRetrying = (failure) => failure.isTransient, onRetry, signal } = call
  for (let attempt = 0; ; attempt++) {
    try {
      return await callOnce(client, clock, call)
    } catch (error) {
      if (!(error instanceof ServiceFailure) || attempt >= retries || !isWorthRetrying(error)) throw error
      const asked = error.retryAfterMs ?? 0
      if (asked > MOST_PAUSE_MS) throw error
      const pause = Math.max(asked, delaysMs[Math.min(attempt, delaysMs.length - 1)] ?? 0)
      onRetry?.(error, attempt + 1, pause)
      await clock.sleep(pause, signal)
    }
  }
}

async function callOnce(client: HttpClient, clock: Clock, call: ServiceCall): Promise<unknown> {
  const { service, json, method, url, headers, timeoutMs, maxBytes, signal } = call
  let answer: ServiceAnswer
  try {
    answer = await client.request({
      method,
      url,
      timeoutMs,
      signal,
      ...(headers === undefined ? {} : { headers }),
      ...(maxBytes === undefined ? {} : { maxBytes }),
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    })
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw new ServiceFailure(error.problem, `${service}: ${error.message}`, { cause: error })
  }
  const { status, body } = answer
  const text = new TextDecoder().decode(body)
  if (status < 200 || status > 299) throw describeStatus(call, answer, text, clock)
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ServiceFailure('bad-answer', `${service} answered ${status} with something that is not JSON`, {
      status,
      cause,
    })
  }
}

function describeStatus(
  { service, headers: sent = {}, isRefusal = () => false }: ServiceCall,
  { status, headers }: ServiceAnswer,
  text: string,
  clock: Clock,
): ServiceFailure {
  const json = parseJson(text)
  const told = clip(hideKeys(pickMessage(json) ?? text, sent))
  const message = `${service} answered ${status}${told === '' ? '' : `: ${told}`}`
  const retryAfterMs = parseRetryAfter(headers['retry-after'] ?? null, () => clock.now())
  if (isRefusal(status, json)) return new ServiceFailure('refused', message, { status, told })
  if (status === 429) return new ServiceFailure('rate-limited', message, { status, retryAfterMs, told })
  if (status >= 500) return new ServiceFailure('server-error', message, { status, retryAfterMs, told })
  return new ServiceFailure(status >= 400 ? 'refused' : 'bad-answer', message, { status, told })
}

/** Fields of a request that hold keys. */
const KEY_FIELDS = ['authorization', 'api-key']

/** A text of a service without the keys that it was sent, for some repeat the one that they do not like. */
export function hideKeys(text: string, sent: Readonly<Record<string, string>>): string {
  const keys = KEY_FIELDS.map((name) => (sent[name] ?? '').replace(/^Bearer /, ''))
  return keys.reduce((left, key) => (key === '' ? left : left.replaceAll(key, '…')), text)
}

/** Most characters of what a service says that are repeated. */
const MOST_TOLD = 200

/** What a service says, on one line. */
function clip(text: string): string {
  const line = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim()
  return line.length > MOST_TOLD ? `${line.slice(0, MOST_TOLD)}…` : line
}

/** What JSON says; undefined for what is none. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The member of an answer that is meant for people: `error`, `message`, `detail`, the first `msg` of those or `status.error`, as TEI, OpenAI, Crawl4AI and Qdrant write it. */
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
