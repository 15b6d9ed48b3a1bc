import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'

/** What git is run with. */
export interface GitOptions {
  /** The repository: a folder of this machine. */
  readonly folder: string
  /** What of the user's environment reaches git: where programs and keys are, nothing else. */
  readonly environment: Readonly<Record<string, string>>
  /** The only way that git may connect by. @default none: what is not there is not looked for elsewhere */
  readonly protocol?: string
  /** Settings of this run alone. They reach git by its environment: arguments are seen by every user of the machine. */
  readonly settings?: Readonly<Record<string, string>>
  /** How SSH is run, where that is what git connects by. */
  readonly ssh?: string | undefined
  /** Most bytes that git takes of the memory at once: a few packed ones may stand for very many. @default 128 MB */
  readonly maxAllocBytes?: number
  /** What is never repeated, whoever says it. */
  readonly secrets?: readonly string[]
  readonly signal?: AbortSignal | undefined
}

/** Git could not do what it was asked; what it said is for people, and holds nothing private. */
export class GitError extends Error {
  override readonly name = 'GitError'
  /** Whether somebody or something ended git, which says nothing about what was read. */
  readonly isKilled: boolean
  /** What to do about it. */
  readonly advice: string

  constructor(message: string, { isKilled = false, advice = SEE_TO_IT, ...options }: GitErrorOptions = {}) {
    super(message, options)
    this.isKilled = isKilled
    this.advice = advice
  }
}

interface GitErrorOptions extends ErrorOptions {
  readonly isKilled?: boolean
  readonly advice?: string
}

const SEE_TO_IT = 'see to it, or name another repository'

/**
 * What a repository may not do to whoever reads it: no hooks, no programs for file systems or passwords, no maintenance that is left
 * running. Filters and drivers are for working folders, which are never made.
 */
const SAFE: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.askPass': '',
  // What is larger is never held in memory as a whole.
  'core.bigFileThreshold': '16m',
  'credential.helper': '',
  'fetch.recurseSubmodules': 'false',
  // Always one file, which can be measured while it grows.
  'fetch.unpackLimit': '1',
  'fetch.writeCommitGraph': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'http.followRedirects': 'false',
  'http.lowSpeedLimit': '1000',
  'http.lowSpeedTime': '60',
  // The owner of the library named it: whose it is does not matter.
  'safe.directory': '*',
  'transfer.fsckObjects': 'true',
}

/** Where a program finds nothing of the user's: without a home, it would ask the system for one. */
const NO_HOME = '/dev/null'
/** Enough for the files that are read, and for the lists that git makes of what it fetches. */
const LEAST_ALLOC_BYTES = 2 ** 27

function environmentOf(options: GitOptions): Record<string, string> {
  const { folder, environment, protocol, settings = {}, ssh, maxAllocBytes = 0 } = options
  const all = Object.entries({ ...SAFE, ...settings })
  const given = all.flatMap(([key, value], i) => [
    [`GIT_CONFIG_KEY_${i}`, key],
    [`GIT_CONFIG_VALUE_${i}`, value],
  ])
  return {
    ...environment,
    // Only SSH needs what is there. Whoever asks for a password over HTTP would be given one out of `.netrc`.
    ...(protocol === 'ssh' ? {} : { HOME: NO_HOME }),
    ...Object.fromEntries(given),
    GIT_ALLOC_LIMIT: String(Math.max(maxAllocBytes, LEAST_ALLOC_BYTES)),
    GIT_CONFIG_COUNT: String(all.length),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    // Wins over whatever a repository allows itself.
    GIT_ALLOW_PROTOCOL: protocol ?? 'none',
    // A folder below a repository is not that repository.
    GIT_CEILING_DIRECTORIES: dirname(folder),
    GIT_LITERAL_PATHSPECS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_SSH_COMMAND: ssh ?? 'false',
    LC_ALL: 'C.UTF-8',
  }
}

/** What git says of itself is read so far. */
const MAX_SAID = 2 ** 16

/**
 * Runs git and gives what it writes, piece by piece. Whoever stops reading ends it. Rejects with a {@link GitError} when git fails, with
 * the reason of the signal when that is aborted.
 */
export async function* streamGit(args: readonly string[], options: GitOptions): AsyncGenerator<Uint8Array, void, void> {
  const { signal } = options
  signal?.throwIfAborted()
  const child = start(args, options)
  const ended = endOf(child)
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < MAX_SAID) said += text
  })
  child.stdin.end()
  const stop = () => end(child)
  signal?.addEventListener('abort', stop, { once: true })
  try {
    for await (const piece of child.stdout) yield piece as Buffer
    const problem = await ended
    signal?.throwIfAborted()
    if (problem !== null) throw explainEnd(problem, said, options.secrets)
  } finally {
    signal?.removeEventListener('abort', stop)
    end(child)
    await ended
  }
}

/** Runs git to its end and gives what it wrote, which is little. */
export async function runGit(args: readonly string[], options: GitOptions): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of streamGit(args, options)) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

