import { PROGRAM, type Workshop } from '../e2e/program.ts'
import { childrenOf, signal } from './server.ts'

/** Workers that share a library, as processes of their own, which may be killed and made to stand still. */
export class Fleet {
  readonly #shop: Workshop
  readonly #flags: readonly string[]
  readonly #environment: Readonly<Record<string, string>>
  readonly #ended = new Map<number, Promise<unknown>>()
  readonly #frozen = new Set<number>()
  #said = ''

  constructor(shop: Workshop, flags: readonly string[], environment: Readonly<Record<string, string>>) {
    this.#shop = shop
    this.#flags = flags
    this.#environment = environment
  }

  /** Workers that are there, by the numbers of their processes. */
  get pids(): readonly number[] {
    return [...this.#ended.keys()]
  }

  /** Those that have jobs and are awake. */
  get busy(): readonly number[] {
    return this.pids.filter((pid) => !this.#frozen.has(pid) && this.jobsOf(pid).length > 0)
  }

  /** Jobs that a worker runs, as it has told: whoever asks the library learns nothing while that is away. */
  jobsOf(pid: number): readonly string[] {
    const running = childrenOf(pid)
    const started = [...this.#said.matchAll(/was started as process (\d+) job=(\S+)/g)]
    return started.flatMap(([, process, job]) => (running.includes(Number(process)) && job !== undefined ? [job] : []))
  }

  /** What all of them have said so far. */
  get said(): string {
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

  /** Kills a worker, its crawls, or both, without a word. Another worker comes for one that is killed. */
  async kill(pid: number, victim: Victim): Promise<void> {
    const crawls = victim === 'worker' ? [] : childrenOf(pid)
    const ended = this.#ended.get(pid)
    // The worker first: it would tell how its crawls have ended.
    for (const one of victim === 'crawls' ? crawls : [pid, ...crawls]) signal(one, 'SIGKILL')
    if (victim === 'crawls') return
    await ended
    this.start()
  }

  /** Makes a worker and its crawls stand still; gives what wakes them up. */
  freeze(pid: number): () => void {
    const all = [pid, ...childrenOf(pid)]
    for (const one of all) signal(one, 'SIGSTOP')
    this.#frozen.add(pid)
    return () => {
      for (const one of all) signal(one, 'SIGCONT')
      this.#frozen.delete(pid)
    }
  }

  /** Ends all of them, as somebody does who wants to go on later. */
  async close(how: NodeJS.Signals): Promise<void> {
    const all = [...this.#ended]
    for (const [pid] of all) for (const one of how === 'SIGKILL' ? [...childrenOf(pid), pid] : [pid]) signal(one, how)
    await Promise.all(all.map(([, ended]) => ended))
  }
}

/** What is killed. */
export type Victim = 'worker' | 'crawls' | 'both'
