import { parseDuration } from '../../../src/core/text/duration.ts'
import type { Reach } from '../../../src/core/url/scope.ts'

/** Labels for how far a crawl may go from its start. */
export const REACH_WORDS: Readonly<Record<Reach, string>> = {
  subpages: 'this folder and below',
  hostname: 'the whole host',
  domain: 'the domain with all its hosts',
}

/** Labels for how pages are read. */
export const RENDER_WORDS = {
  http: 'without a browser',
  auto: 'in a browser if needed',
  chromium: 'always in a browser',
  crawl4ai: 'with Crawl4AI',
} as const

/** The values of the form, as typed. */
export interface CrawlFields {
  readonly startUrl: string
  readonly crawlType: string
  readonly useSitemap: boolean
  readonly sitemapOnly: boolean
  readonly depth: string
  readonly maxPages: string
  readonly scope: Reach
  readonly refetchArticleIfOlderThan: string
  readonly refetchHubIfOlderThan: string
  readonly concurrency: string
  readonly requestTimeoutMs: string
  readonly allowQueryUrls: boolean
  readonly isComplete: boolean
  readonly slow: boolean
  /** Empty keeps the rendering of the source. */
  readonly render: string
  /* The fields from here on apply only to a planned crawl. */
  readonly hubMaxPages: string
  readonly hubMaxDays: string
  readonly intMaxSeeds: string
  readonly intTargetHosts: string
  readonly plannerVerbosity: string
  /** Starts the crawl even if too little is known about the site. */
  readonly force: boolean
}

/** Error messages by field name. */
export type FieldProblems = Readonly<Partial<Record<keyof CrawlFields, string>>>

/** Defaults that suit most sites, so that only the address is required. */
export const DEFAULT_FIELDS: CrawlFields = {
  startUrl: '',
  crawlType: 'docs',
  useSitemap: true,
  sitemapOnly: false,
  depth: '',
  maxPages: '',
  scope: 'subpages',
  refetchArticleIfOlderThan: '',
  refetchHubIfOlderThan: '',
  concurrency: '',
  requestTimeoutMs: '',
  allowQueryUrls: false,
  isComplete: false,
  slow: false,
  render: '',
  hubMaxPages: '',
  hubMaxDays: '',
  intMaxSeeds: '',
  intTargetHosts: '',
  plannerVerbosity: '',
  force: false,
}

/** Whether the planner guides crawls of this type. */
export function isPlanned({ crawlType }: Pick<CrawlFields, 'crawlType'>): boolean {
  return crawlType === 'intelligent' || crawlType === 'history'
}

/** Validates the fields; the result is empty if they can be sent. */
export function checkFields(fields: CrawlFields): FieldProblems {
  const problems: Partial<Record<keyof CrawlFields, string>> = {}
  const urlProblem = findUrlProblem(fields.startUrl)
  if (urlProblem !== null) problems.startUrl = urlProblem
  for (const [name, min] of numbersOf(fields)) {
    const text = fields[name].trim()
    if (text === '') continue
    const value = Number(text)
    if (!Number.isSafeInteger(value) || value < min) problems[name] = `A whole number from ${min} on`
  }
  for (const name of DURATIONS) {
    const text = fields[name].trim()
    // The API accepts durations only as a whole number with a one-letter unit.
    if (text !== '' && (!/^\d+[smhd]?$/.test(text) || parseDuration(text) === undefined))
      problems[name] = 'A duration such as 90s, 6h or 7d; 0 means always'
  }
  return problems
}

/**
 * Builds the body of `POST /api/crawl`. Empty fields, and fields that do not apply to the crawl type, are left out, so that the server uses
 * its defaults. `queue` says whether the crawl may wait in the queue.
 */
export function writeCrawlBody(fields: CrawlFields, queue: boolean): Readonly<Record<string, unknown>> {
  const numbers = numbersOf(fields).flatMap(([name]) =>
    fields[name].trim() === '' ? [] : [[name, Number(fields[name])]],
  )
  const durations = DURATIONS.flatMap((name) => (fields[name].trim() === '' ? [] : [[name, fields[name].trim()]]))
  const { crawlType, useSitemap, sitemapOnly, scope, allowQueryUrls, isComplete, slow, render } = fields
  const hosts = fields.intTargetHosts.trim()
  return {
    startUrl: readUrl(fields.startUrl) ?? fields.startUrl,
    // With `queue` the server queues the crawl instead of rejecting it at the crawl limit.
    ...(queue ? { queue } : {}),
    crawlType,
    useSitemap,
    sitemapOnly,
    scope,
    depth: MAX_DEPTH,
    ...Object.fromEntries(numbers),
    ...Object.fromEntries(durations),
    ...(allowQueryUrls ? { allowQueryUrls } : {}),
    ...(isComplete ? { preferCache: false } : {}),
    ...(slow ? { slow } : {}),
    ...(render === '' ? {} : { render }),
    ...(isPlanned(fields) && hosts !== '' ? { intTargetHosts: hosts } : {}),
    ...(crawlType === 'history' && fields.force ? { force: true } : {}),
  }
}

/** The largest depth that the API accepts, used when the depth field is empty: no limit. */
const MAX_DEPTH = 1000

const NUMBERS = [
  ['depth', 0],
  ['maxPages', 1],
  ['concurrency', 1],
  ['requestTimeoutMs', 1],
] as const

const PLAN_NUMBERS = [
  ['hubMaxPages', 1],
  ['hubMaxDays', 1],
  ['intMaxSeeds', 1],
  ['plannerVerbosity', 0],
] as const

/** The integer fields, each with its minimum. */
function numbersOf(fields: CrawlFields) {
  return isPlanned(fields) ? [...NUMBERS, ...PLAN_NUMBERS] : NUMBERS
}

const DURATIONS = ['refetchArticleIfOlderThan', 'refetchHubIfOlderThan'] as const

/** Matches repositories (also as `owner/name`), archives and packages. The server parses and validates them. */
export const TREE_ADDRESS: RegExp =
  /^(?:[\w-]+\/[\w.-]+$|git[+@:]|ssh:|(?:pkg|npm|pypi|crates|cargo|maven):)|\.(?:git\/?|zip|tar|tgz|tar\.(?:gz|zst))$/i

/** Matches local paths, which may only be added on the machine itself. */
export const LOCAL_PATH: RegExp = /^(?:[/~]|\.{1,2}(?:\/|$)|(?:git\+)?file:|[a-z]:[\\/])/i

/** Validates a start address; returns null if it can be sent. */
export function findUrlProblem(text: string): string | null {
  const trimmed = text.trim()
  if (trimmed === '') return 'Enter an address.'
  if (LOCAL_PATH.test(trimmed)) return 'Add local paths on the machine itself, with “pharos add”'
  if (readUrl(text) !== undefined) return null
  return 'Enter a URL (https://…), a Git address or a package (npm:react)'
}

/** Parses a start address and accepts one without a scheme, such as `example.com/docs`. */
export function readUrl(text: string): string | undefined {
  const trimmed = text.trim()
  if (TREE_ADDRESS.test(trimmed)) return trimmed
  const full = /^\w+:\/\//.test(trimmed) ? trimmed : `http${/^localhost|^127\./.test(trimmed) ? '' : 's'}://${trimmed}`
  return /^https?:\S+$/i.test(full) ? full : undefined
}
