import type { Readable, Writable } from 'node:stream'

/** Writes a JSON-RPC error for each line of an MCP client that is not JSON, because the SDK drops such lines silently. */
export function answerParseErrors(input: Readable, output: Writable): void {
  let parts: Buffer[] = []
  input.on('data', (chunk: Buffer) => {
    for (let start = 0; ; ) {
      const end = chunk.indexOf('\n', start)
      parts.push(chunk.subarray(start, end < 0 ? undefined : end))
      if (end < 0) return
      const line = Buffer.concat(parts).toString()
      parts = []
      start = end + 1
      if (line.trim() !== '' && !isJson(line)) output.write(PARSE_ERROR)
    }
  })
}

const PARSE_ERROR = `${JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32700, message: 'Parse error: the line is not JSON; expected one JSON-RPC message per line' },
})}\n`

function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}
