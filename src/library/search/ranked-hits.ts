import type { ErrorCode } from '../../core/errors.ts'
import { definesName, findLookupNames } from '../../core/retrieval/definitions.ts'
import { linkShareOf } from '../../core/retrieval/link-share.ts'
import { penalizeLinks } from '../../core/retrieval/weigh-hits.ts'
import { createFusion, type FuseCandidates, MIN_SIMILARITY } from '../../core/search/fusion.ts'
import { writeNumber } from '../../core/text/count.ts'
import type { Library } from '../library.ts'
import type { ChunkFilter, IndexProgress, Store, StoredChunk, StoreMatch } from '../ports/store.ts'
import type { NearChunk, NumberedChunkRef, VectorIndex } from '../ports/vectors.ts'
import type { Engine, Fusion, HitExplanation } from '../search.ts'
import { TimeoutError, withTimeout } from '../with-timeout.ts'
import { readHits } from './hits.ts'
import { describeUnusable, findQueryEmbedding, type QueryEmbedding } from './query-embedding.ts'
import { rerankHits } from './rerank-hits.ts'
import { weighPages } from './weigh-pages.ts'

/** A hit with its final score. */
export interface RankedHit
  extends StoredChunk,
    Pick<StoreMatch, 'number' | 'score' | 'pageScore' | 'missingOnPage' | 'terms' | 'linkShare' | 'text'>,
    Partial<Pick<StoreMatch, 'page'>> {
  /** Identifies the page by source and key. */
  readonly pageKey: string
  /** Words of the question that the chunk lacks; null if it was found by meaning only. */
  readonly missing: StoreMatch['missing'] | null
  /** Cosine similarity with the question; null if meaning took no part. */
  readonly similarity: number | null
  /** The part of the score that comes from the whole page. @default 0 */
  readonly pageBonus?: number
  /** How the score came about, with `explain`. */
  readonly explanation?: HitExplanation
}

/** One part of the hits of a question, best first. */
export interface RankedHits {
  readonly hits: readonly RankedHit[]
  readonly engines: readonly Engine[]
  readonly notices: readonly string[]
  /** Whether more hits may follow. */
  readonly hasMore: boolean
  /** Basis for ranking later parts. */
  readonly basis?: RankBasis
}

/** Shared basis of all parts of the hits of a question, so that their scores are comparable. */
export interface RankBasis {
  /** The vector of the question; undefined if only words are used. */
  readonly meaning?: FusedEmbedding
  /** Chunks nearest in meaning, which the first part ranks with its hits by words; empty for later parts. */
  readonly near: readonly NearChunk[]
  /** Numbers of chunks that the first part found by meaning; later parts leave them out. */
  readonly found: ReadonlySet<number>
  /** Pages whose best hit was in an earlier part; their later hits gain nothing from the page. */
  readonly rankedPages: ReadonlySet<string>
  /** Whether a reranker judged the first part. */
  readonly isReranked: boolean
  readonly notices: readonly string[]
}

/** The vector of a question, and the fusion with words. */
interface FusedEmbedding extends QueryEmbedding {
  /** Created from the first part. */
  readonly fuse?: FuseCandidates
}

/** Sources that a question names. */
export interface NamedSources {
  readonly sourceIds: ReadonlySet<string>
  /** The question without their names. */
  readonly query: string
}

/** A request for hits. */
export interface RankedQuery {
  readonly query: string
  readonly filter: ChunkFilter
  readonly fusion: Fusion
  readonly explain: boolean
  /** Sources named in the question, with the rest of the question: hits in other sources count less. @default none is named */
  readonly named?: NamedSources | undefined
  /** Engines that may take part besides words. @default all available */
  readonly engines?: readonly Engine[] | undefined
}

/** Number of hits by words, and of nearest chunks, that are ranked together; later hits by words follow in parts of this size. */
const PART_SIZE = 100

/** Bonus for a text that defines the name in a question, as a share of the best possible score by words. */
const DEFINITION_BONUS = 0.15

const NO_NUMBERS: ReadonlySet<number> = new Set()
const NO_PAGES: ReadonlySet<string> = new Set()

/** At most this many best hits are checked for definitions. */
const MAX_DEFINING = 50

