import { decodePlain } from '../../core/extract/decode-html.ts'
import { resolveHttp } from '../../core/extract/resolve.ts'
import { isLinkIndex, type LlmsTxt, parseLlmsTxt, problemOf } from '../../core/llms-txt/llms-txt.ts'
import { type FetchResource, isProvenMissing, type Resource, saysSomething } from '../resource.ts'

/** Where such a file is looked for: where a person said, in the folder of the start, at the root of the site. */
export type Place = 'manual' | 'folder' | 'root'

/** One address that was asked, and what came of it in words. */
export interface Attempt {
  readonly url: string
  readonly place: Place
  readonly detail: string
  /** Whether the server said something, if only that there is no such file. */
  readonly isAnswered: boolean
  /** Whether it is known now what the file names: it was read, or is not there (404, 410). */
  readonly isProof: boolean
}

/** What came of looking for a file. */
export interface Search<T> {
  /** The first that was what it should be; null without one. */
  readonly hit: (T & { readonly url: string; readonly place: Place }) | null
  /** Every address that was asked, in order, the hit included. */
  readonly tried: readonly Attempt[]
}

/** What tells whether a file is still the same. */
export interface Validators {
  readonly etag: string | null
  readonly lastModified: string | null
}

/** Where to look, and with what. */
export interface LlmsSearchOptions {
  readonly startUrl: string
  /** Address of an llms.txt that a person gave. */
  readonly manualUrl: string | null
  readonly fetchResource: FetchResource
  /** Validators of a file that is known, by its address. */
  readonly validatorsOf?: (url: string) => Promise<Validators | undefined>
  readonly signal?: AbortSignal | undefined
}

const ACCEPT = 'text/plain, text/markdown, */*;q=0.5'
const MAX_LLMS_TXT_BYTES = 10 * 1024 * 1024
const MAX_LLMS_FULL_BYTES = 50 * 1024 * 1024
/** No such file that somebody wrote has more lines; a small one that has takes a thousand times its size to read. */
const MAX_LINES = 400_000

/**
 * Looks for an llms.txt: at the address given, in the folder of the start, at the root of its site. The first that is one
 * ends the search. Pages in HTML are refused by their type and by what they hold.
 */
export async function findLlmsTxt(options: LlmsSearchOptions): Promise<Search<{ readonly llmsTxt: LlmsTxt }>> {
  return search({ ...options, validatorsOf: async () => undefined }, 'llms.txt', MAX_LLMS_TXT_BYTES, (text, url) => {
    if (text === null) return { problem: PROBLEMS.empty }
    const llmsTxt = parseLlmsTxt(text, url)
    return llmsTxt.type === 'none'
      ? { problem: PROBLEMS[llmsTxt.reason] }
      : { value: { llmsTxt }, detail: `${llmsTxt.links.length} links` }
  })
}

/**
 * Looks for an llms-full.txt in the same places; a manual address counts for the file beside it. `text` is null for one that is
 * what it was when it had the validators given.
 */
export async function findLlmsFull(
  options: LlmsSearchOptions,
): Promise<Search<{ readonly text: string | null } & Validators>> {
  return search<{ readonly text: string | null }>(options, 'llms-full.txt', MAX_LLMS_FULL_BYTES, (text) => {
    if (text === null) return { value: { text }, detail: 'unchanged' }
    const problem = problemOf(text)
    if (problem !== undefined) return { problem: PROBLEMS[problem] }
    if (isLinkIndex(text)) return { problem: 'a list of links, not their content' }
    return { value: { text }, detail: `${text.length} characters` }
  })
}

const PROBLEMS = {
  empty: 'empty',
  binary: 'not text',
  html: 'a page in HTML',
  'no-heading': 'no heading of the first level',
  'no-links': 'no list of links',
} as const

type Reading<T> = { readonly problem: string } | { readonly value: T; readonly detail: string }

async function search<T>(
  options: LlmsSearchOptions,
  name: string,
  maxBytes: number,
  read: (text: string | null, url: string) => Reading<T>,
): Promise<Search<T & Validators>> {
  const { fetchResource, validatorsOf, signal } = options
  const tried: Attempt[] = []
  for (const [url, place] of placesOf(options, name)) {
    const known = await validatorsOf?.(url)
    const resource = await fetchResource(url, { accept: ACCEPT, maxBytes, signal, ...known })
    const reading = readResource(resource, read)
    const isAnswered = saysSomething(resource)
    if ('problem' in reading) {
      tried.push({ url, place, detail: reading.problem, isAnswered, isProof: isProvenMissing(resource) })
      continue
    }
    tried.push({ url, place, detail: reading.detail, isAnswered, isProof: true })
    const found = resource.type === 'found' ? resource : { url, ...known }
    const { etag = null, lastModified = null } = found
    return { hit: { ...reading.value, etag, lastModified, url: found.url, place }, tried }
  }
  return { hit: null, tried }
}

function readResource<T>(resource: Resource, read: (text: string | null, url: string) => Reading<T>): Reading<T> {
  if (resource.type === 'unchanged') return read(null, resource.url)
  if (resource.type !== 'found') return { problem: describe(resource) }
  const { url, snapshot } = resource
  const type = snapshot.headers?.['content-type'] ?? ''
  if (/^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i.test(type)) return { problem: `sent as ${type.trim()}` }
  const text = decodePlain(snapshot.body, type)
  return hasMoreLines(text, MAX_LINES) ? { problem: `more than ${MAX_LINES} lines` } : read(text, url)
}

function hasMoreLines(text: string, most: number): boolean {
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0 && lines <= most; at = text.indexOf('\n', at + 1)) lines++
  return lines > most
}

function describe(resource: Extract<Resource, { type: 'missing' | 'failed' }>): string {
  return resource.type === 'missing' ? `status ${resource.status}` : `${resource.reason}: ${resource.detail}`
}

/** Addresses to ask, each once, with the first place it stands for. */
function placesOf({ startUrl, manualUrl }: LlmsSearchOptions, name: string): Map<string, Place> {
  const places = new Map<string, Place>()
  const manual = manualUrl === null ? undefined : manualAddress(manualUrl, startUrl, name)
  // What follows the last slash of the start is its name, not its folder.
  const folder = resolveHttp(name, startUrl)
  const root = resolveHttp(`/${name}`, startUrl)
  for (const [url, place] of [
    [manual, 'manual'],
    [folder, 'folder'],
    [root, 'root'],
  ] as const) {
    if (url !== undefined && !places.has(url)) places.set(url, place)
  }
  return places
}

function manualAddress(manualUrl: string, startUrl: string, name: string): string | undefined {
  const url = resolveHttp(manualUrl, startUrl)
  if (url === undefined || name === 'llms.txt') return url
  return /\/llms-full\.txt$/i.test(new URL(url).pathname) ? url : resolveHttp(name, url)
}
