import { textNumber } from '../core/retrieval/chunk-index.ts'
import { definesName, namesAsked } from '../core/retrieval/definitions.ts'
import { linkShareOf } from '../core/retrieval/link-share.ts'
import { createPagePrior } from '../core/retrieval/page-prior.ts'
import { penalizeLinks, supportHits } from '../core/retrieval/weigh-hits.ts'
import { createFusion, type FuseCandidates, MIN_SIMILARITY } from '../core/search/fusion.ts'
import { writeNumber } from '../core/text/count.ts'
import { readHits } from './hits.ts'
import type { Library } from './library.ts'
import { cannotBeUsed, findMeaning, type QueryMeaning } from './query-meaning.ts'
import { rerankHits } from './rerank-hits.ts'
import type { Engine, Fusion, HitExplanation } from './search.ts'
import type { ChunkFilter, Store, StoredChunk, StoreMatch } from './store.ts'
import type { NearChunk, NumberedName, VectorIndex } from './vectors.ts'
import { WaitedEnough, waitAtMost } from './wait-at-most.ts'

/** A hit with the score that counts. */
export interface RankedHit
  extends StoredChunk,
    Pick<StoreMatch, 'score' | 'terms' | 'linkShare' | 'text'>,
    Partial<Pick<StoreMatch, 'number' | 'page'>> {
  /** Tells its page apart from others, by source and key. */
  readonly pageKey: string
  /** Words of the question that it lacks; null for one that was found by its meaning alone. */
  readonly missing: StoreMatch['missing'] | null
  /** Cosine of its meaning with the question's; null where it took no part. */
  readonly similarity: number | null
  /** Where the score comes from, where that was asked for. */
  readonly explanation?: HitExplanation
}

/** A part of the hits of a question, best first. */
export interface RankedHits {
  readonly hits: readonly RankedHit[]
  readonly engines: readonly Engine[]
  readonly notices: readonly string[]
  /** Whether there may be more after them. */
  readonly hasMore: boolean
  /** What the parts after this one are ranked by. */
  readonly basis?: RankBasis
}

/** What all parts of the hits of a question are ranked by, so that their scores can be compared. */
export interface RankBasis {
  /** What it means; undefined where words answer alone. */
  readonly meaning?: FusedMeaning
  /** Chunks that the first part found by meaning alone: later parts leave them out. */
  readonly found?: ReadonlySet<string>
  /** Whether a reranker judged the first part. */
  readonly isReranked: boolean
  readonly notices: readonly string[]
}

/** What a question means, and how that is added to its words. */
interface FusedMeaning extends QueryMeaning {
  /** Made from the first part. */
  readonly fuse?: FuseCandidates
}

/** Which hits are asked for. */
export interface RankedQuery {
  readonly query: string
  readonly filter: ChunkFilter
  readonly fusion: Fusion
  readonly explain: boolean
  /** What may take part besides words. @default all that can */
  readonly engines?: readonly Engine[] | undefined
}

/** So many hits by words, and so many nearest in meaning, are ranked together; later hits by words follow in parts of the same size. */
const PART = 100

/** What a text earns that defines a name which a question looks up, as a share of the most its words could score. */
const DEFINITION_BONUS = 0.15

/** So many of the best hits are looked at for what they define. */
const MAX_DEFINING = 50

/** How long those nearest in meaning may be waited for: a service may have to find them. */
const NEAREST_MS = 1000

/**
 * A part of the hits of a question: by words and, where there are vectors of the open model, by meanings; the best of the first part
 * as a reranker sees them, where there is one. Parts after the first are given the basis of the one before.
 */
export async function rankHits(
  library: Library,
  asked: RankedQuery,
  part: number,
  signal?: AbortSignal,
  basis?: RankBasis,
): Promise<RankedHits> {
  const { query, filter, explain } = asked
  const known = basis ?? (await openBasis(library, asked, signal))
  const found = await library.store.search({ query, limit: (part + 1) * PART, filter, explain })
  const matches = found.slice(part * PART)
  const missing = await describeIndex(library)
  const read = await readRanked(library.store, matches, asked)
  const byWords = read.filter((hit) => known.found?.has(nameOf(hit)) !== true)
  const ranked = await addMeanings(library, asked, part, byWords, known, signal)
  const { hits, isReranked, notices } =
    part === 0 && isAsked(asked, 'reranker')
      ? await rerankHits(library, query, ranked.hits, signal)
      : { hits: ranked.hits, isReranked: known.isReranked, notices: [] }
  const next = { ...ranked.basis, isReranked, notices: [...ranked.basis.notices, ...notices] }
  return {
    hits,
    engines: listEngines(next),
    notices: [...missing, ...next.notices],
    hasMore: matches.length === PART,
    basis: next,
  }
}

