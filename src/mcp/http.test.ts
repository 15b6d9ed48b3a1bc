import { McpServer } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { createHttpHandler } from './http.ts'

const FIELDS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', host: 'localhost' }
const MINUTE = 60_000

test('sessions make way for new ones only when idle, and never while a client listens', async () => {
  let now = 0
  let ids = 0
  const handler = createHttpHandler({
    createServer: () => new McpServer({ name: 'test', version: '0' }),
    newId: () => `session-${++ids}`,
    now: () => now,
    isChecked: true,
  })
  const ask = (init: RequestInit) => handler.fetch(new Request('http://localhost/mcp', init))
  const open = async (): Promise<number> => {
    const clientInfo = { name: 'test', version: '0' }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
    const response = await ask({ method: 'POST', headers: FIELDS, body })
    await response.body?.cancel()
    return response.status
  }
  const speak = async (id: number): Promise<number> => {
    const headers = { ...FIELDS, 'mcp-session-id': `session-${id}`, 'mcp-protocol-version': '2025-11-25' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' })
    const response = await ask({ method: 'POST', headers, body })
    await response.body?.cancel()
    return response.status
  }
  for (let i = 0; i < 256; i++) expect(await open()).toBe(200)
  // All of them were there a moment ago.
  expect(await open()).toBe(503)
  expect(await speak(1)).toBe(200)

  const leaving = new AbortController()
  const headers = { accept: 'text/event-stream', 'mcp-session-id': 'session-2', 'mcp-protocol-version': '2025-11-25' }
  expect((await ask({ headers, signal: leaving.signal })).status).toBe(200)
  now += 4 * MINUTE
  expect(await speak(3)).toBe(200)
  now += 2 * MINUTE
  expect(await open()).toBe(200)
  // One gave way: neither the one that spoke nor the one that listens.
  expect([await speak(2), await speak(3), await speak(4), await speak(5)]).toEqual([200, 200, 404, 200])
  leaving.abort()
  await handler.close()
})
