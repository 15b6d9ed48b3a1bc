import { withoutFragment } from '../core/extract/resolve.ts'
import type { Snapshot } from '../core/model.ts'
import { parseHttp } from '../core/url/key.ts'
import { withoutUndefined } from '../core/without-undefined.ts'
import type { Pacer } from './hosts/pacer.ts'
import type { PacedFetcher } from './hosts/send-permit.ts'
import type { Reason } from './ledger-reasons.ts'
import type { FetchRequest, SiteHeaders } from './ports.ts'

/** Result of fetching a file. */
export type Resource =
  /** `url` is the address after redirects. */
  | {
      readonly type: 'found'
      readonly url: string
      readonly snapshot: Snapshot
      readonly etag?: string | null
      readonly lastModified?: string | null
    }
  /** The file is unchanged since the sent validators. */
  | { readonly type: 'unchanged'; readonly url: string }
  /** The file does not exist, or access is denied (4xx). */
  | { readonly type: 'missing'; readonly status: number }
  | { readonly type: 'failed'; readonly reason: Reason; readonly detail: string; readonly status: number | null }

/** Whether the site gave a final result for a file: it exists, is missing, or is disallowed. */
export function isDefinitive(resource: Resource): boolean {
  return resource.type !== 'failed' || resource.reason === 'robots-disallow'
}

/** Whether the response proves that a file does not exist. Any other refusal leaves open what the file holds. */
export function isProvenMissing(resource: Resource): boolean {
  return resource.type === 'missing' && (resource.status === 404 || resource.status === 410)
}

/** Options of a request for a file. */
export interface ResourceRequest extends Pick<FetchRequest, 'maxBytes' | 'isClipped' | 'timeoutMs'> {
  /** Validators of the known version; sent to this address only, not to redirect targets. */
  readonly etag?: string | null
  readonly lastModified?: string | null
  readonly signal?: AbortSignal | undefined
}

/** Fetches one file that is not a page. Rejects only when the signal is aborted. */
export type ResourceFetcher = (url: string, request?: ResourceRequest) => Promise<Resource>

/** Whether an address may be fetched. */
export type RobotsDecision =
  | { readonly allowed: true }
  | {
      readonly allowed: false
      readonly reason: 'robots-disallow' | 'robots-unreachable' | 'address-refused' | 'network' | 'tls'
      readonly pattern: string | null
      /** When the robots.txt that forbids the address was read. */
      readonly readAt?: number
      /** When to try again if the rules are unknown so far; null or missing if waiting does not help. */
      readonly retryAt?: number | null
    }

/** Options of a resource fetcher. */
export interface ResourceFetcherOptions {
  readonly fetcher: PacedFetcher
  readonly pacer: Pick<Pacer, 'takeTurn'>
  /** Called before each hop. Without it robots.txt is ignored, which is right only for fetching robots.txt itself. */
  readonly judgeRobots?: (url: string, signal?: AbortSignal) => Promise<RobotsDecision>
  /** @default 5 */
  readonly maxRedirects?: number
  /** Additional headers for an address; each hop of a redirect asks for its own. @default none */
  readonly headersFor?: SiteHeaders['find']
}

/**
 * Creates the function that fetches robots.txt, sitemaps and llms.txt. It takes host slots like every visit, follows redirects, and checks
 * robots.txt before each hop.
 */
export function createResourceFetcher(options: ResourceFetcherOptions): ResourceFetcher {
  const { fetcher, pacer, judgeRobots, maxRedirects = 5, headersFor } = options
  return async (start, { maxBytes, isClipped = false, timeoutMs, etag = null, lastModified = null, signal } = {}) => {
    const seen = new Set<string>()
    for (let url = withoutFragment(start); ; ) {
      const address = parseHttp(url)
      if (address === undefined) return createFailure('scheme', `${url} is not a web address`)
      if (seen.has(url)) return createFailure('redirect-loop', `redirected to ${url} again`)
      if (seen.size > maxRedirects) return createFailure('redirect-loop', `redirected more than ${maxRedirects} times`)
      seen.add(url)
      const verdict = await judgeRobots?.(url, signal)
      if (verdict?.allowed === false) return createFailure(verdict.reason, verdict.pattern ?? 'robots.txt')
      const turn = await pacer.takeTurn(address.host, signal)
      if (turn === 'parked') return createFailure('host-parked', `${address.host} gets no more requests`)
      signal?.throwIfAborted()
      const headers = headersFor?.(url) ?? {}
      const isConditional = seen.size === 1 && (etag !== null || lastModified !== null)
      const request = {
        url,
        ...(isConditional ? { etag, lastModified } : {}),
        ...withoutUndefined({ maxBytes }),
        ...(isClipped ? { isClipped } : {}),
        ...withoutUndefined({ timeoutMs, signal }),
        ...(Object.keys(headers).length === 0 ? {} : { headers }),
      }
      const outcome = await fetcher.fetch(request, turn)
      switch (outcome.type) {
        case 'fetched':
          return {
            type: 'found',
            url: outcome.snapshot.url,
            snapshot: outcome.snapshot,
            etag: outcome.etag,
            lastModified: outcome.lastModified,
          }
        case 'moved':
          url = withoutFragment(outcome.target)
          break
        case 'gone':
          return { type: 'missing', status: outcome.status }
        case 'refused':
          return isClientError(outcome.status)
            ? { type: 'missing', status: outcome.status }
            : createFailure(outcome.reason, outcome.detail, outcome.status)
        case 'unchanged':
          if (isConditional) return { type: 'unchanged', url }
          return createFailure('bad-answer', 'the server answered 304 to an unconditional request', 304)
        case 'failed':
          return !outcome.isTransient && isClientError(outcome.status)
            ? { type: 'missing', status: outcome.status }
            : createFailure(outcome.reason, outcome.detail, outcome.status)
      }
    }
  }
}

function createFailure(reason: Reason, detail: string, status: number | null = null): Resource {
  return { type: 'failed', reason, detail, status }
}

/** Any 4xx except 429, which asks for a retry. */
function isClientError(status: number | null): status is number {
  return status !== null && status >= 400 && status < 500 && status !== 429
}
