import { inspect } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import type { PharosError } from '../../src/core/errors.ts'
import { findVectorProblem } from '../../src/core/search/quantized-vector.ts'
import { createEmbedFixture, createShortTimeoutClient, type EmbedderTraits, KINDS, type Kind } from './embed-fixture.ts'
import { createQuickClock } from './quick-clock.ts'
import { type Fault, type FaultyServer, findClosedPort, type RouteAnswer } from './servers/faults.ts'
import { type OpenAiOptions, openOpenAiServer } from './servers/openai.ts'
import { openTeiServer, type TeiOptions } from './servers/tei.ts'
import { toyVector } from './servers/toy-vectors.ts'

const stage = createEmbedFixture()
afterEach(() => stage.end())

const SIZE = 8
const textsOf = (count: number): string[] => Array.from({ length: count }, (_, i) => `text ${'abcdefghij'.slice(i)}`)

/** Options of a test server of any kind. */
interface ServerOptions {
  readonly isBad?: (text: string) => boolean
  readonly key?: string
}

/** A server of the given kind. A bad text makes the model fail without a reason: 424 of TEI, 500 of llama.cpp. */
function openServer(kind: Kind, { isBad = () => false, key }: ServerOptions = {}): Promise<FaultyServer> {
  const apiKey = key === undefined ? {} : { apiKey: key }
  const tei: TeiOptions = { dimensions: SIZE, isPoison: isBad, ...apiKey }
  const openai: OpenAiOptions = { isTooLong: isBad, tooLongStatus: 500, ...apiKey }
  return kind === 'tei' ? openTeiServer(tei) : openOpenAiServer(openai)
}

async function stageOne(kind: Kind, traits: EmbedderTraits = {}, serverOptions: ServerOptions = {}) {
  const server = stage.later(await openServer(kind, serverOptions))
  const clock = createQuickClock()
  const embedder = await stage.open(kind, server, { clock, ...traits })
  server.clearRequests()
  return { server, clock, embedder }
}

/** An embedder whose timeout a test can shorten. */
async function stageShortTimeout(kind: Kind) {
  const server = stage.later(await openServer(kind))
  const clock = createQuickClock()
  const client = stage.later(createShortTimeoutClient(server.origin))
  const embedder = await stage.open(kind, server, { clock, client })
  server.clearRequests()
  return { server, clock, client, embedder }
}

async function failureOf(work: Promise<unknown>): Promise<PharosError> {
  return work.then(
    () => expect.unreachable(),
    (error: unknown) => error as PharosError,
  )
}

const answer = (status: number, more: Partial<RouteAnswer> = {}): Fault => ({ type: 'answer', status, ...more })

