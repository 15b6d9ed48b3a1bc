import { createDuplicateFinder, type DuplicateFinder } from '../../core/retrieval/duplicate-finder.ts'
import { readFingerprint } from '../../core/retrieval/fingerprint.ts'
import type { ComparablePage } from '../../core/retrieval/page-relation.ts'
import { primaryLanguageOf } from '../../core/text/language-code.ts'
import { compareUtf8 } from '../../core/text/order.ts'
import { normalizePagePath } from '../../core/url/normalized-path.ts'
import type { Library, SourceLookup } from '../library.ts'
import type { PageWithSignature } from '../ports/store.ts'
import type { SimilarPage } from '../search.ts'
import { labelOf, type Source } from '../source.ts'
import { chooseSources } from '../sources/choose-sources.ts'
import { createHitSources, type HitSources } from './hit-sources.ts'

/** Options of a list of duplicates. */
export interface DuplicatesInput {
  /** Id, name (all its versions), name@version or start address. @default the whole library */
  readonly source?: string | undefined
  /** Number of groups to skip. @default 0 */
  readonly offset?: number | undefined
  /** Maximum number of groups. @default 20 */
  readonly limit?: number | undefined
}

/** A page that is nearly identical to others or a translation of them. */
export interface DuplicatePage extends SimilarPage {
  readonly sourceId: string
  readonly title: string
}

/** Pages of which a search shows one. */
export interface DuplicateGroup {
  /** Number of pages in the group. */
  readonly count: number
  /** Newest version first; a very large group lists only some. */
  readonly pages: readonly DuplicatePage[]
}

/** Groups of duplicates. */
export interface DuplicateList {
  readonly groups: readonly DuplicateGroup[]
  /** Total number of groups, and of pages in them. */
  readonly groupCount: number
  readonly pageCount: number
  /** Number of pages compared. */
  readonly compared: number
  /** Number of pages without a signature: an older Pharos stored them, and `fillPageSignatures` has not run yet. */
  readonly unknown: number
}

export const DEFAULT_GROUPS = 20
/** Number of pages processed before yielding to other work. */
const PAGES_AT_ONCE = 500
/** Maximum number of pages listed per group. */
const MAX_PAGES_PER_GROUP = 100

/**
 * Lists groups of nearly identical pages and translations. It reads all pages twice, so that it keeps only numbers in memory for pages that
 * it does not list.
 */
export async function listDuplicates(
  library: SourceLookup,
  { source, offset = 0, limit = DEFAULT_GROUPS }: DuplicatesInput = {},
  signal?: AbortSignal,
): Promise<DuplicateList> {
  const choice = source === undefined ? {} : { sources: [source] }
  const { sources, incomplete } = await chooseSources(library, { ...choice, version: '*' })
  const origins = createHitSources(sources, incomplete)
  const { store } = library
  const finder = createDuplicateFinder()
  let stored = 0
  for (const one of sources) stored += (await store.countContent(one.id)).pages
  let compared = 0
  for await (const { comparable } of visitPages(library, sources, signal)) {
    finder.add(comparable)
    compared++
  }
  const groups = finder.findGroups()
  const { sizes, groupCount, pageCount, chosen } = chooseGroups(groups, offset, limit)
  const pages = await readGroups(visitPages(library, sources, signal), { finder, groups, sizes, chosen }, origins)
  return {
    groups: chosen.map((first) => ({ count: sizes[first] ?? 0, pages: pages.get(first) ?? [] })),
    groupCount,
    pageCount,
    compared,
    unknown: Math.max(0, stored - compared),
  }
}

/** A page with its comparison data. */
interface VisitedPage {
  readonly page: PageWithSignature
  readonly source: Source
  readonly comparable: ComparablePage
}

/** Iterates over the pages of sources in a stable order. */
async function* visitPages(
  { store, clock }: Pick<Library, 'clock' | 'store'>,
  sources: readonly Source[],
  signal: AbortSignal | undefined,
): AsyncGenerator<VisitedPage> {
  let visited = 0
  for (const source of sources) {
    for await (const page of store.listPageSignatures(source.id)) {
      // Yields so that other requests are answered.
      if (++visited % PAGES_AT_ONCE === 0) await clock.sleep(0, signal)
      yield { page, source, comparable: toComparable(page, source) }
    }
  }
}

function toComparable({ url, language: tag, family, fingerprint }: PageWithSignature, source: Source): ComparablePage {
  const { path: place } = normalizePagePath(url, source, tag)
  const bits = fingerprint === null ? null : readFingerprint(fingerprint)
  return {
    sourceId: source.id,
    name: source.name,
    place,
    family,
    bits,
    language: tag === null ? null : primaryLanguageOf(tag),
  }
}

/** Counts the pages of each group, identified by its first page, and selects the groups to list. */
function chooseGroups(
  groups: Uint32Array,
  offset: number,
  limit: number,
): { sizes: Uint32Array; groupCount: number; pageCount: number; chosen: number[] } {
  const sizes = new Uint32Array(groups.length)
  for (const first of groups) sizes[first] = (sizes[first] ?? 0) + 1
  const chosen: number[] = []
  let groupCount = 0
  let pageCount = 0
  for (const [first, size] of sizes.entries()) {
    if (size < 2) continue
    if (groupCount >= offset && chosen.length < limit) chosen.push(first)
    groupCount++
    pageCount += size
  }
  return { sizes, groupCount, pageCount, chosen }
}

/** Reads the pages of the selected groups, by the number of their first page. */
async function readGroups(
  visited: AsyncIterable<VisitedPage>,
  found: {
    readonly finder: DuplicateFinder
    readonly groups: Uint32Array
    readonly sizes: Uint32Array
    readonly chosen: readonly number[]
  },
  origins: HitSources,
): Promise<Map<number, DuplicatePage[]>> {
  const { finder, groups, sizes, chosen } = found
  const pages = new Map<number, DuplicatePage[]>(chosen.map((first) => [first, []]))
  let number = 0
  let missing = chosen.reduce((sum, first) => sum + Math.min(sizes[first] ?? 0, MAX_PAGES_PER_GROUP), 0)
  for await (const { page, source, comparable } of visited) {
    if (missing === 0) break
    const group = pages.get(groups[number] ?? -1)
    // Pages may have been added or removed since the comparison, so another page may have this number now.
    if (group !== undefined && group.length < MAX_PAGES_PER_GROUP && finder.isSamePage(number, comparable)) {
      const { url, title, language, sourceId } = page
      group.push({ url, title, source: labelOf(source), version: source.version, language, sourceId })
      missing--
    }
    number++
  }
  for (const group of pages.values()) group.sort((a, b) => comparePages(a, b, origins))
  return pages
}

function comparePages(a: DuplicatePage, b: DuplicatePage, origins: HitSources): number {
  if (origins.isPreferred(a.sourceId, b.sourceId)) return -1
  if (origins.isPreferred(b.sourceId, a.sourceId)) return 1
  return compareUtf8(a.url, b.url)
}
