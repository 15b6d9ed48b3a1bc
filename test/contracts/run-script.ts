import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Runs a script of this folder in a separate process, and returns its stderr output, followed by the exit code if that is not 0. */
export function runScript(name: string, ...args: readonly string[]): Promise<string> {
  const script = fileURLToPath(new URL(name, import.meta.url))
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
    let stderr = ''
    child.stderr.on('data', (data) => {
      stderr += String(data)
    })
    child.on('error', reject)
    child.on('exit', (code) => resolve(code === 0 ? stderr : `${stderr}\nexit ${code}`))
  })
}
