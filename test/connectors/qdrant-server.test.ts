import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openQdrantServer, type QdrantServer } from './servers/qdrant.ts'

let server: QdrantServer

beforeAll(async () => {
  server = await openQdrantServer()
  await send('PUT', '/collections/c', { vectors: { size: 2, distance: 'Cosine' } })
  await send('PUT', '/collections/c/index?wait=true', { field_name: 'n', field_schema: 'integer' })
  await send('PUT', '/collections/c/index?wait=true', { field_name: 't', field_schema: 'keyword' })
  const points = [
    { id: 1, vector: [3, 4], payload: { n: 1, t: ['red', 'green'] } },
    { id: 2, vector: [1, 0], payload: { n: 2, t: 'red' } },
    { id: 'ffffffff-0000-0000-0000-000000000000', vector: [0, 1], payload: { n: 3, t: null } },
  ]
  await send('PUT', '/collections/c/points?wait=true', { points })
})
afterAll(() => server.close())

interface Answer {
  readonly status?: unknown
  readonly result?: unknown
  readonly time?: unknown
}

async function send(method: string, path: string, body?: unknown, type = 'application/json') {
  const options = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': type } }
  const answer = await fetch(`${server.origin}${path}`, { method, ...options })
  const text = await answer.text()
  const json: Answer = text.startsWith('{') ? JSON.parse(text) : {}
  return { status: answer.status, json }
}

const POINTS = '/collections/c/points'
const UUID = 'ffffffff-0000-0000-0000-000000000000'

describe('the Qdrant test server', () => {
  test.each<[string, string, string, unknown, number, RegExp]>([
    ['a missing collection', 'GET', '/collections/x', undefined, 404, /Not found: Collection `x` doesn't exist!/],
    [
      'an existing collection',
      'PUT',
      '/collections/c',
      { vectors: { size: 2, distance: 'Cosine' } },
      409,
      /already exists/,
    ],
    ['zero dimensions', 'PUT', '/collections/d', { vectors: { size: 0, distance: 'Cosine' } }, 422, /Validation error/],
    ['an unknown distance', 'PUT', '/collections/d', { vectors: { size: 1, distance: 'cosine' } }, 400, /Format error/],
    ['no vectors', 'PUT', '/collections/d', {}, 400, /Format error/],
    ['unknown members', 'POST', `${POINTS}/count`, { exactly: true }, 400, /Format error/],
    [
      'an unknown condition',
      'POST',
      `${POINTS}/count`,
      { filter: { must: [{ key: 'n', is: 1 }] } },
      400,
      /Format error/,
    ],
    ['an unknown clause', 'POST', `${POINTS}/count`, { filter: { all: [] } }, 400, /Format error/],
    [
      'a field without an index',
      'POST',
      `${POINTS}/count`,
      { filter: { must: [{ key: 'z', match: { value: 1 } }] } },
      400,
      /Index required/,
    ],
    ['other dimensions', 'PUT', POINTS, { points: [{ id: 1, vector: [1] }] }, 400, /expected dim: 2, got 1/],
    ['other dimensions in a query', 'POST', `${POINTS}/query`, { query: [1] }, 400, /expected dim: 2, got 1/],
    ['NaN', 'PUT', POINTS, { points: [{ id: 1, vector: [Number.NaN, 1] }] }, 400, /Format error/],
    ['an invalid id', 'PUT', POINTS, { points: [{ id: 'one', vector: [1, 1] }] }, 400, /Format error/],
    ['a negative id', 'POST', `${POINTS}/delete`, { points: [-1] }, 400, /Format error/],
    ['an invalid wait', 'PUT', `${POINTS}?wait=yes`, { points: [] }, 400, /query parameters/],
    ['a limit of 0', 'POST', `${POINTS}/scroll`, { limit: 0 }, 422, /limit: value 0 invalid/],
  ])('refuses %s', async (_what, method, path, body, status, message) => {
    const answer = await send(method, path, body)
    expect(answer.status).toBe(status)
    expect(answer.json).toEqual({ status: { error: expect.stringMatching(message) }, time: expect.any(Number) })
  })

  test('refuses other types of bodies, other methods and other paths', async () => {
    expect((await send('POST', `${POINTS}/count`, {}, 'text/plain')).status).toBe(400)
    expect((await send('PATCH', '/collections/c', {})).status).toBe(404)
    expect((await send('GET', '/nothing')).status).toBe(404)
  })

  test('evaluates filters', async () => {
    const count = async (filter: unknown): Promise<unknown> => {
      const { json } = await send('POST', `${POINTS}/count`, { filter, exact: true })
      return (json.result as { readonly count: number }).count
    }
    expect(await count({ must: [{ key: 't', match: { value: 'red' } }] })).toBe(2)
    expect(await count({ must: { key: 't', match: { any: ['green', 'blue'] } } })).toBe(1)
    expect(await count({ must: { key: 't', match: { except: ['red'] } } })).toBe(1)
    expect(await count({ must: { key: 't', match: { text: 'gre' } } })).toBe(1)
    expect(await count({ must: [{ key: 'n', range: { gt: 1, lte: 3 } }] })).toBe(2)
    expect(await count({ must: [{ key: 't', range: { gte: 1, lt: 3 } }] })).toBe(0)
    expect(await count({ must_not: [{ has_id: [1, UUID] }] })).toBe(1)
    expect(await count({ must: [{ is_empty: { key: 't' } }] })).toBe(1)
    expect(await count({ must: [{ is_null: { key: 't' } }] })).toBe(1)
    const should = [{ has_id: [2] }, { key: 'n', match: { value: 3 } }]
    expect(await count({ should })).toBe(2)
    expect(await count({ should, must: [{ key: 'n', range: { gt: 2 } }] })).toBe(1)
  })

  test('searches by cosine similarity, and lists points in the order of their ids', async () => {
    const { json } = await send('POST', `${POINTS}/query`, { query: [0, 2], limit: 2 })
    expect(json).toMatchObject({
      status: 'ok',
      result: {
        points: [
          { id: UUID, score: 1 },
          { id: 1, score: expect.closeTo(0.8, 5) },
        ],
      },
    })
    const page = await send('POST', `${POINTS}/scroll`, { limit: 2, with_payload: ['n'] })
    expect(page.json.result).toEqual({
      points: [
        { id: 1, payload: { n: 1 } },
        { id: 2, payload: { n: 2 } },
      ],
      next_page_offset: UUID,
    })
  })

  test('answers `completed` with wait=true, and `acknowledged` otherwise', async () => {
    const body = { points: [1234] }
    const waited = await send('POST', `${POINTS}/delete?wait=true`, body)
    expect(waited.json).toMatchObject({ result: { status: 'completed' } })
    const acknowledged = await send('POST', `${POINTS}/delete`, body)
    expect(acknowledged.json).toMatchObject({ result: { status: 'acknowledged' } })
  })
})