/** Timeout for the nearest chunks, because a service may have to find them. */
const NEAREST_TIMEOUT_MS = 3000

/**
 * Ranks one part of the hits of a question: by words, by meaning if there are vectors of the open model, and the best of the first part by
 * a reranker if configured. Later parts need the basis of the previous part.
 */
export async function rankHits(
  library: Library,
  request: RankedQuery,
  part: number,
  signal?: AbortSignal,
  basis?: RankBasis,
): Promise<RankedHits> {
  const initial = basis ?? (await openBasis(library, request, signal))
  const { matches, foundByMeaning, hasMore } = await findMatches(library.store, request, part, initial.near)
  const index = await library.store.readIndexState()
  const indexNotices = describeIndex(index)
  const read = await readRanked(library.store, matches, request)
  const found = basis?.found ?? foundByMeaning
  const hits = [
    ...read.filter(({ number }) => basis === undefined || !found.has(number)),
    // Chunks that the index does not have yet cannot be found by words.
    ...(indexNotices.length === 0 ? [] : await readUnindexed(library.store, initial.near, matches, request)),
  ]
  const ranked = await fuseAndWeigh(request, hits, found, initial, signal)
  const {
    hits: best,
    isReranked,
    notices,
  } = part === 0 && canUseEngine(request, 'reranker')
    ? await rerankHits(library, request.query, ranked.hits, signal)
    : { hits: ranked.hits, isReranked: initial.isReranked, notices: [] }
  // What cannot be indexed may be what was asked for.
  if (best.length === 0 && indexNotices.length > 0 && index.problem !== undefined) throw index.problem
  const nextBasis = {
    ...ranked.basis,
    near: [],
    found,
    rankedPages: new Set([...initial.rankedPages, ...best.map(({ pageKey }) => pageKey)]),
    isReranked,
    notices: [...ranked.basis.notices, ...notices],
  }
  return {
    hits: best,
    engines: listEngines(nextBasis),
    notices: [...indexNotices, ...nextBasis.notices],
    hasMore,
    basis: nextBasis,
  }
}

/** Whether an engine may take part. */
function canUseEngine({ fusion, engines }: RankedQuery, engine: Engine): boolean {
  return fusion !== 'words' && (engines === undefined || engines.includes(engine))
}

function listEngines({ meaning, isReranked }: RankBasis): Engine[] {
  return ['words', ...(meaning === undefined ? [] : ['vectors' as const]), ...(isReranked ? ['reranker' as const] : [])]
}

/** Fuses hits with meaning, if the question has a vector, and weighs them by page; best first. Uses words alone if the vectors fail. */
async function fuseAndWeigh(
  request: RankedQuery,
  hits: readonly RankedHit[],
  foundByMeaning: ReadonlySet<number>,
  basis: RankBasis,
  signal?: AbortSignal,
): Promise<{ readonly hits: readonly RankedHit[]; readonly basis: RankBasis }> {
  const { meaning, ...wordBasis } = basis
  if (meaning === undefined) return { hits: weighPages(hits, hits, basis, request), basis }
  try {
    const { ranked, fuse } = await fuseHits(request, meaning, hits, foundByMeaning, basis.near)
    return { hits: weighPages(ranked, hits, basis, request), basis: { ...wordBasis, meaning: { ...meaning, fuse } } }
  } catch (error) {
    signal?.throwIfAborted()
    const byWords = hits.filter(({ number }) => !foundByMeaning.has(number))
    return {
      hits: weighPages(byWords, byWords, basis, request),
      basis: { ...wordBasis, notices: [...wordBasis.notices, describeUnusable('the vectors', error)] },
    }
  }
}

/** Reports how much of the library is searchable, unless it is complete. */
function describeIndex({ indexed, chunks, problem }: IndexProgress): string[] {
  if (indexed >= chunks) return []
  const state = INDEX_PROBLEMS[problem?.code ?? 'INTERNAL'] ?? 'Still indexing'
  return [`${state}: ${writeNumber(indexed)} of ${writeNumber(chunks)} passages are searchable`]
}

/** Why an index stays incomplete, without the path of the library. */
const INDEX_PROBLEMS: Readonly<Partial<Record<ErrorCode, string>>> = {
  LIBRARY_FULL: 'Not indexed, because the disk is full',
  LIBRARY_READ_ONLY: 'Not indexed, because the library cannot be written',
}

