import { McpServer } from '@modelcontextprotocol/server'
import { writeInstructions } from './instructions.ts'
import { explainLeftOut } from './left-out.ts'
import type { McpPorts, SourceName } from './ports.ts'
import { addResources } from './resources.ts'
import { createShared } from './shared.ts'
import { ASK_TOOLS, TOOLS } from './tools.ts'

/** How long a client that connects waits for the names of the sources. */
const NAMING_TIMEOUT_MS = 250

/** Facts about the request that a server is created for. */
export interface McpRequest {
  readonly requestInfo?: Request
}

/** Makes MCP servers that share one library. */
export interface Mcp {
  /** A server for one connection, or one request. The library is not opened for it. */
  createServer(request?: McpRequest): Promise<McpServer>
  /** Stops what runs in the background, and closes the library if it was opened. */
  close(): Promise<void>
}

/** Makes what serves MCP. Nothing is opened before a tool or a resource needs it. */
export function createMcp(ports: McpPorts): Mcp {
  const { version, isReadOnly = false, toolSet = 'all' } = ports
  const shared = createShared(ports)
  const offered = toolSet === 'ask' ? ASK_TOOLS : TOOLS
  const tools = offered.filter(({ name }) => name !== 'export_pack' || shared.packs !== undefined)
  const leftOut = TOOLS.filter((tool) => !offered.includes(tool))
  return {
    async createServer(request) {
      const sources = needsInstructions(request) ? await nameSources(ports) : undefined
      const instructions = writeInstructions(sources, isReadOnly)
      const server = new McpServer({ name: 'pharos', title: 'Pharos', version }, { instructions })
      // Neither list changes while the server runs.
      server.server.registerCapabilities({ tools: { listChanged: false }, resources: { listChanged: false } })
      explainLeftOut(server, leftOut, isReadOnly)
      for (const tool of tools) tool.addTo(server, shared)
      addResources(server, shared)
      ports.extend?.(server)
      return server
    },
    close: shared.close,
  }
}

/** Whether a client reads the instructions: when it connects, or over HTTP without sessions with this one method. */
function needsInstructions(request: McpRequest | undefined): boolean {
  const method = request?.requestInfo?.headers.get('mcp-method') ?? 'server/discover'
  return method === 'server/discover'
}

/** The sources of the library; undefined when reading them fails or takes too long. */
async function nameSources({ nameSources: read }: McpPorts): Promise<readonly SourceName[] | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, NAMING_TIMEOUT_MS)
  })
  try {
    return await Promise.race([read?.(), late])
  } catch {
    // The first call that needs the library says what is wrong with it.
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
