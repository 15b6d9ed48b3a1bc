import { linkShareOf } from '../core/retrieval/link-share.ts'
import { weighHits } from '../core/retrieval/weigh-hits.ts'
import { fuseScores, LEAST_SIMILARITY } from '../core/search/fusion.ts'
import type { Library } from './library.ts'
import type { Fusion, HitExplanation } from './search.ts'
import type { ChunkFilter, StoreHit } from './store.ts'
import type { Embedder, VectorIndex } from './vectors.ts'

/** A hit with the score that counts. */
export interface RankedHit extends StoreHit {
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

/** A part of the hits of a question: by words and, where there are vectors of the open model, by meanings. */
export async function rankHits(
  library: Library,
  asked: RankedQuery,
  part: number,
  signal?: AbortSignal,
): Promise<RankedHits> {
  const { query, filter, fusion, explain } = asked
  const meanings = fusion === 'words' ? undefined : await openMeanings(library, filter)
  const size = meanings === undefined ? WORDS_PART : PART
  const found = await library.store.search({ query, limit: (part + 1) * size, filter, explain })
  const hits = weigh(found.slice(part * size), explain)
  const hasMore = hits.length === size
  const byWords = (notices: readonly string[]): RankedHits => {
    return { hits: sortHits(hits), engines: ['words'], notices, hasMore }
  }
  if (meanings === undefined) return byWords([])
  if (typeof meanings === 'string') return byWords([`${meanings}; answered by words alone`])
  try {
    const [vector] = await meanings.embedder.embed([query], signal)
    if (vector === undefined) throw new TypeError('it gave no vector')
    const candidates = part === 0 && hits.length < FEW ? await addNearest(library, meanings, vector, asked, hits) : hits
    const ranked = await fuseHits(asked, meanings.vectors, vector, candidates)
    return { hits: ranked, engines: ['words', 'vectors'], notices: meanings.notices, hasMore }
  } catch (error) {
    signal?.throwIfAborted()
    return byWords([`the model cannot be used: ${messageOf(error)}; answered by words alone`])
  }
}

/** Hits by their words and by what stands around them. */
function weigh(hits: readonly StoreHit[], explain: boolean): RankedHit[] {
  const weighings = weighHits(
    hits.map(({ sourceId, chunk, score, linkShare }) => ({ score, linkShare, page: `${sourceId} ${chunk.path}` })),
  )
  return hits.map((hit, i) => {
    const { score, support } = weighings[i] ?? { score: hit.score, support: 0 }
    if (!explain) return { ...hit, score }
    const { explain: words = null, score: wordScore, linkShare } = hit
    const explanation = { words, wordScore, linkShare, support, similarity: null, fusion: 'words alone' }
    return { ...hit, score, explanation }
  })
}

/** Sorting is stable: equal scores stay in the order they came in. */
function sortHits(hits: readonly RankedHit[]): RankedHit[] {
  return hits.toSorted((a, b) => b.score - a.score)
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
  const notices = embedded < chunks ? [`${writeCount(embedded)} of ${writeCount(chunks)} chunks have vectors`] : []
  return { vectors, embedder, notices }
}

/** The hits by words with those that are nearest in meaning. */
async function addNearest(
  { store }: Library,
  { vectors }: Meanings,
  vector: Float32Array,
  { filter, explain }: RankedQuery,
  hits: readonly RankedHit[],
): Promise<readonly RankedHit[]> {
  const known = new Set(hits.map(({ sourceId, chunk }) => `${sourceId}/${chunk.id}`))
  const found: StoreHit[] = []
  for (const { sourceId, chunkId, similarity } of await vectors.nearest(vector, PART, filter)) {
    if (similarity < LEAST_SIMILARITY) break
    const stored = known.has(`${sourceId}/${chunkId}`) ? undefined : await store.readChunk(sourceId, chunkId)
    if (stored !== undefined) {
      found.push({ ...stored, score: 0, terms: [], linkShare: linkShareOf(stored.chunk.content) })
    }
  }
  return [...hits, ...weigh(found, explain)]
}

async function fuseHits(
  { query, fusion }: RankedQuery,
  vectors: VectorIndex,
  vector: Float32Array,
  hits: readonly RankedHit[],
): Promise<RankedHit[]> {
  const names = hits.map(({ sourceId, chunk }) => ({ sourceId, chunkId: chunk.id }))
  const similarities = await vectors.compare(vector, names)
  const candidates = hits.map(({ score }, i) => ({ wordScore: score, similarity: similarities[i] ?? null }))
  const fused = fuseScores(query, candidates, { method: fusion })
  const ranked = hits.map((hit, i): RankedHit => {
    const { score, fusion: how } = fused[i] ?? { score: hit.score, fusion: 'words alone' }
    const { explanation } = hit
    if (explanation === undefined) return { ...hit, score }
    return { ...hit, score, explanation: { ...explanation, similarity: similarities[i] ?? null, fusion: how } }
  })
  return sortHits(ranked)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function writeCount(count: number): string {
  return count.toLocaleString('en')
}
