import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type EventEmitter, once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, describe, expect, test } from 'vitest'
import { listen } from '../../src/cli/serve/listen.ts'
import { guardHandler } from '../../src/http/server/guard-handler.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { createHttpHandler } from '../../src/mcp/http.ts'
import type { McpPorts } from '../../src/mcp/ports.ts'
import { createMcp } from '../../src/mcp/server.ts'
import { openLibrary } from '../../src/open-library.ts'
import { PROGRAM, ProgramSandbox } from '../e2e/program.ts'
import { openTestLibrary, openTestSite } from '../sites/crawl.ts'
import { page } from '../sites/site.ts'
import { connect, until } from './connect.ts'

const closing: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Serves over HTTP in this process, and returns the address. */
async function serve(ports: Partial<McpPorts> = {}): Promise<string> {
  const mcp = createMcp({
    version: '0.0.0',
    openLibrary: () => openTestLibrary(),
    openJobs: () => Promise.reject(new Error('nothing is crawled here')),
    ...ports,
  })
  const handler = createHttpHandler({ createServer: mcp.createServer, newId: randomUUID, now: Date.now })
  const server = await listen(guardHandler(handler.fetch, { hosts: [], allowedOrigins: ['https://app.example'] }), 0)
  closing.push(mcp.close, server.close, handler.close)
  return server.origin
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '0' } },
}

/** Sends a request with arbitrary headers, as a foreign page or a crafted client would. */
function send(
  origin: string,
  headers: Record<string, string>,
  path = '/mcp',
  body = JSON.stringify(INITIALIZE),
): Promise<number> {
  return new Promise((resolve, reject) => {
    const allHeaders = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }
    const sent = request(`${origin}${path}`, { method: 'POST', headers: allHeaders }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

describe('over HTTP', () => {
  test('a failed accept does not end the server', async () => {
    const origin = await serve()
    const servers: EventEmitter[] = []
    const recordServer = (message: unknown) => servers.push((message as { server: EventEmitter }).server)
    subscribe('http.server.request.start', recordServer)
    closing.push(() => unsubscribe('http.server.request.start', recordServer))
    expect(await send(origin, {})).toBe(200)
    // The error of Node for too many open files.
    servers[0]?.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }))
    expect(await send(origin, {})).toBe(200)
    expect(servers).toHaveLength(2)
  })

  test('requests for another host or from a page of another site are refused', async () => {
    const origin = await serve()
    expect(await send(origin, {})).toBe(200)
    expect(await send(origin, { host: 'localhost:1234' })).toBe(200)
    expect(await send(origin, { origin })).toBe(200)
    expect(await send(origin, { origin: 'https://app.example' })).toBe(200)
    // A page of another server on this machine counts as another site.
    expect(await send(origin, { origin: 'http://localhost:5173' })).toBe(403)
    expect(await send(origin, { 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await send(origin, { host: 'evil.example.com' })).toBe(421)
    expect(await send(origin, { host: '127.0.0.1.evil.example.com' })).toBe(421)
    expect(await send(origin, { origin: 'https://evil.example.com' })).toBe(403)
    expect(await send(origin, { origin: 'null' })).toBe(403)
    expect(await send(origin, {}, '/other')).toBe(404)
    expect(await send(origin, { 'mcp-session-id': 'made-up' })).toBe(404)
    expect(await send(origin, {}, '/mcp', '{')).toBe(400)
  })

  test('the program refuses foreign hosts and origins too', async () => {
    const sandbox = new ProgramSandbox()
    closing.push(() => sandbox.remove())
    const args = [PROGRAM, 'mcp', '--http', '--port', '0', '--library', sandbox.path('l.db')]
    const child = spawn(process.execPath, args, {
      env: sandbox.environment,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    closing.push(() => child.kill())
    const [line] = await once(child.stdout, 'data')
    const origin = /http:\/\/[^/]+/.exec(String(line))?.[0] ?? ''
    expect(await send(origin, { origin })).toBe(200)
    expect(await send(origin, { origin: 'http://localhost:5173' })).toBe(403)
    expect(await send(origin, { host: 'evil.example.com' })).toBe(421)
  })

  test('a client gets progress notifications, and can cancel a long call', async () => {
    const site = await openTestSite({ '/': page('Start'), '/slow': { body: page('Slow'), delayMs: 20_000 } })
    const origin = await serve()
    const client = new Client({ name: 'test', version: '0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`)))
    closing.push(() => client.close())
    const progress: (string | undefined)[] = []
    const call = (url: string, signal?: AbortSignal) =>
      client.callTool(
        { name: 'fetch_url', arguments: { url } },
        { onprogress: ({ message }) => progress.push(message), ...(signal === undefined ? {} : { signal }) },
      )
    await call(`${site.origin}/`)
    expect(progress).toEqual(['fetching', 'read'])

    const stop = new AbortController()
    const slow = call(`${site.origin}/slow`, stop.signal)
    const failed = expect(slow).rejects.toThrow('enough')
    await until(
      async () => site.requestedPaths(),
      (paths) => paths.includes('/slow'),
    )
    stop.abort(new Error('enough'))
    await failed
    // The server can take the next call at once.
    const next = await call(`${site.origin}/`)
    expect(next.isError).toBeUndefined()
  })
})

test("cancelling a call aborts the server's own request", async () => {
  const site = await openTestSite({ '/slow': { body: page('Slow'), delayMs: 20_000 } })
  let aborted = 0
  const library = await openTestLibrary()
  const { client } = await connect({
    openLibrary: async () => ({
      ...library,
      fetcher: {
        fetch: (fetchRequest) => {
          fetchRequest.signal?.addEventListener('abort', () => aborted++)
          return library.fetcher.fetch(fetchRequest)
        },
      },
      close: async () => undefined,
    }),
  })
  const stop = new AbortController()
  const call = client.callTool(
    { name: 'fetch_url', arguments: { url: `${site.origin}/slow` } },
    { signal: stop.signal },
  )
  const failed = expect(call).rejects.toThrow('enough')
  await until(
    async () => site.requestedPaths(),
    (paths) => paths.includes('/slow'),
  )
  stop.abort(new Error('enough'))
  await failed
  await until(
    async () => aborted,
    (count) => count > 0,
  )
})

test('the program lists tools and resources without a library, and ends with its client', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-mcp-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'library.db')
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, 'mcp', '--read-only', '--library', path],
    env: { HOME: folder, PATH: process.env['PATH'] ?? '' },
  })
  const client = new Client({ name: 'test', version: '0' })
  await client.connect(transport)
  expect(client.getInstructions()).toContain('The library is empty.')
  expect((await client.listTools()).tools).toHaveLength(11)
  expect((await client.listResources()).resources).toHaveLength(2)
  expect(existsSync(path)).toBe(false)
  const answer = await client.callTool({ name: 'list_sources', arguments: {} })
  expect(answer).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^Error \(LIBRARY_MISSING\).*does not exist/) }],
  })
  expect(existsSync(path)).toBe(false)
  const { pid } = transport
  await client.close()
  expect(() => process.kill(pid ?? 0, 0)).toThrow('ESRCH')
})

