import { z } from 'zod'
import { withoutUndefined } from '../core/without-undefined.ts'
import { ServiceFailure } from '../library/service-call.ts'
import {
  createQdrantClient,
  createUnusableError,
  type QdrantAccess,
  type QdrantClient,
  toUnusableError,
} from './qdrant-client.ts'
import { matchLibrary, matchUrl, type QdrantFilter } from './qdrant-filter.ts'
import { PAYLOAD_INDEXES, type QdrantPoint } from './qdrant-points.ts'
import { batchPoints, type SerializedPoint } from './qdrant-upsert.ts'

/** Which collection to open. */
export interface QdrantCollectionOptions extends QdrantAccess {
  /** Name of the collection. */
  readonly collection: string
  /** Number of dimensions of a vector. */
  readonly dimensions: number
  /** A library id. A mismatching collection is dropped instead of refused if all of its points belong to this library. */
  readonly recreateFor?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Which points to find. */
export interface PointQuery {
  readonly filter?: QdrantFilter
  /** Payload fields to return. @default all */
  readonly payload?: readonly string[]
  readonly signal?: AbortSignal | undefined
}

/** A stored point, without its vector. */
export interface FoundPoint {
  readonly id: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** A point near the query. */
export interface ScoredPoint extends FoundPoint {
  /** Cosine similarity. */
  readonly score: number
}

/** A collection of points. Every method rejects with `SERVICE_UNUSABLE` when the service fails, after retries where they may help. */
export interface QdrantCollection {
  readonly url: string
  readonly name: string
  readonly dimensions: number
  /** Writes points in batches; a point with the same id is replaced. Resolves when all are searchable. */
  upsert(points: readonly QdrantPoint[], signal?: AbortSignal): Promise<void>
  deletePoints(ids: readonly string[], signal?: AbortSignal): Promise<void>
  /** Removes all points of a URL that belong to no library; returns their number. */
  deleteByUrl(url: string, signal?: AbortSignal): Promise<number>
  /** Writes the points of a URL, then removes its other points that belong to no library; returns the number removed. */
  replaceUrl(url: string, points: readonly QdrantPoint[], signal?: AbortSignal): Promise<number>
  /** Iterates over all points that match, ordered by id. */
  scroll(query?: PointQuery): AsyncGenerator<FoundPoint, void>
  count(filter?: QdrantFilter, signal?: AbortSignal): Promise<number>
  /** The points nearest to a vector, nearest first. */
  search(vector: Float32Array, query: PointQuery & { readonly limit: number }): Promise<ScoredPoint[]>
}

/** Points per request when points are listed or deleted. */
const PAGE_SIZE = 1000

/**
 * Opens a collection. Creates it with cosine distance if it is missing, and adds missing payload indexes. A collection with other
 * dimensions or another distance is refused and left unchanged, unless `recreateFor` allows dropping it.
 */
export async function openQdrantCollection(options: QdrantCollectionOptions): Promise<QdrantCollection> {
  try {
    await ensureCollection(createQdrantClient(options), options)
  } catch (error) {
    throw toUnusableError(options.url, error)
  }
  return createQdrantCollection(options)
}

const anyResult: z.ZodType<unknown> = z.unknown()

const collectionInfo = z.object({
  config: z.object({ params: z.object({ vectors: z.record(z.string(), z.unknown()) }) }),
  payload_schema: z.record(z.string(), z.unknown()),
})

type CollectionInfo = z.infer<typeof collectionInfo>

async function ensureCollection(call: QdrantClient, options: QdrantCollectionOptions): Promise<void> {
  const { recreateFor: library, signal } = options
  const path = pathOf(options.collection)
  let found = await readInfo(call, path, signal)
  const problem = found === undefined ? undefined : findMismatch(found, options.dimensions)
  if (found !== undefined && problem !== undefined) {
    if (library === undefined) throw createRefusedError(options, problem, DROP_ADVICE)
    if (!(await isOwnedByLibrary(call, path, found, library, signal))) {
      throw createRefusedError(options, `${problem}, and it also holds other data`, OTHER_ADVICE)
    }
    await call({ method: 'DELETE', path, result: anyResult, signal })
    found = undefined
  }
  if (found === undefined) {
    await createCollection(call, path, options)
    found = await readInfo(call, path, signal)
    // Another process may have created the collection meanwhile, with other properties.
    const mismatch =
      found === undefined ? 'it was removed after it was created' : findMismatch(found, options.dimensions)
    if (mismatch !== undefined) throw createRefusedError(options, mismatch, OTHER_ADVICE)
  }
  for (const [name, schema] of Object.entries(PAYLOAD_INDEXES)) {
    if (found?.payload_schema[name] !== undefined) continue
    const json = { field_name: name, field_schema: schema }
    await call({ method: 'PUT', path: `${path}/index?wait=true`, json, result: anyResult, signal })
  }
}

async function readInfo(
  call: QdrantClient,
  path: string,
  signal: AbortSignal | undefined,
): Promise<CollectionInfo | undefined> {
  try {
    return await call({ method: 'GET', path, result: collectionInfo, signal })
  } catch (error) {
    if (hasStatus(error, 404)) return undefined
    throw error
  }
}

async function createCollection(call: QdrantClient, path: string, options: QdrantCollectionOptions): Promise<void> {
  const json = { vectors: { size: options.dimensions, distance: 'Cosine' } }
  try {
    await call({ method: 'PUT', path, json, result: anyResult, signal: options.signal })
  } catch (error) {
    // 409: another process created the collection since the check; the next step checks whether it fits.
    if (!hasStatus(error, 409)) throw error
  }
}

/** Why a collection cannot be used; undefined when it can. */
function findMismatch({ config }: CollectionInfo, dimensions: number): string | undefined {
  const { size, distance } = config.params.vectors
  if (size === undefined) return 'it has named vectors'
  if (size !== dimensions) return `its vectors have ${String(size)} dimensions instead of ${dimensions}`
  return distance === 'Cosine' ? undefined : `its distance is ${String(distance)} instead of Cosine`
}

/**
 * Whether a collection has no points, or only points of this library. Pharos indexes `library_id` in every collection that it opens, so a
 * collection without that index holds no points of any library.
 */
async function isOwnedByLibrary(
  call: QdrantClient,
  path: string,
  found: CollectionInfo,
  library: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const count = async (filter?: QdrantFilter): Promise<number> => {
    const json = { exact: true, ...(filter === undefined ? {} : { filter }) }
    return (await call({ method: 'POST', path: `${path}/points/count`, json, result: countResult, signal })).count
  }
  const total = await count()
  if (total === 0) return true
  return found.payload_schema['library_id'] !== undefined && (await count(matchLibrary(library))) === total
}

const OTHER_ADVICE = 'use another collection (qdrantCollection); this one was not changed'
const DROP_ADVICE =
  'use another collection (qdrantCollection), or rebuild this one with `pharos embed sync --rebuild` if only this library uses it'

function createRefusedError({ url, collection }: QdrantCollectionOptions, problem: string, advice: string): Error {
  return createUnusableError(url, `collection ${collection}: ${problem}`, advice)
}

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof ServiceFailure && error.status === status
}

function pathOf(collection: string): string {
  return `/collections/${encodeURIComponent(collection)}`
}

const pointId = z.union([z.string(), z.number()]).transform(String)
const pointPayload = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((payload) => payload ?? {})
const foundPoint = z.object({ id: pointId, payload: pointPayload })
const scoredPoints = z.object({ points: z.array(foundPoint.extend({ score: z.number() })) })
const scrollResult = z.object({
  points: z.array(foundPoint),
  next_page_offset: z.union([z.string(), z.number()]).nullish(),
})
const countResult = z.object({ count: z.number() })

/** Creates the client of a collection, without checking that the collection exists. */
export function createQdrantCollection(options: QdrantCollectionOptions): QdrantCollection {
  const { url: service, collection: name, dimensions } = options
  const raw = createQdrantClient(options)
  const pointsPath = `${pathOf(name)}/points`
  const call: QdrantClient = async (request) => {
    try {
      return await raw(request)
    } catch (error) {
      throw toUnusableError(service, error)
    }
  }
  const count = async (filter: QdrantFilter | undefined, signal: AbortSignal | undefined): Promise<number> => {
    const json = { exact: true, ...(filter === undefined ? {} : { filter }) }
    return (await call({ method: 'POST', path: `${pointsPath}/count`, json, result: countResult, signal })).count
  }
  const remove = async (json: unknown, signal: AbortSignal | undefined): Promise<void> => {
    await call({ method: 'POST', path: `${pointsPath}/delete?wait=true`, json, result: anyResult, signal })
  }
  /** Removes the points that match a filter; returns their number. */
  const removeAll = async (filter: QdrantFilter, signal: AbortSignal | undefined): Promise<number> => {
    const matchCount = await count(filter, signal)
    if (matchCount > 0) await remove({ filter }, signal)
    return matchCount
  }
  /** Writes points in one request, or in halves if the server or a proxy rejects the request as too large. */
  const write = async (batch: readonly SerializedPoint[], signal: AbortSignal | undefined): Promise<void> => {
    try {
      await raw({ method: 'PUT', path: `${pointsPath}?wait=true`, json: { points: batch }, result: anyResult, signal })
    } catch (error) {
      if (!hasStatus(error, 413) || batch.length < 2) throw toUnusableError(service, error)
      const half = batch.length >> 1
      await write(batch.slice(0, half), signal)
      await write(batch.slice(half), signal)
    }
  }
  const upsert = async (given: readonly QdrantPoint[], signal?: AbortSignal): Promise<void> => {
    for (const batch of batchPoints(given)) await write(batch, signal)
  }

  return {
    url: service,
    name,
    dimensions,
    upsert,
    count,
    deletePoints: async (ids, signal) => {
      for (let i = 0; i < ids.length; i += PAGE_SIZE) await remove({ points: ids.slice(i, i + PAGE_SIZE) }, signal)
    },
    deleteByUrl: (url, signal) => removeAll({ must: matchUrl(url) }, signal),
    replaceUrl: async (url, given, signal) => {
      await upsert(given, signal)
      const kept = { has_id: given.map(({ id }) => id) }
      return removeAll({ must: matchUrl(url), must_not: [kept] }, signal)
    },
    async *scroll({ filter, payload, signal } = {}) {
      let offset: string | number | null | undefined
      do {
        const json = {
          ...{ limit: PAGE_SIZE, with_payload: payload ?? true, with_vector: false },
          ...withoutUndefined({ offset, filter }),
        }
        const page = await call({ method: 'POST', path: `${pointsPath}/scroll`, json, result: scrollResult, signal })
        yield* page.points
        offset = page.next_page_offset
      } while (offset !== null && offset !== undefined)
    },
    search: async (vector, { limit, filter, payload, signal }) => {
      const json = {
        ...{ query: Array.from(vector), limit, with_payload: payload ?? true, with_vector: false },
        ...(filter === undefined ? {} : { filter }),
      }
      return (await call({ method: 'POST', path: `${pointsPath}/query`, json, result: scoredPoints, signal })).points
    },
  }
}
