import { MODEL_LANGUAGE } from '../embedding/model.ts'
import { BUILT_IN_SPACE } from '../embedding/space.ts'
import { messageOf } from '../errors.ts'
import type { Chunk, Hit, Kind } from '../model.ts'
import { linkShareOf } from '../retrieval/link-share.ts'
import { type Judgement, judgeRelevance, MAX_JUDGED } from '../retrieval/relevance.ts'
import { computePageBonuses, penalizeLinks } from '../retrieval/weigh-hits.ts'
import type { Explanation } from '../search/explain.ts'
import { createFusion, type FuseCandidates, MIN_SIMILARITY } from '../search/fusion.ts'
import type { Completion } from '../search/query-terms.ts'
import type { MissingWord } from '../search/ranked-query.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { writeSnippet } from '../search/snippet.ts'
import { runSteps, type Steps } from '../search/steps.ts'
import { textAnalyzer } from '../text/analyzer.ts'
import { compareUtf8 } from '../text/order.ts'
import { describeForeignQuestion } from '../text/query-language.ts'
import { withoutUndefined } from '../without-undefined.ts'
import { listDefinitions } from './definition.ts'
import type { Pack } from './pack.ts'
import { PackIndex } from './pack-index.ts'
import { describeModelMismatch, type PackVectors } from './pack-vectors.ts'

/** Conditions that a hit must meet; all given filters apply. */
export interface ChunkFilters {
  /** Exactly this file. */
  readonly path?: string | undefined
  /** Beginning of the path; of several, one is enough. */
  readonly pathPrefix?: string | readonly string[] | undefined
  readonly kind?: Kind | undefined
  /** Beginning of the heading path, its parts joined by `/`. */
  readonly headingPrefix?: string | undefined
  readonly symbolPrefix?: string | undefined
}

/** How a pack is searched. */
export interface PackSearchOptions extends ChunkFilters {
  /** Maximum number of hits. @default 10 */
  readonly limit?: number | undefined
  /** Adds an explanation of the score to each hit. @default false */
  readonly explain?: boolean | undefined
  /** Treats an unmatched last word as the beginning of other words; see {@link PackSearch.complete}. @default false */
  readonly completes?: boolean | undefined
  /** Vector of the query, from the same model as the vectors of the pack; see {@link PackSearch.findMeaning}. @default words alone */
  readonly meaning?: Float32Array | undefined
}

/** A hit, with the requested explanation. */
export interface PackHit extends Hit {
  /** The terms of the chunk that matched, in the order of the query. */
  readonly terms: readonly string[]
  /** Words of the query that the chunk lacks; null for a chunk that was found by its meaning alone. */
  readonly missing: readonly MissingWord[] | null
  /** Words of the query that its whole file lacks. */
  readonly missingOnPage: readonly MissingWord[]
  /** Cosine with the query; null if the chunk has no vector or the search was by words alone. */
  readonly similarity: number | null
  readonly explain?: Explanation
  /** How words and meaning were combined into the score; only with `explain`, in a search by both. */
  readonly meaning?: MeaningExplanation
}

/** How words and meaning were combined into the score of a hit. */
export interface MeaningExplanation {
  /** The score of the matched words, as a share of the highest possible score. */
  readonly wordScore: number
  /** Cosine with the query; null for a chunk without a vector. */
  readonly similarity: number | null
  /** The formula that combined the two, as text. */
  readonly fusion: string
  /** Bonus for the words of the whole file and its other hits, for the best hit of the file; 0 for the others. */
  readonly pageBonus: number
}

/** The vector of a query, if one could be computed. */
export interface QueryEmbedding {
  readonly meaning?: Float32Array
  /** The reasons why the search is by words alone although the pack has vectors. */
  readonly notices: readonly string[]
}

/** This many hits by words are ranked together with the same number of nearest chunks; later hits follow in batches of the same size. */
const FUSION_BATCH_SIZE = 100