test('the program names its sources to a client, and --tools ask offers only the tools for searching', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-mcp-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'library.db')
  const library = await openLibrary({ path, version: '0.0.0' })
  await addSource(library, { url: 'https://docs.invalid/', name: 'guide', version: '2.0' })
  await library.close()
  const client = new Client({ name: 'test', version: '0' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM, 'mcp', '--tools', 'ask', '--library', path],
      env: { HOME: folder, PATH: process.env['PATH'] ?? '' },
    }),
  )
  closing.push(() => client.close())
  expect(client.getInstructions()).toContain('It holds "guide@2.0".')
  expect((await client.listTools()).tools).toHaveLength(6)
  expect(await client.callTool({ name: 'remove_source', arguments: {} })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('--tools all') }],
  })
})

test('invalid flags are refused before anything is served', async () => {
  const sandbox = new ProgramSandbox()
  closing.push(() => sandbox.remove())
  const busy = await listen(async () => new Response(), 0)
  closing.push(busy.close)
  const { port } = new URL(busy.origin)
  const refused: Record<string, RegExp> = {
    'mcp --port 7000': /--port is for --http/,
    'mcp --tools some': /--tools: expected all or ask, got "some"/,
    'mcp --http --port 70000': /--port: expected a whole number from 0 to 65535, got 70000/,
    'mcp --http --port x': /--port: expected a whole number from 0 up, got "x"/,
    [`mcp --http --port ${port}`]: new RegExp(`--port ${port}: the port is in use; choose another one`),
    'mcp --allow-private=nonsense/99 --http --port x': /expected/,
  }
  for (const [line, message] of Object.entries(refused)) {
    const { code, stdout, stderr } = await sandbox.runInProcess(line.split(' '))
    expect({ line, code, stdout }).toEqual({ line, code: 2, stdout: '' })
    expect(stderr).toMatch(message)
  }
})
