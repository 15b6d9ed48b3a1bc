import { z } from 'zod'
import { type FaultyServer, openFaultyServer, type Route, type RouteAnswer, type SeenRequest } from './faults.ts'
import { type Filter, filter, keysOf, type Payload, type PointId, passes, pointId } from './qdrant-filter.ts'

// This test server follows the REST interface of Qdrant 1.15 (docs/redoc/v1.15.x/openapi.json of qdrant/qdrant, src/actix/helpers.rs,
// src/actix/mod.rs, src/common/auth). Success is 200 `{result, status: "ok", time}`. Errors are `{status: {error}, time}` with 400 (body
// that is not JSON or does not match the schema, wrong dimensions, body over 32 MB: `JSON payload … is larger than allowed`), 404 (no
// such collection), 409 (collection exists) and 422 (validation). A missing or wrong key gets 401 and plain text, and a read-only key
// gets 403 for writes. Filters on payload fields without an index are refused, as in the strict mode of Qdrant (and its cloud). Unknown
// members are refused everywhere; the real server refuses them only in filters.

/** Configuration of the server. */
export interface QdrantServerOptions {
  /** Key that has to be sent as `api-key`. */
  readonly key?: string
  /** Key that may only read. */
  readonly readOnlyKey?: string
  /** Maximum size of a body in bytes. @default 32 MB, as `max_request_size_mb` */
  readonly maxBytes?: number
}

/** A stored point. */
export interface StoredPoint {
  readonly id: PointId
  /** Normalized to length 1. */
  readonly vector: Float32Array
  readonly payload: Payload
}

/** An in-memory Qdrant that really searches and filters. */
export interface QdrantServer extends FaultyServer {
  /** Points of a collection by id, or undefined if it does not exist. */
  pointsOf(collection: string): ReadonlyMap<PointId, StoredPoint> | undefined
  /** Makes a collection as another program would. */
  addCollection(name: string, vectors: unknown): void
}

interface Collection {
  readonly vectors: unknown
  /** Undefined for named vectors. */
  readonly size: number | undefined
  readonly indexes: Map<string, string>
  readonly points: Map<PointId, StoredPoint>
  operations: number
}

const MAX_BYTES = 32 * 1024 * 1024

const distance = z.enum(['Cosine', 'Euclid', 'Dot', 'Manhattan'])
const vectorParams = z.strictObject({ size: z.int().nonnegative(), distance, on_disk: z.boolean().optional() })
const vector = z.array(z.number())
const withPayload = z.union([z.boolean(), z.array(z.string())]).optional()
const withVector = z.boolean().optional()

const BODIES = {
  create: z.strictObject({ vectors: vectorParams }),
  index: z.strictObject({
    field_name: z.string(),
    field_schema: z.enum(['keyword', 'integer', 'float', 'bool', 'geo', 'datetime', 'text', 'uuid']),
  }),
  upsert: z.strictObject({
    points: z.array(z.strictObject({ id: pointId, vector, payload: z.record(z.string(), z.unknown()).nullish() })),
  }),
  delete: z.union([z.strictObject({ points: z.array(pointId) }), z.strictObject({ filter })]),
  count: z.strictObject({ filter: filter.optional(), exact: z.boolean().optional() }),
  scroll: z.strictObject({
    ...{ filter: filter.optional(), limit: z.int().optional(), offset: pointId.nullish() },
    ...{ with_payload: withPayload, with_vector: withVector },
  }),
  query: z.strictObject({
    ...{ query: vector, filter: filter.optional(), limit: z.int().optional(), offset: z.int().optional() },
    ...{ with_payload: withPayload, with_vector: withVector, score_threshold: z.number().optional() },
  }),
}

/** Requests for which a read-only key is enough, as method and path. */
const READ_ROUTES = /^GET |\/(?:count|scroll|query)$/

/** Opens a server on loopback. */
export async function openQdrantServer(options: QdrantServerOptions = {}): Promise<QdrantServer> {
  const collections = new Map<string, Collection>()
  const server = await openFaultyServer({
    routes: createRoutes(collections, options.maxBytes ?? MAX_BYTES),
    beforeRoute: (request) => checkKey(options, request),
    // Like actix: an empty body for every method.
    unknown: () => ({ status: 404 }),
  })
  return Object.assign(server, {
    pointsOf: (name: string) => collections.get(name)?.points,
    addCollection: (name: string, vectors: unknown) => {
      collections.set(name, createCollection(vectors))
    },
  })
}

