import type { Chunk, Hit, Kind } from '../model.ts'
import type { Explanation } from '../search/explain.ts'
import type { Completion, SearchIndex } from '../search/search-index.ts'
import { writeSnippet } from '../search/snippet.ts'
import { finish, type Steps } from '../search/steps.ts'
import { textAnalyzer } from '../text/analyzer.ts'
import { compareUtf8 } from '../text/order.ts'
import type { Pack } from './pack.ts'
import { PackIndex } from './pack-index.ts'

/** What a hit must be. Every filter given has to hold. */
export interface ChunkFilters {
  /** Exactly this file. */
  readonly path?: string | undefined
  readonly pathPrefix?: string | undefined
  readonly kind?: Kind | undefined
  /** Beginning of the heading path, its parts joined by `/`. */
  readonly headingPrefix?: string | undefined
  readonly symbolPrefix?: string | undefined
}

/** How a pack is searched. */
export interface PackSearchOptions extends ChunkFilters {
  /** Most hits to return. @default 10 */
  readonly limit?: number | undefined
  /** Adds to each hit where its score comes from. @default false */
  readonly explain?: boolean | undefined
  /** Takes a last word that nothing has for the beginning of others; see {@link PackSearch.complete}. @default false */
  readonly completes?: boolean | undefined
}

/** A hit, with the explanation that was asked for. */
export interface PackHit extends Hit {
  /** The terms of the chunk that matched, in the order of the query. */
  readonly terms: readonly string[]
  readonly explain?: Explanation
}

/** Answers questions about one pack. The index is built at the first search, unless {@link prepare} was gone through. */
export class PackSearch {
  readonly #pack: Pack
  readonly #index: PackIndex
  /** Positions of chunks, once somebody asks for them. */
  #byRef: ReadonlyMap<string, number> | undefined
  #byId: ReadonlyMap<string, number> | undefined

  constructor(pack: Pack, index: PackIndex = new PackIndex(pack)) {
    this.#pack = pack
    this.#index = index
  }

  /** What the first search does before it can begin, in steps. */
  *prepare(): Steps<void> {
    yield* this.#index.prepare('search')
  }

  /** The chunks that match best, best first; equal scores in the order of refs. */
  search(query: string, options: PackSearchOptions = {}): PackHit[] {
    const found = this.#opened().search(query, {
      limit: options.limit ?? 10,
      filter: this.#filterBy(options),
      explain: options.explain ?? false,
      completes: options.completes ?? false,
    })
    return found.flatMap(({ key, score, terms, explain }) => {
      const place = this.#atId(key)
      return place === undefined ? [] : [createHit(place.chunk, place.ref, score, terms, explain)]
    })
  }

  /** How many chunks `search` would find without a limit. */
  count(query: string, options: PackSearchOptions = {}): number {
    return this.#opened().count(query, { filter: this.#filterBy(options), completes: options.completes ?? false })
  }

  /** What the last word of a query may be the beginning of, where no chunk has it as it stands. */
  complete(query: string): Completion | undefined {
    return this.#opened().complete(query)
  }

  /** All chunks that pass the filters, in the order of refs, as hits of nothing in particular. */
  list(filters: ChunkFilters, limit: number): { readonly hits: PackHit[]; readonly total: number } {
    const found = [...this.#pack.chunks.entries()].filter(([, chunk]) => matchesFilters(chunk, filters))
    const hits = found.slice(0, limit).map(([i, chunk]) => createHit(chunk, this.#pack.refs[i] ?? '', 0, [], undefined))
    return { hits, total: found.length }
  }

  /** A chunk by its ref, its id, or the beginning of its id (six characters or more) where only one has it. */
  find(name: string): { readonly chunk: Chunk; readonly ref: string } | undefined {
    this.#byRef ??= new Map(this.#pack.refs.map((ref, i) => [ref, i]))
    const byRef = this.#at(this.#byRef.get(name))
    if (byRef !== undefined || !/^[0-9a-f]{6,64}$/.test(name)) return byRef
    const [only, another] = [...this.#pack.chunks.keys()].filter((i) => this.#pack.chunks[i]?.id.startsWith(name))
    return another === undefined ? this.#at(only) : undefined
  }

  /** The headings of a file, or of all, as paths joined by `/`: sorted, each once. */
  listOutline(path?: string): string[] {
    const paths = this.#chunksOf(path).flatMap((chunk) =>
      chunk.headingPath.length === 0 ? [] : chunk.headingPath.join('/'),
    )
    return sortUnique(paths)
  }

  /** The symbols of a file, or of all: sorted, each once. */
  listSymbols(path?: string): string[] {
    return sortUnique(this.#chunksOf(path).flatMap((chunk) => chunk.symbol ?? []))
  }

  #opened(): SearchIndex {
    return finish(this.#index.prepare('search'))
  }

  #filterBy(filters: ChunkFilters): (id: string) => boolean {
    return (id) => matchesFilters(this.#atId(id)?.chunk, filters)
  }

  #atId(id: string): ReturnType<PackSearch['find']> {
    this.#byId ??= new Map(this.#pack.chunks.map((chunk, i) => [chunk.id, i]))
    return this.#at(this.#byId.get(id))
  }

  #at(position: number | undefined): ReturnType<PackSearch['find']> {
    const chunk = this.#pack.chunks[position ?? -1]
    return chunk === undefined ? undefined : { chunk, ref: this.#pack.refs[position ?? -1] ?? '' }
  }

  #chunksOf(path: string | undefined): readonly Chunk[] {
    return path === undefined ? this.#pack.chunks : this.#pack.chunks.filter((chunk) => chunk.path === path)
  }
}

function createHit(
  chunk: Chunk,
  ref: string,
  score: number,
  terms: readonly string[],
  explain: Explanation | undefined,
): PackHit {
  return {
    chunkId: chunk.id,
    chunkRef: ref,
    score,
    path: chunk.path,
    startLine: chunk.startLine,
    endLine: chunk.endLine,
    snippet: writeSnippet(chunk.content, terms, textAnalyzer),
    headingPath: chunk.headingPath,
    terms,
    ...(explain === undefined ? {} : { explain }),
  }
}

function matchesFilters(chunk: Chunk | undefined, filters: ChunkFilters): boolean {
  if (chunk === undefined) return false
  const { path, pathPrefix = '', kind, headingPrefix = '', symbolPrefix = '' } = filters
  return (
    (path === undefined || chunk.path === path) &&
    chunk.path.startsWith(pathPrefix) &&
    (kind === undefined || chunk.kind === kind) &&
    chunk.headingPath.join('/').startsWith(headingPrefix) &&
    (symbolPrefix === '' || (chunk.symbol ?? '').startsWith(symbolPrefix))
  )
}

function sortUnique(values: readonly string[]): string[] {
  return [...new Set(values)].sort(compareUtf8)
}
