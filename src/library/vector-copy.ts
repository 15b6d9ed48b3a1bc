import { countOf, writeNumber } from '../core/text/count.ts'
import { countLinks } from '../core/url/count-links.ts'
import type { Store, StoredChunk } from './store.ts'
import type { ChunkName, VectorIndex, VectorSpace } from './vectors.ts'

/** What is known of the page of a chunk, as far as a copy tells it. */
export interface CopiedPage {
  readonly description: string | null
  readonly language: string | null
  readonly modifiedAt: string | null
  /** When its content came. */
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

/** What a copy keeps of a vector. */
export interface CopyEntry {
  readonly id: string
  /** Another one when anything of it changes. */
  readonly mark: string
  readonly vector: Float32Array
  readonly payload: Readonly<Record<string, unknown>>
}

/** What is there of a copy. */
export interface CopyPlace extends ChunkName {
  readonly id: string
  readonly mark: string
}

/** A copy of the vectors of a library in a service that finds the nearest. The store stays the truth. */
export interface VectorCopy {
  /** For people. */
  readonly location: string
  /** Why the store is asked instead, or what could not be written, in words; null as soon as it has answered since. */
  readonly problem: string | null
  /**
   * Makes it ready for vectors of a space. One of other dimensions is refused; where `rebuild` says so it is dropped instead, provided
   * that it holds nothing of anybody else.
   */
  prepare(space: VectorSpace, rebuild: boolean, signal?: AbortSignal): Promise<void>
  /** All that is there of this library, whatever space it is of. */
  list(space: VectorSpace, signal?: AbortSignal): AsyncIterable<CopyPlace>
  /** How much that is; asked once. */
  count(space: VectorSpace, signal?: AbortSignal): Promise<number>
  describe(space: VectorSpace, chunk: CopiedChunk): CopyEntry
  write(space: VectorSpace, entries: readonly CopyEntry[], signal?: AbortSignal): Promise<void>
  remove(space: VectorSpace, ids: readonly string[], signal?: AbortSignal): Promise<void>
  /** Notes why it is out of step, or that it is not any more. */
  note(problem: string | null): void
}

/** How a copy compares with the store. */
export interface CopyState {
  /** Vectors of the store. */
  readonly vectors: number
  /** What is there of this library. */
  readonly points: number
  /** Vectors that it is not known to have. */
  readonly uncopied: number
}

/** Whether nothing is missing and nothing is there that is gone. Points of what is gone could stand for others that are missing. */
export function isInStep({ vectors, points, uncopied }: CopyState): boolean {
  return uncopied === 0 && points === vectors
}

/** `703 of 785 vectors`, and what is there of others that are gone. */
export function writeCopyState(state: CopyState): string {
  const { vectors, points, uncopied } = state
  const there = Math.min(points, vectors - uncopied)
  const gone = points - there
  const others = gone === 0 ? '' : `, and ${countOf(gone, 'point')} of what is gone`
  return `${writeNumber(there)} of ${countOf(vectors, 'vector')}${others}`
}

/** Compares a copy with the store; undefined where there are no vectors. */
export async function readCopyState(
  vectors: VectorIndex,
  copy: VectorCopy,
  signal?: AbortSignal,
): Promise<CopyState | undefined> {
  const space = await vectors.readSpace()
  if (space === undefined) return undefined
  const points = await copy.count(space, signal)
  const { embedded } = await vectors.count()
  return { vectors: embedded, points, uncopied: await vectors.countUncopied(copy.location) }
}

/** Reads chunks with their pages, for a copy. Those that are gone meanwhile are left out. */
export async function readCopied(
  store: Pick<Store, 'readChunk' | 'readPage'>,
  vectors: readonly (ChunkName & { readonly vector: Float32Array })[],
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
