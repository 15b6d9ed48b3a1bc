#!/usr/bin/env node
import module from 'node:module'
import { codeCacheFolder, isDumbTerminal, isLinkingTerminal } from '../config.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever reads the answer had enough of it (`| head -1`); that is no failure.
  if (error.code === 'EPIPE') return
  process.stderr.write(`pharos: the answer cannot be written: ${error.message}\n`)
  process.exit(1)
})
// Nobody is left to tell.
process.stderr.on('error', () => undefined)

// What libraries will not do in versions to come is told to those who build this program.
process.noDeprecation = true

const stdout = Object.assign(process.stdout, { hasLinks: () => isLinkingTerminal() })
const { stderr } = process
// What cannot be steered is written to as a file is.
const plain = { write: (text: string) => stderr.write(text) }
// Compiling takes a good part of a start; what is remembered of it belongs to this very text and this very Node. An old Node
// has no such cache, and is told what it lacks by `run`.
module.enableCompileCache?.(codeCacheFolder())
const { run } = await import('./run.ts')
process.exitCode = await run(process.argv.slice(2), { stdout, stderr: isDumbTerminal() ? plain : stderr })
