import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'

/** Options for running git. */
export interface GitOptions {
  /** The local folder of the repository. */
  readonly folder: string
  /** The environment for git: only the paths of programs and keys. */
  readonly environment: Readonly<Record<string, string>>
  /** The only protocol that git may use. @default none, so missing objects are never fetched */
  readonly protocol?: string
  /** Settings of this run. They are passed in the environment, because every user of the machine can see arguments. */
  readonly settings?: Readonly<Record<string, string>>
  /** The SSH command, if git connects by SSH. */
  readonly ssh?: string | undefined
  /** Limit of a single memory allocation of git, because a few packed bytes can expand to very many. @default 128 MB */
  readonly maxAllocBytes?: number
  /** Secrets that are removed from messages. */
  readonly secrets?: readonly string[]
  readonly signal?: AbortSignal | undefined
}

/** Git failed. The message is meant for users and has no secrets. */
export class GitError extends Error {
  override readonly name = 'GitError'
  /** Whether git was killed or did not start, which says nothing about the repository. */
  readonly isKilled: boolean
  /** Whether git gave no reason, as `--quiet` tells it to for a missing object. */
  readonly isSilent: boolean
  /** Advice for the user. */
  readonly advice: string

  constructor(message: string, options: GitErrorOptions = {}) {
    const { isKilled = false, isSilent = false, advice = DEFAULT_ADVICE } = options
    super(message, options)
    this.isKilled = isKilled
    this.isSilent = isSilent
    this.advice = advice
  }
}

interface GitErrorOptions extends ErrorOptions {
  readonly isKilled?: boolean
  readonly isSilent?: boolean
  readonly advice?: string
}

const DEFAULT_ADVICE = 'fix the problem, or name another repository'

/**
 * Settings that keep a repository from running code: no hooks, no file system or password programs, no background maintenance. Filters and
 * drivers need a working tree, which is never created.
 */
const SAFE_SETTINGS: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.askPass': '',
  // Larger files are never loaded into memory as a whole.
  'core.bigFileThreshold': '16m',
  'credential.helper': '',
  'fetch.recurseSubmodules': 'false',
  // Always one pack file, whose growth can be measured.
  'fetch.unpackLimit': '1',
  'fetch.writeCommitGraph': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'http.followRedirects': 'false',
  'http.lowSpeedLimit': '1000',
  'http.lowSpeedTime': '60',
  // The library's owner chose the repository, so its file owner does not matter.
  'safe.directory': '*',
  'transfer.fsckObjects': 'true',
}

/** A home without user files; without the variable, programs would look the home folder up. */
const NO_HOME = '/dev/null'
/** Minimum allocation limit: enough for the files that are read, and for git's own lists. */
const MIN_ALLOC_BYTES = 2 ** 27

function environmentOf(options: GitOptions): Record<string, string> {
  const { folder, environment, protocol, settings = {}, ssh, maxAllocBytes = 0 } = options
  const allSettings = Object.entries({ ...SAFE_SETTINGS, ...settings })
  const variables = allSettings.flatMap(([key, value], i) => [
    [`GIT_CONFIG_KEY_${i}`, key],
    [`GIT_CONFIG_VALUE_${i}`, value],
  ])
  return {
    ...environment,
    // Only SSH needs the home folder. Over HTTP a server that asks for a password would get one from `.netrc`.
    ...(protocol === 'ssh' ? {} : { HOME: NO_HOME }),
    ...Object.fromEntries(variables),
    GIT_ALLOC_LIMIT: String(Math.max(maxAllocBytes, MIN_ALLOC_BYTES)),
    GIT_CONFIG_COUNT: String(allSettings.length),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    // Overrides every protocol setting of the repository.
    GIT_ALLOW_PROTOCOL: protocol ?? 'none',
    // A folder inside a repository does not count as that repository.
    GIT_CEILING_DIRECTORIES: dirname(folder),
    GIT_LITERAL_PATHSPECS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_SSH_COMMAND: ssh ?? 'false',
    LC_ALL: 'C.UTF-8',
  }
}

/** Limit of git's error output that is read. */
const MAX_STDERR_LENGTH = 2 ** 16

/**
 * Runs git and yields its output in pieces. Git is killed when the caller stops reading. Rejects with a {@link GitError} when git fails,
 * and with the signal's reason when that is aborted.
 */
export async function* streamGit(args: readonly string[], options: GitOptions): AsyncGenerator<Uint8Array, void, void> {
  const { signal } = options
  signal?.throwIfAborted()
  const child = startGit(args, options)
  const ended = waitForExit(child)
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < MAX_STDERR_LENGTH) stderr += text
  })
  child.stdin.end()
  const stop = () => killGit(child)
  signal?.addEventListener('abort', stop, { once: true })
  try {
    for await (const piece of child.stdout) yield piece as Buffer
    const problem = await ended
    signal?.throwIfAborted()
    if (problem !== null) throw createGitError(problem, stderr, options.secrets)
  } finally {
    signal?.removeEventListener('abort', stop)
    killGit(child)
    await ended
  }
}

