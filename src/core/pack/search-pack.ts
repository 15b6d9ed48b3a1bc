import type { Chunk, Hit, Kind } from '../model.ts'
import type { Explanation } from '../search/explain.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { writeSnippet } from '../search/snippet.ts'
import { textAnalyzer } from '../text/analyzer.ts'
import { compareUtf8 } from '../text/order.ts'
import type { Pack } from './pack.ts'
import { indexChunks } from './pack-index.ts'

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
}

/** A hit, with the explanation that was asked for. */
export interface PackHit extends Hit {
  /** The terms of the chunk that matched, in the order of the query. */
  readonly terms: readonly string[]
  readonly explain?: Explanation
}

/** Answers questions about one pack. The index is built at the first search. */
export class PackSearch {
  readonly #pack: Pack
  readonly #byRef: ReadonlyMap<string, Chunk>
  #index: SearchIndex | undefined

  constructor(pack: Pack) {
    this.#pack = pack
    this.#byRef = new Map(pack.chunks.map((chunk, i) => [pack.refs[i] ?? '', chunk]))
  }

  /** The chunks that match best, best first; equal scores in the order of refs. */
  search(query: string, options: PackSearchOptions = {}): PackHit[] {
    this.#index ??= indexChunks(this.#pack, (_, i) => this.#pack.refs[i] ?? '')
    const found = this.#index.search(query, {
      limit: options.limit ?? 10,
      filter: (ref) => matchesFilters(this.#byRef.get(ref), options),
      explain: options.explain ?? false,
    })
    return found.flatMap(({ key, score, terms, explain }) => {
      const chunk = this.#byRef.get(key)
      return chunk === undefined ? [] : [createHit(chunk, key, score, terms, explain)]
    })
  }

  /** A chunk by its ref, its id, or the beginning of its id (six characters or more) where only one has it. */
  find(name: string): { readonly chunk: Chunk; readonly ref: string } | undefined {
    const byRef = this.#byRef.get(name)
    if (byRef !== undefined) return { chunk: byRef, ref: name }
    if (!/^[0-9a-f]{6,64}$/.test(name)) return undefined
    const matches = [...this.#byRef].filter(([, chunk]) => chunk.id.startsWith(name))
    const [only] = matches
    return only === undefined || matches.length > 1 ? undefined : { ref: only[0], chunk: only[1] }
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
