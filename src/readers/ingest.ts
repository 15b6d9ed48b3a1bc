import { chunkPage } from '../core/chunk/chunk-page.ts'
import { CHUNK_PROFILES, type ChunkProfile, sizesOf } from '../core/chunk/profiles.ts'
import { PharosError } from '../core/errors.ts'
import type { Chunk } from '../core/model.ts'
import { hideCredentials } from '../core/url/credentials.ts'
import { pointIdOf, writeChunkPayload } from '../embed/qdrant-points.ts'
import { checkVectors } from '../library/embed/check-vectors.ts'
import { embeddedText, PROBE_TEXT } from '../library/embed/embedded-text.ts'
import type { Embedder } from '../library/ports/vectors.ts'
import { checkOptions, kindOfAll, type OptionKind, refuseOption } from './check-options.ts'
import type { ReaderDocument, VectorPoint, VectorSink } from './document.ts'
import type { DocumentReader } from './document-reader.ts'

/** How documents become points. */
export interface IngestOptions {
  readonly embedder: Pick<Embedder, 'space' | 'embed'>
  /** Destination of the points, such as a Qdrant collection. */
  readonly vectorStore: VectorSink
  /** How texts are chunked. @default 'tokens' */
  readonly chunks?: ChunkProfile
  /** Removes the old points of the same URL after the new ones are written. @default true */
  readonly enableDeduplication?: boolean
  readonly signal?: AbortSignal | undefined
}

const KINDS: Readonly<Record<keyof IngestOptions, OptionKind>> = {
  ...kindOfAll('an object', 'embedder', 'vectorStore', 'signal'),
  chunks: CHUNK_PROFILES,
  enableDeduplication: 'true or false',
}

/** Result of one document. */
export type IngestResult =
  | {
      readonly type: 'written'
      readonly url: string
      /** Number of chunks written. */
      readonly chunks: number
      /** Chunks that the model could not embed, if any; they have no points. */
      readonly refused?: readonly RefusedPiece[]
    }
  /** No earlier point of the document was removed, unless a new one has replaced it. */
  | { readonly type: 'failed'; readonly url: string; readonly error: Error }

/** A chunk of a document that could not be embedded. */
export interface RefusedPiece {
  /** Index in the document, from 0, as in `chunk_index` of a point. */
  readonly chunkIndex: number
  readonly headingPath: readonly string[]
  readonly error: PharosError
}

/** Texts per embedding call. */
const BATCH_SIZE = 32

/**
 * Chunks documents, embeds the chunks and writes them as points, one document after the other. Old points of a URL are removed only after
 * all new ones are written, so a failed document loses nothing. A chunk that the model cannot embed is left out; a document without any
 * other chunk fails. The results are in the order of the documents.
 */
export async function ingestDocuments(
  documents: readonly IngestedDocument[],
  options: IngestOptions,
): Promise<IngestResult[]> {
  checkOptions(options, KINDS, ['embedder', 'vectorStore'])
  const results: IngestResult[] = []
  for (const document of documents) results.push(await ingestDocument(document, options))
  return results
}

/** How the documents of a reader are ingested. */
export interface IngestUrlsOptions extends Omit<IngestOptions, 'vectorStore' | 'enableDeduplication'> {
  /** @default the reader's */
  readonly vectorStore?: VectorSink
  /** @default the reader's */
  readonly enableDeduplication?: boolean
}

/** The parts of a document that are ingested; framework documents have them too. */
export type IngestedDocument = Pick<ReaderDocument, 'text' | 'metadata'>

/** A reader with a destination for vectors. */
export interface IngestReader extends Pick<DocumentReader, 'lastFailures'> {
  loadAll(urls: readonly string[], signal?: AbortSignal): Promise<readonly (IngestedDocument | null)[]>
  readonly vectorStore?: VectorSink | undefined
  readonly enableDeduplication?: boolean
}

