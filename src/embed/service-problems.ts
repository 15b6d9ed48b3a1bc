import { PharosError } from '../core/errors.ts'
import { ServiceFailure } from '../library/service-call.ts'

/** A service in messages. */
export interface NamedService {
  /** Name of the service. */
  readonly service: string
  readonly endpoint: string
  /** Only its presence matters here. */
  readonly key?: string
}

const LATER = 'see that it runs and try again; search goes by words meanwhile'
const ADDRESS = 'check the settings embedEndpoint and embedModel'
const KEY = 'check the setting embedKey (PHAROS_EMBED_KEY)'
const NO_KEY = 'set PHAROS_EMBED_KEY'
const PATIENCE = 'see that it runs; where it is only slow, lower embedBatch or raise embedTimeout'
export const REPLACE =
  'use the model that the vectors were made with, or make all of them anew with `pharos embed run --replace`'

/** Advice for the owner, by HTTP status. */
const ADVICE: Readonly<Record<number, string>> = { 401: KEY, 403: KEY, 404: ADDRESS, 405: ADDRESS }

/** The error for an unusable service, with advice. */
export function unusable(
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
export function refused({ service }: NamedService, problem: string, cause?: unknown): PharosError {
  return new PharosError('EMBED_REFUSED', { service, problem }, { cause })
}

/** Translates a failed call for the caller that requested vectors; rethrows any other error. */
export function describeFailure(named: NamedService, error: unknown): unknown {
  if (!(error instanceof ServiceFailure)) return error
  const { type, status } = error
  if (status === 401 && named.key === undefined) return unusable(named, 'no key was sent', NO_KEY, error)
  const message = tellFailure(named, error)
  if (type === 'not-allowed') return unusable(named, message, KEY, error)
  if (isRefusal(error)) return refused(named, message, error)
  if (type === 'timeout') return unusable(named, message, PATIENCE, error)
  if (error.isTransient) return unusable(named, message, LATER, error)
  return unusable(named, message, (status === null ? undefined : ADVICE[status]) ?? ADDRESS, error)
}

/** Describes a failure, to follow the name of the service. */
export function tellFailure({ service }: NamedService, { message }: ServiceFailure): string {
  return message.startsWith(`${service}: `) ? message.slice(service.length + 2) : message.replace(service, 'it')
}

/** Whether the request is at fault: too large, or not readable for the service. */
function isRefusal({ status }: ServiceFailure): boolean {
  return status === 400 || status === 413 || status === 422
}

/**
 * Whether a failure may be caused by a text: TEI responds 424 when its model fails, and llama.cpp responds 500 to a text that is too long.
 */
export function isSuspicious(error: unknown): error is ServiceFailure {
  return error instanceof ServiceFailure && (error.status === 424 || error.status === 500)
}

/** Whether a service did not respond, or something responded in its place. It may have crashed because of a text. */
export function isBreakdown(error: unknown): error is ServiceFailure {
  if (!(error instanceof ServiceFailure)) return false
  const { type, status } = error
  return type === 'network' || type === 'timeout' || (status !== null && status >= 502 && status <= 504)
}
