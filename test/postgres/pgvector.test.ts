import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChunkRef, VectorIndex, VectorSpace, VectorStore } from '../../src/library/ports/vectors.ts'
import { connectDatabase, type Database } from '../../src/store/postgres/database/database.ts'
import { createNearSearch } from '../../src/store/postgres/index/vectors-near.ts'
import { openInspector } from '../../src/store/postgres/inspect.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { describeNearest } from '../contracts/vectors.contract.ts'
import { addSourceTo, writePage } from '../embed/filled-store.ts'
import { type PgliteServer, startPglite } from './pglite.ts'
import { recordPlans } from './query-plans.ts'

/** A single connection without a liveness check, because that check would need a second connection. */
const SINGLE_CONNECTION = { connections: 1, probeDelayMs: 3_600_000 }

let server: PgliteServer

beforeAll(async () => {
  server = await startPglite()
})
afterAll(() => server?.stop())

/** Opens a library over a single connection, because all connections share the one session of the server. */
async function open(address = server.addressOfNew()): Promise<VectorStore> {
  await server.execute('SELECT 1')
  return openPostgresStore(address, SINGLE_CONNECTION)
}

/** Queries the database of a library that is not open elsewhere. */
async function ask<T>(address: string, work: (db: Database) => Promise<T>): Promise<T> {
  await server.execute('SELECT 1')
  const db = await connectDatabase(address, SINGLE_CONNECTION)
  return work(db).finally(() => db.close())
}

/** The valid indexes of pgvector. */
function listIndexes(address: string): Promise<string[]> {
  return ask(address, async (db) =>
    (
      await db.all<{ name: string }>(
        `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
         WHERE a.amname = 'hnsw' AND i.indisvalid AND i.indrelid = to_regclass('vectors') ORDER BY 1`,
      )
    ).map(({ name }) => name),
  )
}

const EXTENSION = `SELECT extnamespace::regnamespace::text AS schema FROM pg_extension WHERE extname = 'vector'`

const DIMENSIONS = 24
const SPACE: VectorSpace = { model: 'some', fingerprint: 'a'.repeat(64), dimensions: DIMENSIONS }
const CHUNKS_PER_PAGE = 40
/** Sources with vectors, and their numbers of pages: about the fewest for which the server uses an index. */
const SOURCES: Readonly<Record<string, number>> = { docs: 20, more: 2 }

/** Creates a generator of unit vectors, which are the same in every run, and in clusters like the vectors of texts. */
function createDirections(): () => Float32Array {
  let state = 7
  const random = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 0x7fffffff - 0.5
  }
  const draw = () => Float32Array.from({ length: DIMENSIONS }, random)
  const centers = Array.from({ length: 12 }, draw)
  let drawn = 0
  return () => {
    const center = centers[drawn++ % centers.length] ?? draw()
    const near = draw().map((value, i) => 0.6 * value + (center[i] ?? 0))
    const length = Math.hypot(...near)
    return near.map((value) => value / length)
  }
}

/** Writes a source with vectors. */
async function fill(store: VectorStore, sourceId: string): Promise<void> {
  const next = createDirections()
  await addSourceTo(store, sourceId)
  for (let page = 0; page < (SOURCES[sourceId] ?? 0); page++) {
    const text = Array.from({ length: CHUNKS_PER_PAGE }, (_, i) => `${sourceId} page ${page} part ${i}`).join('\n---\n')
    const ids = await writePage(store, sourceId, `/${page}`, text)
    await store.vectors.write(
      SPACE,
      ids.map((chunkId) => ({ sourceId, chunkId, vector: next() })),
    )
  }
}

/** Address of a library with all sources and an index, created once because that takes long. */
let filled: string | undefined
async function stageFilled(): Promise<string> {
  if (filled !== undefined) return filled
  const address = server.addressOfNew()
  const store = await open(address)
  for (const sourceId of Object.keys(SOURCES)) await fill(store, sourceId)
  await store.close()
  filled = address
  return address
}