/** A hit before its chunk is looked up. */
interface RankedHit
  extends Pick<PackHit, 'score' | 'terms' | 'missing' | 'missingOnPage' | 'similarity' | 'explain' | 'meaning'> {
  readonly position: number
  /** The score of its file by the same words. */
  readonly pageScore: number
}

/** A chunk without any word of the query. */
const NO_MATCH = { score: 0, pageScore: 0, terms: [], missing: null, missingOnPage: [], similarity: null } as const

/** Searches one pack. The first search builds the index, unless {@link prepare} has been run to its end. */
export class PackSearch {
  readonly #pack: Pack
  readonly #index: PackIndex
  readonly #vectors: PackVectors | undefined
  /** Positions of chunks, computed on first use. */
  #byRef: ReadonlyMap<string, number> | undefined
  #byId: ReadonlyMap<string, number> | undefined

  /** `vectors` may grow while searches run. */
  constructor(pack: Pack, index: PackIndex = new PackIndex(pack), vectors: PackVectors | undefined = pack.vectors) {
    this.#pack = pack
    this.#index = index
    this.#vectors = vectors
  }

  /** Does the work of the first search ahead of time, in steps. */
  *prepare(): Steps<void> {
    yield* this.#index.prepare('search')
  }

  /** Embeds a query with the built-in model if the pack has vectors of that model. Never rejects: a search by words alone still works. */
  async findMeaning(query: string, embed: (query: string) => Promise<Float32Array>): Promise<QueryEmbedding> {
    const vectors = this.#vectors
    if (vectors === undefined || vectors.embedded === 0) return { notices: [] }
    const notice = describeModelMismatch(vectors, BUILT_IN_SPACE)
    if (notice !== undefined) return { notices: [notice] }
    const foreign = describeForeignQuestion(query, MODEL_LANGUAGE)
    if (foreign !== undefined) return { notices: [`${foreign}; answered by words alone`] }
    try {
      return { meaning: await embed(query), notices: [] }
    } catch (error) {
      return { notices: [`the model cannot be used: ${messageOf(error)}; answered by words alone`] }
    }
  }

  /** The chunks that match best, best first; equal scores in the order of refs. */
  search(query: string, options: PackSearchOptions = {}): PackHit[] {
    const { limit = 10, meaning } = options
    const vectors = this.#vectors
    const ranked =
      meaning === undefined || vectors === undefined
        ? this.#searchWords(query, options, limit)
        : this.#searchBoth(query, options, limit, meaning, vectors)
    return ranked.flatMap((hit) => {
      const found = this.#at(hit.position)
      return found === undefined ? [] : [createHit(found.chunk, found.ref, hit)]
    })
  }

  /** Judges how well the hits of a search fit its query. `ordinaryWords` are words other than names. */
  judge(query: string, hits: readonly PackHit[], ordinaryWords: ReadonlySet<string>): Judgement {
    const judged = hits.slice(0, MAX_JUDGED).map(({ chunkRef, headingPath, missing, missingOnPage, similarity }) => {
      const text = missing === null ? [...headingPath, this.find(chunkRef)?.chunk.content ?? ''].join('\n') : ''
      return { text, missing, missingOnPage, similarity }
    })
    return judgeRelevance(judged, ordinaryWords, query)
  }

  /** How many chunks `search` would find without a limit. */
  count(query: string, options: PackSearchOptions = {}): number {
    const { meaning } = options
    const vectors = this.#vectors
    const filter = this.#filterBy(options)
    const byWords = this.#openIndex().count(query, { filter, completes: options.completes ?? false })
    if (meaning === undefined || vectors === undefined) return byWords
    const near = this.#findNear(query, options, meaning, vectors)
    return byWords + near.filter(({ terms }) => terms.length === 0).length
  }

