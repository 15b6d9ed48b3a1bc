#!/usr/bin/env node
import { isDumbTerminal } from '../config.ts'
import { run } from './run.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever reads the answer had enough of it (`| head -1`); that is no failure.
  if (error.code === 'EPIPE') return
  process.stderr.write(`pharos: the answer cannot be written: ${error.message}\n`)
  process.exit(1)
})
// Nobody is left to tell.
process.stderr.on('error', () => undefined)

const { stdout, stderr } = process
// What cannot be steered is written to as a file is.
const plain = { write: (text: string) => stderr.write(text) }
process.exitCode = await run(process.argv.slice(2), { stdout, stderr: isDumbTerminal() ? plain : stderr })
