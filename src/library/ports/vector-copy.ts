import { countOf, writeNumber } from '../../core/text/count.ts'
import { countLinks } from '../../core/url/count-links.ts'
import type { Store, StoredChunk } from './store.ts'
import type { ChunkRef, VectorIndex, VectorSpace } from './vectors.ts'

/** Facts about the page of a chunk that a copy stores. */
export interface CopiedPage {
  readonly description: string | null
  readonly language: string | null
  readonly modifiedAt: string | null
  /** When its content last changed. */
  readonly changedAt: number
  readonly internalLinks: number
  readonly externalLinks: number
}

/** A vector with its chunk and page. */
export interface CopiedChunk {
  readonly stored: StoredChunk
  readonly page: CopiedPage
  readonly vector: Float32Array
}

/** Entry of a copy for one vector. */
export interface CopyEntry {
  readonly id: string
  /** Changes whenever any part of the entry changes. */
  readonly mark: string
  readonly vector: Float32Array
  readonly payload: Readonly<Record<string, unknown>>
}

/** An existing entry of a copy. */
export interface CopyEntryRef extends ChunkRef {
  readonly id: string
  readonly mark: string
}

/** A copy of a library's vectors in a service for nearest-neighbor search. The store remains authoritative. */
export interface VectorCopy {
  /** Display location. */
  readonly location: string
  /** Why the store answers instead, or what could not be written; null once the copy has responded again. */
  readonly problem: string | null
  /**
   * Prepares the copy for a vector space. Throws for other dimensions; with `rebuild`, the copy is dropped instead, provided that it holds
   * no foreign data.
   */
  prepare(space: VectorSpace, rebuild: boolean, signal?: AbortSignal): Promise<void>
  /** Lists all entries of this library, in any space. */
  list(space: VectorSpace, signal?: AbortSignal): AsyncIterable<CopyEntryRef>
  /** Counts the entries of this library with one request. */
  count(space: VectorSpace, signal?: AbortSignal): Promise<number>
  describe(space: VectorSpace, chunk: CopiedChunk): CopyEntry
  write(space: VectorSpace, entries: readonly CopyEntry[], signal?: AbortSignal): Promise<void>
  remove(space: VectorSpace, ids: readonly string[], signal?: AbortSignal): Promise<void>
  /** Records why the copy is out of sync, or null if it is in sync again. */
  setProblem(problem: string | null): void
}

/** Comparison of a copy with the store. */
export interface VectorCopyState {
  /** Number of vectors in the store. */
  readonly vectors: number
  /** Number of entries of this library in the copy. */
  readonly points: number
  /** Number of vectors not confirmed as copied. */
  readonly uncopied: number
}

/** Whether the copy is in sync. Both conditions are needed, because stale entries can hide missing ones in the count. */
export function isInSync({ vectors, points, uncopied }: VectorCopyState): boolean {
  return uncopied === 0 && points === vectors
}

/** Example: `703 of 785 vectors`, followed by the number of stale entries. */
export function writeCopyState(state: VectorCopyState): string {
  const { vectors, points, uncopied } = state
  const current = Math.min(points, vectors - uncopied)
  const outdated = points - current
  const suffix = outdated === 0 ? '' : `, and ${countOf(outdated, 'outdated point')}`
  return `${writeNumber(current)} of ${countOf(vectors, 'vector')}${suffix}`
}

/** Compares a copy with the store; undefined without vectors. */
export async function readCopyState(
  vectors: VectorIndex,
  copy: VectorCopy,
  signal?: AbortSignal,
): Promise<VectorCopyState | undefined> {
  const space = await vectors.readSpace()
  if (space === undefined) return undefined
  const points = await copy.count(space, signal)
  const { embedded } = await vectors.count()
  return { vectors: embedded, points, uncopied: await vectors.countUncopied(copy.location) }
}

/** Reads chunks with their pages for a copy, skipping those removed meanwhile. */
export async function readCopiedChunks(
  store: Pick<Store, 'readChunk' | 'readPage'>,
  vectors: readonly (ChunkRef & { readonly vector: Float32Array })[],
): Promise<CopiedChunk[]> {
  const pages = new Map<string, CopiedPage | undefined>()
  const copied: CopiedChunk[] = []
  for (const { sourceId, chunkId, vector } of vectors) {
    const stored = await store.readChunk(sourceId, chunkId)
    if (stored === undefined) continue
    const { path } = stored.chunk
    const key = `${sourceId}/${path}`
    if (!pages.has(key)) pages.set(key, await readCopiedPage(store, sourceId, path))
    const page = pages.get(key)
    if (page !== undefined) copied.push({ stored, page, vector })
  }
  return copied
}

async function readCopiedPage(
  store: Pick<Store, 'readPage'>,
  sourceId: string,
  key: string,
): Promise<CopiedPage | undefined> {
  const found = await store.readPage(sourceId, key)
  if (found === undefined) return undefined
  const { description, language, modifiedAt } = found.page
  const { internal, external } = countLinks(found.page)
  const links = { internalLinks: internal, externalLinks: external }
  return { description, language, modifiedAt, changedAt: found.changedAt, ...links }
}
