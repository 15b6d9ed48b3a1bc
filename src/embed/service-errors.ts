import { PharosError } from '../core/errors.ts'
import { ServiceFailure } from '../library/service-call.ts'

/** How error messages name a service. */
export interface NamedService {
  /** Name of the service. */
  readonly service: string
  readonly endpoint: string
  /** API key. Error messages depend only on whether there is one. */
  readonly key?: string
}

const RETRY_ADVICE = 'check that it is running, then try again; meanwhile search matches words only'
const ENDPOINT_ADVICE = 'check the settings embedEndpoint and embedModel'
const KEY_ADVICE = 'check the setting embedKey (PHAROS_EMBED_KEY)'
const MISSING_KEY_ADVICE = 'set PHAROS_EMBED_KEY'
const TIMEOUT_ADVICE = 'check that it is running; if it is slow, lower embedBatch or raise embedTimeout'
export const REPLACE_ADVICE =
  'use the model that made the vectors, or embed everything again with `pharos embed run --replace`'

/** Advice for the user, by HTTP status. */
const ADVICE: Readonly<Record<number, string>> = {
  401: KEY_ADVICE,
  403: KEY_ADVICE,
  404: ENDPOINT_ADVICE,
  405: ENDPOINT_ADVICE,
}

/** The error for an unusable service, with advice. */
export function createUnusableError(
  { service, endpoint }: NamedService,
  problem: string,
  advice: string,
  cause?: unknown,
): PharosError {
  const { origin, pathname } = new URL(endpoint)
  const url = origin + (pathname === '/' ? '' : pathname)
  return new PharosError('SERVICE_UNUSABLE', { service, url, problem, advice }, { cause })
}

/** The error for texts that a service cannot embed. */
export function createRefusedError({ service }: NamedService, problem: string, cause?: unknown): PharosError {
  return new PharosError('EMBED_REFUSED', { service, problem }, { cause })
}

/** Translates a failed call for the caller that requested vectors; returns any other error unchanged. */
export function toCallerError(named: NamedService, error: unknown): unknown {
  if (!(error instanceof ServiceFailure)) return error
  const { type, status } = error
  if (status === 401 && named.key === undefined)
    return createUnusableError(named, 'no key was sent', MISSING_KEY_ADVICE, error)
  const message = writeFailure(named, error)
  if (type === 'not-allowed') return createUnusableError(named, message, KEY_ADVICE, error)
  if (isRefusal(error)) return createRefusedError(named, message, error)
  if (type === 'timeout') return createUnusableError(named, message, TIMEOUT_ADVICE, error)
  if (error.isTransient) return createUnusableError(named, message, RETRY_ADVICE, error)
  return createUnusableError(named, message, (status === null ? undefined : ADVICE[status]) ?? ENDPOINT_ADVICE, error)
}

/** Describes a failure in words that follow the name of the service. */
export function writeFailure({ service }: NamedService, { message }: ServiceFailure): string {
  return message.startsWith(`${service}: `) ? message.slice(service.length + 2) : message.replace(service, 'it')
}

/** Whether the request is at fault: too large, or not readable for the service. */
function isRefusal({ status }: ServiceFailure): boolean {
  return status === 400 || status === 413 || status === 422
}

/**
 * Whether a failure may be caused by a text: TEI responds 424 when its model fails, and llama.cpp responds 500 to a text that is too long.
 */
export function isPossibleTextFault(error: unknown): error is ServiceFailure {
  return error instanceof ServiceFailure && (error.status === 424 || error.status === 500)
}

/** Whether a service did not respond, or a proxy responded in its place. The service may have crashed because of a text. */
export function isOutage(error: unknown): error is ServiceFailure {
  if (!(error instanceof ServiceFailure)) return false
  const { type, status } = error
  return type === 'network' || type === 'timeout' || (status !== null && status >= 502 && status <= 504)
}
