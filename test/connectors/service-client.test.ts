import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { openServiceClient, type ServiceClient, type ServiceClientOptions } from '../../src/fetch/service-client.ts'
import { ServiceError, type ServiceRequest } from '../../src/library/ports/http-client.ts'
import { type FaultyServer, findClosedPort, openFaultyServer } from './servers/faults.ts'
import { makeSelfSigned } from './servers/self-signed.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function openServer(): Promise<FaultyServer> {
  const server = await openFaultyServer({
    routes: {
      'GET /thing': ({ query }) => ({ status: 200, json: { asked: query.get('q') } }),
      'POST /thing': ({ json }) => ({ status: 200, json: { given: json } }),
      'GET /moved': () => ({ status: 302, headers: { location: 'http://127.0.0.1:1/' } }),
      'GET /packed': () => ({ status: 200, headers: { 'content-encoding': 'gzip' }, text: 'packed' }),
    },
  })
  closers.push(() => server.close())
  return server
}

function open(origins: readonly string[], options: Partial<ServiceClientOptions> = {}): ServiceClient {
  const client = openServiceClient({ origins, userAgent: 'Pharos/1.2.3', ...options })
  closers.push(() => client.close())
  return client
}

const get = (url: string, more: Partial<ServiceRequest> = {}): ServiceRequest => ({
  method: 'GET',
  url,
  timeoutMs: 5000,
  ...more,
})

/** The problem and the message of the error with which a request rejects. */
async function problemOf(request: Promise<unknown>): Promise<string> {
  const error = await request.then(
    () => new Error('the request was answered'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof ServiceError)) throw error
  return `${error.problem}: ${error.message}`
}