/** Whether something may take part in the answers of a question. */
function isAsked({ fusion, engines }: RankedQuery, engine: Engine): boolean {
  return fusion !== 'words' && (engines === undefined || engines.includes(engine))
}

function listEngines({ meaning, isReranked }: RankBasis): Engine[] {
  return ['words', ...(meaning === undefined ? [] : ['vectors' as const]), ...(isReranked ? ['reranker' as const] : [])]
}

/** Hits by words with what they mean, where that is known. */
async function addMeanings(
  library: Library,
  asked: RankedQuery,
  part: number,
  hits: readonly RankedHit[],
  basis: RankBasis,
  signal?: AbortSignal,
): Promise<{ readonly hits: readonly RankedHit[]; readonly basis: RankBasis }> {
  const { meaning, ...words } = basis
  if (meaning === undefined) return { hits: weighPages(hits, asked.query), basis }
  try {
    const { candidates, missing } =
      part === 0 ? await addNearest(library, meaning, asked, hits, signal) : { candidates: hits, missing: [] }
    const { ranked, fuse } = await fuseHits(asked, meaning, candidates)
    const notices = [...words.notices, ...missing]
    const found = words.found ?? new Set(candidates.slice(hits.length).map(nameOf))
    return { hits: weighPages(ranked, asked.query), basis: { ...words, meaning: { ...meaning, fuse }, found, notices } }
  } catch (error) {
    signal?.throwIfAborted()
    return {
      hits: weighPages(hits, asked.query),
      basis: { ...words, notices: [...words.notices, cannotBeUsed('the vectors', error)] },
    }
  }
}

/** Says how much of the library can be found at all, where that is not everything. */
async function describeIndex({ store }: Library): Promise<string[]> {
  const { indexed, chunks } = await store.readIndexState()
  return indexed < chunks ? [`${writeNumber(indexed)} of ${writeNumber(chunks)} chunks are in the index yet`] : []
}

/** Finds out what a question means, where there are vectors to compare that with. */
async function openBasis(library: Library, asked: RankedQuery, signal?: AbortSignal): Promise<RankBasis> {
  const found = isAsked(asked, 'vectors') ? await findMeaning(library, asked.query, asked.filter, signal) : undefined
  return found === undefined ? { isReranked: false, notices: [] } : { ...found, isReranked: false }
}

async function readRanked(
  store: Store,
  matches: readonly StoreMatch[],
  { query, explain }: RankedQuery,
): Promise<RankedHit[]> {
  const hits = await readHits(store, matches)
  const names = namesAsked(query)
  return hits.map((hit, i) => {
    const { score: wordScore, linkShare, explain: words } = hit
    const isDefinition = names.length > 0 && i < MAX_DEFINING && hit.hasSymbols && definesName(hit.chunk, names)
    const definition = isDefinition ? DEFINITION_BONUS : 0
    const score = penalizeLinks(wordScore, linkShare) + definition
    const ranked = { ...hit, pageKey: pageKeyOf(hit), score, similarity: null }
    return explain ? { ...ranked, explanation: explainWords(wordScore, linkShare, words, definition) } : ranked
  })
}

/** Where a score by words comes from. */
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
    support: 0,
    similarity: null,
    fusion: 'words alone',
    reranker: null,
  }
}

/** Hits weighed by what their pages are and by other hits on them, best first. */
function weighPages(hits: readonly RankedHit[], query: string): RankedHit[] {
  const priorOf = createPagePrior(query)
  const priors = new Map<string, number>()
  const weighed = hits.map((hit) => {
    const { url, pageKey: page } = hit
    const prior = priors.get(page) ?? priorOf(url)
    priors.set(page, prior)
    return { hit, prior, score: hit.score * prior, page }
  })
  const supports = supportHits(weighed)
  const ranked = weighed.map(({ hit, prior, score }, i): RankedHit => {
    const support = supports[i] ?? 0
    const { explanation } = hit
    if (explanation === undefined) return { ...hit, score: score + support }
    return { ...hit, score: score + support, explanation: { ...explanation, prior, support } }
  })
  return sortByScore(ranked)
}

