#!/usr/bin/env node
import module from 'node:module'
import { canShowHyperlinks, codeCacheFolder, isColorForced, isDumbTerminal } from '../config.ts'

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

const forcesColors = isColorForced()
const stdout = Object.assign(process.stdout, { hasLinks: () => canShowHyperlinks(), forcesColors })
const stderr = Object.assign(process.stderr, { forcesColors })
// A dumb terminal is treated as a file, without cursor control.
const plainStderr = { write: (text: string) => stderr.write(text) }
// Compiling takes a considerable part of the start-up time. The cache is valid for the same source text and version of Node only. Old
// versions of Node lack it; `run` reports the required version.
// `uninstall` removes the cache, which Node would write again at the end.
if (process.argv[2] !== 'uninstall') module.enableCompileCache?.(codeCacheFolder())
const { run } = await import('./run.ts')
process.exitCode = await run(process.argv.slice(2), { stdout, stderr: isDumbTerminal() ? plainStderr : stderr })
