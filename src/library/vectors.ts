import type { VectorSpace } from '../core/embedding/space.ts'
import type { ChunkFilter, Store } from './store.ts'

export type { VectorSpace }

/** Purpose of a text: some models embed questions differently. */
export type EmbedUse = 'text' | 'query'

/**
 * Turns texts into vectors of length 1. Rejects with `SERVICE_UNUSABLE` where a service is at fault, whatever it is given. Any other
 * failure may be the fault of a text, `EMBED_REFUSED` is unless a time limit is its cause: fewer at a time will tell it from the others.
 */
export interface Embedder {
  readonly space: VectorSpace
  /** Fingerprints of spaces whose vectors it makes anew without being told to: nothing makes such vectors any more. */
  readonly earlierSpaces?: readonly string[]
  /** The only language that it is good for. @default none: it takes texts of all languages */
  readonly language?: string
  /** Texts that it likes to be given at once. */
  readonly batchSize?: number
  /** @param use `text` where it is not given */
  embed(texts: readonly string[], signal?: AbortSignal, use?: EmbedUse): Promise<Float32Array[]>
  close(): Promise<void>
}

/** A chunk by its source and id. */
export interface ChunkName {
  readonly sourceId: string
  readonly chunkId: string
}

/** A chunk as the store it is in finds it soonest. */
export interface NumberedName extends ChunkName {
  /** As matches of the same store have it, where it is known. */
  readonly number?: number | undefined
}

/** A chunk that is near to a query. */
export interface NearChunk extends NumberedName {
  readonly similarity: number
}

/** A chunk that has no vector yet, with the text that is to get one. */
export interface UnembeddedChunk extends ChunkName {
  readonly text: string
  /** The language of its page, where that is known. */
  readonly language: string | null
}

/** A chunk that the model of a library makes no vector of, and why. */
export interface RefusedChunk extends ChunkName {
  /** In words. */
  readonly problem: string
}

/** Where the vectors of chunks are kept. They go when their chunk goes. */
export interface VectorIndex {
  /** The space of the vectors that are there; undefined when there are none. */
  readSpace(): Promise<VectorSpace | undefined>
  /**
   * Removes all vectors and takes up those of another space. Nothing is crawled again. Changes nothing where the space is this one
   * already: another process may have replaced the vectors meanwhile, and begun to write.
   */
  replaceSpace(space: VectorSpace): Promise<void>
  /**
   * Chunks without a vector in an order of the store's own, from the first on, or from the one after `after`: whoever goes through
   * them all has no vector looked for twice. Those that were refused are not among them.
   */
  listMissing(limit: number, sourceIds?: readonly string[], after?: ChunkName): Promise<UnembeddedChunk[]>
  /**
   * Takes the right to embed, or keeps it for longer: until so many milliseconds after `now`. False while somebody else has it. It
   * keeps two from the same work, and nobody from writing.
   */
  lease(holder: string, now: number, ms: number): Promise<boolean>
  /**
   * Refuses vectors of another space, and any that is not finite, not of length 1, constant, or of other dimensions. The signal ends
   * the writing of a copy elsewhere; what is kept here is kept in any case.
   */
  write(
    space: VectorSpace,
    vectors: readonly (ChunkName & { readonly vector: Float32Array })[],
    signal?: AbortSignal,
  ): Promise<void>
  /** Keeps chunks of a space out of what is missing: each is at fault itself. What they were refused for goes with them, or the space. */
  refuse(space: VectorSpace, chunks: readonly RefusedChunk[]): Promise<void>
  /** Refused chunks, at most `limit`, in an order of the store's own. */
  listRefused(limit: number, sourceIds?: readonly string[]): Promise<RefusedChunk[]>
  /** Forgets refusals, so that the next run tries these chunks again. */
  forgetRefused(sourceIds?: readonly string[]): Promise<void>
  /** Chunks with their vectors, as they are kept, in the same order as {@link listMissing}: for whoever keeps a copy elsewhere. */
  list(
    limit: number,
    after?: ChunkName,
    sourceIds?: readonly string[],
  ): Promise<(ChunkName & { readonly vector: Float32Array })[]>
  /** The cosines of a query with the given chunks; null for those without a vector. */
  compare(query: Float32Array, chunks: readonly NumberedName[]): Promise<(number | null)[]>
  /** The chunks nearest to a query, nearest first. What a filter asks besides sources may be asked of the nearest 2,000 only. */
  nearest(query: Float32Array, limit: number, filter?: ChunkFilter, signal?: AbortSignal): Promise<NearChunk[]>
  /** Makes what finds the nearest faster, where there is such a thing and it is not made yet: after chunks were embedded. */
  tendNearest?(): Promise<void>
  /** `refused` of the chunks are kept out. */
  count(
    sourceIds?: readonly string[],
  ): Promise<{ readonly embedded: number; readonly chunks: number; readonly refused: number }>
  /** Tells this library from all others, wherever it is kept: 32 hexadecimal digits, drawn when it was made. */
  readLibraryId(): Promise<string>
  /**
   * Remembers that a copy has the vectors of these chunks, until they are written anew or go. What is remembered of another place is
   * forgotten, and nothing is remembered of another space.
   */
  markCopied(place: string, space: VectorSpace, chunks: readonly ChunkName[]): Promise<void>
  /** How many vectors a copy is not known to have. */
  countUncopied(place: string): Promise<number>
}

/** A store that keeps vectors too. */
export interface VectorStore extends Store {
  readonly vectors: VectorIndex
}
