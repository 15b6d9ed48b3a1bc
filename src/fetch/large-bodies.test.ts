import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllowance } from './addresses.ts'
import { openHttpFetcher } from './http.ts'

const BODY = Buffer.alloc(3 * 2 ** 20, 'words of a large body ')
const ENCODED: Readonly<Record<string, [string, Buffer]>> = {
  '/plain': ['identity', BODY],
  '/gzip': ['gzip', gzipSync(BODY)],
  '/twice': ['gzip, gzip', gzipSync(gzipSync(BODY))],
  '/small': ['gzip', gzipSync(BODY.subarray(0, 1000))],
}
const server = createServer(({ url = '' }, response) => {
  const [encoding = '', body] = ENCODED[url] ?? []
  response.writeHead(200, { 'content-encoding': encoding }).end(body)
})
const parsed = parseAllowance(['127.0.0.0/8'])
if (parsed.type === 'problem') throw new Error(parsed.problem)
const fetcher = openHttpFetcher({ userAgent: 'Test', allowance: parsed.allowance, answerTimeoutMs: 1000 })

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(async () => {
  await fetcher.close()
  server.close()
})

const urlOf = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`

test.each(['/plain', '/gzip', '/twice'])('the body of %s waits until it is admitted, however long', async (path) => {
  let admissionRequests = 0
  let admit = (): void => undefined
  const admitLarge = () => {
    admissionRequests++
    return new Promise<void>((resolve) => {
      admit = resolve
    })
  }
  let isSettled = false
  const fetched = fetcher.fetch({ url: urlOf(path), admitLarge }).finally(() => {
    isSettled = true
  })
  // Longer than the response timeout, which does not run while the body waits for admission.
  await new Promise((resolve) => setTimeout(resolve, 1500))
  expect({ admissionRequests, isSettled }).toEqual({ admissionRequests: 1, isSettled: false })
  admit()
  const outcome = await fetched
  expect(outcome.type === 'fetched' ? outcome.snapshot.body.length : outcome).toBe(BODY.length)
  expect(admissionRequests).toBe(1)
})

test('a small body needs no admission', async () => {
  const admitLarge = () => Promise.reject(new Error('asked'))
  expect((await fetcher.fetch({ url: urlOf('/small'), admitLarge })).type).toBe('fetched')
})
