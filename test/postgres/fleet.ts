import { PROGRAM, type ProgramSandbox } from '../e2e/program.ts'
import { childrenOf, signal } from './server.ts'

/** Worker processes that share a library, and that a test can kill and freeze. */
export class Fleet {
  readonly #shop: ProgramSandbox
  readonly #flags: readonly string[]
  readonly #environment: Readonly<Record<string, string>>
  readonly #ended = new Map<number, Promise<unknown>>()
  readonly #frozen = new Set<number>()
  #said = ''

  constructor(shop: ProgramSandbox, flags: readonly string[], environment: Readonly<Record<string, string>>) {
    this.#shop = shop
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

  /** Jobs that a worker runs, read from its log, because the library cannot be queried while its server is down. */
  jobsOf(pid: number): readonly string[] {
    const running = childrenOf(pid)
    const started = [...this.#said.matchAll(/was started as process (\d+) job=(\S+)/g)]
    return started.flatMap(([, process, job]) => (running.includes(Number(process)) && job !== undefined ? [job] : []))
  }

  /** Log output of all workers so far. */
  get log(): string {
    return this.#said
  }

  start(): void {
    const args = [PROGRAM, 'worker', ...this.#flags]
    const { child, ended } = this.#shop.start(process.execPath, args, this.#environment)
    const { pid } = child
    if (pid === undefined) throw new Error('a worker could not be started')
    const hear = (text: string) => {
      this.#said += text.replace(/^/gm, `${pid}: `)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    this.#ended.set(pid, ended)
    void ended.then(() => this.#ended.delete(pid))
  }

  /** Kills a worker, its crawls, or both. A new worker replaces a killed one. */
  async kill(pid: number, victim: KillTarget): Promise<void> {
    const crawls = victim === 'worker' ? [] : childrenOf(pid)
    const ended = this.#ended.get(pid)
    // The worker is killed first, because it would report the end of its crawls.
    for (const one of victim === 'crawls' ? crawls : [pid, ...crawls]) signal(one, 'SIGKILL')
    if (victim === 'crawls') return
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
  async close(how: NodeJS.Signals): Promise<void> {
    const all = [...this.#ended]
    for (const [pid] of all) for (const one of how === 'SIGKILL' ? [...childrenOf(pid), pid] : [pid]) signal(one, how)
    await Promise.all(all.map(([, ended]) => ended))
  }
}

/** The processes to kill. */
export type KillTarget = 'worker' | 'crawls' | 'both'
