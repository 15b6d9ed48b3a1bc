import { afterEach, describe, expect, test } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import {
  createQdrantCollection,
  openQdrantCollection,
  type QdrantCollection,
} from '../../src/embed/qdrant-collection.ts'
import { PAYLOAD_INDEXES, pointIdOf, type QdrantPoint } from '../../src/embed/qdrant-points.ts'
import { openQdrantFixture, type QdrantFixture } from './qdrant-fixture.ts'
import type { QdrantServerOptions, StoredPoint } from './servers/qdrant.ts'

const PUT_POINTS = 'PUT /collections/:name/points'
const DELETE_POINTS = 'POST /collections/:name/points/delete'
const GET_COLLECTION = 'GET /collections/:name'

let stages: QdrantFixture[] = []

afterEach(async () => {
  for (const stage of stages) await stage.close()
  stages = []
})

async function stageOf(options: QdrantServerOptions = {}): Promise<QdrantFixture> {
  const stage = await openQdrantFixture(options)
  stages.push(stage)
  return stage
}

function openIn(
  { server, client, clock }: QdrantFixture,
  more: Partial<Parameters<typeof openQdrantCollection>[0]> = {},
): Promise<QdrantCollection> {
  return openQdrantCollection({ url: server.origin, collection: 'docs', dimensions: 2, client, clock, ...more })
}

function pointsOf(url: string, count: number, text = 'text'): QdrantPoint[] {
  return Array.from({ length: count }, (_, i) => ({
    id: pointIdOf(`${url}:${i}`),
    vector: Float32Array.of(Math.cos(i), Math.sin(i)),
    payload: { source_url: url, chunk_index: i, chunk_text: text },
  }))
}

describe('opening a collection', () => {
  test('creates a cosine collection with its payload indexes, and reopens it', async () => {
    const stage = await stageOf()
    await openIn(stage)
    expect(stage.server.bodies('PUT /collections/:name')).toEqual([{ vectors: { size: 2, distance: 'Cosine' } }])
    const indexed = stage.server.bodies('PUT /collections/:name/index')
    expect(indexed).toHaveLength(Object.keys(PAYLOAD_INDEXES).length)
    expect(indexed).toContainEqual({ field_name: 'source_url', field_schema: 'keyword' })
    expect(indexed).toContainEqual({ field_name: 'chunk_index', field_schema: 'integer' })
    stage.server.clearRequests()
    await openIn(stage)
    expect(stage.server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /collections/docs'])
  })

  test('accepts a collection that another client creates at the same moment', async () => {
    const stage = await stageOf()
    const opened = await Promise.all([openIn(stage), openIn(stage), openIn(stage)])
    expect(opened).toHaveLength(3)
    expect(stage.server.pointsOf('docs')?.size).toBe(0)
    // Forces the race: the collection is missing at the check and present at the creation.
    stage.server.queueFaults(GET_COLLECTION, { type: 'answer', status: 404, json: { status: { error: 'gone' } } })
    await openIn(stage)
  })

  test.each<[string, unknown, RegExp]>([
    ['other dimensions', { size: 3, distance: 'Cosine' }, /its vectors have 3 dimensions instead of 2/],
    ['another distance', { size: 2, distance: 'Dot' }, /its distance is Dot instead of Cosine/],
    ['named vectors', { text: { size: 2, distance: 'Cosine' } }, /it has named vectors/],
  ])('refuses a collection with %s, unless it may be recreated', async (_what, vectors, message) => {
    const stage = await stageOf()
    stage.server.addCollection('docs', vectors)
    await expect(openIn(stage)).rejects.toMatchObject({
      code: 'SERVICE_UNUSABLE',
      message: expect.stringMatching(message),
    })
    expect(stage.server.requests.map(({ method }) => method)).toEqual(['GET'])
    const points = stage.server.pointsOf('docs') as Map<string, StoredPoint>
    points.set('1', { id: 1, vector: new Float32Array(2), payload: {} })
    await expect(openIn(stage, { recreateFor: 'one' })).rejects.toThrow(/it also holds other data/)
    expect(points.size).toBe(1)
    points.clear()
    await openIn(stage, { recreateFor: 'one' })
    expect(stage.server.count('DELETE /collections/:name')).toBe(1)
  })

  test('refuses an address with a password, and does not repeat it', async () => {
    const stage = await stageOf()
    const opening = openIn(stage, { url: stage.server.origin.replace('://', '://user:secret@') })
    await expect(opening).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.not.stringContaining('secret'),
    })
  })

  test('reports a collection that is removed right after its creation', async () => {
    const stage = await stageOf()
    const gone = { type: 'answer', status: 404, json: { status: { error: 'gone' } } } as const
    stage.server.queueFaults(GET_COLLECTION, gone, gone)
    await expect(openIn(stage)).rejects.toThrow(/removed after it was created/)
  })

  test('sends the key, and reports a wrong key', async () => {
    const stage = await stageOf({ key: 'secret', readOnlyKey: 'reader' })
    await openIn(stage, { key: 'secret' })
    const details = expect.objectContaining({ advice: expect.stringContaining('qdrantKey') })
    await expect(openIn(stage)).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE', details })
    await expect(openIn(stage, { key: 'wrong' })).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE', details })
    const reader = await openIn(stage, { key: 'reader' })
    expect(await reader.count()).toBe(0)
    await expect(reader.upsert(pointsOf('u', 1))).rejects.toMatchObject({ details })
    const failure = await openIn(stage, { key: 'wrong' }).catch((error: unknown) => String(error))
    expect(failure).not.toContain('wrong')
  })

  test('reports a server that is not Qdrant', async () => {
    const stage = await stageOf()
    stage.server.setFault(GET_COLLECTION, { type: 'answer', status: 200, json: { hello: 'world' } })
    await expect(openIn(stage)).rejects.toThrow(/with an unexpected response/)
    stage.server.setFault(GET_COLLECTION, { type: 'not-json' })
    await expect(openIn(stage)).rejects.toThrow(/not JSON/)
  })
})

