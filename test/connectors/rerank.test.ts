import { afterEach, describe, expect, test } from 'vitest'
import { openHostedReranker } from '../../src/embed/rerank-hosted.ts'
import { openTeiReranker } from '../../src/embed/rerank-tei.ts'
import { openServiceClient } from '../../src/fetch/service-client.ts'
import { CircuitOpenError } from '../../src/library/circuit-breaker.ts'
import type { Reranker } from '../../src/library/ports/reranker.ts'
import { ServiceFailure } from '../../src/library/service-call.ts'
import { createManualClock } from '../dispatch/manual-clock.ts'
import { type Fault, type FaultyServer, findClosedPort } from './servers/faults.ts'
import { openHostedRerankServer, openTeiRerankServer, type RerankVendor } from './servers/rerank.ts'

const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** The text contains its own score: `text 0.7`. */
const judge = (_query: string, text: string): number => Number(/[\d.]+$/.exec(text)?.[0] ?? 0)

/** The options that all rerankers of these tests share. */
function partsFor(origin: string, budgetMs = 5000) {
  const client = openServiceClient({ origins: [origin], userAgent: 'Pharos/test' })
  closing.push(() => client.close())
  return { client, clock: createManualClock(), candidates: 100, budgetMs }
}

async function stageTei(options: Omit<Parameters<typeof openTeiRerankServer>[0], 'judge'> = {}, budgetMs?: number) {
  const server = await openTeiRerankServer({ judge, ...options })
  closing.push(() => server.close())
  const { apiKey: key } = options
  const parts = partsFor(server.origin, budgetMs)
  const reranker = openTeiReranker({ ...parts, endpoint: server.origin, ...(key === undefined ? {} : { key }) })
  return { server, reranker, clock: parts.clock }
}

const MODEL = 'rerank-9'
const BASES: Readonly<Record<RerankVendor, string>> = { cohere: '/v2', jina: '/v1/', voyage: '/v1/rerank' }

async function stageHosted(vendor: RerankVendor, { key = 'secret', model = MODEL } = {}) {
  const server = await openHostedRerankServer({ vendor, judge, apiKey: 'secret', model: MODEL })
  closing.push(() => server.close())
  const endpoint = `${server.origin}${BASES[vendor]}`
  const reranker = openHostedReranker({ ...partsFor(server.origin), endpoint, model, key })
  return { server, reranker, route: `POST ${vendor === 'cohere' ? '/v2' : '/v1'}/rerank` }
}

async function failureOf(reranker: Reranker, texts: readonly string[] = ['a 0.5', 'b 0.6']): Promise<ServiceFailure> {
  try {
    await reranker.rerank('which', texts)
  } catch (error) {
    if (error instanceof ServiceFailure) return error
    throw error
  }
  throw new Error('expected a failure')
}

const textsOf = (count: number): string[] => Array.from({ length: count }, (_, i) => `text ${i / 128}`)
const judgmentsOf = (count: number): number[] => Array.from({ length: count }, (_, i) => i / 128)

describe('Text Embeddings Inference', () => {
  test('returns judgments in the order of the texts, whatever the order of the response', async () => {
    const { server, reranker } = await stageTei()
    expect(server.count()).toBe(0)
    expect(reranker).toMatchObject({ name: `TEI at 127.0.0.1:${server.port}`, candidates: 100, budgetMs: 5000 })
    expect(await reranker.rerank('which', ['a 0.1', 'b 0.9', 'c 0.5'])).toEqual([0.1, 0.9, 0.5])
    expect(server.bodies('POST /rerank')).toEqual([
      { query: 'which', texts: ['a 0.1', 'b 0.9', 'c 0.5'], raw_scores: false, truncate: true },
    ])
    expect(await reranker.rerank('which', [])).toEqual([])
    expect(server.count()).toBe(1)
  })

  test('gets batches of its default size at most', async () => {
    const { server, reranker } = await stageTei()
    expect(await reranker.rerank('which', textsOf(75))).toEqual(judgmentsOf(75))
    const sizes = server.bodies('POST /rerank').map((body) => (body as { texts: unknown[] }).texts.length)
    expect(sizes.sort((a, b) => b - a)).toEqual([32, 32, 11])
  })

  test('gets smaller batches after it refused a larger one', async () => {
    const { server, reranker } = await stageTei({ maxClientBatchSize: 5 })
    expect(await reranker.rerank('which', textsOf(20))).toEqual(judgmentsOf(20))
    server.clearRequests()
    expect(await reranker.rerank('which', textsOf(20))).toEqual(judgmentsOf(20))
    expect(server.count('POST /rerank')).toBe(4)
    const small = await stageTei({ payloadLimit: 60 })
    expect((await failureOf(small.reranker, ['x'.repeat(100)])).status).toBe(413)
  })

  test.each([404, 405])('reports that a server without the route is not a reranker (%s)', async (status) => {
    const { server, reranker } = await stageTei()
    server.queueFaults('POST /rerank', { type: 'answer', status })
    expect(await failureOf(reranker)).toMatchObject({
      ...{ type: 'refused', status },
      message: `${server.origin}/rerank answered ${status}: not a reranker; check the setting rerankEndpoint`,
    })
  })

  test('gets the configured key, and a missing key is reported', async () => {
    const { reranker } = await stageTei({ apiKey: 'open sesame' })
    expect(await reranker.rerank('which', ['a 0.1'])).toEqual([0.1])
    const { server } = await stageTei({ apiKey: 'open sesame' })
    const keyless = openTeiReranker({ ...partsFor(server.origin), endpoint: server.origin })
    expect(await failureOf(keyless)).toMatchObject({
      ...{ type: 'refused', status: 401 },
      message: 'no key was sent; set PHAROS_RERANK_KEY',
    })
  })

  test('reports that its model is not a reranker', async () => {
    const { reranker } = await stageTei({ isEmbedding: true })
    const failure = await failureOf(reranker)
    expect(failure.message).toBe('TEI answered 424: model is not a re-ranker model')
  })
})

