import { compareUtf8 } from '../../core/text/order.ts'
import { sortNewestFirst } from '../../core/version/version.ts'
import type { Library, SourceLookup } from '../library.ts'
import type { ChunkFilter, Store } from '../ports/store.ts'
import { type StoreHit, searchHits } from '../search/hits.ts'
import type { AvailableSources, SearchInput, Widening, WideningFilter } from '../search.ts'
import { labelOf, type Source } from '../source.ts'
import { chooseSources } from '../sources/choose-sources.ts'

/** Filters that apply to chunks. */
const CHUNK_FILTERS = ['path', 'kind', 'heading', 'symbol', 'contentType', 'language'] as const

/** Maximum number of hits read for suggestions. */
const MAX_HITS = 100

/** Maximum number of alternatives per filter. */
const MAX_ALTERNATIVES = 5

/** Returns the chunk filters of a question, without the sources. */
export function filterOf(input: SearchInput): ChunkFilter {
  const given = CHUNK_FILTERS.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]] as const]))
  return Object.fromEntries(given)
}

/** Maximum number of source names, and of versions per name. */
const MAX_NAMES = 20
const MAX_VERSIONS = 10

/** Lists names and versions in the library, those searched first. */
export async function describeAvailable(
  { store }: Pick<Library, 'store'>,
  searched: readonly Source[],
): Promise<AvailableSources> {
  const sources = await store.listSources()
  const all = [...new Set([...searched, ...sources].map(({ name }) => name))]
  const names = all.slice(0, MAX_NAMES)
  const versions = names.flatMap((name) => {
    const labels = sources.flatMap((source) => (source.name === name ? (source.version ?? []) : []))
    if (labels.length === 0) return []
    const newest = sortNewestFirst(labels).slice(0, MAX_VERSIONS)
    return [{ name, versions: newest.map(({ text }) => text), more: labels.length - newest.length }]
  })
  return { names, versions, more: all.length - names.length }
}

/** For a question without hits, tells for each condition what would be found without it. */
export async function suggestWider(library: SourceLookup, input: SearchInput): Promise<readonly Widening[]> {
  const widenings: Widening[] = []
  for (const filter of ['sources', 'version', ...CHUNK_FILTERS] as const) {
    const value = input[filter]
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue
    const hits = await searchWithout(library, input, filter)
    const instead = await listInstead(library, input, filter, hits)
    const pages = new Set(hits.map(({ sourceId, url }) => `${sourceId} ${url}`)).size
    widenings.push({ filter, value: String(value), pages, instead })
  }
  return widenings
}

async function searchWithout(library: SourceLookup, input: SearchInput, dropped: WideningFilter): Promise<StoreHit[]> {
  const { [dropped as 'path']: _, ...rest } = input
  const { sources } = await chooseSources(library, { sources: rest.sources, version: rest.version })
  const filter = { ...filterOf(rest), sourceIds: sources.map(({ id }) => id) }
  return searchHits(library.store, { query: input.query, limit: MAX_HITS, filter })
}

/** Lists values that would match in place of a filter's value. */
async function listInstead(
  { store }: Pick<Library, 'store'>,
  input: SearchInput,
  filter: WideningFilter,
  hits: readonly StoreHit[],
): Promise<readonly string[]> {
  const sources = await store.listSources()
  const found = new Set(hits.map(({ sourceId }) => sourceId))
  switch (filter) {
    case 'sources':
      return firstOf(sources.filter(({ id }) => found.has(id)).map(labelOf))
    case 'version':
      return firstOf(sources.filter(({ id }) => found.has(id)).flatMap(({ version }) => version ?? []))
    case 'path':
      return firstOf(hits.map(({ url }) => URL.parse(url)?.pathname ?? url))
    case 'kind':
      return firstOf(hits.map(({ chunk }) => chunk.kind))
    case 'heading':
      return firstOf(hits.flatMap(({ chunk }) => chunk.headingPath.at(-1) ?? []))
    case 'language':
      return firstOf(await listLanguages(store, hits))
    case 'contentType':
      return hits.length === 0 ? [] : [input.contentType === 'code' ? 'prose' : 'code']
    default:
      return []
  }
}

/** Lists the languages of the pages of hits. */
async function listLanguages(store: Store, hits: readonly StoreHit[]): Promise<string[]> {
  const signatures = await store.readPageSignatures(hits.map(({ sourceId, chunk }) => ({ sourceId, key: chunk.path })))
  return signatures.flatMap((signature) => signature?.language ?? []).sort(compareUtf8)
}

function firstOf(values: readonly string[]): string[] {
  return [...new Set(values)].slice(0, MAX_ALTERNATIVES)
}
