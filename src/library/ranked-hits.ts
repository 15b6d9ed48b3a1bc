import { linkShareOf } from '../core/retrieval/link-share.ts'
import { weighHits } from '../core/retrieval/weigh-hits.ts'
import { createFusion, type FuseCandidates, LEAST_SIMILARITY } from '../core/search/fusion.ts'
import { writeNumber } from '../core/text/count.ts'
import { readHits } from './hits.ts'
import type { Library } from './library.ts'
import type { Fusion, HitExplanation } from './search.ts'
import type { ChunkFilter, Store, StoredChunk, StoreMatch } from './store.ts'
import type { Embedder, VectorIndex } from './vectors.ts'

/** A hit with the score that counts. */
export interface RankedHit extends StoredChunk, Pick<StoreMatch, 'score' | 'terms' | 'linkShare'> {
  /** Where the score comes from, where that was asked for. */
  readonly explanation?: HitExplanation
}

/** A part of the hits of a question, best first. */
export interface RankedHits {
  readonly hits: readonly RankedHit[]
  readonly engines: readonly ('words' | 'vectors')[]
  readonly notices: readonly string[]
  /** Whether there may be more after them. */
  readonly hasMore: boolean
  /** What the parts after this one are ranked by. */
  readonly basis?: RankBasis
}

/** What all parts of the hits of a question are ranked by, so that their scores can be compared. */
export interface RankBasis {
  /** Hits by words in each part. */
  readonly size: number
  /** What it means; undefined where words answer alone. */
  readonly meaning?: QueryMeaning
  readonly notices: readonly string[]
}

/** What a question means, and how that is added to its words. */
interface QueryMeaning {
  readonly vectors: VectorIndex
  readonly vector: Float32Array
  /** Made from the first part. */
  readonly fuse?: FuseCandidates
}

/** Which hits are asked for. */
export interface RankedQuery {
  readonly query: string
  readonly filter: ChunkFilter
  readonly fusion: Fusion
  readonly explain: boolean
}

/** Meanings are compared within so many hits by words; those that come after are ranked in such parts of their own. */
const PART = 100

/** Where words alone decide, fewer do: what comes further behind is not brought to the front by what stands around it. */
const WORDS_PART = 50

/** With fewer hits by words than this, those that only mean the same are looked for as well. */
const FEW = 10

/** How long a question may wait for its vector: words alone are better than no answer. */
const MOST_WAIT_MS = 2000

/**
 * A part of the hits of a question: by words and, where there are vectors of the open model, by meanings. Parts after the first are
 * given the basis of the one before.
 */
export async function rankHits(
  library: Library,
  asked: RankedQuery,
  part: number,
  signal?: AbortSignal,
  basis?: RankBasis,
): Promise<RankedHits> {
  const { store } = library
  const { query, filter, explain } = asked
  const known = basis ?? (await openBasis(library, asked, signal))
  const { size } = known
  const found = await store.search({ query, limit: (part + 1) * size, filter, explain })
  const matches = weigh(found.slice(part * size))
  const hasMore = matches.length === size
  const missing = await describeIndex(library)
  const hits = await readRanked(store, matches, explain)
  const byWords = (words: RankBasis): RankedHits => {
    return { hits, engines: ['words'], notices: [...missing, ...words.notices], hasMore, basis: words }
  }
  const { meaning, notices } = known
  if (meaning === undefined) return byWords(known)
  try {
    const candidates = part === 0 && hits.length < FEW ? await addNearest(library, meaning, asked, hits) : hits
    const { ranked, fuse } = await fuseHits(asked, meaning, candidates, part * size)
    const next = { ...known, meaning: { ...meaning, fuse } }
    return { hits: ranked, engines: ['words', 'vectors'], notices: [...missing, ...notices], hasMore, basis: next }
  } catch (error) {
    signal?.throwIfAborted()
    return byWords({ size, notices: [cannotBeUsed(error)] })
  }
}

/** Says how much of the library can be found at all, where that is not everything. */
async function describeIndex({ store }: Library): Promise<string[]> {
  const { indexed, chunks } = await store.readIndexState()
  return indexed < chunks ? [`${writeNumber(indexed)} of ${writeNumber(chunks)} chunks are in the index yet`] : []
}

function cannotBeUsed(error: unknown): string {
  return `the model cannot be used: ${messageOf(error)}; answered by words alone`
}

/** Finds out what a question means, where there are vectors to compare that with. */
async function openBasis(
  library: Library,
  { query, filter, fusion }: RankedQuery,
  signal?: AbortSignal,
): Promise<RankBasis> {
  const meanings = fusion === 'words' ? undefined : await openMeanings(library, filter)
  if (meanings === undefined) return { size: WORDS_PART, notices: [] }
  if (typeof meanings === 'string') return { size: PART, notices: [`${meanings}; answered by words alone`] }
  const { vectors, embedder, notices } = meanings
  try {
    const [vector] = await waitAtMost(MOST_WAIT_MS, signal, (both) => embedder.embed([query], both))
    if (vector === undefined) throw new TypeError('it gave no vector')
    return { size: PART, meaning: { vectors, vector }, notices }
  } catch (error) {
    signal?.throwIfAborted()
    return { size: PART, notices: [cannotBeUsed(error)] }
  }
}