describe('points', () => {
  test('are written in batches, waited for, and replaced under the same id', async () => {
    const stage = await stageOf()
    const collection = await openIn(stage)
    await collection.upsert(pointsOf('https://a.test/', 230))
    const sizes = stage.server.bodies(PUT_POINTS).map((body) => (body as { points: unknown[] }).points.length)
    expect(sizes).toEqual([100, 100, 30])
    expect(stage.server.requests.at(-1)?.query.get('wait')).toBe('true')
    await collection.upsert(pointsOf('https://a.test/', 230, 'anew'))
    expect(await collection.count()).toBe(230)
  })

  test('are batched by their bytes too', async () => {
    const stage = await stageOf()
    const collection = await openIn(stage)
    await collection.upsert(pointsOf('https://a.test/', 5, 'x'.repeat(3_000_000)))
    const sizes = stage.server.bodies(PUT_POINTS).map((body) => (body as { points: unknown[] }).points.length)
    expect(sizes).toEqual([2, 2, 1])
  })

  test('an empty list sends no request', async () => {
    const stage = await stageOf()
    const collection = await openIn(stage)
    stage.server.clearRequests()
    await collection.upsert([])
    await collection.deletePoints([])
    expect(stage.server.count()).toBe(0)
  })

  test('are sent in halves after a 413 response', async () => {
    const stage = await stageOf()
    const collection = await openIn(stage)
    const tooLarge = { type: 'answer', status: 413, text: 'Request Entity Too Large' } as const
    stage.server.queueFaults(PUT_POINTS, tooLarge, tooLarge)
    await collection.upsert(pointsOf('https://a.test/', 8))
    expect(await collection.count()).toBe(8)
    stage.server.setFault(PUT_POINTS, tooLarge)
    await expect(collection.upsert(pointsOf('https://a.test/', 2))).rejects.toThrow(/413/)
  })

  test('are refused by the service if they have other dimensions, non-finite values, an invalid id or too many bytes, and the error says so', async () => {
    const stage = await stageOf({ maxBytes: 1000 })
    const collection = await openIn(stage)
    const [point] = pointsOf('u', 1)
    if (point === undefined) throw new Error('no point')
    const refused = (given: QdrantPoint): Promise<unknown> =>
      collection.upsert([given]).catch((error: Error) => error.message)
    expect(await refused({ ...point, vector: Float32Array.of(1) })).toMatch(/expected dim: 2, got 1/)
    expect(await refused({ ...point, vector: Float32Array.of(Number.NaN, 1) })).toMatch(/Format error in JSON body/)
    expect(await refused({ ...point, id: 'no UUID' })).toMatch(/Format error in JSON body/)
    expect(await refused({ ...point, payload: { text: 'x'.repeat(1000) } })).toMatch(/larger than allowed/)
    expect(await collection.count()).toBe(0)
    expect(stage.clock.pauses).toEqual([])
  })

  test('are found by cosine similarity, with and without a filter, nearest first', async () => {
    const stage = await stageOf()
    const collection = await openIn(stage)
    await collection.upsert([...pointsOf('https://a.test/', 3), ...pointsOf('https://b.test/', 3)])
    const near = await collection.search(Float32Array.of(1, 0), { limit: 3, payload: ['source_url'] })
    expect(near.map(({ score }) => Number(score.toFixed(3)))).toEqual([1, 1, 0.54])
    expect(Object.keys(near[0]?.payload ?? {})).toEqual(['source_url'])
    const filter = { must: [{ key: 'source_url', match: { value: 'https://b.test/' } }] }
    const found = await collection.search(Float32Array.of(1, 0), { limit: 9, filter })
    expect(found.map(({ payload }) => payload['source_url'])).toEqual(Array(3).fill('https://b.test/'))
    expect(found[0]?.payload).toMatchObject({ chunk_index: 0, chunk_text: 'text' })
  })

  test('are listed page by page', async () => {
    const stage = await stageOf()
    const collection = await openIn(stage)
    const points = pointsOf('https://a.test/', 2100)
    await collection.upsert(points)
    const ids: string[] = []
    for await (const { id, payload } of collection.scroll({ payload: [] })) {
      ids.push(id)
      expect(payload).toEqual({})
    }
    expect(ids).toEqual(points.map(({ id }) => id).sort(compareUtf8))
    expect(stage.server.count('POST /collections/:name/points/scroll')).toBe(3)
    const filter = { must: [{ key: 'chunk_index', match: { value: 7 } }] }
    const seven: unknown[] = []
    for await (const { payload } of collection.scroll({ filter })) seven.push(payload['chunk_index'])
    expect(seven).toEqual([7])
    for await (const point of collection.scroll()) {
      expect(point.payload).toHaveProperty('chunk_text')
      break
    }
  })

  test('are removed by their ids', async () => {
    const stage = await stageOf()
    const collection = await openIn(stage)
    const points = pointsOf('https://a.test/', 3)
    await collection.upsert(points)
    await collection.deletePoints(points.slice(1).map(({ id }) => id))
    expect([...(stage.server.pointsOf('docs')?.keys() ?? [])]).toEqual([points[0]?.id])
  })
})

