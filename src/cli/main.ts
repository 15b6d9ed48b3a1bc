#!/usr/bin/env node
import module from 'node:module'
import { MIN_NODE_VERSION } from '../version.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader closed the pipe (`| head -1`), which is not an error.
  if (error.code === 'EPIPE') return
  process.stderr.write(`pharos: the answer cannot be written: ${error.message}\n`)
  process.exit(1)
})
// Errors of stderr cannot be reported anywhere.
process.stderr.on('error', () => undefined)

// Deprecation warnings are for developers of this program, not for its users.
process.noDeprecation = true

process.exitCode = isNodeTooOld() ? reportOldNode() : await start()

/** Runs the command line and returns the exit code. */
async function start(): Promise<number> {
  // An old Node cannot parse these modules, so they are loaded after its version was checked.
  const { canShowHyperlinks, codeCacheFolder, isColorForced, isDumbTerminal } = await import('../config.ts')
  const forcesColors = isColorForced()
  const stdout = Object.assign(process.stdout, { hasLinks: () => canShowHyperlinks(), forcesColors })
  const stderr = Object.assign(process.stderr, { forcesColors })
  // A dumb terminal is treated as a file, without cursor control.
  const plainStderr = { write: (text: string) => stderr.write(text) }
  const { setEngineFlags } = await import('./engine-flags.ts')
  setEngineFlags(process.argv.slice(2))
  // Compiling takes a considerable part of the start-up time. The cache is valid for the same source text and version of Node only.
  // `uninstall` removes the cache, which Node would write again at the end.
  if (process.argv[2] !== 'uninstall') module.enableCompileCache(codeCacheFolder())
  const { run } = await import('./run.ts')
  return run(process.argv.slice(2), { stdout, stderr: isDumbTerminal() ? plainStderr : stderr })
}

function isNodeTooOld(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [minMajor = 0, minMinor = 0] = MIN_NODE_VERSION.split('.').map(Number)
  return major < minMajor || (major === minMajor && minor < minMinor)
}

function reportOldNode(): number {
  const problem = `needs Node.js ${MIN_NODE_VERSION} or later (found ${process.version})`
  process.stderr.write(`pharos: ${problem} – install it from https://nodejs.org/ and try again\n`)
  return 2
}