/** Embeds the question and finds the nearest chunks, if the library has vectors. */
async function openBasis(library: Library, request: RankedQuery, signal?: AbortSignal): Promise<RankBasis> {
  const found = canUseEngine(request, 'vectors')
    ? await findQueryEmbedding(library, request.query, request.filter, signal)
    : undefined
  const basis = { found: NO_NUMBERS, rankedPages: NO_PAGES, near: [], isReranked: false, notices: [], ...found }
  if (basis.meaning === undefined) return basis
  const { meaning, ...wordBasis } = basis
  try {
    const { near, notices } = await findNearest(library, meaning, request, signal)
    return { ...basis, near, notices: [...basis.notices, ...notices] }
  } catch (error) {
    signal?.throwIfAborted()
    return { ...wordBasis, notices: [...wordBasis.notices, describeUnusable('the vectors', error)] }
  }
}

/** Finds one part of the matches; the first includes the nearest chunks. */
async function findMatches(
  store: Store,
  { query, filter, explain, named }: RankedQuery,
  part: number,
  near: readonly NearChunk[],
): Promise<{
  readonly matches: StoreMatch[]
  readonly foundByMeaning: ReadonlySet<number>
  readonly hasMore: boolean
}> {
  const limit = (part + 1) * PART_SIZE
  const all = await store.search({ query, limit, filter, explain, also: near })
  // Named sources are searched separately with the rest of the question, so that hits elsewhere do not displace theirs.
  const allNamed =
    named === undefined
      ? []
      : await store.search({
          query: named.query,
          limit,
          filter: { ...filter, sourceIds: [...named.sourceIds] },
          explain,
        })
  const namedNumbers = new Set(allNamed.map(({ number }) => number))
  const partMatches = all.slice(part * PART_SIZE)
  // Matches that share no word with the question, or lie beyond the limit, were found by meaning.
  const foundByMeaning = partMatches.filter(({ score }, i) => i >= PART_SIZE || score === 0)
  const namedMatches = allNamed.slice(part * PART_SIZE)
  // A page of a named source is scored without the name of the source, which its other hits would count.
  const namedPageScores = new Map(allNamed.map(({ page, pageScore }) => [page, pageScore]))
  const otherMatches = partMatches.filter(({ number }) => !namedNumbers.has(number))
  return {
    matches: [
      ...namedMatches,
      ...(named === undefined
        ? otherMatches
        : otherMatches.map((match) => ({ ...match, pageScore: namedPageScores.get(match.page) ?? match.pageScore }))),
    ],
    foundByMeaning: new Set(foundByMeaning.map(({ number }) => number).filter((number) => !namedNumbers.has(number))),
    hasMore: partMatches.length - foundByMeaning.length === PART_SIZE || namedMatches.length === PART_SIZE,
  }
}

/** Reads nearest chunks that the index does not contain yet. */
async function readUnindexed(
  store: Store,
  near: readonly NearChunk[],
  matches: readonly StoreMatch[],
  { explain }: RankedQuery,
): Promise<RankedHit[]> {
  const indexed = new Set(matches.map(({ number }) => number))
  const unindexed = near.filter(({ number }) => number !== undefined && !indexed.has(number))
  const read = await Promise.all(unindexed.map(({ sourceId, chunkId }) => store.readChunk(sourceId, chunkId)))
  return read.flatMap((stored, i): RankedHit[] => {
    if (stored === undefined) return []
    const linkShare = linkShareOf(stored.chunk.content)
    const own = { number: unindexed[i]?.number ?? 0, pageKey: pageKeyOf(stored), linkShare, text: 0 }
    const explanation = explain ? { explanation: explainWords(0, linkShare, undefined) } : {}
    const unmatched = { score: 0, pageScore: 0, terms: [], missing: null, missingOnPage: [], similarity: null }
    return [{ ...stored, ...own, ...explanation, ...unmatched }]
  })
}

