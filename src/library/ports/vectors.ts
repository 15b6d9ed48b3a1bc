import type { VectorSpace } from '../../core/embedding/space.ts'
import type { ChunkFilter, Store } from './store.ts'

export type { VectorSpace }

/** Purpose of a text: some models embed questions differently. */
export type EmbedUse = 'text' | 'query'

/**
 * Turns texts into vectors of length 1. Rejects with `SERVICE_UNUSABLE` if the service fails for any input, and with `EMBED_REFUSED` if a
 * text is at fault or a timeout expired. A text may also cause any other error. Smaller batches isolate that text.
 */
export interface Embedder {
  readonly space: VectorSpace
  /** Fingerprints of outdated spaces whose vectors are replaced automatically, because nothing produces them any more. */
  readonly earlierSpaces?: readonly string[]
  /** The only language it supports. @default none: it takes texts of all languages */
  readonly language?: string
  /** Preferred batch size. */
  readonly batchSize?: number
  /** @param use `text` by default */
  embed(texts: readonly string[], signal?: AbortSignal, use?: EmbedUse): Promise<Float32Array[]>
  close(): Promise<void>
}

/** A chunk by its source and id. */
export interface ChunkRef {
  readonly sourceId: string
  readonly chunkId: string
}

/** A chunk with its number, which makes lookups faster. */
export interface NumberedChunkRef extends ChunkRef {
  /** Number from a match of the same store, if known. */
  readonly number?: number | undefined
}

/** A chunk near to a query. */
export interface NearChunk extends NumberedChunkRef {
  readonly similarity: number
}

/** A chunk without a vector, with the text to embed. */
export interface UnembeddedChunk extends ChunkRef {
  readonly text: string
  /** Language of its page, if known. */
  readonly language: string | null
}

/** A chunk that the model refused, with the reason. */
export interface RefusedChunk extends ChunkRef {
  /** Reason in words. */
  readonly problem: string
}

/** Storage of chunk vectors. A vector is removed with its chunk. */
export interface VectorIndex {
  /** Reads the space of the stored vectors; undefined if there are none. */
  readSpace(): Promise<VectorSpace | undefined>
  /**
   * Removes all vectors and switches to another space, without a new crawl. Does nothing if the space is already current, because another
   * process may have switched and started writing.
   */
  replaceSpace(space: VectorSpace): Promise<void>
  /**
   * Lists chunks without a vector in a stable order of the store, from the start or after `after`, so that one pass visits each chunk once.
   * Refused chunks are excluded.
   */
  listMissing(limit: number, sourceIds?: readonly string[], after?: ChunkRef): Promise<UnembeddedChunk[]>
  /**
   * Acquires or renews the embedding lease until `ms` milliseconds after `now`. Returns false while another process has it. The lease
   * avoids duplicate work but does not protect writes.
   */
  lease(holder: string, now: number, ms: number): Promise<boolean>
  /**
   * Writes vectors. Throws for another space, and for vectors that are not finite, not of length 1, constant, or of other dimensions. The
   * signal only aborts writing an external copy.
   */
  write(
    space: VectorSpace,
    vectors: readonly (ChunkRef & { readonly vector: Float32Array })[],
    signal?: AbortSignal,
  ): Promise<void>
  /** Excludes chunks that the model cannot embed from the missing ones of a space. A refusal is removed with its chunk or space. */
  refuse(space: VectorSpace, chunks: readonly RefusedChunk[]): Promise<void>
  /** Lists refused chunks, at most `limit`, in a stable order of the store. */
  listRefused(limit: number, sourceIds?: readonly string[]): Promise<RefusedChunk[]>
  /** Forgets refusals, so that the next run tries these chunks again. */
  forgetRefused(sourceIds?: readonly string[]): Promise<void>
  /** Lists chunks with their stored vectors in the order of {@link listMissing}, for writing a copy. */
  list(
    limit: number,
    after?: ChunkRef,
    sourceIds?: readonly string[],
  ): Promise<(ChunkRef & { readonly vector: Float32Array })[]>
  /** Computes cosine similarities of a query with chunks; null for chunks without a vector. */
  compare(query: Float32Array, chunks: readonly NumberedChunkRef[]): Promise<(number | null)[]>
  /** Finds the chunks nearest to a query, nearest first. Filters other than sources may apply to the nearest 2,000 only. */
  nearest(query: Float32Array, limit: number, filter?: ChunkFilter, signal?: AbortSignal): Promise<NearChunk[]>
  /** Builds an index that speeds up `nearest`, if the store has one and it is missing; called after embedding. */
  buildNearestIndex?(): Promise<void>
  /** Counts chunks, vectors and refused chunks. */
  count(
    sourceIds?: readonly string[],
  ): Promise<{ readonly embedded: number; readonly chunks: number; readonly refused: number }>
  /** Reads the unique id of this library: 32 hexadecimal digits, generated when it was created. */
  readLibraryId(): Promise<string>
  /**
   * Records that the copy at `location` has the vectors of these chunks, until they are rewritten or removed. Records of another location
   * are dropped, and another space is ignored.
   */
  markCopied(location: string, space: VectorSpace, chunks: readonly ChunkRef[]): Promise<void>
  /** Counts vectors not confirmed as copied. */
  countUncopied(location: string): Promise<number>
}

/** A store with vectors. */
export interface VectorStore extends Store {
  readonly vectors: VectorIndex
}