describe('a client for services', () => {
  test('sends JSON to a configured origin and returns the response unchanged', async () => {
    const server = await openServer()
    const client = open([`${server.origin}/base/`])
    const body = JSON.stringify({ a: 1 })
    const request = get(`${server.origin}/thing?q=1`, { method: 'POST', body, headers: { 'x-key': 'k' } })
    const answer = await client.request(request)
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json')
    expect(new TextDecoder().decode(answer.body)).toBe('{"given":{"a":1}}')
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        path: '/thing',
        headers: {
          'user-agent': 'Pharos/1.2.3',
          accept: 'application/json',
          'content-type': 'application/json',
          'x-key': 'k',
        },
        json: { a: 1 },
      },
    ])
  })

  test('sends no content type for a request without a body', async () => {
    const server = await openServer()
    await open([server.origin]).request(get(`${server.origin}/thing`))
    expect(server.requests[0]?.headers['content-type']).toBeUndefined()
  })

  test('sends requests to configured origins only', async () => {
    const [server, other] = [await openServer(), await openServer()]
    const client = open([server.origin])
    expect(await problemOf(client.request(get(`${other.origin}/thing`)))).toBe(
      `not-allowed: ${other.origin} is not a configured service`,
    )
    expect(await problemOf(client.request(get(server.origin.replace('http:', 'https:'))))).toMatch(/^not-allowed/)
    expect(await problemOf(client.request(get('no address')))).toBe(
      'not-allowed: the given URL is not a configured service',
    )
    expect(other.requests).toEqual([])
  })

  test('reaches a configured name at any address, and no other name', async () => {
    const server = await openServer()
    const resolvedHosts: string[] = []
    const resolve = async (host: string) => {
      resolvedHosts.push(host)
      return ['127.0.0.1']
    }
    const client = open([`http://Service.test:${server.port}`], { resolve })
    expect((await client.request(get(`http://service.test:${server.port}/thing`))).status).toBe(200)
    expect(await problemOf(client.request(get(`http://elsewhere.test:${server.port}/thing`)))).toMatch(/^not-allowed/)
    expect(resolvedHosts).toEqual(['service.test'])
  })

  test('returns a redirect as a response, and does not follow it', async () => {
    const server = await openServer()
    const answer = await open([server.origin]).request(get(`${server.origin}/moved`))
    expect(answer).toMatchObject({ status: 302, headers: { location: 'http://127.0.0.1:1/' } })
    expect(server.count()).toBe(1)
  })

  test('stops reading an answer that is too large', async () => {
    const server = await openServer()
    const client = open([server.origin])
    const url = `${server.origin}/thing?q=${'x'.repeat(100)}`
    expect(await problemOf(client.request(get(url, { maxBytes: 99 })))).toBe(
      `too-large: ${server.origin} answered with more than 99 bytes`,
    )
    expect((await client.request(get(url, { maxBytes: 112 }))).status).toBe(200)
  })

  test('aborts after a timeout, before and during the response', async () => {
    const server = await openServer()
    const client = open([server.origin])
    server.queueFaults('GET /thing', { type: 'hang' }, { type: 'slow', ms: 5000 })
    const late = `timeout: ${server.origin} gave no complete answer within 40 ms`
    for (let i = 0; i < 2; i++) {
      expect(await problemOf(client.request(get(`${server.origin}/thing`, { timeoutMs: 40 })))).toBe(late)
    }
  })

  test('rejects with the reason of the abort signal, before and during a request', async () => {
    const server = await openServer()
    const client = open([server.origin])
    const enough = new Error('enough')
    const signal = AbortSignal.abort(enough)
    await expect(client.request(get(`${server.origin}/thing`, { signal }))).rejects.toBe(enough)
    expect(server.count()).toBe(0)
    server.queueFaults('GET /thing', { type: 'hang' })
    const controller = new AbortController()
    const request = client.request(get(`${server.origin}/thing`, { signal: controller.signal }))
    await server.waitForRequests('GET /thing', 1)
    controller.abort(enough)
    await expect(request).rejects.toBe(enough)
  })

  test('reports a connection that is refused, reset or cut', async () => {
    const server = await openServer()
    const closed = `http://127.0.0.1:${await findClosedPort()}`
    const client = open([server.origin, closed])
    expect(await problemOf(client.request(get(`${closed}/thing`)))).toBe('network: 127.0.0.1 refused the connection')
    server.queueFaults('GET /thing', { type: 'reset' }, { type: 'cut' })
    const broke = `network: the connection to ${server.origin} broke`
    for (let i = 0; i < 2; i++) expect(await problemOf(client.request(get(`${server.origin}/thing`)))).toBe(broke)
  })

  test('reports a host that has no address, or is not resolved in time', async () => {
    const gone = open(['http://gone.test'], {
      resolve: async () => {
        throw Object.assign(new Error('gone'), { code: 'ENOTFOUND' })
      },
    })
    expect(await problemOf(gone.request(get('http://gone.test/')))).toBe('network: unknown host gone.test')
    const slow = open(['http://slow.test'], { resolve: () => new Promise(() => {}), connectTimeoutMs: 10 })
    expect(await problemOf(slow.request(get('http://slow.test/')))).toBe(
      'timeout: slow.test could not be resolved in time',
    )
  })

  test('refuses responses that are not HTTP, and encodings that it did not accept', async () => {
    const noise = createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'))
    await new Promise<void>((resolve) => noise.listen(0, '127.0.0.1', resolve))
    closers.push(() => noise.close())
    const strange = `http://127.0.0.1:${(noise.address() as AddressInfo).port}`
    const server = await openServer()
    const client = open([strange, server.origin])
    expect(await problemOf(client.request(get(strange)))).toBe(`bad-answer: the answer of ${strange} is not HTTP`)
    expect(await problemOf(client.request(get(`${server.origin}/packed`)))).toBe(
      `bad-answer: ${server.origin} answered with a content encoding that was not requested`,
    )
  })

  test('refuses a self-signed certificate unless it is trusted, and one for another host', async () => {
    const certificate = makeSelfSigned('service.test')
    const server = createHttpsServer(certificate, (_, response) => response.end('{}'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(() => server.close())
    const { port } = server.address() as AddressInfo
    const resolve = async () => ['127.0.0.1']
    const origins = [`https://service.test:${port}`, `https://other.test:${port}`]
    expect(await problemOf(open(origins, { resolve }).request(get(`${origins[0]}/`)))).toBe(
      'network: self-signed certificate of service.test',
    )
    const trusting = open(origins, { resolve, ca: certificate.cert })
    expect((await trusting.request(get(`${origins[0]}/`))).status).toBe(200)
    expect(await problemOf(trusting.request(get(`${origins[1]}/`)))).toBe(
      'network: certificate for another host than other.test',
    )
  })

  test('reports a key that no header can hold', async () => {
    const server = await openServer()
    const client = open([server.origin])
    for (const key of ['a\nb', 'schlüssel – €', '\u0000']) {
      const request = client.request({ ...get(`${server.origin}/thing`), headers: { authorization: `Bearer ${key}` } })
      expect(await problemOf(request)).toBe('not-allowed: the key contains characters that a header must not have')
    }
    expect(server.count()).toBe(0)
  })

  test('aborts requests under way when it is closed', async () => {
    const server = await openServer()
    server.queueFaults('GET /thing', { type: 'hang' })
    const client = open([server.origin])
    const problem = problemOf(client.request(get(`${server.origin}/thing`)))
    await server.waitForRequests('GET /thing', 1)
    await client.close()
    expect(await problem).toMatch(/^network/)
  })
})
