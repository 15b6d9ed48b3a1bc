#!/usr/bin/env node
import module from 'node:module'
import { canShowHyperlinks, codeCacheFolder, isDumbTerminal } from '../config.ts'

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

const stdout = Object.assign(process.stdout, { hasLinks: () => canShowHyperlinks() })
const { stderr } = process
// A dumb terminal is treated as a file, without cursor control.
const plainStderr = { write: (text: string) => stderr.write(text) }
// Compiling takes a considerable part of the start-up time. The cache is valid for the same source text and version of Node only. Old
// versions of Node lack it; `run` reports the required version.
module.enableCompileCache?.(codeCacheFolder())
const { run } = await import('./run.ts')
process.exitCode = await run(process.argv.slice(2), { stdout, stderr: isDumbTerminal() ? plainStderr : stderr })