function checkKey({ key, readOnlyKey }: QdrantServerOptions, request: SeenRequest): RouteAnswer | undefined {
  if (key === undefined || request.path === '/') return undefined
  const given = request.headers['api-key']
  if (given === undefined) return { status: 401, text: 'Must provide an API key or an Authorization bearer token' }
  if (given === key) return undefined
  if (given !== readOnlyKey) return { status: 401, text: 'Invalid API key or JWT' }
  return READ_ROUTES.test(`${request.method} ${request.path}`)
    ? undefined
    : fail(403, 'Forbidden: Write access is required')
}

function createCollection(vectors: unknown): Collection {
  const { size } = vectors as { readonly size?: number }
  return { vectors, size, indexes: new Map(), points: new Map(), operations: 0 }
}

function succeed(result: unknown): RouteAnswer {
  return { status: 200, json: { result, status: 'ok', time: 0.000_1 } }
}

function fail(status: number, error: string): RouteAnswer {
  return { status, json: { status: { error }, time: 0 } }
}

/** Ends a request with an error. */
class Refusal extends Error {
  readonly answer: RouteAnswer

  constructor(status: number, error: string) {
    super(error)
    this.answer = fail(status, error)
  }
}

function createRoutes(collections: Map<string, Collection>, maxBytes: number): Readonly<Record<string, Route>> {
  const find = ({ params }: SeenRequest): Collection => {
    const name = params['name'] ?? ''
    const found = collections.get(name)
    if (found === undefined) throw new Refusal(404, `Not found: Collection \`${name}\` doesn't exist!`)
    return found
  }
  const read = <T>(request: SeenRequest, schema: z.ZodType<T>): T => readBody(request, schema, maxBytes)
  const routes: Readonly<Record<string, Route>> = {
    'GET /': () => ({ status: 200, json: { title: 'qdrant - vector search engine', version: '1.15.5' } }),
    'GET /collections/:name': (request) => succeed(describe(find(request))),
    'PUT /collections/:name': (request) => {
      const { vectors } = read(request, BODIES.create)
      checkMinimum('vectors.size', vectors.size)
      const name = request.params['name'] ?? ''
      if (collections.has(name)) throw new Refusal(409, `Wrong input: Collection \`${name}\` already exists!`)
      collections.set(name, createCollection(vectors))
      return succeed(true)
    },
    'DELETE /collections/:name': ({ params }) => succeed(collections.delete(params['name'] ?? '')),
    'PUT /collections/:name/index': (request) => {
      const { field_name, field_schema } = read(request, BODIES.index)
      const collection = find(request)
      collection.indexes.set(field_name, field_schema)
      return update(collection, request)
    },
    'PUT /collections/:name/points': (request) => {
      const { points } = read(request, BODIES.upsert)
      const collection = find(request)
      for (const one of points) checkDimensions(collection, one.vector)
      for (const one of points) {
        collection.points.set(one.id, { id: one.id, vector: normalize(one.vector), payload: one.payload ?? {} })
      }
      return update(collection, request)
    },
    'POST /collections/:name/points/delete': (request) => {
      const selector = read(request, BODIES.delete)
      const collection = find(request)
      const ids = 'points' in selector ? selector.points : select(collection, selector.filter).map(({ id }) => id)
      for (const id of ids) collection.points.delete(id)
      return update(collection, request)
    },
    'POST /collections/:name/points/count': (request) => {
      const { filter: requested } = read(request, BODIES.count)
      return succeed({ count: select(find(request), requested).length })
    },
    'POST /collections/:name/points/scroll': (request) => {
      const { filter: requested, limit = 10, offset, with_payload = true } = read(request, BODIES.scroll)
      checkMinimum('limit', limit)
      const found = select(find(request), requested).filter(({ id }) => offset == null || compareIds(id, offset) >= 0)
      const points = found
        .slice(0, limit)
        .map((point) => ({ id: point.id, payload: pick(point.payload, with_payload) }))
      return succeed({ points, next_page_offset: found[limit]?.id ?? null })
    },
    'POST /collections/:name/points/query': (request) => {
      const { query, filter: requested, limit = 10, offset = 0, with_payload = false } = read(request, BODIES.query)
      checkMinimum('limit', limit)
      const collection = find(request)
      checkDimensions(collection, query)
      const wanted = normalize(query)
      const scored = select(collection, requested)
        .map((point) => ({ ...point, score: Math.fround(dot(wanted, point.vector)) }))
        .sort((a, b) => b.score - a.score || compareIds(a.id, b.id))
        .slice(offset, offset + limit)
      const points = scored.map(({ id, score, payload }) => {
        return { id, version: 0, score, ...(with_payload === false ? {} : { payload: pick(payload, with_payload) }) }
      })
      return succeed({ points })
    },
  }
  return Object.fromEntries(Object.entries(routes).map(([name, route]) => [name, withRefusals(route)]))
}