/** What tells the pages of chunks apart. */
function pageKeyOf({ sourceId, chunk }: StoredChunk): string {
  return `${sourceId} ${chunk.path}`
}

/** What tells chunks apart. */
function nameOf({ sourceId, chunk }: Pick<RankedHit, 'sourceId' | 'chunk'>): string {
  return `${sourceId}/${chunk.id}`
}

/** Sorting is stable: equal scores stay in the order they came in. */
function sortByScore<T extends { readonly score: number }>(ranked: readonly T[]): T[] {
  return ranked.toSorted((a, b) => b.score - a.score)
}

/** The hits by words with those that are nearest in meaning, and what may be missing of these. */
async function addNearest(
  { store, vectorCopy }: Library,
  { vectors, vector }: QueryMeaning,
  { filter, explain }: RankedQuery,
  hits: readonly RankedHit[],
  signal?: AbortSignal,
): Promise<{ readonly candidates: readonly RankedHit[]; readonly missing: readonly string[] }> {
  const isKnown = createKnown(hits)
  const found: RankedHit[] = []
  let nearest: Awaited<ReturnType<VectorIndex['nearest']>>
  try {
    nearest = await waitAtMost(NEAREST_MS, signal, (both) => vectors.nearest(vector, PART, filter, both))
  } catch (error) {
    if (!(error instanceof WaitedEnough)) throw error
    const missing = `those nearest in meaning were not found within ${NEAREST_MS / 1000} s and are left out`
    return { candidates: hits, missing: [missing] }
  }
  const problem = vectorCopy?.problem ?? null
  const elsewhere = `the copy of the vectors at ${vectorCopy?.location} was not used: ${problem}; the nearest came from the library`
  const missing = problem === null ? [] : [elsewhere]
  const near = nearest.filter((one) => one.similarity >= MIN_SIMILARITY && !isKnown(one))
  const read = await Promise.all(near.map(({ sourceId, chunkId }) => store.readChunk(sourceId, chunkId)))
  for (const [i, { number, similarity }] of near.entries()) {
    const stored = read[i]
    if (stored === undefined) continue
    const linkShare = linkShareOf(stored.chunk.content)
    const explanation = explain ? { explanation: explainWords(0, linkShare, undefined) } : {}
    const text = textNumber(stored.chunk.contentHash)
    const pageKey = pageKeyOf(stored)
    const own = { pageKey, score: 0, terms: [], linkShare, text, missing: null, similarity }
    found.push({ ...stored, ...explanation, ...own, ...(number === undefined ? {} : { number }) })
  }
  return { candidates: [...hits, ...found], missing }
}

/** The name of a hit, whose id is read only where the number does not do. */
function toNumberedName({ sourceId, number, chunk }: RankedHit): NumberedName {
  return {
    sourceId,
    number,
    get chunkId() {
      return chunk.id
    },
  }
}

/** Tells which chunks are among hits: by their numbers where both have them, since names would have to be read. */
function createKnown(hits: readonly RankedHit[]): (chunk: NearChunk) => boolean {
  const numbers = new Set(hits.map(({ number }) => number))
  let names: ReadonlySet<string> | undefined
  return ({ number, sourceId, chunkId }) => {
    if (number !== undefined) return numbers.has(number)
    names ??= new Set(hits.map(nameOf))
    return names.has(`${sourceId}/${chunkId}`)
  }
}

/** Hits by words and meanings, and how those after them are to be fused. */
async function fuseHits(
  { query, fusion }: RankedQuery,
  { vectors, vector, fuse: known }: FusedMeaning,
  hits: readonly RankedHit[],
): Promise<{ readonly ranked: readonly RankedHit[]; readonly fuse: FuseCandidates }> {
  // A chunk with a number was compared by its store when it was found by its meaning.
  const isCompared = ({ number, similarity }: RankedHit) => number !== undefined && similarity !== null
  const names = hits.filter((hit) => !isCompared(hit)).map(toNumberedName)
  const compared = (await vectors.compare(vector, names)).values()
  const similarities = hits.map((hit) => (isCompared(hit) ? hit.similarity : (compared.next().value ?? null)))
  const candidates = hits.map(({ score }, i) => ({ wordScore: score, similarity: similarities[i] ?? null }))
  const fuse = known ?? createFusion(query, candidates, { method: fusion })
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