/** Runs git to its end and returns its output, which must be small. */
export async function runGit(args: readonly string[], options: GitOptions): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of streamGit(args, options)) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

function startGit(args: readonly string[], options: GitOptions): ChildProcessWithoutNullStreams {
  // Git gets its own process group, so that it can be killed with its child processes.
  const settings = { cwd: options.folder, env: environmentOf(options), detached: true, windowsHide: true }
  const child = spawn('git', args, settings)
  // Writing to a process that has exited fails.
  child.stdin.on('error', () => undefined)
  return child
}

function killGit(child: ChildProcessWithoutNullStreams): void {
  const { pid, exitCode, signalCode } = child
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  child.stdin.end()
  try {
    process.kill(-pid)
  } catch {
    // It has exited already, or the system has no process groups.
    child.kill()
  }
}

/** A failed exit of a program. */
interface FailedExit {
  readonly cause: Error
  readonly isKilled: boolean
}

/** How a program exited: null for success. */
async function waitForExit(child: ChildProcessWithoutNullStreams): Promise<FailedExit | null> {
  try {
    const [code, exitSignal] = (await once(child, 'close')) as [number | null, string | null]
    return code === 0 ? null : { cause: new Error(`it ended with ${code ?? exitSignal}`), isKilled: code === null }
  } catch (error) {
    return { cause: error instanceof Error ? error : new Error('it did not start'), isKilled: true }
  }
}

function createGitError({ cause, isKilled }: FailedExit, stderr: string, secrets: readonly string[] = []): GitError {
  if ('code' in cause && cause.code === 'ENOENT')
    return new GitError('the program git is not installed', { cause, advice: 'install it' })
  const [, limit] = /attempting to allocate \d+ over limit (\d+)/.exec(stderr) ?? []
  if (limit !== undefined) {
    const problem = `it holds something that takes more than ${limit} bytes of memory; a larger maxFileBytes allows more`
    return new GitError(problem, { cause })
  }
  const lines = stderr.trim().split('\n')
  const last = lines.findLast((line) => /^(?:fatal|error|remote|ssh):/i.test(line)) ?? lines.at(-1) ?? ''
  // The cause reported by SSH precedes git's own message.
  const line = (last.includes('Could not read from remote') ? (lines[0] ?? last) : last).replace(
    /^(?:fatal|error):\s*/i,
    '',
  )
  const redacted = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), line)
  const message = redacted
    .replace(/\/\/[^/@\s]*@/g, '//…@')
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, 300)
  return new GitError(`git says: ${message || 'nothing'}`, { cause, isKilled, isSilent: message === '' })
}

/** Reads the contents of objects through one process, which must be closed. */
export interface ObjectReader {
  /** @throws {GitError} when the object cannot be read */
  read(object: string): Promise<Uint8Array>
  close(): Promise<void>
}

/** Opens a reader of objects. */
export function openObjects(options: GitOptions): ObjectReader {
  let batch: Batch | undefined
  let previousRead: Promise<unknown> = Promise.resolve()
  const readOne = async (object: string): Promise<Uint8Array> => {
    options.signal?.throwIfAborted()
    batch ??= new Batch(startGit(['cat-file', '--batch'], options))
    try {
      return await batch.read(object)
    } catch (error) {
      // A damaged object ends the process, so a new process reads the next objects.
      await batch.close()
      batch = undefined
      throw error
    }
  }
  const readWithRetry = async (object: string): Promise<Uint8Array> => {
    try {
      return await readOne(object)
    } catch (error) {
      if (!(error instanceof GitError && error.isKilled)) throw error
      return readOne(object)
    }
  }
  return {
    read(object) {
      // Responses arrive in request order, so requests run one after the other.
      const answer = previousRead.then(() => readWithRetry(object))
      previousRead = answer.catch(() => undefined)
      return answer
    },
    async close() {
      await previousRead
      await batch?.close()
    },
  }
}

/** One run of `git cat-file --batch`. */
class Batch {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #pieces: AsyncIterator<Buffer>
  readonly #ended: Promise<FailedExit | null>
  #stderr = ''
  #rest: Buffer = Buffer.alloc(0)

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    this.#pieces = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    this.#ended = waitForExit(child)
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (this.#stderr.length < MAX_STDERR_LENGTH) this.#stderr += text
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
    killGit(this.#child)
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
      await this.#readMore()
    }
  }

  async #readBytes(count: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(count)
    let length = 0
    while (length < count) {
      if (this.#rest.length === 0) await this.#readMore()
      const some = this.#rest.subarray(0, count - length)
      bytes.set(some, length)
      length += some.length
      this.#rest = this.#rest.subarray(some.length)
    }
    return bytes
  }

  async #readMore(): Promise<void> {
    const { done, value } = await this.#pieces.next()
    if (done === true) {
      throw createGitError((await this.#ended) ?? { cause: new Error('it ended'), isKilled: true }, this.#stderr)
    }
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value])
  }
}
