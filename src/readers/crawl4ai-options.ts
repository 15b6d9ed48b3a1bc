import { PharosError } from '../core/errors.ts'
import { hideCredentials, refuseCredentials } from '../core/url/credentials.ts'
import type { Clock } from '../crawl/ports.ts'
import type { HostResolver } from '../fetch/address-check.ts'
import { type Allowance, parseAllowance } from '../fetch/addresses.ts'
import { systemClock } from '../fetch/clock.ts'
import { checkOptions, kindOfAll, type OptionKind, refuseOption } from './check-options.ts'
import type { VectorSink } from './document.ts'
import { type Log, neverFailing } from './reader-log.ts'

/** Options of a `Crawl4AIReader`. */
export interface Crawl4AIReaderOptions {
  /** URL of the service. @default http://localhost:52004 */
  readonly endpointUrl?: string
  /** Timeout of each response in seconds, from 10 to 300. @default 60 */
  readonly timeoutSeconds?: number
  /** Whether the first failed page ends the call. @default false */
  readonly failOnError?: boolean
  /** Pages that the service reads at the same time, from 1 to 20. @default 5 */
  readonly maxConcurrentRequests?: number
  /** Number of retries of a failed call, from 0 to 10. @default 3 */
  readonly maxRetries?: number
  /** Back-off before each retry, in seconds; the last value repeats. @default [1, 2, 4] */
  readonly retryDelays?: readonly number[]
  /** Whether new vectors of a page replace its old ones when they are written to `vectorStore`. @default true */
  readonly enableDeduplication?: boolean
  /** Destination of the vectors. @default none */
  readonly vectorStore?: VectorSink
  /** Token of the service. @default none */
  readonly token?: string
  /** Addresses of pages to allow besides public ones, as in `openLibrary`. @default none */
  readonly allowPrivate?: readonly string[]
  /** Called with log records. @default none */
  readonly log?: Log
  /** @default the resolver of the system */
  readonly resolve?: HostResolver
  /** @default the clock of this machine */
  readonly clock?: Clock
}

/** The options with their defaults, validated. */
export interface ReaderSettings
  extends Omit<Required<Crawl4AIReaderOptions>, 'vectorStore' | 'allowPrivate' | 'resolve'> {
  readonly vectorStore: VectorSink | undefined
  readonly allowance: Allowance
}

/** Configuration settings of a reader; durations in milliseconds. */
export interface Crawl4AISettings {
  readonly crawl4aiEndpoint: string
  readonly crawl4aiToken: string
  readonly crawl4aiTimeout: number
  readonly crawl4aiConcurrency: number
  readonly crawl4aiRetries: number
  readonly crawl4aiFailOnError: boolean
  readonly allowPrivate: readonly string[]
}

/** Converts the configuration to reader options. */
export function readerOptionsOf(settings: Crawl4AISettings): Crawl4AIReaderOptions {
  return {
    endpointUrl: settings.crawl4aiEndpoint,
    token: settings.crawl4aiToken,
    timeoutSeconds: settings.crawl4aiTimeout / 1000,
    maxConcurrentRequests: settings.crawl4aiConcurrency,
    maxRetries: settings.crawl4aiRetries,
    failOnError: settings.crawl4aiFailOnError,
    allowPrivate: settings.allowPrivate,
  }
}

const KINDS: Readonly<Record<keyof Crawl4AIReaderOptions, OptionKind>> = {
  ...kindOfAll('a text', 'endpointUrl', 'token'),
  ...kindOfAll('an object', 'vectorStore', 'clock'),
  ...kindOfAll('a function', 'log', 'resolve'),
  ...kindOfAll('anything', 'timeoutSeconds', 'maxConcurrentRequests', 'maxRetries', 'retryDelays'),
  ...kindOfAll('true or false', 'failOnError', 'enableDeduplication'),
  allowPrivate: 'a list of texts',
}

/** Fills in the defaults. Throws `OPTION_INVALID`, with field, range and value, for a value out of range. */
export function resolveReaderOptions(options: Crawl4AIReaderOptions): ReaderSettings {
  checkOptions(options, KINDS)
  const parsed = parseAllowance(options.allowPrivate ?? [])
  if (parsed.type === 'problem') throw new PharosError('OPTION_INVALID', { problem: `allowPrivate: ${parsed.problem}` })
  return {
    endpointUrl: checkEndpoint(options.endpointUrl ?? 'http://localhost:52004'),
    timeoutSeconds: checkNumber('timeoutSeconds', options.timeoutSeconds ?? 60, 'a number', 10, 300),
    failOnError: options.failOnError ?? false,
    maxConcurrentRequests: checkNumber(
      'maxConcurrentRequests',
      options.maxConcurrentRequests ?? 5,
      'a whole number',
      1,
      20,
    ),
    maxRetries: checkNumber('maxRetries', options.maxRetries ?? 3, 'a whole number', 0, 10),
    retryDelays: checkDelays(options.retryDelays ?? [1, 2, 4]),
    enableDeduplication: options.enableDeduplication ?? true,
    vectorStore: options.vectorStore,
    token: options.token ?? '',
    allowance: parsed.allowance,
    log: neverFailing(options.log ?? (() => {})),
    clock: options.clock ?? systemClock,
  }
}

function checkNumber(
  field: string,
  value: number,
  kind: 'a number' | 'a whole number',
  min: number,
  max: number,
): number {
  const isKind = kind === 'a number' ? Number.isFinite(value) : Number.isInteger(value)
  return isKind && value >= min && value <= max ? value : refuseOption(field, `${kind} from ${min} to ${max}`, value)
}

function checkDelays(delays: readonly number[]): readonly number[] {
  const isList = Array.isArray(delays) && delays.length > 0
  return isList && delays.every((delay) => Number.isFinite(delay) && delay >= 0)
    ? [...delays]
    : refuseOption('retryDelays', 'at least one number of seconds, none below 0', delays)
}

/** Checks the URL of the service. The error messages do not repeat its credentials. */
function checkEndpoint(text: string): string {
  refuseCredentials('endpointUrl', text, 'token')
  const url = URL.parse(text)
  return url !== null && ['http:', 'https:'].includes(url.protocol)
    ? text.replace(/(?<!\/)\/+$/, '')
    : refuseOption('endpointUrl', 'an address with http or https', hideCredentials(text))
}