describe('a failing service', () => {
  const answer = (json: unknown): Fault => ({ type: 'answer', status: 200, json })

  test.each<[string, Fault, Partial<ServiceFailure>]>([
    ['by breaking the connection', { type: 'reset' }, { type: 'network' }],
    ['by cutting its answer', { type: 'cut' }, { type: 'network' }],
    ['with 500', { type: 'answer', status: 500, text: 'out of memory' }, { type: 'server-error', status: 500 }],
    [
      'with 429',
      { type: 'answer', status: 429, json: { error: 'Model is overloaded', error_type: 'Overloaded' } },
      { type: 'rate-limited', message: 'TEI answered 429: Model is overloaded' },
    ],
    ['with a body that is not JSON', { type: 'not-json' }, { type: 'bad-answer' }],
    ['with NaN as a score', { type: 'answer', status: 200, text: '[{"index":0,"score":NaN}]' }, { type: 'bad-answer' }],
    [
      'with an infinite score',
      { type: 'answer', status: 200, text: '[{"index":0,"score":1e999},{"index":1,"score":0}]' },
      { message: 'TEI answered with a score that is not finite' },
    ],
    ['without a list', answer({ results: [] }), { message: 'TEI answered without a list of scores' }],
    [
      'with a null entry',
      answer([null]),
      { message: 'TEI answered with a score for text undefined, which it was not given' },
    ],
    [
      'by judging a text that it was not given',
      answer([
        { index: 0, score: 1 },
        { index: 2, score: 0 },
      ]),
      { message: 'TEI answered with a score for text 2, which it was not given' },
    ],
    [
      'by judging one text twice',
      answer([
        { index: 1, score: 1 },
        { index: 1, score: 0 },
      ]),
      { message: 'TEI answered with two scores for text 1' },
    ],
    ['by leaving texts out', answer([{ index: 1, score: 1 }]), { message: 'TEI answered with 1 scores for 2 texts' }],
  ])('gets one request when it fails %s', async (_how, fault, expected) => {
    const { server, reranker } = await stageTei()
    server.queueFaults('POST /rerank', fault)
    expect(await failureOf(reranker)).toMatchObject(expected)
    expect(server.count()).toBe(1)
    expect(await reranker.rerank('which', ['a 0.5', 'b 0.6'])).toEqual([0.5, 0.6])
  })

  test('causes a timeout after its budget if it does not answer', async () => {
    const { server, reranker } = await stageTei({}, 40)
    server.queueFaults('POST /rerank', { type: 'hang' })
    expect(await failureOf(reranker)).toMatchObject({ type: 'timeout' })
  })

  test('opens the circuit breaker after two calls if it is down', async () => {
    const port = await findClosedPort()
    const origin = `http://127.0.0.1:${port}`
    const reranker = openTeiReranker({ ...partsFor(origin), endpoint: origin })
    expect(await failureOf(reranker)).toMatchObject({ type: 'network' })
    expect(await failureOf(reranker)).toMatchObject({ type: 'network' })
    await expect(reranker.rerank('which', ['a 1'])).rejects.toThrow(CircuitOpenError)
  })

  test('gets another request after thirty seconds', async () => {
    const { server, reranker, clock } = await stageTei()
    await server.stopListening()
    for (const _ of [1, 2]) await failureOf(reranker)
    await server.resumeListening()
    await expect(reranker.rerank('which', ['a 1'])).rejects.toThrow('next request in 30 s')
    expect(server.count()).toBe(0)
    await clock.advance(30_000)
    expect(await reranker.rerank('which', ['a 1'])).toEqual([1])
  })

  test('opens the circuit breaker after timeouts, but not when the caller aborts', async () => {
    const { server, reranker } = await stageTei()
    server.setFault('POST /rerank', { type: 'hang' })
    for (const _ of [1, 2, 3]) {
      const gone = new AbortController()
      const call = reranker.rerank('which', ['a 1'], gone.signal)
      gone.abort(new Error('enough'))
      await expect(call).rejects.toThrow('enough')
    }
    for (const _ of [1, 2]) {
      await expect(reranker.rerank('which', ['a 1'], AbortSignal.timeout(10))).rejects.toThrow('timeout')
    }
    await expect(reranker.rerank('which', ['a 1'])).rejects.toThrow(CircuitOpenError)
  })
})