describe('the points of an address', () => {
  test('are removed together, and counted', async () => {
    const stage = await stageOf()
    const collection = await openIn(stage)
    await collection.upsert([...pointsOf('https://a.test/', 3), ...pointsOf('https://b.test/', 2)])
    expect(await collection.deleteByUrl('https://a.test/')).toBe(3)
    expect(await collection.deleteByUrl('https://a.test/')).toBe(0)
    expect(await collection.count()).toBe(2)
    expect(stage.server.count(DELETE_POINTS)).toBe(1)
  })

  test('do not include points with a library id, which are neither replaced nor deleted', async () => {
    const stage = await stageOf()
    const collection = await openIn(stage)
    const [first, ...others] = pointsOf('https://a.test/', 3)
    if (first === undefined) throw new Error('no point')
    const theirs = { ...first, id: pointIdOf('theirs'), payload: { ...first.payload, library_id: 'one' } }
    await collection.upsert([first, ...others, theirs])
    expect(await collection.replaceUrl('https://a.test/', [first])).toBe(2)
    expect(await collection.deleteByUrl('https://a.test/')).toBe(1)
    expect([...(stage.server.pointsOf('docs')?.keys() ?? [])]).toEqual([theirs.id])
  })

  test('are replaced: new ones are written first, then old ones removed', async () => {
    const stage = await stageOf()
    const collection = await openIn(stage)
    await collection.upsert([...pointsOf('https://a.test/', 5), ...pointsOf('https://b.test/', 2)])
    stage.server.clearRequests()
    expect(await collection.replaceUrl('https://a.test/', pointsOf('https://a.test/', 3, 'anew'))).toBe(2)
    expect(stage.server.requests.map(({ path }) => path.split('/').at(-1))).toEqual(['points', 'count', 'delete'])
    expect(await collection.count()).toBe(5)
    const filter = { must: [{ key: 'source_url', match: { value: 'https://a.test/' } }] }
    for await (const { payload } of collection.scroll({ filter })) expect(payload['chunk_text']).toBe('anew')
  })

  test('all stay when a write fails, and new ones stay when a removal fails', async () => {
    const stage = await stageOf()
    const collection = await openIn(stage)
    await collection.upsert(pointsOf('https://a.test/', 5))
    stage.server.setFault(PUT_POINTS, { type: 'answer', status: 500, text: 'broken' })
    await expect(
      collection.replaceUrl('https://a.test/', pointsOf('https://a.test/', 3, 'anew')),
    ).rejects.toMatchObject({
      code: 'SERVICE_UNUSABLE',
    })
    expect(await collection.count()).toBe(5)
    stage.server.clearFaults()
    stage.server.setFault(DELETE_POINTS, { type: 'reset' })
    await expect(collection.replaceUrl('https://a.test/', pointsOf('https://a.test/', 3, 'anew'))).rejects.toThrow()
    const texts = [...(stage.server.pointsOf('docs')?.values() ?? [])].map(({ payload }) =>
      String(payload['chunk_text']),
    )
    expect(texts.sort(compareUtf8)).toEqual(['anew', 'anew', 'anew', 'text', 'text'])
    stage.server.clearFaults()
    expect(await collection.replaceUrl('https://a.test/', pointsOf('https://a.test/', 3, 'anew'))).toBe(2)
  })

  test('exist once after several clients have written them concurrently', async () => {
    const stage = await stageOf()
    const [one, other] = await Promise.all([openIn(stage), openIn(stage)])
    const points = pointsOf('https://a.test/', 150)
    await Promise.all([
      one.replaceUrl('https://a.test/', points),
      other.replaceUrl('https://a.test/', points),
      one.upsert(points),
    ])
    expect(await other.count()).toBe(150)
  })
})

