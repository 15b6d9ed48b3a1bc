/** Runs the built program once per message, with the arguments of that message, and sends back the result. */
import { readFileSync } from 'node:fs'
import type { Streams } from '../../src/cli/terminal.ts'
import { PROGRAM } from '../e2e/program.ts'

/** The result of a run. */
export interface BoundedRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Peak resident memory of this process so far. */
  readonly maxRssMb: number
  readonly cpuSeconds: number
}

const { run } = (await import(PROGRAM.replace('main.js', 'run.js'))) as {
  run(args: readonly string[], streams: Streams): Promise<number>
}

process.on('message', async (args: readonly string[]) => {
  const output = { stdout: '', stderr: '' }
  const stream = (name: keyof typeof output) => ({
    write(text: string) {
      output[name] += text
    },
  })
  const before = cpuSeconds()
  const code = await run(args, { stdout: stream('stdout'), stderr: stream('stderr') })
  const maxRssMb = peakMb()
  process.send?.({ code, ...output, maxRssMb, cpuSeconds: cpuSeconds() - before } satisfies BoundedRun)
})

/** Peak memory from /proc, because the resource usage that the system reports starts with the memory of the parent process. */
function peakMb(): number {
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
