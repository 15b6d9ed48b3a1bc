import type { ChunkFilter, Store } from './store.ts'

/** What vectors were made by. Vectors of different spaces cannot be compared. */
export interface VectorSpace {
  /** Name of the model, for people. */
  readonly model: string
  /** SHA-256 over the model and everything else that decides what a text becomes. */
  readonly fingerprint: string
  readonly dimensions: number
}

/** Turns texts into vectors of length 1. */
export interface Embedder {
  readonly space: VectorSpace
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>
  close(): Promise<void>
}

/** A chunk by its source and id. */
export interface ChunkName {
  readonly sourceId: string
  readonly chunkId: string
}

/** A chunk that has no vector yet, with the text that is to get one. */
export interface UnembeddedChunk extends ChunkName {
  readonly text: string
}

/** Where the vectors of chunks are kept. They go when their chunk goes. */
export interface VectorIndex {
  /** The space of the vectors that are there; undefined when there are none. */
  readSpace(): Promise<VectorSpace | undefined>
  /** Removes all vectors and takes up those of another space. Nothing is crawled again. */
  replaceSpace(space: VectorSpace): Promise<void>
  /**
   * Chunks without a vector in an order of the store's own, from the first on, or from the one after `after`: whoever goes through
   * them all has no vector looked for twice.
   */
  listMissing(limit: number, sourceIds?: readonly string[], after?: ChunkName): Promise<UnembeddedChunk[]>
  /**
   * Takes the right to embed, or keeps it for longer: until so many milliseconds after `now`. False while somebody else has it. It
   * keeps two from the same work, and nobody from writing.
   */
  lease(holder: string, now: number, ms: number): Promise<boolean>
  /** Refuses vectors of another space, and any that is not finite, not of length 1, constant, or of other dimensions. */
  write(space: VectorSpace, vectors: readonly (ChunkName & { readonly vector: Float32Array })[]): Promise<void>
  /** The cosines of a query with the given chunks; null for those without a vector. */
  compare(query: Float32Array, chunks: readonly ChunkName[]): Promise<(number | null)[]>
  /** The chunks nearest to a query, nearest first. What a filter asks besides sources may be asked of the nearest 2,000 only. */
  nearest(
    query: Float32Array,
    limit: number,
    filter?: ChunkFilter,
  ): Promise<(ChunkName & { readonly similarity: number })[]>
  count(sourceIds?: readonly string[]): Promise<{ readonly embedded: number; readonly chunks: number }>
}

/** A store that keeps vectors too. */
export interface VectorStore extends Store {
  readonly vectors: VectorIndex
}
