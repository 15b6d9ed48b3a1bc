import { type CallToolResult, Client } from '@modelcontextprotocol/client'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { createJobs } from '../../src/library/jobs/crawl-jobs.ts'
import type { McpPorts } from '../../src/mcp/ports.ts'
import { createMcp } from '../../src/mcp/server.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { closeLater } from '../close-later.ts'
import { SHORT_BACKOFF } from '../sites/crawl.ts'

/** A client of a server that runs in this process. */
export interface Connection {
  readonly client: Client
  /** Calls a tool. */
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>
  /** Calls a tool, and returns the text of its first block. */
  callForText(name: string, args?: Record<string, unknown>): Promise<string>
  /** Number of times the library was opened. */
  readonly openCount: () => number
  readonly library: () => Promise<OpenLibrary>
}

/** Connects a client to a server with its own library in memory, until the test ends. */
export async function connect(ports: Partial<McpPorts> = {}): Promise<Connection> {
  const { connection, close } = await openConnection(ports)
  closeLater(close)
  return connection
}

/** Opens a connection that the caller closes. */
export async function openConnection(
  ports: Partial<McpPorts>,
): Promise<{ readonly connection: Connection; close(): Promise<void> }> {
  let opened = 0
  let library: Promise<OpenLibrary> | undefined
  const open = () => {
    library ??= openLibrary({
      path: ':memory:',
      version: '0.0.0',
      allowPrivate: ['127.0.0.0/8'],
      limits: SHORT_BACKOFF,
    })
    return library
  }
  const mcp = createMcp({
    version: '0.0.0',
    openLibrary: () => {
      opened++
      return open()
    },
    openJobs: async (openedLibrary) => createJobs(openedLibrary),
    ...ports,
  })
  const client = new Client({ name: 'test', version: '0.0.0' })
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
  const server = await mcp.createServer()
  await server.connect(serverSide)
  await client.connect(clientSide)
  // A client that knows the output schemas validates every answer.
  await client.listTools()
  const close = async () => {
    await client.close()
    await mcp.close()
    // The server closes the library only if the server opened it.
    if (opened === 0) await (await library)?.close()
  }
  const call = async (name: string, args: Record<string, unknown> = {}) => client.callTool({ name, arguments: args })
  const connection: Connection = {
    client,
    call,
    callForText: async (name, args) => textOf(await call(name, args)),
    openCount: () => opened,
    library: open,
  }
  return { connection, close }
}

/** The text of a block of an answer. */
export function textOf({ content }: CallToolResult, index = 0): string {
  const block = content[index]
  return block?.type === 'text' ? block.text : ''
}

/** Waits until a condition holds, for a minute at most. */
export async function until<T>(ask: () => Promise<T>, isDone: (value: T) => boolean): Promise<T> {
  const end = Date.now() + 60_000
  for (;;) {
    const value = await ask()
    if (isDone(value)) return value
    if (Date.now() > end) throw new Error(`timed out, last value: ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