describe.each<RerankVendor>(['cohere', 'jina', 'voyage'])('a hosted reranker with the API of %s', (vendor) => {
  test('judges texts and gets no unknown fields', async () => {
    const { server, reranker, route } = await stageHosted(vendor)
    expect(reranker.name).toBe(`${MODEL} at 127.0.0.1:${server.port}`)
    expect(await reranker.rerank('which', textsOf(50))).toEqual(judgmentsOf(50))
    expect(server.count(route)).toBe(1)
    expect(server.bodies(route)).toEqual([{ model: MODEL, query: 'which', documents: textsOf(50) }])
  })

  test('reports a wrong key without repeating it, and an unknown model', async () => {
    const { reranker } = await stageHosted(vendor, { key: 'wrong' })
    expect(await failureOf(reranker)).toMatchObject({ type: 'refused', status: 401 })
    expect((await failureOf(reranker)).message).toMatch(/^127\.0\.0\.1:\d+ answered 401: invalid api token: Bearer …$/)
    const other = await stageHosted(vendor, { model: 'rerank-0' })
    expect(await failureOf(other.reranker)).toMatchObject({ type: 'refused', status: 404 })
  })

  test('rejects an answer without judgments', async () => {
    const { server, reranker, route } = await stageHosted(vendor)
    server.queueFaults(
      route,
      { type: 'answer', status: 200, json: { ok: true } },
      { type: 'answer', status: 200, text: '' },
    )
    expect((await failureOf(reranker)).message).toContain('without a list of scores')
    expect((await failureOf(reranker)).message).toContain('without a list of scores')
  })
})

describe('the test servers', () => {
  const post = (server: FaultyServer, path: string, body: unknown, headers = {}): Promise<Response> =>
    fetch(`${server.origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer secret', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })

  test('the TEI test server refuses invalid requests as TEI does', async () => {
    const { server } = await stageTei({ maxClientBatchSize: 2 })
    const right = { query: 'q', texts: ['a'] }
    const statuses = await Promise.all([
      fetch(`${server.origin}/rerank`),
      post(server, '/reranks', right),
      post(server, '/rerank', right, { 'content-type': 'text/plain' }),
      post(server, '/rerank', '{'),
      post(server, '/rerank', { query: 'q' }),
      post(server, '/rerank', { ...right, texts: 'a' }),
      post(server, '/rerank', { ...right, documents: ['a'] }),
      post(server, '/rerank', { ...right, texts: [] }),
      post(server, '/rerank', { ...right, texts: ['a', 'b', 'c'] }),
      post(server, '/rerank', { ...right, truncate: true, return_text: false }),
    ])
    expect(statuses.map(({ status }) => status)).toEqual([405, 404, 415, 400, 422, 422, 422, 413, 413, 200])
  })

  test('the hosted test server refuses invalid requests as the real service does', async () => {
    const { server } = await stageHosted('voyage')
    const right = { model: MODEL, query: 'q', documents: ['a'] }
    const statuses = await Promise.all([
      fetch(`${server.origin}/v1/rerank`),
      post(server, '/v1/rerank', right, { authorization: '' }),
      post(server, '/v1/rerank', { ...right, top_n: 1 }),
      post(server, '/v1/rerank', { ...right, documents: [] }),
      post(server, '/v1/rerank', { ...right, query: '' }),
      post(server, '/v1/rerank', { ...right, top_k: 1 }),
    ])
    expect(statuses.map(({ status }) => status)).toEqual([405, 401, 400, 400, 400, 200])
  })
})
