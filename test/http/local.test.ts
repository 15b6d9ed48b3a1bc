import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageFolder } from '../../src/cli/serve/assets.ts'
import { writeContentSecurityPolicy } from '../../src/core/content-security-policy.ts'
import { openTestServer, type TestServer } from './server.ts'

/* The local search page as the server delivers it. */

const TOKEN = 'a-token-of-thirty-two-characters'
const GRAMMAR = Buffer.alloc(100_000, 'a grammar ')

let folder = ''
let server: TestServer
let tokenServer: TestServer

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-local-'))
  const localFolder = join(folder, 'page')
  for (const name of ['assets', 'grammars']) mkdirSync(join(localFolder, name), { recursive: true })
  writeFileSync(join(folder, 'secret.txt'), 'secret')
  writeFileSync(join(localFolder, '.built'), 'secret')
  writeFileSync(join(localFolder, 'index.html'), `<!doctype html><title>Local</title>${' '.repeat(2000)}`)
  writeFileSync(join(localFolder, 'service-worker.js'), 'let worker')
  writeFileSync(join(localFolder, 'assets/index-1a2b3c4d.js'), 'let page\n'.repeat(500))
  writeFileSync(join(localFolder, 'grammars/go.wasm'), GRAMMAR)
  const settings = { hosts: ['pharos.example', '192.168.1.5'] }
  server = await openTestServer({ isShared: true, localFolder, settings })
  tokenServer = await openTestServer({ isShared: true, localFolder, settings: { token: TOKEN } })
})

afterAll(async () => {
  await server?.dispose()
  await tokenServer?.dispose()
  rmSync(folder, { recursive: true })
})

interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