describe('a failing service', () => {
  test.each([
    ['resets connections', { type: 'reset' }],
    ['answers 500', { type: 'answer', status: 500, json: { status: { error: 'Service internal error' }, time: 0 } }],
    ['answers 503', { type: 'answer', status: 503, text: '' }],
    ['cuts its answer', { type: 'cut' }],
  ] as const)('is retried with pauses if it %s', async (_what, fault) => {
    const stage = await stageOf()
    const collection = await openIn(stage)
    stage.server.queueFaults(PUT_POINTS, fault, fault)
    await collection.upsert(pointsOf('https://a.test/', 2))
    expect(stage.clock.pauses).toEqual([500, 1000])
    expect(await collection.count()).toBe(2)
  })

  test('gets no request for the time that its Retry-After header names', async () => {
    const stage = await stageOf()
    const collection = await openIn(stage)
    const busy = { type: 'answer', status: 429, headers: { 'retry-after': '7' }, text: 'rate limit' } as const
    stage.server.queueFaults(PUT_POINTS, busy)
    await collection.upsert(pointsOf('https://a.test/', 2))
    expect(stage.clock.pauses).toEqual([7000])
  })

  test('causes an error with advice if it hangs or is down', async () => {
    const stage = await stageOf()
    const collection = await openIn(stage)
    const { server, client, clock } = stage
    const options = { url: server.origin, collection: 'docs', dimensions: 2, client, clock }
    const hurried = createQdrantCollection({ ...options, timeoutMs: 20 })
    const details = expect.objectContaining({ advice: expect.stringContaining('check that it is running') })
    stage.server.setFault(PUT_POINTS, { type: 'hang' })
    await expect(hurried.upsert(pointsOf('u', 1))).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE', details })
    expect(stage.clock.pauses).toEqual([500, 1000, 2000])
    await stage.server.stopListening()
    await expect(collection.count()).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE', details })
    await stage.server.resumeListening()
    stage.server.clearFaults()
    expect(await collection.count()).toBe(0)
  })

  test('is not retried with zero retries', async () => {
    const stage = await stageOf()
    const collection = await openIn(stage, { retries: 0 })
    stage.server.queueFaults('POST /collections/:name/points/query', { type: 'answer', status: 500, text: 'broken' })
    await expect(collection.search(Float32Array.of(1, 0), { limit: 1 })).rejects.toMatchObject({
      code: 'SERVICE_UNUSABLE',
    })
    expect(stage.clock.pauses).toEqual([])
  })

  test('gets no request after the caller has aborted', async () => {
    const stage = await stageOf()
    const collection = await openIn(stage)
    const stop = new AbortController()
    stop.abort(new Error('enough'))
    await expect(collection.upsert(pointsOf('u', 1), stop.signal)).rejects.toThrow('enough')
    expect(stage.server.count(PUT_POINTS)).toBe(0)
  })
})
