// Starts the MCP server as users do, and connects a client over stdio.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Path of the launcher. It replaces itself with the program, so that the child process is the server. */
export const pharos = fileURLToPath(new URL('../pharos', import.meta.url))

/** Starts the server of this or another checkout, and performs the handshake. */
export async function connect(library, program = pharos) {
  const child = spawn(program, ['mcp', '--read-only', '--library', library], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const pending = new Map()
  createInterface(child.stdout).on('line', (line) => {
    const { id, result, error } = JSON.parse(line)
    pending.get(id)?.(error === undefined ? result : Promise.reject(new Error(error.message)))
    pending.delete(id)
  })
  let lastId = 0
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const ask = (method, params) => {
    const id = ++lastId
    send({ id, method, params })
    return new Promise((resolve) => pending.set(id, resolve))
  }
  const clientInfo = { name: 'bench', version: '1' }
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  send({ method: 'notifications/initialized' })
  return {
    ask,
    async call(name, args) {
      const { structuredContent, isError, content } = await ask('tools/call', { name, arguments: args })
      if (isError) throw new Error(content[0].text)
      return structuredContent
    },
    rssMegabytes() {
      const status = `/proc/${child.pid}/status`
      // Only Linux has /proc.
      if (!existsSync(status)) return undefined
      return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1]) / 1024
    },
    close() {
      child.stdin.end()
      return new Promise((resolve) => child.once('close', resolve))
    },
  }
}
