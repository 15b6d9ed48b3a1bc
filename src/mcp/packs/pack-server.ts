import { McpServer } from '@modelcontextprotocol/server'
import { PharosError } from '../../core/errors.ts'
import { quote } from '../../library/search/display-text.ts'
import { PAGE_TEXT_RULE } from '../page-text.ts'
import type { Mcp } from '../server.ts'
import type { SharedState } from '../shared-state.ts'
import { type NamedPack, openPacks } from './open-packs.ts'
import { createPackReaders } from './pack-readers.ts'
import { createPackSearch } from './pack-search.ts'

/** The dependencies of a server for packs. */
export interface PackMcpPorts {
  /** Version of this program. */
  readonly version: string
  /** The packs to serve, at least one. */
  readonly packs: readonly NamedPack[]
  /** Embeds a question with the built-in model. */
  readonly embedQuestion: (query: string, signal: AbortSignal) => Promise<Float32Array>
  /** Reads the list of ordinary words, which helps to judge answers. */
  readonly readOrdinaryWords: () => Promise<ReadonlySet<string>>
  readonly close: () => Promise<void>
}

/** Creates MCP servers for packs: they search the packs and show their text, and neither write nor fetch. */
export function createPackMcp(ports: PackMcpPorts): Mcp {
  const { version } = ports
  const opened = openPacks(ports.packs)
  const names = opened.packs.map(({ name }) => quote(name)).join(', ')
  const tools = [createPackSearch(opened, ports), ...createPackReaders(opened)]
  const shared: SharedState = {
    ...NO_LIBRARY,
    isReadOnly: true,
    toolSet: 'all',
    packs: undefined,
    project: undefined,
    close: ports.close,
  }
  return {
    async createServer() {
      const instructions = `Pharos searches documentation in packs: ${names}. Ask search_docs before you answer questions about these from memory. ${PAGE_TEXT_RULE}`
      const server = new McpServer({ name: 'pharos', title: 'Pharos', version }, { instructions })
      server.server.registerCapabilities({ tools: { listChanged: false } })
      for (const tool of tools) tool.addTo(server, shared)
      return server
    },
    close: ports.close,
  }
}

/** Placeholders, because pack tools use neither a library nor jobs. */
const NO_LIBRARY: Pick<SharedState, 'library' | 'jobs'> = {
  library: () => Promise.reject(new PharosError('INTERNAL', { problem: 'a server of packs has no library' })),
  jobs: () => Promise.reject(new PharosError('INTERNAL', { problem: 'a server of packs runs no crawls' })),
}
