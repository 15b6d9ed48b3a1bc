import { decodePlain } from '../../core/extract/decode-html.ts'
import { resolveHttp } from '../../core/extract/resolve.ts'
import { findMarkdownProblem, isLinkIndex, type LlmsTxt, parseLlmsTxt } from '../../core/llms-txt/llms-txt.ts'
import { countOf } from '../../core/text/count.ts'
import { isDefinitive, isProvenMissing, type Resource, type ResourceFetcher } from '../resource.ts'

/** Searched locations: an address from the user, the folder of the start, and the root of the site. */
export type LlmsTxtLocation = 'manual' | 'folder' | 'root'

/** One requested address and its result as text. */
export interface Attempt {
  readonly url: string
  readonly place: LlmsTxtLocation
  readonly detail: string
  /** Whether the server responded, even if only that the file does not exist. */
  readonly isAnswered: boolean
  /** What is wrong with the file, in words; null if nothing is, or if there is no such file and the user named none. */
  readonly fault: string | null
  /** Whether the content of the file is now known: it was read, or it does not exist (404, 410). */
  readonly isProof: boolean
}

/** Result of a search for a file. */
export interface LlmsSearchResult<T> {
  /** The first valid file, or null. */
  readonly hit: (T & { readonly url: string; readonly place: LlmsTxtLocation }) | null
  /** Every requested address in order, including the hit. */
  readonly tried: readonly Attempt[]
}

/** Validators for a conditional request. */
export interface Validators {
  readonly etag: string | null
  readonly lastModified: string | null
}

/** Options of a search. */
export interface LlmsSearchOptions {
  readonly startUrl: string
  /** Address of an llms.txt that the user gave. */
  readonly manualUrl: string | null
  readonly fetchResource: ResourceFetcher
  /** Returns the validators of a known file. */
  readonly validatorsOf?: (url: string) => Promise<Validators | undefined>
  readonly signal?: AbortSignal | undefined
}

const MAX_LLMS_TXT_BYTES = 10 * 1024 * 1024
const MAX_LLMS_FULL_BYTES = 50 * 1024 * 1024
/** No file written by hand has more lines. Parsing a file with many short lines can take a thousand times its size in memory. */
const MAX_LINES = 400_000

/**
 * Looks for an llms.txt: at the given address, in the folder of the start, then at the root of the site. The first valid file ends the
 * search. HTML pages are refused by type and by content.
 */
export async function findLlmsTxt(
  options: LlmsSearchOptions,
): Promise<LlmsSearchResult<{ readonly llmsTxt: LlmsTxt }>> {
  return search({ ...options, validatorsOf: async () => undefined }, 'llms.txt', MAX_LLMS_TXT_BYTES, (text, url) => {
    if (text === null) return { problem: PROBLEMS.empty }
    const llmsTxt = parseLlmsTxt(text, url)
    if (llmsTxt.type === 'none') return { problem: PROBLEMS[llmsTxt.reason], isPage: llmsTxt.reason === 'html' }
    const detail = countOf(llmsTxt.links.length, 'link')
    const fault = llmsTxt.projectName === null ? `no first-level heading (${detail} read)` : null
    return { value: { llmsTxt }, detail, fault }
  })
}

/**
 * Looks for an llms-full.txt: beside a given llms.txt, in the folder of the start, then at the root of the site. `text` is null if the file
 * is unchanged since its validators were stored.
 */
export async function findLlmsFull(
  options: LlmsSearchOptions,
): Promise<LlmsSearchResult<{ readonly text: string | null } & Validators>> {
  return search<{ readonly text: string | null }>(options, 'llms-full.txt', MAX_LLMS_FULL_BYTES, (text) => {
    if (text === null) return { value: { text }, detail: 'unchanged' }
    const problem = findMarkdownProblem(text)
    if (problem !== undefined) return { problem: PROBLEMS[problem], isPage: problem === 'html' }
    if (isLinkIndex(text)) return { problem: 'a list of links, not their content' }
    return { value: { text }, detail: `${text.length} characters` }
  })
}

