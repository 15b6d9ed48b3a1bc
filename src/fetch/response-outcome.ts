import { isSendable, singleValue } from '../core/header-fields.ts'
import { parseRetryAfter } from '../core/retry-after.ts'
import type { Reason } from '../crawl/ledger-reasons.ts'
import type { FetchOutcome, FetchRequest } from '../crawl/ports.ts'

export type Fields = Record<string, string | string[] | undefined>

interface FailDetails {
  readonly status?: number | null
  readonly isTransient?: boolean
  readonly retryAfterMs?: number | null
}

export function fail(reason: Reason, detail: string, details: FailDetails = {}): FetchOutcome {
  const { status = null, isTransient = false, retryAfterMs = null } = details
  return { type: 'failed', status, reason, detail, isTransient, retryAfterMs }
}

/** The outcome that status and headers decide; undefined when the body should be read. */
export function outcomeOfStatus(
  status: number,
  headers: Fields,
  request: FetchRequest,
  url: URL,
  now: () => number,
): FetchOutcome | undefined {
  const failTransiently = (reason: Reason): FetchOutcome => {
    const retryAfterMs = parseRetryAfter(singleValue(headers['retry-after']), now)
    return fail(reason, `the server answered ${status}`, { status, isTransient: true, retryAfterMs })
  }
  switch (status) {
    // No request has a Range header, so the server must not send a part.
    case 206:
      return fail('bad-answer', 'the server answered 206 with part of a page', { status })
    case 301:
    case 302:
    case 303:
    case 307:
    case 308: {
      const target = parseLocation(headers['location'], url)
      if (target === undefined) {
        return fail('bad-answer', `the server answered ${status} without a usable Location`, { status })
      }
      return { type: 'moved', status, target, isPermanent: status === 301 || status === 308 }
    }
    case 304: {
      const { etag = null, lastModified = null } = request
      if (!isSendable(etag) && !isSendable(lastModified)) {
        return fail('bad-answer', 'the server answered 304 to an unconditional request', { status })
      }
      return {
        type: 'unchanged',
        etag: singleValue(headers['etag']) ?? etag,
        lastModified: singleValue(headers['last-modified']) ?? lastModified,
      }
    }
    case 404:
    case 410:
      return { type: 'gone', status }
    case 408:
    case 425:
      return failTransiently('http-client-error')
    case 429:
      return failTransiently('rate-limited')
  }
  if (status < 300) return undefined
  if (status >= 500 && status < 600) return failTransiently('http-server-error')
  const detail = `the server answered ${status}`
  if (status >= 400 && status < 500) return { type: 'refused', status, reason: 'http-client-error', detail }
  return fail('bad-answer', detail, { status })
}

function parseLocation(field: string | string[] | undefined, base: URL): string | undefined {
  const text = singleValue(field)
  if (text === null || text.trim() === '') return undefined
  const target = URL.parse(decodeUtf8(text), base.href)
  if (target === null) return undefined
  if (target.username !== '' || target.password !== '') target.username = target.password = ''
  return target.href
}

/** Headers arrive as Latin-1, but a non-ASCII Location is meant as UTF-8. */
function decodeUtf8(text: string): string {
  const decoded = Buffer.from(text, 'latin1').toString('utf8')
  return decoded.includes('\uFFFD') ? text : decoded
}
