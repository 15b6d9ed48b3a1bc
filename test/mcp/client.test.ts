import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, expect, test } from 'vitest'
import { PROGRAM, Workshop } from '../e2e/program.ts'
import { startServer } from '../e2e/server.ts'
import { stageSite } from '../sites/crawl.ts'
import { page } from '../sites/site.ts'
import { textOf, until } from './connect.ts'

const closing: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Starts the program and gives a transport to it. */
const WAYS = {
  stdio: async (workshop: Workshop): Promise<Transport> =>
    new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM, 'mcp', ...FLAGS, '--library', workshop.path('library.db')],
      env: workshop.environment,
    }),
  http: async (workshop: Workshop): Promise<Transport> => {
    const args = [PROGRAM, 'mcp', '--http', '--port', '0', ...FLAGS, '--library', workshop.path('library.db')]
    const { child, ended } = workshop.start(process.execPath, args, {})
    closing.push(async () => {
      child.kill('SIGTERM')
      expect((await ended).code).toBe(0)
    })
    const line = await new Promise<string>((resolve) => child.stdout.once('data', (text: string) => resolve(text)))
    return new StreamableHTTPClientTransport(new URL(line.replace('MCP at ', '').trim()))
  },
  // Where crawls are processes of their own, and wait for their turn.
  'the server of everything': async (workshop: Workshop): Promise<Transport> => {
    const server = await startServer(workshop, FLAGS)
    closing.push(async () => {
      server.kill('SIGTERM')
      expect((await server.ended).code).toBe(0)
    })
    return new StreamableHTTPClientTransport(new URL(`${server.origin}/mcp`))
  },
}
const FLAGS = ['--allow-private=127.0.0.0/8', '--request-interval', '0ms']

/** Of 2026 where both can, or of 2025, as most clients are. */
const ERAS = ['auto', 'legacy'] as const

const CASES = Object.entries(WAYS).flatMap(([way, open]) => ERAS.map((era) => [way, era, open] as const))

test.each(CASES)('a client adds a site, waits, searches, reads and cites, over %s (%s)', async (_way, mode, open) => {
  const site = await stageSite({
    '/docs/': page('Start', ['/docs/kiln']),
    '/docs/kiln': page('Kiln', [], '<meta name="description" content="Firing">'),
  })
  const workshop = new Workshop()
  closing.push(() => workshop.remove())
  const client = new Client({ name: 'end-to-end', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(await open(workshop))
  closing.push(() => client.close())
  const call = (name: string, args: Record<string, unknown> = {}) => client.callTool({ name, arguments: args })

  const added = await call('add_source', { url: `${site.origin}/docs/`, name: 'pottery' })
  expect(added.isError).toBeUndefined()
  const { sourceId } = added.structuredContent as { sourceId: string }
  await until(
    async () => textOf(await call('crawl_status', { sourceId })),
    (text) => text.includes('Status: INDEXED'),
  )
  const found = await call('search_docs', { query: 'kiln', source: 'pottery' })
  const { passages } = found.structuredContent as {
    passages: { url: string; chunk: string; text: string; title: string }[]
  }
  const [best] = passages
  expect(best).toMatchObject({ title: 'Kiln', source: 'pottery' })
  expect(best?.url).toMatch(`${site.origin}/docs/kiln`)
  const read = await call('read_page', { url: best?.url ?? '' })
  expect(textOf(read, 1)).toContain(best?.text ?? 'nothing')
  const chunk = await call('get_chunk', { chunk: best?.chunk ?? '' })
  expect(textOf(chunk, 0)).toMatch(/^"Kiln" — http\S+\/docs\/kiln\S* — .*chunk pottery\/[0-9a-f]{64}$/)
  expect(best?.text).toContain(textOf(chunk, 1).trim())
  const { contents } = await client.readResource({ uri: 'docs://sources' })
  expect(JSON.stringify(contents)).toContain('pottery')
})