async function readRanked(
  store: Store,
  matches: readonly StoreMatch[],
  { query, explain }: RankedQuery,
): Promise<RankedHit[]> {
  const hits = await readHits(store, matches)
  const names = findLookupNames(query)
  return hits.map((hit, i) => {
    const { score: wordScore, linkShare } = hit
    const isDefinition = names.length > 0 && i < MAX_DEFINING && hit.hasSymbols && definesName(hit.chunk, names)
    const definition = isDefinition ? DEFINITION_BONUS : 0
    const score = penalizeLinks(wordScore, linkShare) + definition
    // A hit found by meaning only has no words to report.
    const [missing, words] = wordScore === 0 ? [null] : [hit.missing, hit.explain]
    const ranked = { ...hit, pageKey: pageKeyOf(hit), score, missing, similarity: null }
    return explain ? { ...ranked, explanation: explainWords(wordScore, linkShare, words, definition) } : ranked
  })
}

/** Explains a score by words. */
function explainWords(
  wordScore: number,
  linkShare: number,
  words: StoreMatch['explain'],
  definition = 0,
): HitExplanation {
  return {
    words: words ?? null,
    wordScore,
    linkShare,
    definition,
    prior: 1,
    pageBonus: 0,
    similarity: null,
    fusion: 'words alone',
    reranker: null,
  }
}

/** Key of a chunk's page. */
function pageKeyOf({ sourceId, chunk }: StoredChunk): string {
  return `${sourceId} ${chunk.path}`
}

/** Finds the nearest chunks, and reports what may be missing. */
async function findNearest(
  { vectorCopy }: Pick<Library, 'vectorCopy'>,
  { vectors, vector }: QueryEmbedding,
  { filter }: RankedQuery,
  signal?: AbortSignal,
): Promise<{ readonly near: readonly NearChunk[]; readonly notices: readonly string[] }> {
  let nearest: Awaited<ReturnType<VectorIndex['nearest']>>
  try {
    nearest = await withTimeout(NEAREST_TIMEOUT_MS, signal, (limited) =>
      vectors.nearest(vector, PART_SIZE, filter, limited),
    )
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error
    const notice = `search by meaning took longer than ${NEAREST_TIMEOUT_MS / 1000} s and was left out`
    return { near: [], notices: [notice] }
  }
  const problem = vectorCopy?.problem ?? null
  const notice = `the vector copy at ${vectorCopy?.location} was not used: ${problem}; the library was searched instead`
  const near = nearest.filter(({ similarity }) => similarity >= MIN_SIMILARITY)
  return { near, notices: problem === null ? [] : [notice] }
}

/** Reference to the chunk of a hit. Its id is read lazily, only if the number is not enough. */
function toNumberedRef({ sourceId, number, chunk }: RankedHit): NumberedChunkRef {
  return {
    sourceId,
    number,
    get chunkId() {
      return chunk.id
    },
  }
}

/** Fuses hits by words and meaning, and returns the fusion for later parts. */
async function fuseHits(
  { query, fusion }: RankedQuery,
  { vectors, vector, fuse: earlierFuse }: FusedEmbedding,
  hits: readonly RankedHit[],
  foundByMeaning: ReadonlySet<number>,
  near: readonly NearChunk[],
): Promise<{ readonly ranked: readonly RankedHit[]; readonly fuse: FuseCandidates }> {
  // The nearest chunks were compared when they were found.
  const known = new Map(near.map(({ number, similarity }) => [number, similarity]))
  const rest = hits.filter(({ number }) => !known.has(number))
  const compared = (await vectors.compare(vector, rest.map(toNumberedRef))).values()
  const similarities = hits.map(({ number }) => known.get(number) ?? compared.next().value ?? null)
  const candidates = hits.map(({ number, score }, i) => {
    return { wordScore: score, similarity: similarities[i] ?? null, isNear: score === 0 || foundByMeaning.has(number) }
  })
  const fuse = earlierFuse ?? createFusion(query, candidates, { method: fusion })
  const fused = fuse(candidates)
  const ranked = hits.map((hit, i): RankedHit => {
    const { score, fusion: how } = fused[i] ?? { score: hit.score, fusion: 'words alone' }
    const similarity = similarities[i] ?? null
    const { explanation } = hit
    if (explanation === undefined) return { ...hit, score, similarity }
    return { ...hit, score, similarity, explanation: { ...explanation, similarity, fusion: how } }
  })
  return { ranked, fuse }
}
