import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, 'tools')
const STAMP = join(FOLDER, 'node_modules/.installed-lock')

/** The conformance suite, as a script. */
export const CONFORMANCE: string = join(FOLDER, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

const CLIENTS = join(FOLDER, 'node_modules/@modelcontextprotocol/inspector/clients')

/** The inspector, as a script. */
export const INSPECTOR: string = join(CLIENTS, 'launcher/build/index.js')

/** The module that the inspector runs as its command line. */
export const INSPECTOR_CLI: string = join(CLIENTS, 'cli/build/index.js')

/** Installs the tools when they are missing or differ from their lock file. They are large, and only these tests need them. */
export function installTools(): void {
  const lock = readFileSync(join(FOLDER, 'package-lock.json'), 'utf8')
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === lock) return
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status, stderr, error } = spawnSync('npm', args, { cwd: FOLDER, encoding: 'utf8', timeout: 240_000 })
  if (status !== 0) {
    const why = error?.message ?? stderr.trim()
    throw new Error(
      `The conformance suite and the inspector of MCP could not be installed. They are downloaded once, so this needs a registry that npm reaches: run \`npm ci\` in test/mcp/tools, then the tests again.\n${why}`,
    )
  }
  writeFileSync(STAMP, lock)
}
