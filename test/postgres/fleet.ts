import { PROGRAM, type ProgramSandbox } from '../e2e/program.ts'
import { childrenOf, signal } from './server.ts'

/** Worker processes that share a library, and that a test can kill and freeze. */
export class Fleet {
  readonly #sandbox: ProgramSandbox
  readonly #flags: readonly string[]
  readonly #environment: Readonly<Record<string, string>>
  readonly #ended = new Map<number, Promise<unknown>>()
  readonly #frozen = new Set<number>()
  #log = ''

  constructor(sandbox: ProgramSandbox, flags: readonly string[], environment: Readonly<Record<string, string>>) {
    this.#sandbox = sandbox
    this.#flags = flags
    this.#environment = environment
  }

  /** Process ids of the running workers. */
  get pids(): readonly number[] {
    return [...this.#ended.keys()]
  }

  /** Workers that have jobs and are not frozen. */
  get busy(): readonly number[] {
    return this.pids.filter((pid) => !this.#frozen.has(pid) && this.jobsOf(pid).length > 0)
  }

  /** Jobs that a worker runs, read from the log, because the library cannot be queried while its server is down. */
  jobsOf(pid: number): readonly string[] {
    const running = childrenOf(pid)
    const started = [...this.#log.matchAll(/was started as process (\d+) job=(\S+)/g)]
    return started.flatMap(([, process, job]) => (running.includes(Number(process)) && job !== undefined ? [job] : []))
  }

  /** Log output of all workers so far. */
  get log(): string {
    return this.#log
  }

  start(): void {
    const args = [PROGRAM, 'worker', ...this.#flags]
    const { child, ended } = this.#sandbox.start(process.execPath, args, this.#environment)
    const { pid } = child
    if (pid === undefined) throw new Error('a worker could not be started')
    const append = (text: string) => {
      this.#log += text.replace(/^/gm, `${pid}: `)
    }
    child.stdout.on('data', append)
    child.stderr.on('data', append)
    this.#ended.set(pid, ended)
    void ended.then(() => this.#ended.delete(pid))
  }

  /** Kills a worker, its crawls, or both. A new worker replaces a killed one. */
  async kill(pid: number, target: KillTarget): Promise<void> {
    const crawls = target === 'worker' ? [] : childrenOf(pid)
    const ended = this.#ended.get(pid)
    // The worker is killed first, because it would report the end of its crawls.
    for (const one of target === 'crawls' ? crawls : [pid, ...crawls]) signal(one, 'SIGKILL')
    if (target === 'crawls') return
    await ended
    this.start()
  }

  /** Ends a worker as an upgrade does, and starts a new one. */
  async restart(pid: number): Promise<void> {
    const ended = this.#ended.get(pid)
    signal(pid, 'SIGTERM')
    await ended
    this.start()
  }

  /** Freezes a worker and its crawls. Returns a function that resumes them. */
  freeze(pid: number): () => void {
    const all = [pid, ...childrenOf(pid)]
    for (const one of all) signal(one, 'SIGSTOP')
    this.#frozen.add(pid)
    return () => {
      for (const one of all) signal(one, 'SIGCONT')
      this.#frozen.delete(pid)
    }
  }

  /** Ends all workers with a signal. */
  async close(signalName: NodeJS.Signals): Promise<void> {
    const all = [...this.#ended]
    for (const [pid] of all) {
      const targets = signalName === 'SIGKILL' ? [...childrenOf(pid), pid] : [pid]
      for (const one of targets) signal(one, signalName)
    }
    await Promise.all(all.map(([, ended]) => ended))
  }
}

/** The processes to kill. */
export type KillTarget = 'worker' | 'crawls' | 'both'
