import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, vi } from 'vitest'
import type { Outcome, ProgramSandbox } from '../e2e/program.ts'
import { watchMemory } from '../tree-memory.ts'
import type { BoundedRun } from './bounded-child.ts'

/* Runs of the program that have to end well, in time and in bounded memory. */

/** Whether this is a long run, in which tests use full sizes. */
export const isLong: boolean = process.env['TEST_LONG'] !== undefined

/** Names a file for the figures of every run. */
const reportFile = process.env['TEST_REPORT']

/** Timeout of a run: even on a busy machine, a run that takes longer hangs. */
const RUN_TIMEOUT_SECONDS = isLong ? 600 : 250

/** Limit for the CPU time of a run, which depends little on other load. */
const MAX_CPU_SECONDS = 60

const SCRIPT = fileURLToPath(new URL('./bounded-child.ts', import.meta.url))

/** Sets the test timeout to twice the time limit of the program, so that the program fails first and its error is reported. */
export function extendTestTimeout(): void {
  vi.setConfig({ testTimeout: 2 * RUN_TIMEOUT_SECONDS * 1000 })
}

/**
 * Runs the program in a separate process, within limits of time and memory. To save starts, one process does many runs until one of them
 * fails or exceeds a limit; the next run gets a new process. With TEST_LONG every run of a large input gets a new process.
 */
export class BoundedProgram {
  readonly #sandbox: ProgramSandbox
  readonly #maxRssMb: number
  #child: ChildProcess | undefined
  /** Text that the process prints itself, in addition to the output that it captures from a run. */
  #stray = ''

  constructor(sandbox: ProgramSandbox, maxRssMb: number) {
    this.#sandbox = sandbox
    this.#maxRssMb = maxRssMb
  }

  /** Runs the program, expects success within its limits, and returns its output. */
  async run(args: readonly string[]): Promise<string> {
    const { code, signal, stdout, stderr } = await this.tryRun(args)
    if (code !== 0) await this.end()
    expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: '' })
    return stdout
  }

  /** Runs the program, which may fail, and checks its limits. */
  async tryRun(args: readonly string[], isSmall = false): Promise<Outcome> {
    let needsNewProcess = true
    try {
      const started = performance.now()
      const { maxRssMb, cpuSeconds, ...outcome } = await this.#execute(args)
      const seconds = (performance.now() - started) / 1000
      expect({ ...outcome, stdout: '' }).toMatchObject({ code: expect.any(Number), signal: null })
      report([`${seconds.toFixed(1)} s`, `${cpuSeconds.toFixed(1)} cpu-s`, `${maxRssMb.toFixed(0)} MB`])
      expect(maxRssMb).toBeLessThan(this.#maxRssMb)
      expect(cpuSeconds).toBeLessThan(MAX_CPU_SECONDS)
      needsNewProcess = isLong && !isSmall
      return outcome
    } finally {
      if (needsNewProcess) await this.end()
    }
  }

  /** Ends the process. The next run starts a new process. */
  async end(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  /** Resolves with the result of a run, or with the end of its process. */
  #execute(args: readonly string[]): Promise<Outcome & BoundedRun> {
    this.#child ??= this.#start()
    const child = this.#child
    // Documents are read in a child process, so its memory is watched too.
    const endWatch = watchMemory(child.pid ?? 0)
    return new Promise((resolve) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), RUN_TIMEOUT_SECONDS * 1000)
      const settle = (run: BoundedRun, signal: NodeJS.Signals | null) => {
        clearTimeout(timer)
        child.removeAllListeners()
        const maxRssMb = Math.max(run.maxRssMb, endWatch())
        resolve({ ...run, maxRssMb, signal, stderr: this.#stray + run.stderr })
      }
      child.on('message', (run: BoundedRun) => settle(run, null))
      child.on('close', (code, signal) => {
        settle({ code, stdout: '', stderr: '', maxRssMb: Number.NaN, cpuSeconds: Number.NaN }, signal)
      })
      child.send(args)
    })
  }

  #start(): ChildProcess {
    const { folder, environment } = this.#sandbox
    const stdio = ['ignore', 'pipe', 'pipe', 'ipc'] as const
    const child = fork(SCRIPT, { cwd: folder, env: environment, execArgv: [], stdio: [...stdio] })
    this.#stray = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#stray += text
      })
    }
    return child
  }
}

/** Appends figures of the running test to the file that TEST_REPORT names, if any. */
export function report(figures: readonly string[]): void {
  if (reportFile === undefined) return
  appendFileSync(reportFile, `${figures.join('\t')}\t${expect.getState().currentTestName}\n`)
}
