import type { ChunkFilter, StoredChunk } from '../library/ports/store.ts'
import type { CopyEntry, VectorCopy } from '../library/ports/vector-copy.ts'
import type { ChunkRef, VectorSpace } from '../library/ports/vectors.ts'
import { ServiceFailure } from '../library/service-call.ts'
import { withTimeout } from '../library/with-timeout.ts'
import {
  createQdrantCollection,
  openQdrantCollection,
  type QdrantCollection,
  type QdrantCollectionOptions,
} from './qdrant-collection.ts'
import { matchLibrary, splitFilter } from './qdrant-filter.ts'
import { createChunkPoint, type QdrantPoint } from './qdrant-points.ts'

/** Location of the copy. */
export interface QdrantCopyOptions
  extends Pick<QdrantCollectionOptions, 'url' | 'collection' | 'key' | 'timeoutMs' | 'client' | 'clock'> {
  /** Identifies a library among others in the same collection. */
  readonly library: string
}

/** A query to a copy. */
export interface CopyQuery {
  readonly vector: Float32Array
  readonly filter: ChunkFilter
  /** The sources to search. */
  readonly sourceIds: readonly string[]
  /** Number of hits wanted if Qdrant can check all conditions. */
  readonly limit: number
  /** Number of points requested if the caller has to check some conditions. */
  readonly limitToCheck: number
}

/** A copy in Qdrant that also answers nearest-neighbour queries. */
export interface QdrantCopy extends VectorCopy {
  /** Writes entries without retries, for a caller that cannot wait. */
  writeWithoutRetries(space: VectorSpace, entries: readonly CopyEntry[], signal?: AbortSignal): Promise<void>
  /** The chunks nearest to a vector, nearest first; sent without retries. */
  search(space: VectorSpace, query: CopyQuery, signal?: AbortSignal): Promise<CopyHits>
}

/** Result of a query to a copy. */
export interface CopyHits {
  readonly chunks: readonly ChunkRef[]
  /** Conditions that Qdrant cannot check; undefined when there are none. */
  readonly postFilter: ((stored: StoredChunk) => boolean) | undefined
  /** Whether there may be more hits than returned. */
  readonly isTruncated: boolean
}

/**
 * Limit of the wait until the collection is open. The requests that open it have shorter timeouts of their own, so usually only an abort
 * ends the wait early.
 */
const OPEN_TIMEOUT_MS = 600_000

/** Payload fields that identify a chunk. */
const CHUNK_REF_FIELDS = ['source_id', 'chunk_id']

/** Creates a copy; its collection is opened, and created if missing, on first use. */
export function createQdrantCopy(options: QdrantCopyOptions): QdrantCopy {
  const { library } = options
  const opening = new CollectionOpening()
  let problem: string | null = null
  const withRetries = ({ dimensions }: VectorSpace, signal: AbortSignal | undefined): QdrantCollectionOptions => ({
    ...options,
    dimensions,
    signal,
  })
  const withoutRetries = (space: VectorSpace, signal: AbortSignal | undefined): QdrantCollectionOptions => ({
    ...withRetries(space, signal),
    retries: 0,
  })
  // The cast is safe, because createChunkPoint made all entries.
  const pointsOf = (entries: readonly CopyEntry[]): readonly QdrantPoint[] => entries as readonly QdrantPoint[]

  return {
    // The store identifies a copy by this text, so different spellings of the URL must give the same text.
    location: `${new URL(options.url).href.replace(/(?<!\/)\/+$/, '')} (${options.collection})`,
    get problem() {
      return problem
    },
    setProblem: (noted) => {
      problem = noted
    },
    prepare: async (space, rebuild, signal) => {
      opening.forget()
      await opening.use(
        { ...withRetries(space, signal), recreateFor: rebuild ? library : undefined },
        async () => undefined,
      )
    },
    async *list(space, signal) {
      const collection = createQdrantCollection(withRetries(space, signal))
      const query = { filter: matchLibrary(library), payload: [...CHUNK_REF_FIELDS, 'copy_mark'], signal }
      for await (const { id, payload } of collection.scroll(query)) {
        yield { id, ...readChunkRef(payload), mark: String(payload['copy_mark']) }
      }
    },
    describe: (space, chunk) => createChunkPoint(space, library, chunk),
    write: (space, entries, signal) =>
      opening.use(withRetries(space, signal), (collection) => collection.upsert(pointsOf(entries), signal)),
    writeWithoutRetries: (space, entries, signal) =>
      opening.use(withoutRetries(space, signal), (collection) => collection.upsert(pointsOf(entries), signal)),
    remove: (space, ids, signal) =>
      opening.use(withRetries(space, signal), (collection) => collection.deletePoints(ids, signal)),
    count: async (space, signal) => {
      try {
        return await createQdrantCollection(withoutRetries(space, signal)).count(matchLibrary(library), signal)
      } catch (error) {
        // 404: the collection does not exist yet.
        if (error instanceof Error && error.cause instanceof ServiceFailure && error.cause.status === 404) return 0
        throw error
      }
    },
    search: async (space, { vector, filter: chunkFilter, sourceIds, limit, limitToCheck }, signal) => {
      const { filter, postFilter } = splitFilter({ library, fingerprint: space.fingerprint, sourceIds }, chunkFilter)
      const pointQuery = {
        filter,
        payload: CHUNK_REF_FIELDS,
        limit: postFilter === undefined ? limit : limitToCheck,
        signal,
      }
      const found = await createQdrantCollection(withoutRetries(space, signal)).search(vector, pointQuery)
      return {
        chunks: found.map(({ payload }) => readChunkRef(payload)),
        postFilter,
        isTruncated: found.length === pointQuery.limit,
      }
    },
  }
}

function readChunkRef(payload: Readonly<Record<string, unknown>>): ChunkRef {
  return { sourceId: String(payload['source_id']), chunkId: String(payload['chunk_id']) }
}

/** Opens the collection on first use. */
class CollectionOpening {
  #ready: { readonly dimensions: number; readonly done: Promise<unknown> } | undefined

  /** Uses the collection. After a failure the next use opens it again, because it may have been deleted. */
  async use<T>(given: QdrantCollectionOptions, work: (collection: QdrantCollection) => Promise<T>): Promise<T> {
    try {
      await this.#prepare(given)
      return await work(createQdrantCollection(given))
    } catch (error) {
      this.forget()
      throw error
    }
  }

  /** Lets the next use open the collection again. */
  forget(): void {
    this.#ready = undefined
  }

  /** Opens the collection unless it is open. Several callers may share the opening: it continues when one of them aborts. */
  async #prepare({ signal, ...given }: QdrantCollectionOptions): Promise<void> {
    signal?.throwIfAborted()
    if (this.#ready?.dimensions !== given.dimensions) {
      this.#ready = { dimensions: given.dimensions, done: openQdrantCollection(given) }
    }
    const { done } = this.#ready
    await withTimeout(OPEN_TIMEOUT_MS, signal, () => done)
  }
}
