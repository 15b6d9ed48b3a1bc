import type { CallToolRequest, CallToolResult, McpServer, ServerContext } from '@modelcontextprotocol/server'
import type { Tool } from './tool.ts'

type CallHandler = (request: CallToolRequest, context: ServerContext) => Promise<CallToolResult>

/**
 * Explains calls of tools that the tool set leaves out, where the SDK would only report an unknown tool. The SDK sets its handler with the
 * first tool, so this must be called before a tool is added.
 */
export function explainOmittedTools({ server }: McpServer, tools: readonly Tool[], isReadOnly: boolean): void {
  const names = new Set(tools.filter(({ isSafe }) => isSafe || !isReadOnly).map(({ name }) => name))
  if (names.size === 0) return
  const setHandler = server.setRequestHandler.bind(server)
  const explain = (next: CallHandler): CallHandler => {
    return async (request, context) => {
      const { name } = request.params
      return names.has(name)
        ? { content: [{ type: 'text', text: writeOmittedTool(name) }], isError: true }
        : next(request, context)
    }
  }
  // The overloads of this method cannot be restated; only the SDK itself calls it here.
  server.setRequestHandler = ((method: 'tools/call', handler: CallHandler, ...others: []) => {
    setHandler(method, method === 'tools/call' ? explain(handler) : handler, ...others)
  }) as typeof server.setRequestHandler
}

function writeOmittedTool(name: string): string {
  return `Error (USAGE): this server does not offer ${name} – its owner can start it with --tools all`
}