/** Sends exactly this path and these headers, because `fetch` normalizes both. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.origin)
    const clientRequest = request({ hostname, port, path, method, headers, timeout: 20_000 }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
      )
    })
    clientRequest.on('error', reject)
    clientRequest.end()
  })
}

const FILES = {
  '/local/': ['text/html; charset=utf-8', 'no-cache'],
  '/local/index.html': ['text/html; charset=utf-8', 'no-cache'],
  '/local/service-worker.js': ['text/javascript; charset=utf-8', 'no-cache'],
  '/local/assets/index-1a2b3c4d.js': ['text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
  '/local/grammars/go.wasm': ['application/wasm', 'no-cache'],
} as const

describe('a file of the page', () => {
  test('has its content type, and cache headers that make hashed file names immutable', async () => {
    for (const [path, [type, caching]] of Object.entries(FILES)) {
      const { status, headers } = await ask(path)
      expect([path, status, headers['content-type'], headers['cache-control']]).toEqual([path, 200, type, caching])
      expect([path, headers['etag'] !== undefined]).toEqual([path, caching === 'no-cache'])
    }
  })

  test('a file with a matching ETag is not sent again', async () => {
    for (const encoding of ['identity', 'gzip']) {
      const fields = { 'accept-encoding': encoding }
      const first = await ask('/local/grammars/go.wasm', fields)
      const again = await ask('/local/grammars/go.wasm', { ...fields, 'if-none-match': String(first.headers['etag']) })
      expect([again.status, again.body.length, again.headers['etag']]).toEqual([304, 0, first.headers['etag']])
      // Browsers replace the cached headers with the headers of this response.
      expect(again.headers['content-security-policy']).toBe(first.headers['content-security-policy'])
    }
  })

  test('a file is compressed for clients that accept gzip', async () => {
    const packed = await ask('/local/grammars/go.wasm', { 'accept-encoding': 'gzip' })
    expect([packed.headers['content-encoding'], packed.headers['vary']]).toEqual(['gzip', 'accept-encoding'])
    expect(packed.body.length).toBeLessThan(1000)
    expect(gunzipSync(packed.body).equals(GRAMMAR)).toBe(true)
    const plain = await ask('/local/grammars/go.wasm')
    expect([plain.headers['content-encoding'], plain.body.equals(GRAMMAR)]).toEqual([undefined, true])
  })

  test('HEAD returns the headers without the content', async () => {
    const { status, headers, body } = await ask('/local/grammars/go.wasm', {}, 'HEAD')
    expect([status, headers['content-type'], headers['content-length'], body.length]).toEqual([
      200,
      'application/wasm',
      String(GRAMMAR.length),
      0,
    ])
  })

  test("has a policy that allows the page's own folder, and nothing else of the server", async () => {
    const hosts = {
      '127.0.0.1:41000': 'http://127.0.0.1:41000/local/',
      'LOCALHOST:41000': 'http://localhost:41000/local/',
      'pharos.example': 'http://pharos.example/local/',
      // A policy cannot contain these hosts.
      '[::1]:41000': "'self'",
      '192.168.1.5:41000': "'self'",
      'pharos.example.': "'self'",
    }
    for (const [host, allowedFolder] of Object.entries(hosts)) {
      for (const path of Object.keys(FILES)) {
        const { headers } = await ask(path, { host })
        expect([host, path, headers['content-security-policy']]).toEqual([
          host,
          path,
          writeContentSecurityPolicy(allowedFolder),
        ])
      }
    }
  })

  test('has the other security headers', async () => {
    const { headers } = await ask('/local/')
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=()'),
    })
  })

  test('a request for another host is refused', async () => {
    expect((await ask('/local/', { host: 'evil.example' })).status).toBe(421)
    expect((await ask('/local/', { host: 'x;script-src' })).status).toBe(421)
  })
})

test('the path /local redirects to /local/', async () => {
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await ask('/local', {}, method)
    expect([status, headers['location']]).toEqual([302, '/local/'])
  }
})

test('other paths are not found, and no path leaves the folder', async () => {
  const paths = [
    '/local/nothing.js',
    '/local/assets',
    '/local/assets/',
    '/local//index.html',
    '/local/.built',
    '/local/../secret.txt',
    '/local/..%2fsecret.txt',
    '/local/%2e%2e/secret.txt',
    '/local/%2e%2e%2fsecret.txt',
    '/local/..%5csecret.txt',
    '/local/assets/../../secret.txt',
    '/local/assets/..%2f..%2fsecret.txt',
    '/local/index.html%00',
    '/local/index.html/',
    '/local/%',
    '/localx/index.html',
    `/local/${folder}/secret.txt`,
    `/local/${'a'.repeat(300)}`,
  ]
  for (const path of paths) {
    const { status, headers, body } = await ask(path)
    expect([path, status, body.includes('"ROUTE_UNKNOWN"')]).toEqual([path, 404, true])
    // The error is a response of the server itself, with the policy of its other pages.
    expect([path, String(headers['content-security-policy']).includes("form-action 'self'")]).toEqual([path, true])
  }
  expect((await ask('/local/', {}, 'POST')).status).toBe(404)
})

test('the page needs the token when the server needs one', async () => {
  const authorization = `Bearer ${TOKEN}`
  for (const path of ['/local', ...Object.keys(FILES), '/local/nothing']) {
    expect([path, (await tokenServer.ask(path)).status]).toEqual([path, 401])
  }
  const redirected = await tokenServer.ask('/local/', { headers: { accept: 'text/html' } })
  expect([redirected.status, redirected.headers.get('location')]).toEqual([303, '/login?next=%2Flocal%2F'])
  const { status, text } = await tokenServer.ask('/local/', { headers: { authorization } })
  // The page is sent exactly as built, which its service worker relies on.
  expect([status, text]).toEqual([200, readFileSync(join(folder, 'page/index.html'), 'utf8')])
})

describe('the built page', () => {
  const built = pageFolder('local')
  const files = readdirSync(built, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(built.length).replaceAll('\\', '/'))

  test('is served completely, each file with a type', async () => {
    const builtServer = await openTestServer()
    for (const path of files) {
      const { status, headers } = await builtServer.ask(`/local/${path}`, { method: 'HEAD' })
      expect([path, status, headers.get('content-type')]).toEqual([
        path,
        200,
        path === 'model/weights.bin' ? 'application/octet-stream' : expect.not.stringMatching('octet-stream'),
      ])
    }
  })

  test('holds grammars, their runtime and the model once', () => {
    const runtimes = files.filter((path) => path.includes('tree-sitter') && path.endsWith('.wasm'))
    expect(runtimes).toEqual(['grammars/web-tree-sitter.wasm'])
    expect(files.filter((path) => path.endsWith('.wasm') && !path.startsWith('grammars/')).sort()).toEqual([
      'model/kernel-plain.wasm',
      'model/kernel-relaxed.wasm',
    ])
    expect(files.filter((path) => path.endsWith('weights.bin'))).toEqual(['model/weights.bin'])
  })

  test('contains its content security policy itself, for static file hosts', () => {
    const page = readFileSync(join(built, 'index.html'), 'utf8')
    const [, policy] = /http-equiv="Content-Security-Policy"\s+content="([^"]+)"/.exec(page) ?? []
    // A page cannot set `frame-ancestors` itself.
    expect(policy).toBe(writeContentSecurityPolicy("'self'").replace(/; frame-ancestors.*/, ''))
    // The page contains nothing that the policy would block.
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]* src=)/)
    expect([...page.matchAll(/(?:src|href)="(?!\.\/)([^"]*)/g)].map(([, address]) => address)).toEqual([])
  })

  test('has a service worker that lists every file except the licenses and itself', () => {
    const worker = readFileSync(join(built, 'service-worker.js'), 'utf8')
    const wanted = files.filter((path) => !path.endsWith('.LICENSE') && path !== 'service-worker.js')
    expect(wanted.filter((path) => !worker.includes(path))).toEqual([])
    expect(worker).not.toContain('LICENSE')
    expect(worker).not.toMatch(/^\s*import\b/)
  })
})
