import { describe, expect, test } from 'vitest'
import { type HttpClient, ServiceError, type ServiceRequest } from './ports/http-client.ts'
import { callService, type ServiceCall, type ServiceFailure } from './service-call.ts'

const NOW = Date.UTC(2026, 0, 1)

interface Answer {
  readonly status?: number
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Calls a service that gives these responses in turn, repeating the last. */
async function call(answers: readonly (Answer | Error)[], options: Partial<ServiceCall> = {}) {
  const requests: ServiceRequest[] = []
  const pauses: number[] = []
  const client: HttpClient = {
    async request(request) {
      const answer = answers[Math.min(requests.length, answers.length - 1)] ?? {}
      requests.push(request)
      if (answer instanceof Error) throw answer
      const { status = 200, body = '{}', headers = {} } = answer
      return { status, headers, body: new TextEncoder().encode(body) }
    },
  }
  const clock = {
    now: () => NOW,
    async sleep(ms: number, signal?: AbortSignal) {
      pauses.push(ms)
      signal?.throwIfAborted()
    },
  }
  const outcome = await callService(client, clock, {
    service: 'Thing',
    method: 'POST',
    url: 'http://thing.test/do',
    timeoutMs: 1000,
    ...options,
  }).then(
    (json) => ({ json }),
    (error: ServiceFailure) => ({ error }),
  )
  return { outcome, requests, pauses }
}

async function fail(answer: Answer | Error) {
  const { outcome } = await call([answer])
  if (!('error' in outcome)) throw new Error('it did not fail')
  return outcome.error
}

test.each<[string, Record<string, string>]>([
  ['a bearer token', { authorization: 'Bearer sk-secret' }],
  ['the key of Qdrant', { 'api-key': 'sk-secret' }],
])('callService hides %s that a service repeats, even where its message is clipped', async (_, headers) => {
  const body = JSON.stringify({ error: `${'x'.repeat(195)} sk-secret sk-secret` })
  const { outcome } = await call([{ status: 401, body }], { headers })
  expect(outcome).toMatchObject({ error: { message: expect.stringContaining('x …') } })
  expect(JSON.stringify(outcome)).not.toContain('sk-')
})

describe('callService', () => {
  test('sends JSON and parses JSON', async () => {
    const { outcome, requests } = await call([{ body: '{"a":[1]}' }], {
      json: { b: 2 },
      headers: { x: 'y' },
      maxBytes: 5,
    })
    expect(outcome).toEqual({ json: { a: [1] } })
    expect(requests).toEqual([
      {
        method: 'POST',
        url: 'http://thing.test/do',
        body: '{"b":2}',
        headers: { x: 'y' },
        maxBytes: 5,
        timeoutMs: 1000,
        signal: undefined,
      },
    ])
  })

  test('returns undefined for an empty response', async () => {
    expect((await call([{ status: 204, body: '' }])).outcome).toEqual({ json: undefined })
  })

  test.each([
    [400, 'refused', false],
    [401, 'refused', false],
    [404, 'refused', false],
    [413, 'refused', false],
    [422, 'refused', false],
    [429, 'rate-limited', true],
    [500, 'server-error', true],
    [503, 'server-error', true],
    [302, 'bad-answer', false],
  ] as const)('maps the status %i to the failure %s', async (status, type, isTransient) => {
    expect(await fail({ status, body: '' })).toMatchObject({
      name: 'ServiceFailure',
      type,
      status,
      isTransient,
      message: `Thing answered ${status}`,
    })
  })

  test.each([
    ['timeout', true],
    ['network', true],
    ['too-large', false],
    ['not-allowed', false],
    ['bad-answer', false],
  ] as const)('maps a missing response (%s) to a failure of that type', async (problem, isTransient) => {
    const error = await fail(new ServiceError(problem, 'no luck'))
    expect(error).toMatchObject({ type: problem, status: null, isTransient, message: 'Thing: no luck' })
  })

  test('rejects a response that is not JSON', async () => {
    expect(await fail({ body: '<html>' })).toMatchObject({ type: 'bad-answer', status: 200, isTransient: false })
  })

  test.each([
    ['TEI', '{"error":"too long","error_type":"Validation"}', 'too long'],
    ['OpenAI', '{"error":{"message":"bad key","type":"auth"}}', 'bad key'],
    ['FastAPI', '{"detail":"Not Found"}', 'Not Found'],
    ['pydantic', '{"detail":[{"msg":"Field required","loc":["body","urls"]}]}', 'Field required'],
    ['Qdrant', '{"status":{"error":"Wrong input"},"time":0}', 'Wrong input'],
    ['text on several lines', 'a\n  b\u0007c', 'a b c'],
    ['a JSON text', '"told"', 'told'],
    ['JSON without a message', '{"code":7}', '{"code":7}'],
    ['a long text', 'x'.repeat(300), `${'x'.repeat(200)}…`],
  ])('repeats the message in the response: %s', async (_, body, message) => {
    expect((await fail({ status: 400, body })).message).toBe(`Thing answered 400: ${message}`)
  })

  test('rethrows errors that are not failures of the service', async () => {
    expect(await fail(new RangeError('a defect'))).toBeInstanceOf(RangeError)
  })
})

describe('the retry policy of callService', () => {
  test('does not retry a refusal recognized by the caller, whatever the status', async () => {
    const isRefusal = (status: number, answer: unknown) => status === 500 && JSON.stringify(answer).includes('your')
    const { outcome, requests } = await call([{ status: 500, body: '{"detail":"your\\n fault"}' }], {
      retries: 3,
      isRefusal,
    })
    expect(outcome).toMatchObject({ error: { type: 'refused', status: 500, serviceMessage: 'your fault' } })
    expect(requests).toHaveLength(1)
    const other = await call([{ status: 500, body: 'ours' }], { isRefusal: () => false })
    expect(other.outcome).toMatchObject({ error: { type: 'server-error', serviceMessage: 'ours' } })
  })

  test('retries the given number of times, repeating the last delay', async () => {
    const { outcome, requests, pauses } = await call([{ status: 500 }], { retries: 4, delaysMs: [10, 20] })
    expect(outcome).toMatchObject({ error: { type: 'server-error' } })
    expect(requests).toHaveLength(5)
    expect(pauses).toEqual([10, 20, 20, 20])
  })

  test('stops after the first success', async () => {
    const { outcome, requests } = await call([{ status: 500 }, { body: '1' }], { retries: 4 })
    expect(outcome).toEqual({ json: 1 })
    expect(requests).toHaveLength(2)
  })

  test('does not retry by default, or after permanent failures', async () => {
    expect((await call([{ status: 500 }])).requests).toHaveLength(1)
    expect((await call([{ status: 422 }], { retries: 3 })).requests).toHaveLength(1)
  })

  test('waits as long as Retry-After says', async () => {
    const { pauses } = await call([{ status: 429, headers: { 'retry-after': '7' } }, {}], {
      retries: 1,
      delaysMs: [10],
    })
    expect(pauses).toEqual([7000])
  })

  test('does not retry if Retry-After exceeds a minute', async () => {
    const { outcome, requests } = await call([{ status: 503, headers: { 'retry-after': '61' } }], { retries: 3 })
    expect(requests).toHaveLength(1)
    expect(outcome).toMatchObject({ error: { retryAfterMs: 61_000 } })
  })

  test('retries only failures that the caller accepts, and reports each retry', async () => {
    const reported: unknown[] = []
    const { requests } = await call([{ status: 429 }, { status: 500 }, { status: 429 }], {
      retries: 3,
      delaysMs: [5],
      isWorthRetrying: ({ type }) => type === 'server-error',
      onRetry: ({ type }, attempt, delayMs) => reported.push([type, attempt, delayMs]),
    })
    expect(requests).toHaveLength(1)
    await call([{ status: 500 }, {}], { retries: 3, delaysMs: [5], onRetry: (...all) => reported.push(all.slice(1)) })
    expect(reported).toEqual([[1, 5]])
  })

  test('stops when the signal aborts', async () => {
    const { outcome } = await call([{ status: 500 }], { retries: 3, signal: AbortSignal.abort(new Error('enough')) })
    expect(outcome).toMatchObject({ error: { message: 'enough' } })
  })

  test('never waits less than the configured delay, whatever Retry-After says', async () => {
    const hasty = { status: 503, headers: { 'retry-after': '0' } }
    const { pauses } = await call([hasty], { retries: 3, delaysMs: [1000, 2000, 4000] })
    expect(pauses).toEqual([1000, 2000, 4000])
  })

  test('waits longer than a minute if the configured delay is longer', async () => {
    const { pauses } = await call([{ status: 503 }, { status: 503, headers: { 'retry-after': '60' } }, {}], {
      retries: 2,
      delaysMs: [90_000],
    })
    expect(pauses).toEqual([90_000, 90_000])
  })
})
