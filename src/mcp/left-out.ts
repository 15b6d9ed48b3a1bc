import type { CallToolRequest, CallToolResult, McpServer, ServerContext } from '@modelcontextprotocol/server'
import type { Tool } from './tool.ts'

type CallHandler = (request: CallToolRequest, context: ServerContext) => Promise<CallToolResult>

/**
 * Answers calls of tools that a set of tools leaves out, where the SDK would only say that there is no such tool. The SDK sets its
 * handler with the first tool, so this comes before.
 */
export function explainLeftOut({ server }: McpServer, tools: readonly Tool[], isReadOnly: boolean): void {
  const names = new Set(tools.filter(({ isSafe }) => isSafe || !isReadOnly).map(({ name }) => name))
  if (names.size === 0) return
  const setHandler = server.setRequestHandler.bind(server)
  const explain = (next: CallHandler): CallHandler => {
    return async (request, context) => {
      const { name } = request.params
      return names.has(name)
        ? { content: [{ type: 'text', text: writeLeftOut(name) }], isError: true }
        : next(request, context)
    }
  }
  // The overloads of this method cannot be written down again; all that passes here is what the SDK itself gives it.
  server.setRequestHandler = ((method: 'tools/call', handler: CallHandler, ...others: []) => {
    setHandler(method, method === 'tools/call' ? explain(handler) : handler, ...others)
  }) as typeof server.setRequestHandler
}

function writeLeftOut(name: string): string {
  return `Error (USAGE): this server leaves out ${name} – its owner can start it with --tools all`
}
