import type { ErrorCode, PharosError } from '../core/errors.ts'

type Details = PharosError['details']

/** Advice for HTTP clients, which replaces advice about CLI commands in the error table. */
const ADVICE: Readonly<Partial<Record<ErrorCode, string | ((details: Details) => string)>>> = {
  USAGE: 'GET /docs describes what each route takes',
  SOURCE_EXISTS: (details) =>
    `crawl it again with POST ${routeOf(details)}/recrawl, or give the new one another name or version`,
  SOURCE_IMPORTED: 'import it again with POST /api/import: that replaces the earlier import',
  SOURCE_UNKNOWN: 'GET /api/sources lists the sources; refer to one by its id, name, name@version or start URL',
  PAGE_UNKNOWN: 'GET /api/urls?q=… looks for addresses, GET /api/explain says why one is missing',
  CRAWL_RUNNING: (details) =>
    details['wanted'] === 'removal'
      ? 'wait for it to end, or repeat the request with ?force=1, which stops it first'
      : `wait for it to end; GET ${routeOf(details)} shows its progress`,
  CRAWL_UNFINISHED: (details) => `finish it with POST ${routeOf(details)}/recrawl, then repeat the request`,
  CRAWL_LOSS: 'repeat the request with acceptLoss if the pages that would be removed are really gone',
  CRAWL_UNPREPARED: 'crawl it with "crawlType": "intelligent" first, or repeat the request with "force": true',
  ANALYSIS_RUNNING: ({ run = '' }) =>
    `wait for it to end; GET /api/analysis/${run} shows its progress, and so does the page ${runHref(String(run))}`,
  WORKERS_MISSING: 'start a worker, or let the crawl wait for one with "queue": true; GET /api/workers lists them',
  JOBS_FULL:
    'wait for one of them to end, then repeat the request; POST /api/crawl with "queue": true waits for its turn',
}

/** Advice for people who read a page, which replaces advice about routes of the API. */
const PAGE_ADVICE: Readonly<Partial<Record<ErrorCode, string>>> = {
  SOURCE_UNKNOWN: 'The page Sources lists what the library has.',
  PAGE_UNKNOWN: 'Search for it, or look among the addresses on the page URLs.',
}

/** Matches advice about CLI commands and flags, which HTTP clients cannot use. */
const CLI_ADVICE = /`pharos |(?:^|\s)--[a-z]|the same command/

const PRIVATE_ADDRESS_ADVICE =
  'only the owner of this server can allow addresses that are not public, with its setting allowPrivate'

/** For a page of a code host that names no repository. */
const AS_SITE_ADVICE = 'give the address of a repository, or crawl the page itself with "as": "site"'

/** The next step for an HTTP client; undefined when no advice applies to it. */
export function adviceOf({ code, details, entry }: PharosError): string | undefined {
  if (details['reason'] === 'address-refused') return PRIVATE_ADDRESS_ADVICE
  if (details['as'] === 'site') return AS_SITE_ADVICE
  const advice = ADVICE[code]
  if (advice !== undefined) return typeof advice === 'string' ? advice : advice(details)
  return CLI_ADVICE.test(entry.advice) || entry.advice === '' ? undefined : entry.advice
}

/** The next step for the reader of a page; undefined when there is only advice about routes of the API. */
export function pageAdviceOf(code: string, advice: string | undefined): string | undefined {
  const own = Object.entries(PAGE_ADVICE).find(([name]) => name === code)?.[1]
  return own ?? (advice !== undefined && /\b(?:GET|POST) \//.test(advice) ? undefined : advice)
}

function routeOf({ source = '' }: Details): string {
  return `/api/sources/${encodeURIComponent(source)}`
}

/** The page of an analysis run. */
export function runHref(id: string): string {
  return `/analysis/${encodeURIComponent(id)}/ssr`
}