const PROBLEMS = {
  empty: 'empty',
  binary: 'not text',
  html: 'an HTML page',
  'no-links': 'no list of links',
} as const

/** `isPage` says that a page was sent instead of a missing file. */
type Reading<T> =
  | { readonly problem: string; readonly isPage?: boolean }
  | { readonly value: T; readonly detail: string; readonly fault?: string | null }

async function search<T>(
  options: LlmsSearchOptions,
  name: string,
  maxBytes: number,
  read: (text: string | null, url: string) => Reading<T>,
): Promise<LlmsSearchResult<T & Validators>> {
  const { fetchResource, validatorsOf, signal } = options
  const tried: Attempt[] = []
  for (const [url, place] of listLocations(options, name)) {
    const known = await validatorsOf?.(url)
    const resource = await fetchResource(url, { maxBytes, signal, ...known })
    const reading = readResource(resource, read)
    const isAnswered = isDefinitive(resource)
    if ('problem' in reading) {
      const isMissing = resource.type === 'found' ? reading.isPage === true : isAnswered
      const isNamed = place === 'manual' && name === 'llms.txt'
      const fault = isMissing && !isNamed ? null : reading.problem
      tried.push({ url, place, detail: reading.problem, isAnswered, fault, isProof: isProvenMissing(resource) })
      continue
    }
    tried.push({ url, place, detail: reading.detail, isAnswered, fault: reading.fault ?? null, isProof: true })
    const found = resource.type === 'found' ? resource : { url, ...known }
    const { etag = null, lastModified = null } = found
    return { hit: { ...reading.value, etag, lastModified, url: found.url, place }, tried }
  }
  return { hit: null, tried }
}

function readResource<T>(resource: Resource, read: (text: string | null, url: string) => Reading<T>): Reading<T> {
  if (resource.type === 'unchanged') return read(null, resource.url)
  if (resource.type !== 'found') return { problem: describeFailure(resource) }
  const { url, snapshot } = resource
  const type = snapshot.headers?.['content-type'] ?? ''
  if (/^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i.test(type))
    return { problem: `sent as ${type.trim()}`, isPage: true }
  const text = decodePlain(snapshot.body, type)
  return hasMoreLines(text, MAX_LINES) ? { problem: `more than ${MAX_LINES} lines` } : read(text, url)
}

function hasMoreLines(text: string, maxLines: number): boolean {
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0 && lines <= maxLines; at = text.indexOf('\n', at + 1)) lines++
  return lines > maxLines
}

function describeFailure(resource: Extract<Resource, { type: 'missing' | 'failed' }>): string {
  return resource.type === 'missing' ? `status ${resource.status}` : `${resource.reason}: ${resource.detail}`
}

/** Addresses to request, without duplicates, each with its first location. */
function listLocations({ startUrl, manualUrl }: LlmsSearchOptions, name: string): Map<string, LlmsTxtLocation> {
  const locations = new Map<string, LlmsTxtLocation>()
  const manual = manualUrl === null ? undefined : manualAddress(manualUrl, startUrl, name)
  // The last path segment of the start is a file name, so this resolves beside it.
  const folder = resolveHttp(name, startUrl)
  const root = resolveHttp(`/${name}`, startUrl)
  for (const [url, place] of [
    [manual, 'manual'],
    [folder, 'folder'],
    [root, 'root'],
  ] as const) {
    if (url !== undefined && !locations.has(url)) locations.set(url, place)
  }
  return locations
}

function manualAddress(manualUrl: string, startUrl: string, name: string): string | undefined {
  const url = resolveHttp(manualUrl, startUrl)
  if (url === undefined || name === 'llms.txt') return url
  return /\/llms-full\.txt$/i.test(new URL(url).pathname) ? url : resolveHttp(name, url)
}
