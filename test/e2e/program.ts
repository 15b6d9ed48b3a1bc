import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Streams } from '../../src/cli/terminal.ts'

const repository = dirname(dirname(import.meta.dirname))

/** The built program. */
export const PROGRAM: string = join(repository, 'dist/cli/main.js')

/** The module that the launcher loads to run the program. */
const RUN = join(repository, 'dist/cli/run.js')

/** More than earlier tests in the same process can have used: with less, every crawl would first wait for memory. */
const AMPLE_MEMORY = '4GB'

/** A missing browser, for tests of `doctor` that are not about browsers: starting a real one takes longer than all other checks. */
export const NO_BROWSER: Readonly<Record<string, string>> = { PHAROS_BROWSER: '/nonsense/chrome' }

/** The result of one run of the program. */
export interface Outcome {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A temporary folder in which the program runs. */
export class ProgramSandbox {
  readonly folder: string = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'pharos-e2e-')))
  /** The Node and the program that `run` and `startServer` start. */
  readonly command: readonly [node: string, program: string]
  readonly #lifeMs: number

  /** `lifeMs` is how long a started program may run before it counts as hanging. */
  constructor(lifeMs = 250_000, command: readonly [string, string] = [process.execPath, PROGRAM]) {
    this.#lifeMs = lifeMs
    this.command = command
  }

  /** The environment of the program: no settings, no colors, its cache inside this folder. Only Node's compile cache is shared. */
  get environment(): Record<string, string> {
    return {
      PATH: process.env['PATH'] ?? '',
      HOME: this.folder,
      XDG_CACHE_HOME: join(this.folder, 'cache'),
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      // Most tests do not search by meaning, and every program that embeds loads the model.
      PHAROS_EMBED: 'false',
    }
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  write(files: Readonly<Record<string, string | Uint8Array>>): void {
    for (const [name, content] of Object.entries(files)) {
      fs.mkdirSync(dirname(this.path(name)), { recursive: true })
      fs.writeFileSync(this.path(name), content)
    }
  }

  /**
   * Runs the program to its end inside this process, which saves the start: same code, same output, same exit code. Only for tests that are
   * not about the process itself. One run at a time, because the folder and the environment belong to the process.
   */
  async runInProcess(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Outcome> {
    const { run } = (await import(RUN)) as { run(args: readonly string[], streams: Streams): Promise<number> }
    const before = { folder: process.cwd(), environment: { ...process.env } }
    const output = { stdout: '', stderr: '' }
    const stream = (name: keyof typeof output) => ({
      write(text: string) {
        output[name] += text
      },
    })
    process.chdir(this.folder)
    replaceEnvironment({ ...this.environment, PHAROS_MAX_MEMORY: AMPLE_MEMORY, ...environment })
    try {
      const code = await run(args, { stdout: stream('stdout'), stderr: stream('stderr') })
      return { code, signal: null, ...output }
    } finally {
      replaceEnvironment(before.environment)
      process.chdir(before.folder)
    }
  }

  /** Runs the program to its end as a separate process. */
  run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Outcome> {
    const [node, program] = this.command
    return this.start(node, [program, ...args], environment).ended
  }

  /** Runs a shell command line in which `pharos` is the program. */
  shell(line: string): Promise<Outcome> {
    const pharos = `pharos() { '${process.execPath}' '${PROGRAM}' "$@"; }`
    return this.start('bash', ['-c', `${pharos}\n${line}`], {}).ended
  }

  /** Starts any program in this folder, and kills it after a timeout. */
  start(command: string, args: readonly string[], environment: Readonly<Record<string, string>>) {
    const child = spawn(command, args, {
      cwd: this.folder,
      env: { ...this.environment, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: this.#lifeMs,
      killSignal: 'SIGKILL',
    })
    const output = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.stderr += text
    })
    const ended = new Promise<Outcome>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code, signal) => resolve({ code, signal, ...output }))
    })
    return { child, ended }
  }

  /** Names of files in this folder that a run of the program should have removed. */
  leftovers(folder: string = this.folder): string[] {
    return fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.pharos-'))
  }

  remove(): void {
    fs.rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Changes `process.env` in place, because the system looks up the home folder in the real environment variables. */
function replaceEnvironment(variables: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, variables)
}