/** Reads URLs and ingests their documents. The results are in the order of the URLs and include those that could not be read. */
export async function ingestUrls(
  reader: IngestReader,
  urls: readonly string[],
  options: IngestUrlsOptions,
): Promise<IngestResult[]> {
  checkOptions(options, KINDS, ['embedder'])
  const vectorStore = options.vectorStore ?? reader.vectorStore
  if (vectorStore === undefined) refuseOption('vectorStore', 'given in the options or in the reader', undefined)
  const enableDeduplication = options.enableDeduplication ?? reader.enableDeduplication ?? true
  const { signal } = options
  const documents = await reader.loadAll(urls, signal)
  const failures = new Map(reader.lastFailures.map(({ url, error }) => [url, error]))
  const results: IngestResult[] = []
  for (const [index, url] of urls.entries()) {
    const document = documents[index] ?? null
    if (document === null) results.push({ type: 'failed', url, error: failures.get(url) ?? createNoTextError(url) })
    else results.push(await ingestDocument(document, { ...options, vectorStore, enableDeduplication }))
  }
  return results
}

async function ingestDocument(document: IngestedDocument, options: IngestOptions): Promise<IngestResult> {
  const { vectorStore, enableDeduplication = true, signal } = options
  const url = document.metadata.source_url
  try {
    const { points, refused } = await makePoints(document, options)
    if (enableDeduplication) await vectorStore.replaceUrl(url, points, signal)
    else await vectorStore.upsert(points, signal)
    return { type: 'written', url, chunks: points.length, ...(refused.length === 0 ? {} : { refused }) }
  } catch (error) {
    signal?.throwIfAborted()
    return { type: 'failed', url, error: error instanceof Error ? error : new Error(String(error)) }
  }
}

interface DocumentPoints {
  readonly points: readonly VectorPoint[]
  readonly refused: readonly RefusedPiece[]
}

async function makePoints(document: IngestedDocument, options: IngestOptions): Promise<DocumentPoints> {
  const { text, metadata } = document
  const { source_url: url, title } = metadata
  const chunks = chunkPage({ markdown: text }, url, { sizes: sizesOf(options.chunks ?? 'tokens') })
  if (chunks.length === 0) throw createNoTextError(url)
  const refused: RefusedPiece[] = []
  const points: VectorPoint[] = []
  for (let i = 0; i < chunks.length; i += BATCH_SIZE) {
    const batch = chunks.slice(i, i + BATCH_SIZE)
    for (const { chunk, vector } of await embedHalving(batch, title, options, refused)) {
      const payload = { ...metadata, ...writeChunkPayload(chunk) }
      points.push({ id: pointIdOf(`${url}:${chunk.chunkIndex}`), vector, payload })
    }
  }
  const [first] = refused
  if (points.length === 0 && first !== undefined) throw first.error
  return { points, refused }
}

interface EmbeddedChunk {
  readonly chunk: Chunk
  readonly vector: Float32Array
}

/** Embeds chunks. If the model refuses a batch, halves it until only the chunks at fault remain, and adds those to `refused`. */
async function embedHalving(
  chunks: readonly Chunk[],
  title: string,
  options: IngestOptions,
  refused: RefusedPiece[],
): Promise<EmbeddedChunk[]> {
  try {
    return await embed(chunks, title, options)
  } catch (error) {
    if (!(error instanceof PharosError && error.code === 'EMBED_REFUSED')) throw error
    const [first, second] = chunks
    if (first !== undefined && second === undefined) {
      // If the model cannot embed even the probe text, the model is at fault; the call throws, and nothing is replaced.
      await options.embedder.embed([PROBE_TEXT], options.signal)
      refused.push({ chunkIndex: first.chunkIndex, headingPath: first.headingPath, error })
      return []
    }
    const half = chunks.length >> 1
    const before = await embedHalving(chunks.slice(0, half), title, options, refused)
    return [...before, ...(await embedHalving(chunks.slice(half), title, options, refused))]
  }
}

/** Placeholder for a missing vector. */
const NO_VECTOR = new Float32Array(0)

async function embed(
  chunks: readonly Chunk[],
  title: string,
  { embedder, signal }: IngestOptions,
): Promise<EmbeddedChunk[]> {
  const texts = chunks.map(({ headingPath, content }) => embeddedText(title, headingPath, content))
  const vectors = await embedder.embed(texts, signal)
  const embedded = chunks.map((chunk, i) => ({ chunk, vector: vectors[i] ?? NO_VECTOR }))
  checkVectors(
    embedder.space,
    embedded.map(({ chunk, vector }) => ({ sourceId: chunk.path, chunkId: chunk.id, vector })),
  )
  return embedded
}

function createNoTextError(url: string): PharosError {
  const problem = 'there is no text'
  return new PharosError('READ_FAILED', { url: hideCredentials(url), problem, advice: 'look at the page itself' })
}