function withRefusals(route: Route): Route {
  return async (request) => {
    try {
      return await route(request)
    } catch (error) {
      if (error instanceof Refusal) return error.answer
      throw error
    }
  }
}

function readBody<T>(request: SeenRequest, schema: z.ZodType<T>, maxBytes: number): T {
  const bytes = Buffer.byteLength(request.text)
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) {
    throw new Refusal(400, 'Payload error: Content type error')
  }
  if (bytes > maxBytes) {
    const limits = `JSON payload (${bytes} bytes) is larger than allowed (limit: ${maxBytes} bytes).`
    throw new Refusal(400, `Payload error: ${limits}`)
  }
  const parsed = schema.safeParse(request.json)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Refusal(400, `Format error in JSON body: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`)
}

function checkMinimum(name: string, given: number): void {
  if (given >= 1) return
  const problem = `${name}: value ${given} invalid, must be 1 or larger`
  throw new Refusal(422, `Validation error in JSON body: [${problem}]`)
}

function checkDimensions({ size }: Collection, given: readonly number[]): void {
  if (size === undefined) throw new Refusal(400, 'Wrong input: Not existing vector name error: ')
  if (given.length === size) return
  throw new Refusal(400, `Wrong input: Vector dimension error: expected dim: ${size}, got ${given.length}`)
}

/** The points that match a filter, in the order of their ids. */
function select({ points, indexes }: Collection, requested: Filter | undefined): StoredPoint[] {
  const unindexedKey = keysOf(requested).find((key) => !indexes.has(key))
  if (unindexedKey !== undefined) {
    throw new Refusal(
      400,
      `Bad request: Index required but not found for "${unindexedKey}" of one of the following types: [keyword]`,
    )
  }
  return [...points.values()]
    .filter(({ id, payload }) => passes(requested, id, payload))
    .sort((a, b) => compareIds(a.id, b.id))
}

/** Numbers sort before UUIDs. */
function compareIds(a: PointId, b: PointId): number {
  if (typeof a === typeof b) return a < b ? -1 : Number(a > b)
  return typeof a === 'number' ? -1 : 1
}

function update(collection: Collection, { query }: SeenRequest): RouteAnswer {
  const wait = query.get('wait') ?? 'false'
  if (wait !== 'true' && wait !== 'false') throw new Refusal(400, 'Deserialize error in query parameters: wait')
  const status = wait === 'true' ? 'completed' : 'acknowledged'
  return succeed({ operation_id: collection.operations++, status })
}

function describe({ vectors, indexes, points }: Collection): unknown {
  const schema = [...indexes].map(([name, type]) => [name, { data_type: type, points: points.size }])
  return {
    status: 'green',
    optimizer_status: 'ok',
    points_count: points.size,
    segments_count: 1,
    config: { params: { vectors, shard_number: 1, replication_factor: 1, on_disk_payload: true } },
    payload_schema: Object.fromEntries(schema),
  }
}

function pick(payload: Payload, wanted: boolean | readonly string[]): Payload | null {
  if (typeof wanted === 'boolean') return wanted ? payload : null
  return Object.fromEntries(Object.entries(payload).filter(([name]) => wanted.includes(name)))
}

function normalize(given: readonly number[]): Float32Array {
  const length = Math.hypot(...given)
  return Float32Array.from(given, (value) => (length === 0 ? value : value / length))
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
}