describe.each(['tei', 'openai'] as const)('an embedder over a service (%s)', (kind) => {
  const { route, textsOf: sentOf, answerOf } = KINDS[kind]

  test('knows the model and its dimensions when it is open', async () => {
    const { embedder } = await stageOne(kind)
    expect(embedder.space).toEqual({
      model: kind === 'tei' ? 'thenlper/gte-base' : 'text-embedding-3-small',
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      dimensions: SIZE,
    })
    expect(embedder.batchSize).toBe(8)
    await embedder.close()
  })

  test('keeps its space as long as nothing changes that affects vectors', async () => {
    const spaceOf = async (traits: EmbedderTraits = {}) => (await stageOne(kind, traits)).embedder.space.fingerprint
    const plain = await spaceOf()
    expect(await spaceOf({ queryPrefix: 'query: ', batch: 9, key: 'a key' })).toBe(plain)
    expect(new Set([plain, await spaceOf({ textPrefix: 'passage: ' }), await spaceOf({ dimensions: 4 })]).size).toBe(3)
  })

  test('returns vectors of length 1 in the order of the texts, with concurrent batches', async () => {
    const { embedder, server } = await stageOne(kind)
    // The first batch is answered last.
    server.queueFaults(route, { type: 'slow', ms: 120 })
    const texts = textsOf(10)
    const vectors = await embedder.embed(texts)
    expect(vectors.map((vector) => findVectorProblem(vector, SIZE))).toEqual(texts.map(() => undefined))
    for (const [i, vector] of vectors.entries()) {
      const expected = toyVector(texts[i] ?? '', SIZE)
      const length = Math.hypot(...expected)
      expect([...vector]).toEqual(expected.map((value) => expect.closeTo(value / length, 5)))
    }
    expect(server.bodies(route).map((body) => sentOf(body).length)).toEqual([4, 4, 2])
    expect(server.bodies(route).flatMap(sentOf)).toEqual(texts)
    expect(server.maxConcurrent).toBe(2)
    expect(await embedder.embed([])).toEqual([])
  })

  test('limits the bytes of a request, and sends a longer text alone', async () => {
    const { embedder, server } = await stageOne(kind, { batchBytes: 30 })
    await embedder.embed(['aaaaaaaaaa', 'bbbbbbbbbb', 'äöüßäöüßäöüß', 'c'.repeat(100), 'd', 'e', 'f'])
    expect(server.bodies(route).map((body) => sentOf(body).length)).toEqual([2, 1, 1, 3])
  })

  test('adds the prefixes of the model to texts and queries', async () => {
    const { embedder, server } = await stageOne(kind, { textPrefix: 'passage: ', queryPrefix: 'query: ' })
    await embedder.embed(['one'])
    await embedder.embed(['one'], undefined, 'query')
    expect(server.bodies(route).flatMap(sentOf)).toEqual(['passage: one', 'query: one'])
  })

  test.each<[string, Fault, number]>([
    ['a connection that breaks', { type: 'reset' }, 250],
    ['an answer that is cut', { type: 'cut' }, 250],
    ['500', answer(500, { text: 'oops' }), 250],
    ['503', answer(503), 250],
    ['503 with Retry-After', answer(503, { headers: { 'retry-after': '7' } }), 7000],
    ['424', answer(424, { json: { error: 'Inference failed', error_type: 'Backend' } }), 250],
    ['429', answer(429), 250],
    ['429 with Retry-After', answer(429, { headers: { 'retry-after': '3' } }), 3000],
  ])('retries after %s', async (_what, fault, pause) => {
    const { embedder, server, clock } = await stageOne(kind)
    server.queueFaults(route, fault)
    expect(await embedder.embed(['one'])).toHaveLength(1)
    expect(clock.pauses).toEqual([pause])
    expect(server.count(route)).toBe(2)
  })

  test('retries after a timeout', async () => {
    const { embedder, server, clock, client } = await stageShortTimeout(kind)
    server.setFault(route, { type: 'hang' })
    client.setTimeoutMs(50)
    clock.onSleep(() => {
      server.clearFaults()
      client.setTimeoutMs(undefined)
    })
    expect(await embedder.embed(['one', 'two'])).toHaveLength(2)
    expect(clock.pauses).toEqual([250])
  })

  test.each<[string, Fault]>([
    ['limits the rate', answer(429)],
    ['fails at everything', answer(500)],
  ])('reports after three retries that the service %s', async (_what, fault) => {
    const { embedder, server, clock } = await stageOne(kind)
    server.setFault(route, fault)
    const { code, details, entry } = await failureOf(embedder.embed(['one']))
    expect({ code, url: details['url'] }).toEqual({ code: 'SERVICE_UNUSABLE', url: server.origin })
    expect(entry.advice).toMatch(/check that it is running/)
    expect(clock.pauses.slice(0, 3)).toEqual([250, 1000, 4000])
    server.clearFaults()
    expect(await embedder.embed(['one'])).toHaveLength(1)
  })

  test.each<[string, Fault]>([
    ['resets the connection', { type: 'reset' }],
    ['is down', answer(503)],
  ])('waits for a service that %s for every text, and then reports it', async (_what, fault) => {
    const { embedder, server, clock } = await stageOne(kind)
    server.setFault(route, fault)
    const { code, entry } = await failureOf(embedder.embed(['one']))
    expect({ code, advice: entry.advice }).toEqual({
      code: 'SERVICE_UNUSABLE',
      advice: 'check that it is running, then try again; meanwhile search matches words only',
    })
    expect(clock.pauses).toEqual([250, 250, 1000, 4000, 10_000])
    server.clearFaults()
    expect(await embedder.embed(['one'])).toHaveLength(1)
  })

  test.each<[string, Fault]>([
    ['breaks the connection', { type: 'reset' }],
    ['makes a gateway answer 502', answer(502)],
    ['is never answered', { type: 'hang' }],
  ])('distinguishes a text that %s from a service that is down', async (_what, fault) => {
    const { embedder, server, clock, client } = await stageShortTimeout(kind)
    client.setTimeoutMs(100, (body) => body.includes('poison'))
    server.setFault(route, ({ text }) => (text.includes('poison') ? fault : { type: 'none' }))
    expect(await failureOf(embedder.embed(['one', 'poison', 'two']))).toMatchObject({ code: 'EMBED_REFUSED' })
    // Two requests with all texts, and one with a plain text.
    expect({ pauses: clock.pauses, requests: server.count(route) }).toEqual({ pauses: [250], requests: 3 })
    server.clearRequests()
    expect(await failureOf(embedder.embed(['poison']))).toMatchObject({ code: 'EMBED_REFUSED' })
    expect(server.count(route)).toBe(6)
    expect(await embedder.embed(['one', 'two'])).toHaveLength(2)
  })

  test('reports a service as too slow if several texts in a row time out', async () => {
    const { embedder, server, client } = await stageShortTimeout(kind)
    client.setTimeoutMs(30, (body) => body.includes('late'))
    server.setFault(route, ({ text }) => (text.includes('late') ? { type: 'hang' } : { type: 'none' }))
    const codeOf = async (text: string) => (await failureOf(embedder.embed([text]))).code
    expect([await codeOf('late 1'), await codeOf('late 2')]).toEqual(['EMBED_REFUSED', 'EMBED_REFUSED'])
    expect(await failureOf(embedder.embed(['late 3']))).toMatchObject({
      code: 'SERVICE_UNUSABLE',
      entry: { advice: expect.stringMatching(/embedTimeout/) },
    })
    // The count restarts, because the next text may be at fault and must not block the others forever.
    expect([await codeOf('late 3'), await codeOf('late 4')]).toEqual(['EMBED_REFUSED', 'EMBED_REFUSED'])
    expect(await embedder.embed(['one'])).toHaveLength(1)
    expect([await codeOf('late 5'), await codeOf('late 6')]).toEqual(['EMBED_REFUSED', 'EMBED_REFUSED'])
  })

  test('does not blame a text for a crash that another text caused', async () => {
    const { embedder, server } = await stageOne(kind)
    server.queueFaults(route, { type: 'reset' }, { type: 'reset' })
    expect(await embedder.embed(['one'])).toHaveLength(1)
  })

  test('reports a missing key if the service requires one', async () => {
    const server = stage.later(await openServer(kind, { key: 'sk-secret' }))
    const { message, entry } = await failureOf(stage.open(kind, server))
    expect(message).toMatch(/cannot be used: no key was sent$/)
    expect(entry.advice).toBe('set PHAROS_EMBED_KEY')
  })

  test('does not wait for a long Retry-After', async () => {
    const { embedder, server, clock } = await stageOne(kind)
    server.queueFaults(route, answer(429, { headers: { 'retry-after': '3600' } }))
    expect(await failureOf(embedder.embed(['one']))).toMatchObject({ code: 'SERVICE_UNUSABLE' })
    expect({ pauses: clock.pauses, requests: server.count(route) }).toEqual({ pauses: [], requests: 1 })
  })

  test('advises to raise embedTimeout after a timeout', async () => {
    const { embedder, server, client, clock } = await stageShortTimeout(kind)
    server.setFault(route, { type: 'hang' })
    client.setTimeoutMs(30)
    expect((await failureOf(embedder.embed(['one']))).entry.advice).toMatch(/embedTimeout/)
    expect(clock.pauses).toEqual([250])
  })

  test.each([400, 413, 422])('distinguishes refused texts (%s) from a failing service', async (status) => {
    const { embedder, server, clock } = await stageOne(kind)
    server.queueFaults(route, answer(status, { json: { error: 'too much of it' } }))
    const { code, message } = await failureOf(embedder.embed(['one', 'two']))
    expect({ code, message }).toEqual({ code: 'EMBED_REFUSED', message: expect.stringMatching(/too much of it/) })
    expect({ pauses: clock.pauses, requests: server.count(route) }).toEqual({ pauses: [], requests: 1 })
  })

  test('finds out whether texts are at fault if the service does not say so', async () => {
    const { embedder, server, clock } = await stageOne(kind, {}, { isBad: (text) => text.includes('poison') })
    expect(await failureOf(embedder.embed(['one', 'poison', 'two']))).toMatchObject({ code: 'EMBED_REFUSED' })
    // There is no pause, because the caller sends halves of the batch instead of a retry.
    expect({ pauses: clock.pauses, requests: server.count(route) }).toEqual({ pauses: [], requests: 2 })
    expect(await failureOf(embedder.embed(['poison']))).toMatchObject({ code: 'EMBED_REFUSED' })
    expect(clock.pauses).toEqual([250, 1000, 4000])
    expect(await embedder.embed(['one', 'two'])).toHaveLength(2)
  })

  test('sends a query twice at most', async () => {
    const { embedder, server, clock } = await stageOne(kind)
    server.setFault(route, answer(500))
    expect(await failureOf(embedder.embed(['one'], undefined, 'query'))).toMatchObject({ code: 'SERVICE_UNUSABLE' })
    expect({ pauses: clock.pauses, requests: server.count(route) }).toEqual({ pauses: [250], requests: 2 })
    server.setFault(route, answer(422))
    expect(await failureOf(embedder.embed(['one'], undefined, 'query'))).toMatchObject({ code: 'EMBED_REFUSED' })
  })

  test.each<[string, readonly unknown[], RegExp]>([
    ['holds null', [toyVector('a', SIZE), toyVector('b', SIZE).fill(Number.NaN)], /holds null/],
    ['holds texts', [toyVector('a', SIZE), toyVector('b', SIZE).map(String)], /holds "0/],
    ['is nothing but zeros', [toyVector('a', SIZE), toyVector('b', SIZE).fill(0)], /of length 0/],
    ['is no vector', [toyVector('a', SIZE), 'vector'], /not a list/],
    ['has an infinite length', [toyVector('a', SIZE), toyVector('b', SIZE).fill(1e300)], /length Infinity/],
  ])('refuses an answer in which one vector %s', async (_what, vectors, problem) => {
    const { embedder, server } = await stageOne(kind)
    server.queueFaults(route, answer(200, { json: answerOf(vectors) }))
    const { code, message } = await failureOf(embedder.embed(['one', 'two']))
    expect({ code, message }).toEqual({ code: 'EMBED_REFUSED', message: expect.stringMatching(problem) })
  })

  test.each<[string, unknown, RegExp]>([
    ['too few vectors', answerOf([toyVector('a', SIZE)]), /1 vectors for 2 texts/],
    ['an object without vectors', { hello: 'world' }, /holds no vectors/],
    ['null', null, /holds no vectors/],
  ])('rejects %s as an answer', async (_what, json, problem) => {
    const { embedder, server } = await stageOne(kind)
    server.queueFaults(route, answer(200, { json }))
    const { code, message } = await failureOf(embedder.embed(['one', 'two']))
    expect({ code, message }).toEqual({ code: 'SERVICE_UNUSABLE', message: expect.stringMatching(problem) })
  })

  test('rejects an answer that is not JSON', async () => {
    const { embedder, server } = await stageOne(kind)
    server.queueFaults(route, { type: 'not-json' })
    expect(await failureOf(embedder.embed(['one']))).toMatchObject({ code: 'SERVICE_UNUSABLE' })
  })

  test('gives advice if the vectors have other dimensions than before', async () => {
    const { embedder, server } = await stageOne(kind)
    server.queueFaults(route, answer(200, { json: answerOf([toyVector('a', 5), toyVector('b', 5)]) }))
    const { code, message, entry } = await failureOf(embedder.embed(['one', 'two']))
    expect({ code, message }).toEqual({
      code: 'SERVICE_UNUSABLE',
      message: expect.stringMatching(/5 dimensions instead of 8/),
    })
    expect(entry.advice).toMatch(/embed run --replace/)
  })

  test('sends its key, and leaves it out of errors', async () => {
    const { embedder, server } = await stageOne(kind, { key: 'sk-secret' }, { key: 'sk-secret' })
    await embedder.embed(['one'])
    expect(server.requests.map(({ headers }) => headers['authorization'])).toEqual(['Bearer sk-secret'])
    const failure = await failureOf(stage.open(kind, server, { key: 'sk-stale' }))
    expect(failure).toMatchObject({ code: 'SERVICE_UNUSABLE', entry: { advice: expect.stringMatching(/embedKey/) } })
    expect(inspect([failure, failure.entry], { depth: 9 })).not.toMatch(/sk-/)
  })

  test.each([
    ['where nothing listens', async () => `http://127.0.0.1:${await findClosedPort()}`, /check that it is running/],
    ['at a path that the service does not have', async (origin: string) => `${origin}/other/place`, /embedEndpoint/],
  ])('cannot be opened %s', async (_what, place, advice) => {
    const server = stage.later(await openServer(kind))
    const endpoint = await place(server.origin)
    const failure = await failureOf(stage.open(kind, { origin: new URL(endpoint).origin }, { endpoint }))
    expect(failure).toMatchObject({
      code: 'SERVICE_UNUSABLE',
      details: { url: endpoint },
      entry: { advice: expect.stringMatching(advice) },
    })
  })

  test('cannot be opened if the service returns no vector', async () => {
    const server = stage.later(await openServer(kind))
    server.setFault(route, answer(200, { json: answerOf([toyVector('a', SIZE).fill(0)]) }))
    const failure = await failureOf(stage.open(kind, server))
    expect(failure).toMatchObject({ code: 'SERVICE_UNUSABLE', message: expect.stringMatching(/test text.*length 0/) })
  })

  test('cannot be opened for other dimensions than the model gives', async () => {
    const server = stage.later(await openServer(kind))
    server.setFault(route, answer(200, { json: answerOf([toyVector('a', SIZE)]) }))
    const failure = await failureOf(stage.open(kind, server, { dimensions: 4 }))
    expect(failure).toMatchObject({ code: 'SERVICE_UNUSABLE', entry: { advice: expect.stringMatching(/Dimensions/) } })
  })

  test('stops when it is aborted, also while it opens', async () => {
    const { embedder, server } = await stageOne(kind)
    server.setFault(route, { type: 'hang' })
    const stop = new AbortController()
    const work = embedder.embed(textsOf(10), stop.signal)
    setTimeout(() => stop.abort(new Error('enough')), 20)
    await expect(work).rejects.toThrow('enough')
    await expect(stage.open(kind, server, { signal: AbortSignal.abort(new Error('no more')) })).rejects.toThrow(
      'no more',
    )
  })

  test('cancels the other batches if one fails', async () => {
    const { embedder, server } = await stageOne(kind, { batch: 1 })
    server.queueFaults(route, answer(422), { type: 'hang' })
    expect(await failureOf(embedder.embed(textsOf(9)))).toMatchObject({ code: 'EMBED_REFUSED' })
    // The second request may be cancelled on its way.
    expect(server.count(route)).toBeLessThanOrEqual(2)
  })
})

describe('an embedder over TEI', () => {
  test('sends no more texts in a request than the service accepts', async () => {
    const server = stage.later(await openTeiServer({ maxBatch: 3 }))
    const embedder = await stage.open('tei', server, { batch: 32 })
    expect(embedder.batchSize).toBe(6)
    expect(await embedder.embed(textsOf(10))).toHaveLength(10)
    expect(server.bodies('POST /embed').at(-1)).toEqual({
      inputs: textsOf(10).slice(9),
      truncate: true,
      normalize: true,
    })
  })

  test.each(['', '/', '/v1', '/embed', '/v1/embeddings/'])(
    'accepts an endpoint that ends with "%s"',
    async (ending) => {
      const server = stage.later(await openTeiServer())
      await stage.open('tei', server, { endpoint: server.origin + ending })
      expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /info', 'POST /embed'])
    },
  )

  test('fails if the service changes its model, whose vector space differs', async () => {
    const clock = createQuickClock()
    const server = stage.later(await openTeiServer())
    const embedder = await stage.open('tei', server, { clock })
    const others = [{ id: 'BAAI/bge-m3' }, { sha: '0'.repeat(40) }, { sha: null }]
    for (const other of others) {
      clock.advance(61_000)
      expect(await embedder.embed(['one'])).toHaveLength(1)
      server.serve(other)
      // The model is not checked with every batch.
      expect(await embedder.embed(['one'])).toHaveLength(1)
      clock.advance(61_000)
      for (const use of ['text', 'query'] as const) {
        const failure = await failureOf(embedder.embed(['one'], undefined, use))
        expect(failure).toMatchObject({
          code: 'SERVICE_UNUSABLE',
          message: expect.stringMatching(/now serves .* instead of thenlper/),
          entry: { advice: expect.stringMatching(/--replace/) },
        })
      }
      const { fingerprint } = (await stage.open('tei', server)).space
      expect(fingerprint).not.toBe(embedder.space.fingerprint)
      server.serve({ id: 'thenlper/gte-base', sha: 'fca14538aa9956a46526bd1d0d11d69e19b5a101' })
    }
  })

  test.each<[string, unknown, RegExp]>([
    [
      'a reranker',
      { model_id: 'bge-reranker', model_type: { reranker: { id2label: {} } } },
      /bge-reranker, which is not an embedding/,
    ],
    ['a decision model', { model_id: 'judge', model_type: 'decision' }, /judge, which is not an embedding/],
    ['a service without a model name', {}, /does not report its model/],
    ['a service that answers null', null, /does not report its model/],
  ])('is not opened over %s', async (_what, json, problem) => {
    const server = stage.later(await openTeiServer())
    server.queueFaults('GET /info', answer(200, { json }))
    const failure = await failureOf(stage.open('tei', server))
    expect(failure).toMatchObject({ code: 'SERVICE_UNUSABLE', message: expect.stringMatching(problem) })
  })

  test.each([500, 422])('does not blame the texts if the service cannot name its model (%s)', async (status) => {
    const clock = createQuickClock()
    const server = stage.later(await openTeiServer())
    const embedder = await stage.open('tei', server, { clock })
    clock.advance(61_000)
    server.setFault('GET /info', answer(status))
    expect(await failureOf(embedder.embed(['one']))).toMatchObject({ code: 'SERVICE_UNUSABLE' })
    expect(await failureOf(stage.open('tei', server))).toMatchObject({ code: 'SERVICE_UNUSABLE' })
  })

  test('works with a TEI of 2023, which reports less about itself', async () => {
    const server = stage.later(await openTeiServer())
    server.queueFaults(
      'GET /info',
      answer(200, { json: { model_id: 'gte', model_pooling: 'cls', max_client_batch_size: 0 } }),
    )
    expect((await stage.open('tei', server)).space).toMatchObject({ model: 'gte' })
  })

  test('requests the configured number of dimensions', async () => {
    const server = stage.later(await openTeiServer())
    expect((await stage.open('tei', server, { dimensions: 5 })).space.dimensions).toBe(5)
    expect(server.bodies('POST /embed')).toEqual([expect.objectContaining({ dimensions: 5 })])
  })
})

describe('an embedder over an OpenAI-compatible service', () => {
  test.each<[string, string]>([
    ['', '/v1/embeddings'],
    ['/', '/v1/embeddings'],
    ['/v1', '/v1/embeddings'],
    ['/v1//', '/v1/embeddings'],
    ['/v1/embeddings', '/v1/embeddings'],
    ['/openai/deployments/a/embeddings?api-version=1', '/openai/deployments/a/embeddings'],
    ['/api/gateway', '/api/gateway/embeddings'],
  ])('accepts an endpoint that ends with "%s"', async (ending, path) => {
    const server = stage.later(await openOpenAiServer({ path }))
    await stage.open('openai', server, { endpoint: server.origin + ending })
    const [request] = server.requests
    expect(request?.path).toBe(path)
    expect(request?.query.toString()).toBe(new URL(`http://a${ending}`).searchParams.toString())
    expect(request?.json).toEqual({
      model: 'text-embedding-3-small',
      input: ['A lighthouse shows where the harbour is.'],
      encoding_format: 'float',
    })
  })

  test('puts the vectors in order by their index', async () => {
    const server = stage.later(await openOpenAiServer({ isReversed: true }))
    const embedder = await stage.open('openai', server)
    const [first, second] = await embedder.embed(['aaaa', 'bbbb'])
    expect((first?.[0] ?? 0) > (second?.[0] ?? 0)).toBe(true)
  })

  test.each<[string, readonly unknown[]]>([
    ['the same index twice', [0, 0]],
    ['an index that no text has', [0, 2]],
    ['no index', [0, undefined]],
  ])('rejects vectors with %s', async (_what, indexes) => {
    const server = stage.later(await openOpenAiServer())
    const embedder = await stage.open('openai', server)
    const data = indexes.map((index) => ({ index, embedding: toyVector('a', SIZE) }))
    server.queueFaults('POST /v1/embeddings', answer(200, { json: { data } }))
    expect(await failureOf(embedder.embed(['one', 'two']))).toMatchObject({ code: 'SERVICE_UNUSABLE' })
  })

  test('gives advice about a missing model', async () => {
    const server = stage.later(await openOpenAiServer())
    const failure = await failureOf(stage.open('openai', server, { model: 'nobody' }))
    expect(failure).toMatchObject({
      code: 'SERVICE_UNUSABLE',
      message: expect.stringMatching(/nobody/),
      entry: { advice: expect.stringMatching(/embedModel/) },
    })
  })

  test('requests the configured number of dimensions, and reports if the model has fewer', async () => {
    const server = stage.later(await openOpenAiServer())
    expect((await stage.open('openai', server, { dimensions: 4 })).space.dimensions).toBe(4)
    const failure = await failureOf(stage.open('openai', server, { dimensions: 9 }))
    expect(failure).toMatchObject({ code: 'SERVICE_UNUSABLE', message: expect.stringMatching(/'dimensions' = 9/) })
  })
})