  /** Completions of the last word of a query, if no chunk has that word. */
  complete(query: string): Completion | undefined {
    return this.#openIndex().complete(query)
  }

  /** All chunks that pass the filters, in the order of refs, as hits without a query. */
  list(filters: ChunkFilters, limit: number): { readonly hits: PackHit[]; readonly total: number } {
    const found = [...this.#pack.chunks.entries()].filter(([, chunk]) => matchesFilters(chunk, filters))
    const hits = found
      .slice(0, limit)
      .map(([i, chunk]) => createHit(chunk, this.#pack.refs[i] ?? '', { ...NO_MATCH, missing: [] }))
    return { hits, total: found.length }
  }

  /** A chunk by its ref, its id, or a unique prefix of its id (six characters or more). */
  find(name: string): { readonly chunk: Chunk; readonly ref: string } | undefined {
    this.#byRef ??= new Map(this.#pack.refs.map((ref, i) => [ref, i]))
    const byRef = this.#at(this.#byRef.get(name))
    if (byRef !== undefined || !/^[0-9a-f]{6,64}$/.test(name)) return byRef
    const [only, another] = [...this.#pack.chunks.keys()].filter((i) => this.#pack.chunks[i]?.id.startsWith(name))
    return another === undefined ? this.#at(only) : undefined
  }

  /** The headings of a file, or of all files, as paths joined by `/`: sorted, each once. */
  listOutline(path?: string): string[] {
    const paths = this.#chunksOf(path).flatMap((chunk) =>
      chunk.headingPath.length === 0 ? [] : chunk.headingPath.join('/'),
    )
    return sortUnique(paths)
  }

  /** The symbols of a file, or of all files: sorted, each once. */
  listSymbols(path?: string): string[] {
    return sortUnique(listDefinitions(this.#pack, path).map(({ name }) => name))
  }

  #searchWords(query: string, options: PackSearchOptions, limit: number, onlyIds?: ReadonlySet<string>): RankedHit[] {
    const isAccepted = this.#filterBy(options)
    const found = this.#openIndex().search(query, {
      limit,
      filter: onlyIds === undefined ? isAccepted : (id) => onlyIds.has(id),
      explain: options.explain ?? false,
      completes: options.completes ?? false,
    })
    return found.flatMap(({ key, ...hit }) => {
      const position = this.#positionOf(key)
      return position === undefined ? [] : [{ ...hit, position, similarity: null }]
    })
  }

  /** Chunks near in meaning, with the scores of their words, which may be zero. */
  #findNear(query: string, options: PackSearchOptions, meaning: Float32Array, vectors: PackVectors): RankedHit[] {
    const isAccepted = (position: number) => matchesFilters(this.#pack.chunks[position], options)
    const near = vectors.nearest(meaning, FUSION_BATCH_SIZE, MIN_SIMILARITY, isAccepted)
    const ids = new Set(near.map(({ position }) => this.#pack.chunks[position]?.id ?? ''))
    const byWords = new Map(this.#searchWords(query, options, FUSION_BATCH_SIZE, ids).map((hit) => [hit.position, hit]))
    return near.map(({ position }) => byWords.get(position) ?? { ...NO_MATCH, position })
  }

  /** Ranks batch after batch, so that a larger limit only appends hits to those of a smaller limit. */
  #searchBoth(
    query: string,
    options: PackSearchOptions,
    limit: number,
    meaning: Float32Array,
    vectors: PackVectors,
  ): RankedHit[] {
    const near = this.#findNear(query, options, meaning, vectors)
    const nearPositions = new Set(near.map(({ position }) => position))
    const byWords = this.#searchWords(
      query,
      options,
      Math.ceil((limit + FUSION_BATCH_SIZE) / FUSION_BATCH_SIZE) * FUSION_BATCH_SIZE,
    )
    const ranked: RankedHit[] = []
    const rankedPaths = new Set<string>()
    let fuse: FuseCandidates | undefined
    for (let start = 0; start < byWords.length || start === 0; start += FUSION_BATCH_SIZE) {
      if (ranked.length >= limit) break
      const batch = byWords.slice(start, start + FUSION_BATCH_SIZE)
      const others = batch.filter(({ position }) => !nearPositions.has(position))
      const hits = start === 0 ? [...others, ...near] : others
      const candidates = hits.map(({ position, score }) => ({
        wordScore: penalizeLinks(score, linkShareOf(this.#pack.chunks[position]?.content ?? '')),
        similarity: vectors.compare(meaning, position),
      }))
      fuse ??= createFusion(query, candidates)
      const fused = fuse(candidates)
      const weighable = hits.map(({ position, pageScore }, i) => {
        const { wordScore = 0 } = candidates[i] ?? {}
        const { path = '', content = '' } = this.#pack.chunks[position] ?? {}
        const penalized = penalizeLinks(pageScore, linkShareOf(content))
        return { score: fused[i]?.score ?? 0, wordScore, page: path, pageScore: penalized }
      })
      const bonuses = computePageBonuses(query, weighable)
      const part = hits.map((hit, i): RankedHit => {
        const { wordScore = 0, similarity = null } = candidates[i] ?? {}
        const { score = 0, fusion = '' } = fused[i] ?? {}
        // A file whose best hit was in an earlier batch gains nothing any more.
        const pageBonus = rankedPaths.has(weighable[i]?.page ?? '') ? 0 : (bonuses[i] ?? 0)
        const explained = options.explain === true ? { meaning: { wordScore, similarity, fusion, pageBonus } } : {}
        return { ...hit, score: score + pageBonus, similarity, ...explained }
      })
      for (const { page } of weighable) rankedPaths.add(page)
      // Positions follow the order of refs.
      ranked.push(...part.sort((a, b) => b.score - a.score || a.position - b.position))
    }
    return ranked.slice(0, limit)
  }

  #openIndex(): SearchIndex {
    return runSteps(this.#index.prepare('search'))
  }

  #filterBy(filters: ChunkFilters): (id: string) => boolean {
    return (id) => matchesFilters(this.#atId(id)?.chunk, filters)
  }

  #atId(id: string): ReturnType<PackSearch['find']> {
    return this.#at(this.#positionOf(id))
  }

  #positionOf(id: string): number | undefined {
    this.#byId ??= new Map(this.#pack.chunks.map((chunk, i) => [chunk.id, i]))
    return this.#byId.get(id)
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
  { score, terms, missing, missingOnPage, similarity, explain, meaning }: Omit<RankedHit, 'position' | 'pageScore'>,
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
    missing,
    missingOnPage,
    similarity,
    ...withoutUndefined({ explain, meaning }),
  }
}

function matchesFilters(chunk: Chunk | undefined, filters: ChunkFilters): boolean {
  if (chunk === undefined) return false
  const { path, pathPrefix = '', kind, headingPrefix = '', symbolPrefix = '' } = filters
  return (
    (path === undefined || chunk.path === path) &&
    hasPrefix(chunk.path, pathPrefix) &&
    (kind === undefined || chunk.kind === kind) &&
    chunk.headingPath.join('/').startsWith(headingPrefix) &&
    (symbolPrefix === '' || symbolsOf(chunk).some((symbol) => symbol.startsWith(symbolPrefix)))
  )
}

/** The symbol of a chunk, which may be a key of JSON, and the members inside it. */
function symbolsOf({ symbol, members = [] }: Chunk): string[] {
  return [symbol ?? '', ...members.map(({ name }) => name)]
}

function hasPrefix(path: string, prefix: string | readonly string[]): boolean {
  return typeof prefix === 'string' ? path.startsWith(prefix) : prefix.some((one) => path.startsWith(one))
}

function sortUnique(values: readonly string[]): string[] {
  return [...new Set(values)].sort(compareUtf8)
}