/** Gives up after a time, whether or not what was begun takes notice. */
async function waitAtMost<T>(
  ms: number,
  signal: AbortSignal | undefined,
  begin: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const enough = AbortSignal.timeout(ms)
  const both = signal === undefined ? enough : AbortSignal.any([signal, enough])
  both.throwIfAborted()
  let giveUp = (): void => undefined
  const given = new Promise<never>((_, reject) => {
    giveUp = () => reject(enough.aborted ? new Error(`it gave no answer within ${ms / 1000} seconds`) : both.reason)
  })
  both.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([given, begin(both)])
  } finally {
    both.removeEventListener('abort', giveUp)
  }
}

/** A match by its words and by what stands around them. */
interface WeighedMatch extends StoreMatch {
  readonly wordScore: number
  readonly support: number
}

function weigh(matches: readonly StoreMatch[]): WeighedMatch[] {
  const weighings = weighHits(matches)
  return matches.map((match, i) => {
    const { score: wordScore } = match
    const { score, support } = weighings[i] ?? { score: wordScore, support: 0 }
    return { ...match, score, wordScore, support }
  })
}

async function readRanked(store: Store, matches: readonly WeighedMatch[], explain: boolean): Promise<RankedHit[]> {
  const hits = await readHits(store, matches)
  return explain ? hits.map((hit) => ({ ...hit, explanation: explainWords(hit) })) : hits
}

/** Where a score by words comes from. */
function explainWords(match: Pick<WeighedMatch, 'explain' | 'wordScore' | 'linkShare' | 'support'>): HitExplanation {
  const { explain: words, wordScore, linkShare, support } = match
  return { words: words ?? null, wordScore, linkShare, support, similarity: null, fusion: 'words alone' }
}

/** Sorting is stable: equal scores stay in the order they came in. */
function sortByScore<T extends { readonly score: number }>(ranked: readonly T[]): T[] {
  return ranked.toSorted((a, b) => b.score - a.score)
}

/** What meanings are compared with. */
interface Meanings {
  readonly vectors: VectorIndex
  readonly embedder: Embedder
  readonly notices: readonly string[]
}

/** The vectors and the model they were made by; undefined where there are none, or in words why they cannot be used. */
async function openMeanings(library: Library, filter: ChunkFilter): Promise<Meanings | string | undefined> {
  const { vectors } = library
  const space = await vectors?.readSpace()
  if (vectors === undefined || space === undefined) return undefined
  let embedder: Embedder | undefined
  try {
    embedder = await library.openEmbedder?.()
  } catch (error) {
    return `the model cannot be loaded: ${messageOf(error)}`
  }
  if (embedder === undefined) return `the library has vectors of ${space.model}, which is not installed`
  if (embedder.space.fingerprint !== space.fingerprint) {
    return `the library has vectors of another model (${space.model}) than the one that is installed (${embedder.space.model})`
  }
  const { embedded, chunks } = await vectors.count(filter.sourceIds)
  const notices = embedded < chunks ? [`${writeNumber(embedded)} of ${writeNumber(chunks)} chunks have vectors`] : []
  return { vectors, embedder, notices }
}

/** The hits by words with those that are nearest in meaning. */
async function addNearest(
  { store }: Library,
  { vectors, vector }: QueryMeaning,
  { filter, explain }: RankedQuery,
  hits: readonly RankedHit[],
): Promise<readonly RankedHit[]> {
  const known = new Set(hits.map(({ sourceId, chunk }) => `${sourceId}/${chunk.id}`))
  const found: RankedHit[] = []
  for (const { sourceId, chunkId, similarity } of await vectors.nearest(vector, PART, filter)) {
    if (similarity < LEAST_SIMILARITY) break
    const stored = known.has(`${sourceId}/${chunkId}`) ? undefined : await store.readChunk(sourceId, chunkId)
    if (stored === undefined) continue
    const linkShare = linkShareOf(stored.chunk.content)
    const explanation = explain ? { explanation: explainWords({ wordScore: 0, support: 0, linkShare }) } : {}
    found.push({ ...stored, ...explanation, score: 0, terms: [], linkShare })
  }
  return [...hits, ...found]
}

/** Hits by words and meanings, and how those after them are to be fused. */
async function fuseHits(
  { query, fusion }: RankedQuery,
  { vectors, vector, fuse: known }: QueryMeaning,
  hits: readonly RankedHit[],
  before: number,
): Promise<{ readonly ranked: readonly RankedHit[]; readonly fuse: FuseCandidates }> {
  const names = hits.map(({ sourceId, chunk }) => ({ sourceId, chunkId: chunk.id }))
  const similarities = await vectors.compare(vector, names)
  const candidates = hits.map(({ score }, i) => ({ wordScore: score, similarity: similarities[i] ?? null }))
  const fuse = known ?? createFusion(query, candidates, { method: fusion })
  const fused = fuse(candidates, before)
  const ranked = hits.map((hit, i): RankedHit => {
    const { score, fusion: how } = fused[i] ?? { score: hit.score, fusion: 'words alone' }
    const { explanation } = hit
    if (explanation === undefined) return { ...hit, score }
    return { ...hit, score, explanation: { ...explanation, similarity: similarities[i] ?? null, fusion: how } }
  })
  return { ranked: sortByScore(ranked), fuse }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
