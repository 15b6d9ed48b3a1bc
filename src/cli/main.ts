#!/usr/bin/env node
import { run } from './run.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever reads the answer had enough of it (`| head -1`); that is no failure.
  if (error.code === 'EPIPE') return
  process.stderr.write(`pharos: the answer cannot be written: ${error.message}\n`)
  process.exit(1)
})
// Nobody is left to tell.
process.stderr.on('error', () => undefined)

process.exitCode = await run(process.argv.slice(2), process)
