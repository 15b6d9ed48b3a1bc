import { McpServer } from '@modelcontextprotocol/server'
import { writeInstructions } from './instructions.ts'
import { explainOmittedTools } from './omitted-tools.ts'
import type { McpPorts, SourceName } from './ports.ts'
import { addResources } from './resources.ts'
import { createSharedState } from './shared-state.ts'
import { ASK_TOOLS, TOOLS } from './tools.ts'

/** Timeout for reading the source names while a client connects. */
const NAMING_TIMEOUT_MS = 250

/** The request for which a server is created. */
export interface McpRequest {
  readonly requestInfo?: Request
}

/** Creates MCP servers that share one library. */
export interface Mcp {
  /** Creates a server for one connection or one request, without opening the library. */
  createServer(request?: McpRequest): Promise<McpServer>
  /** Stops background work, and closes the library if it was opened. */
  close(): Promise<void>
}

/** Creates the MCP service. Nothing is opened before a tool or resource needs it. */
export function createMcp(ports: McpPorts): Mcp {
  const { version, isReadOnly = false, toolSet = 'all' } = ports
  const shared = createSharedState(ports)
  const offered = toolSet === 'ask' ? ASK_TOOLS : TOOLS
  const missing = [
    ...(shared.packs === undefined ? ['export_pack'] : []),
    ...(shared.project === undefined ? ['sync_project', 'check_code'] : []),
  ]
  const tools = offered.filter(({ name }) => !missing.includes(name))
  const leftOut = TOOLS.filter((tool) => !offered.includes(tool))
  return {
    async createServer(request) {
      const sources = needsInstructions(request) ? await readSourceNames(ports) : undefined
      const instructions = writeInstructions(sources, isReadOnly)
      const server = new McpServer({ name: 'pharos', title: 'Pharos', version }, { instructions })
      // Neither list changes while the server runs.
      server.server.registerCapabilities({ tools: { listChanged: false }, resources: { listChanged: false } })
      explainOmittedTools(server, leftOut, isReadOnly)
      for (const tool of tools) tool.addTo(server, shared)
      addResources(server, shared)
      ports.extend?.(server)
      return server
    },
    close: shared.close,
  }
}

/** Whether the client reads the instructions: when it connects, or, over HTTP without sessions, with the method `server/discover`. */
function needsInstructions(request: McpRequest | undefined): boolean {
  const method = request?.requestInfo?.headers.get('mcp-method') ?? 'server/discover'
  return method === 'server/discover'
}

/** The sources of the library; undefined when reading them fails or takes too long. */
async function readSourceNames({ listSourceNames: read }: McpPorts): Promise<readonly SourceName[] | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, NAMING_TIMEOUT_MS)
  })
  try {
    return await Promise.race([read?.(), timeout])
  } catch {
    // The first call that needs the library reports its problem.
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