/** The recall of a search: the share of the true nearest vectors that it finds. */
async function measureRecall(vectors: VectorIndex, filter: { sourceIds?: readonly string[] } = {}): Promise<number> {
  const all = await vectors.list(10_000, undefined, filter.sourceIds)
  const nameOf = ({ sourceId, chunkId }: ChunkRef) => `${sourceId} ${chunkId}`
  const next = createDirections()
  let found = 0
  for (let i = 0; i < 20; i++) {
    const query = next()
    const cosine = ({ vector }: { vector: Float32Array }) =>
      vector.reduce((sum, value, at) => sum + value * (query[at] ?? 0), 0)
    const right = new Set(
      all
        .toSorted((a, b) => cosine(b) - cosine(a))
        .slice(0, 30)
        .map(nameOf),
    )
    const nearest = await vectors.nearest(query, 30, filter)
    expect(nearest.map(({ similarity }) => similarity)).toEqual(
      nearest.map(({ similarity }) => similarity).toSorted((a, b) => b - a),
    )
    found += nearest.filter((name) => right.has(nameOf(name))).length
  }
  return found / (20 * 30)
}

describe('without pgvector', () => {
  test('the nearest neighbors are found, and the next embedding run creates an available extension', async () => {
    await server.execute('DROP EXTENSION IF EXISTS vector CASCADE')
    const address = server.addressOfNew()
    const before = await open(address)
    await fill(before, 'docs')
    expect(await measureRecall(before.vectors)).toBeGreaterThan(0.99)
    await before.close()
    expect(await ask(address, (db) => db.get(EXTENSION))).toBeUndefined()

    const store = await open(address)
    await store.vectors.buildNearestIndex?.()
    // These vectors are written while an index exists.
    await fill(store, 'more')
    expect(await measureRecall(store.vectors)).toBeGreaterThan(0.95)
    expect(await measureRecall(store.vectors, { sourceIds: ['more'] })).toBe(1)
    await store.close()
    expect(await listIndexes(address)).toEqual([`vectors_nearest_${DIMENSIONS}`])
    expect(await ask(address, (db) => db.get(EXTENSION))).toEqual({ schema: 'public' })
    filled = address
  })
})

describe('with pgvector', () => {
  beforeAll(() => server.execute('CREATE EXTENSION IF NOT EXISTS vector SCHEMA public'))

  describe('the vectors that are nearest', () => describeNearest(open))

  test('the inspector reports its version', async () => {
    const address = await stageFilled()
    await server.execute('SELECT 1')
    const inspector = await openInspector(address)
    const { pgvector, isPgvectorFit } = await inspector.inspect().finally(() => inspector.close())
    expect({ pgvector, isPgvectorFit }).toEqual({ pgvector: expect.stringMatching(/^0\.\d+\./), isPgvectorFit: true })
  })

  test('a search for the nearest vectors uses the index', async () => {
    const address = await stageFilled()
    const indexes = await ask(address, async (db) => {
      await db.run('ANALYZE vectors')
      return db.transaction(async (sql) => {
        const plans = recordPlans(sql)
        const find = createNearSearch({ ...db, ...plans.sql, snapshot: (work) => work(plans.sql) })
        expect(await find(createDirections()(), 100, undefined)).toHaveLength(200)
        return plans.listIndexes()
      })
    })
    expect(indexes).toContain(`vectors_nearest_${DIMENSIONS}`)
    expect(indexes).not.toContain('vectors_by_source')
  })

  test('an index whose creation was interrupted is rebuilt', async () => {
    const address = await stageFilled()
    const name = `vectors_nearest_${DIMENSIONS}`
    await ask(address, (db) =>
      db.run('UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass($1)', [name]),
    )
    expect(await listIndexes(address)).toEqual([])
    const store = await open(address)
    expect(await measureRecall(store.vectors)).toBeGreaterThan(0.99)
    await store.vectors.buildNearestIndex?.()
    expect(await measureRecall(store.vectors)).toBeGreaterThan(0.95)
    await store.close()
    expect(await listIndexes(address)).toEqual([name])
  })

  test('there is an index only for the model of the library', async () => {
    const address = await stageFilled()
    // Other tests cannot use this library any more, because its vectors are deleted.
    filled = undefined
    const store = await open(address)
    await store.vectors.replaceSpace({ ...SPACE, fingerprint: 'b'.repeat(64), dimensions: 8 })
    await store.vectors.buildNearestIndex?.()
    await store.close()
    expect(await listIndexes(address)).toEqual(['vectors_nearest_8'])
  })
})
