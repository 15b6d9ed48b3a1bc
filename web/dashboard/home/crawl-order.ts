import { parseDuration } from '../../../src/core/text/duration.ts'
import type { Reach } from '../../../src/core/url/scope.ts'

/** How far from its start a crawl may go, in words. */
export const REACH_WORDS: Readonly<Record<Reach, string>> = {
  subpages: 'this folder and below',
  hostname: 'the whole host',
  domain: 'the domain with all its hosts',
}

/** How pages are read, in words. */
export const RENDER_WORDS = {
  http: 'as they come',
  auto: 'in a browser where needed',
  chromium: 'always in a browser',
  crawl4ai: 'by Crawl4AI',
} as const

/** What the form holds: texts as they were typed. */
export interface OrderFields {
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
  /** Empty for a source that keeps its way. */
  readonly render: string
  /* What follows is for the plan of a crawl that has one. */
  readonly hubMaxPages: string
  readonly hubMaxDays: string
  readonly intMaxSeeds: string
  readonly intTargetHosts: string
  readonly plannerVerbosity: string
  /** Begins although not enough is known of the site. */
  readonly force: boolean
}

/** A field that is wrong, and why. */
export type FieldProblems = Readonly<Partial<Record<keyof OrderFields, string>>>

/** Good for most sites: nothing has to be changed but the address. */
export const DEFAULT_FIELDS: OrderFields = {
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

/** Whether a crawl has a plan. */
export function isPlanned({ crawlType }: Pick<OrderFields, 'crawlType'>): boolean {
  return crawlType === 'intelligent' || crawlType === 'history'
}

/** What is wrong with the fields; empty when they can be sent. */
export function checkFields(fields: OrderFields): FieldProblems {
  const problems: Partial<Record<keyof OrderFields, string>> = {}
  const wrong = findUrlProblem(fields.startUrl)
  if (wrong !== null) problems.startUrl = wrong
  for (const [name, least] of numbersOf(fields)) {
    const text = fields[name].trim()
    if (text === '') continue
    const value = Number(text)
    if (!Number.isSafeInteger(value) || value < least) problems[name] = `A whole number from ${least} on`
  }
  for (const name of DURATIONS) {
    const text = fields[name].trim()
    // The contract has durations without fractions and with one letter.
    if (text !== '' && (!/^\d+[smhd]?$/.test(text) || parseDuration(text) === undefined))
      problems[name] = 'A duration such as 90s, 6h or 7d; 0 means always'
  }
  return problems
}

/**
 * The body of `POST /api/crawl`; fields that were left empty, or that mean nothing for this way to crawl, are left to the server.
 * `queue` tells whether it waits for its turn.
 */
export function writeOrder(fields: OrderFields, queue: boolean): Readonly<Record<string, unknown>> {
  const numbers = numbersOf(fields).flatMap(([name]) =>
    fields[name].trim() === '' ? [] : [[name, Number(fields[name])]],
  )
  const durations = DURATIONS.flatMap((name) => (fields[name].trim() === '' ? [] : [[name, fields[name].trim()]]))
  const { crawlType, useSitemap, sitemapOnly, scope, allowQueryUrls, isComplete, slow, render } = fields
  const hosts = fields.intTargetHosts.trim()
  return {
    startUrl: readUrl(fields.startUrl) ?? fields.startUrl,
    // Whoever fills in a form would rather wait for a turn than be sent away.
    ...(queue ? { queue } : {}),
    crawlType,
    useSitemap,
    sitemapOnly,
    scope,
    depth: ANY_DEPTH,
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

/** The most that may be asked for: who names no depth wants all there is. */
const ANY_DEPTH = 1000

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

/** Fields with a whole number, and the least it may be. */
function numbersOf(fields: OrderFields) {
  return isPlanned(fields) ? [...NUMBERS, ...PLAN_NUMBERS] : NUMBERS
}

const DURATIONS = ['refetchArticleIfOlderThan', 'refetchHubIfOlderThan'] as const

/** What looks like a repository, an archive or a package. The server reads it, and says what is wrong. */
export const TREE: RegExp =
  /^(?:git[+@:]|ssh:|(?:pkg|npm|pypi|crates|cargo|maven):)|\.(?:git\/?|zip|tar|tgz|tar\.(?:gz|zst))$/i

/** What is on a machine: only whoever is at it may have it read. */
const OWN = /^(?:[/~]|\.{1,2}(?:\/|$)|(?:git\+)?file:)/i

/** What is wrong with an address to begin at; null where it can be sent. */
export function findUrlProblem(text: string): string | null {
  const trimmed = text.trim()
  if (trimmed === '') return 'Enter an address.'
  if (OWN.test(trimmed)) return 'Add local paths on the machine itself, with “pharos add”'
  if (readUrl(text) !== undefined) return null
  return 'Enter a URL (https://…), a Git address or a package (npm:react)'
}

/** `example.com/docs` is taken as it is meant. */
export function readUrl(text: string): string | undefined {
  const trimmed = text.trim()
  if (TREE.test(trimmed)) return trimmed
  const full = /^[a-z][a-z\d+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`
  if (!URL.canParse(full) || /\s/.test(trimmed)) return undefined
  const { protocol, hostname } = new URL(full)
  return /^https?:$/.test(protocol) && hostname !== '' ? full : undefined
}
