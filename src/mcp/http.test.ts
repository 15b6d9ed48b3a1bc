import { McpServer } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { createHttpHandler } from './http.ts'

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', host: 'localhost' }
const SECOND = 1000

/** A handler with a clock that only `advance` advances, and requests of its clients. */
function createClients() {
  let now = 0
  let ids = 0
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const handler = createHttpHandler({
    createServer: () => {
      const server = new McpServer({ name: 'test', version: '0' })
      server.registerTool('wait', { description: 'Waits.' }, async () => {
        await answered
        return { content: [{ type: 'text', text: 'answered at last' }] }
      })
      return server
    },
    newId: () => `session-${++ids}`,
    now: () => now,
  })
  const ask = (init: RequestInit, address = '127.0.0.1') =>
    handler.fetch(new Request('http://localhost/mcp', init), { address })
  const post = async (headers: Record<string, string>, message: object, address?: string): Promise<number> => {
    const response = await ask(
      { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) },
      address,
    )
    await response.body?.cancel()
    return response.status
  }
  return {
    ask,
    /** Lets the calls of the tool `wait` answer. */
    answer,
    open(name: string, address?: string): Promise<number> {
      const clientInfo = { name, version: '0' }
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
      return post(HEADERS, { id: 1, method: 'initialize', params }, address)
    },
    ping(id: number): Promise<number> {
      const headers = { ...HEADERS, 'mcp-session-id': `session-${id}`, 'mcp-protocol-version': '2025-11-25' }
      return post(headers, { id: 2, method: 'ping' })
    },
    advance(ms: number): void {
      now += ms
    },
    close: handler.close,
  }
}

test('a client that opens too many sessions is refused for seconds, and other clients can still open sessions', async () => {
  const { open, ping, advance, close } = createClients()
  for (let i = 0; i < 64; i++) expect(await open('greedy')).toBe(200)
  expect(await open('greedy')).toBe(429)
  expect(await open('modest')).toBe(200)
  // Clients on other machines are distinguished by address, whatever name they give.
  for (let i = 0; i < 64; i++) expect(await open(`name ${i}`, '192.0.2.7')).toBe(200)
  expect(await open('another name', '192.0.2.7')).toBe(429)
  expect(await open('greedy', '192.0.2.8')).toBe(200)
  // Only silent sessions of the same client are evicted, so that they lock out no other process of this client.
  advance(5 * SECOND)
  expect(await open('greedy')).toBe(200)
  expect([await ping(1), await ping(65), await ping(66)]).toEqual([404, 200, 200])
  await close()
})

test('sessions that are opened at the same moment stay within the limits', async () => {
  const { open, close } = createClients()
  const share = await Promise.all(Array.from({ length: 100 }, () => open('greedy')))
  expect(share.filter((status) => status === 200)).toHaveLength(64)
  const all = await Promise.all(Array.from({ length: 300 }, (_, i) => open(`client ${i % 10}`)))
  expect(all.filter((status) => status === 200)).toHaveLength(256 - 64)
  await close()
})

test('a session is evicted for a new one only if it is idle and has no open stream', async () => {
  const { ask, open: openAs, ping, advance, close } = createClients()
  let opened = 0
  const open = () => openAs(`client ${opened++ % 8}`)
  for (let i = 0; i < 256; i++) expect(await open()).toBe(200)
  // All sessions were active a moment ago.
  expect(await open()).toBe(503)
  expect(await ping(1)).toBe(200)

  const disconnect = new AbortController()
  const headers = { accept: 'text/event-stream', 'mcp-session-id': 'session-2', 'mcp-protocol-version': '2025-11-25' }
  expect((await ask({ headers, signal: disconnect.signal })).status).toBe(200)
  advance(4 * SECOND)
  expect(await ping(3)).toBe(200)
  advance(2 * SECOND)
  expect(await open()).toBe(200)
  // One session was evicted: neither the one that spoke nor the one that listens.
  expect([await ping(2), await ping(3), await ping(4), await ping(5)]).toEqual([200, 200, 404, 200])
  disconnect.abort()
  await close()
})

test('a session is not evicted while its client waits for an answer', async () => {
  const { ask, open, ping, advance, close, answer } = createClients()
  for (let i = 0; i < 64; i++) expect(await open('busy')).toBe(200)
  const headers = { ...HEADERS, 'mcp-session-id': 'session-1', 'mcp-protocol-version': '2025-11-25' }
  const call = { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'wait', arguments: {} } }
  const waiting = await ask({ method: 'POST', headers, body: JSON.stringify(call) })
  advance(600 * SECOND)
  expect(await open('busy')).toBe(200)
  answer()
  expect(await waiting.text()).toContain('answered at last')
  expect([await ping(1), await ping(2)]).toEqual([200, 404])
  await close()
})