function start(args: readonly string[], options: GitOptions): ChildProcessWithoutNullStreams {
  // In a group of its own, so that it can be ended with the programs that it starts.
  const settings = { cwd: options.folder, env: environmentOf(options), detached: true, windowsHide: true }
  const child = spawn('git', args, settings)
  // One that has ended listens to nobody.
  child.stdin.on('error', () => undefined)
  return child
}

function end(child: ChildProcessWithoutNullStreams): void {
  const { pid, exitCode, signalCode } = child
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  child.stdin.end()
  try {
    process.kill(-pid)
  } catch {
    // It has ended by itself, or the system knows no groups.
    child.kill()
  }
}

/** How a program ended that did not end well. */
interface BadEnd {
  readonly cause: Error
  readonly isKilled: boolean
}

/** How a program ended: null for well. */
async function endOf(child: ChildProcessWithoutNullStreams): Promise<BadEnd | null> {
  try {
    const [code, stopped] = (await once(child, 'close')) as [number | null, string | null]
    return code === 0 ? null : { cause: new Error(`it ended with ${code ?? stopped}`), isKilled: code === null }
  } catch (error) {
    return { cause: error instanceof Error ? error : new Error('it did not start'), isKilled: true }
  }
}

function explainEnd({ cause, isKilled }: BadEnd, said: string, secrets: readonly string[] = []): GitError {
  if ('code' in cause && cause.code === 'ENOENT')
    return new GitError('the program git is not installed', { cause, advice: 'install it' })
  const [, limit] = /attempting to allocate \d+ over limit (\d+)/.exec(said) ?? []
  if (limit !== undefined) {
    const problem = `it holds something that takes more than ${limit} bytes of memory; a larger maxFileBytes allows more`
    return new GitError(problem, { cause })
  }
  const all = said.trim().split('\n')
  const last = all.findLast((line) => /^(?:fatal|error|remote|ssh):/i.test(line)) ?? all.at(-1) ?? ''
  // What SSH says stands before it.
  const line = (last.includes('Could not read from remote') ? (all[0] ?? last) : last).replace(
    /^(?:fatal|error):\s*/i,
    '',
  )
  const shown = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), line)
  const words = shown
    .replace(/\/\/[^/@\s]*@/g, '//…@')
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, 300)
  return new GitError(`git says: ${words || 'nothing'}`, { cause, isKilled })
}

/** Reads the contents of objects, one after the other, by one process that must be closed. */
export interface ObjectReader {
  /** @throws {GitError} when there is none that can be read */
  read(object: string): Promise<Uint8Array>
  close(): Promise<void>
}

/** Opens a reader of objects. */
export function openObjects(options: GitOptions): ObjectReader {
  let reading: Batch | undefined
  let last: Promise<unknown> = Promise.resolve()
  const readOne = async (object: string): Promise<Uint8Array> => {
    options.signal?.throwIfAborted()
    reading ??= new Batch(start(['cat-file', '--batch'], options))
    try {
      return await reading.read(object)
    } catch (error) {
      // A damaged object ends the process: those after it are read by another.
      await reading.close()
      reading = undefined
      throw error
    }
  }
  const readTwice = async (object: string): Promise<Uint8Array> => {
    try {
      return await readOne(object)
    } catch (error) {
      if (!(error instanceof GitError && error.isKilled)) throw error
      return readOne(object)
    }
  }
  return {
    read(object) {
      // Answers come in the order of questions; whoever asks second waits.
      const answer = last.then(() => readTwice(object))
      last = answer.catch(() => undefined)
      return answer
    },
    async close() {
      await last
      await reading?.close()
    },
  }
}

/** A run of `git cat-file --batch`. */
class Batch {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #pieces: AsyncIterator<Buffer>
  readonly #ended: Promise<BadEnd | null>
  #said = ''
  #rest: Buffer = Buffer.alloc(0)

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    this.#pieces = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    this.#ended = endOf(child)
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (this.#said.length < MAX_SAID) this.#said += text
    })
  }

  async read(object: string): Promise<Uint8Array> {
    this.#child.stdin.write(`${object}\n`)
    const head = await this.#readLine()
    const size = /^[0-9a-f]+ blob (\d+)$/.exec(head)?.[1]
    if (size === undefined) throw new GitError(`git says: ${head}`)
    const content = await this.#readBytes(Number(size))
    await this.#readBytes(1)
    return content
  }

  async close(): Promise<void> {
    end(this.#child)
    this.#child.stdout.destroy()
    await this.#ended
  }

  async #readLine(): Promise<string> {
    for (;;) {
      const end = this.#rest.indexOf(0x0a)
      if (end >= 0) {
        const line = this.#rest.toString('utf8', 0, end)
        this.#rest = this.#rest.subarray(end + 1)
        return line
      }
      await this.#more()
    }
  }

  async #readBytes(count: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(count)
    let have = 0
    while (have < count) {
      if (this.#rest.length === 0) await this.#more()
      const some = this.#rest.subarray(0, count - have)
      bytes.set(some, have)
      have += some.length
      this.#rest = this.#rest.subarray(some.length)
    }
    return bytes
  }

  async #more(): Promise<void> {
    const { done, value } = await this.#pieces.next()
    if (done === true) {
      throw explainEnd((await this.#ended) ?? { cause: new Error('it ended'), isKilled: true }, this.#said)
    }
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value])
  }
}
