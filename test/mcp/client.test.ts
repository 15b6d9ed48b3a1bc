import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { PROGRAM, ProgramSandbox } from '../e2e/program.ts'
import { startServer } from '../e2e/server.ts'
import { openTestSite } from '../sites/crawl.ts'
import { page } from '../sites/site.ts'
import { textOf, until } from './connect.ts'

const FLAGS = ['--allow-private=127.0.0.0/8', '--request-interval', '0ms']

/** `auto`: the protocol of 2026 if both sides support it. `legacy`: the protocol of 2025, which most clients use. */
const PROTOCOL_MODES = ['auto', 'legacy'] as const

/** A short run tests both versions over one transport, and one version over each of the others. */
const modesOf = (i: number): readonly (typeof PROTOCOL_MODES)[number][] =>
  process.env['TEST_LONG'] !== undefined || i === 0 ? PROTOCOL_MODES : PROTOCOL_MODES.slice(i - 1, i)

/** A program under test. */
interface RunningProgram {
  readonly connect: () => Transport
  close(): Promise<void>
}

/** For each transport, a function that starts the program and returns how to connect to it. */
const TRANSPORTS: Readonly<Record<string, (sandbox: ProgramSandbox) => Promise<RunningProgram>>> = {
  // Each client gets its own process.
  stdio: async (sandbox) => ({
    connect: () =>
      new StdioClientTransport({
        command: process.execPath,
        args: [PROGRAM, 'mcp', ...FLAGS, '--library', sandbox.path('library.db')],
        env: sandbox.environment,
      }),
    close: async () => undefined,
  }),
  http: async (sandbox) => {
    const args = [PROGRAM, 'mcp', '--http', '--port', '0', ...FLAGS, '--library', sandbox.path('library.db')]
    const { child, ended } = sandbox.start(process.execPath, args, {})
    const line = await new Promise<string>((resolve) => child.stdout.once('data', (text: string) => resolve(text)))
    return {
      connect: () => new StreamableHTTPClientTransport(new URL(line.replace('MCP at ', '').trim())),
      async close() {
        child.kill('SIGTERM')
        expect((await ended).code).toBe(0)
      },
    }
  },
  // `pharos serve`, where crawls are separate processes and are queued.
  'http of the full server': async (sandbox) => {
    const server = await startServer(sandbox, FLAGS)
    return {
      connect: () => new StreamableHTTPClientTransport(new URL(`${server.origin}/mcp`)),
      async close() {
        server.kill('SIGTERM')
        expect((await server.ended).code).toBe(0)
      },
    }
  },
}

describe.each(Object.entries(TRANSPORTS).map(([transport, open], i) => [transport, open, modesOf(i)] as const))(
  'a client over %s',
  (_transport, open, modes) => {
    let program: RunningProgram

    beforeAll(async () => {
      const sandbox = new ProgramSandbox()
      program = await open(sandbox)
      return async () => {
        await program.close()
        sandbox.remove()
      }
    })

    test.each(modes)('adds a site, waits, searches, reads and cites (%s)', async (mode) => {
      const name = `pottery-${mode}`
      const site = await openTestSite({
        '/docs/': page('Start', ['/docs/kiln']),
        '/docs/kiln': page('Kiln', [], '<meta name="description" content="Firing">'),
      })
      const client = new Client({ name: 'end-to-end', version: '1.0.0' }, { versionNegotiation: { mode } })
      await client.connect(program.connect())
      onTestFinished(() => client.close())
      const call = (tool: string, args: Record<string, unknown> = {}) =>
        client.callTool({ name: tool, arguments: args })

      const added = await call('add_source', { url: `${site.origin}/docs/`, name })
      expect(added.isError).toBeUndefined()
      const { sourceId } = added.structuredContent as { sourceId: string }
      await until(
        async () => textOf(await call('crawl_status', { sourceId })),
        (text) => text.includes('Status: INDEXED'),
      )
      const found = await call('search_docs', { query: 'kiln', source: name })
      const { passages } = found.structuredContent as { passages: { url: string; chunk: string; title: string }[] }
      const [best] = passages
      expect(best).toMatchObject({ title: 'Kiln', source: name })
      expect(best?.url).toMatch(`${site.origin}/docs/kiln`)
      const read = await call('read_page', { url: best?.url ?? '' })
      expect(textOf(read, 1)).toContain(textOf(found, 1))
      const chunk = await call('get_chunk', { chunk: best?.chunk ?? '' })
      expect(textOf(chunk, 0)).toMatch(
        new RegExp(`^@[0-9a-f]{3,} "Kiln" — http\\S+/docs/kiln\\S* \\(chunk ${name}/[0-9a-f]{12}, lines? .*\\)$`),
      )
      expect(textOf(found, 1)).toContain(textOf(chunk, 1).trim())
      const { contents } = await client.readResource({ uri: 'docs://sources' })
      expect(JSON.stringify(contents)).toContain(name)
    })
  },
)
