import { mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PharosError } from '../core/errors.ts'
import { type GitAccess, portOf, type RepositoryPlace } from '../core/url/repository-url.ts'
import type { OpenProxy, ProxyWay } from '../library/download.ts'
import { GitError, type GitOptions, runGit, streamGit } from './git.ts'

/** What repositories are fetched with. */
export interface FetchOptions {
  readonly git: GitAccess
  /** Larger files are not fetched, where the server can leave them out. */
  readonly maxFileBytes: number
  /** Most bytes that are fetched. */
  readonly maxFetchBytes: number
  /** The addresses that a host may be reached by, the best first; rejects where it may not be. */
  readonly resolveHost: (host: string, port: number) => Promise<readonly string[]>
  /** Opens the proxy that a host of the web is reached through. */
  readonly openProxy: (way: ProxyWay) => Promise<OpenProxy>
  readonly signal?: AbortSignal | undefined
}

/** A repository at a commit, on this machine. */
export interface OpenCommit {
  readonly git: GitOptions
  readonly commit: string
  /** Whether files may be missing from it because they are too large. */
  readonly isPartial: boolean
  close(): Promise<void>
}

/** Fetches one commit, without those before it, into a folder of its own, which is gone when it is closed. */
export async function fetchCommit(
  place: RepositoryPlace,
  ref: string | null,
  options: FetchOptions,
): Promise<OpenCommit> {
  await clearLeft()
  const folder = await mkdtemp(join(tmpdir(), `pharos-git-${process.pid}-`))
  const kept = setInterval(() => void touch(folder), MAX_AGE / 24).unref()
  const close = async () => {
    clearInterval(kept)
    // Programs that were stopped may still write for a moment.
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
  try {
    const here = gitIn(folder, options)
    await createRepository(here, 'sha1')
    const remote = await reach(place, here, options)
    try {
      const fetch = () => withinBounds(folder, options, (signal) => fetchRef({ ...remote, signal }, ref, here, options))
      const commit = await fetch().catch(async (error: unknown) => {
        // Only the server knows which hashes it has.
        if (!(error instanceof GitError && error.message.includes('server sha256'))) throw error
        await createRepository(here, 'sha256')
        return fetch()
      })
      return { git: here, commit, isPartial: true, close }
    } finally {
      await remote.proxy?.close()
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Makes a folder a repository without anything in it. */
async function createRepository(here: GitOptions, hashes: 'sha1' | 'sha256'): Promise<void> {
  for (const name of await readdir(here.folder)) await rm(join(here.folder, name), { recursive: true })
  await runGit(['init', '--quiet', '--bare', '--template=', `--object-format=${hashes}`, '.'], here)
}

/** How git is run on a repository, within bounds. */
export function gitIn(
  folder: string,
  { git: { environment }, maxFileBytes, signal }: Pick<FetchOptions, 'git' | 'maxFileBytes' | 'signal'>,
): GitOptions {
  // A file, what it was packed as and what it is made from.
  return { folder, environment, signal, maxAllocBytes: 4 * maxFileBytes }
}

/** So old is nothing that is still in use, in milliseconds: whoever uses a folder says so every hour. */
const MAX_AGE = 24 * 3_600_000

async function touch(folder: string): Promise<void> {
  const now = new Date()
  // Gone is gone.
  await utimes(folder, now, now).catch(() => undefined)
}

/** Clears away what programs left that were killed. Their numbers say nothing: another program, or machine, may have the same. */
async function clearLeft(): Promise<void> {
  const left = (await readdir(tmpdir())).filter((name) => /^pharos-git-\d+-/.test(name))
  for (const name of left) {
    const folder = join(tmpdir(), name)
    const facts = await stat(folder).catch(() => undefined)
    if (facts !== undefined && Date.now() - facts.mtimeMs > MAX_AGE) {
      // What is not this user's stays.
      await rm(folder, { recursive: true, force: true }).catch(() => undefined)
    }
  }
}

/** A repository elsewhere, and how git gets there. */
interface Remote {
  readonly url: string
  readonly git: GitOptions
  /** What of the web is reached through. */
  readonly proxy?: OpenProxy
}

const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
/** A hash that only its own repository can complete. */
const SHORT_HASH = /^[0-9a-f]{7,39}$/

async function fetchRef(
  { url, git, proxy, signal }: Remote & { readonly signal: AbortSignal },
  ref: string | null,
  here: GitOptions,
  { maxFileBytes }: FetchOptions,
): Promise<string> {
  const fetchAll = (depth: number, ...refs: readonly string[]) => {
    // What is too large is left out where the server knows how to, and is passed over later in any case.
    const few = [`--depth=${depth}`, `--filter=blob:limit=${maxFileBytes + 1}`]
    return runGit(['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', ...few, '--', url, ...refs], {
      ...git,
      signal,
    })
  }
  try {
    await fetchAll(1, `+${ref ?? 'HEAD'}:${READ}`)
    return await findCommit(here, READ)
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    const isUnadvertised = /not our ref|unadvertised object|not advertised/.test(error.message)
    if (ref !== null && isNoRef(error)) throw await refuseRef(error, ref, url, { ...git, signal })
    if (ref === null || !HASH.test(ref) || !isUnadvertised) throw explain(error, url, proxy)
  }
  // A server that gives no commit by its hash may give a branch or tag that has it.
  for (const depth of [1, MAX_HISTORY]) {
    await fetchAll(depth, '+refs/heads/*:refs/pharos/heads/*', '+refs/tags/*:refs/pharos/tags/*')
    const found = await findCommit(here, ref).catch(() => undefined)
    if (found !== undefined) return found
  }
  throw new GitError(
    `the server gives no commit by its hash, and ${ref} is not among the last ${MAX_HISTORY} of a branch or tag`,
  )
}

const READ = 'refs/pharos/read'
/** Commits of each branch and tag that are looked through for one. */
const MAX_HISTORY = 500

/** The commit that a branch, tag or hash stands for. */
export async function findCommit(git: GitOptions, ref: string): Promise<string> {
  try {
    return (await runGit(['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`], git)).trim()
  } catch (error) {
    if (!(error instanceof GitError) || error.message !== 'git says: nothing') throw error
    throw new GitError(ref === 'HEAD' ? NO_COMMIT : `there is no branch, tag or commit ${ref}`, { cause: error })
  }
}

const NO_COMMIT = 'it has no commit'

function isNoRef({ message }: GitError): boolean {
  return /couldn't find remote ref/i.test(message)
}

/** What is said of a branch or tag that a server does not have. */
async function refuseRef(cause: GitError, ref: string, url: string, git: GitOptions): Promise<GitError> {
  const hint = SHORT_HASH.test(ref) ? '; a commit is named by its whole hash' : ''
  const names = await listNames(['ls-remote', '--heads', '--tags', '--refs', '--', url], git)
  return new GitError(`there is no branch or tag ${ref}${hint}${names}`, { cause, advice: OTHER_REF })
}

/** What to do about a branch, tag or commit that is not there. */
export const OTHER_REF = 'name a branch, tag or commit that it has'
/** So many names of branches and tags are told. */
const MAX_NAMES = 10
/** So much of a list of them is read. */
const MAX_LISTED = 2 ** 16

/** The branches and tags that there are, as far as git lists them, in words that follow what is missing. */
export async function listNames(list: readonly string[], git: GitOptions): Promise<string> {
  let said = ''
  try {
    for await (const piece of streamGit(list, git)) {
      said += Buffer.from(piece).toString('utf8')
      if (said.length > MAX_LISTED) break
    }
  } catch (error) {
    // That they cannot be listed is no news beside what is missing.
    if (!(error instanceof GitError)) throw error
  }
  const names = Array.from(said.matchAll(/refs\/(?:heads|tags)\/(\S{1,100})\n/g), ([, name]) => name)
  const more = names.length > MAX_NAMES ? ' and others' : ''
  return names.length === 0 ? '' : `; it has ${names.slice(0, MAX_NAMES).join(', ')}${more}`
}

/** What git says, and what can be done about it. */
function explain(error: GitError, url: string, proxy: OpenProxy | undefined): GitError {
  if (typeof proxy?.failure === 'string') return new GitError(proxy.failure, { cause: error })
  // An address may hold any word.
  const message = error.message.replace(/'[^']*'/g, '')
  const { host } = new URL(url)
  if (isNoRef(error)) return new GitError(NO_COMMIT, { cause: error })
  if (/returned error: 30\d|url base from redirection/i.test(message)) {
    return new GitError(`${host} leads to another address, which is not followed: name that one`, { cause: error })
  }
  if (/could not read Username|Authentication failed|returned error: 40[13]/i.test(message)) {
    const advice = `name a variable that holds a token with gitTokens, as ${host}=VARIABLE`
    return new GitError(`${host} does not give it to everybody: ${advice}`, { cause: error })
  }
  return error
}

/** Finds out how git is to reach a repository: by which address, and with which token. */
async function reach(
  { remote: url, protocol }: RepositoryPlace,
  here: GitOptions,
  { git: { tokenFor }, resolveHost, openProxy, maxFetchBytes }: FetchOptions,
): Promise<Remote> {
  const { hostname, host, origin, pathname } = new URL(url)
  const name = hostname.replace(/^\[(.*)\]$/, '$1')
  const port = portOf(url)
  const addresses = await resolveHost(name, port)
  const [address = name] = addresses
  if (protocol === 'ssh') return { url, git: { ...here, protocol, ssh: sshCommand(name, port, address) } }
  // Git finds the host itself: only its address leads where it was looked up.
  if (protocol === 'git') return { url: `git://${bracket(address)}:${port}${pathname}`, git: { ...here, protocol } }
  // What listens at another port of a host is another server, maybe somebody else's.
  const token = tokenFor(host) ?? tokenFor(`${hostname}:${port}`)
  if (token !== undefined && protocol === 'http' && !addresses.every(isLoopback)) {
    throw new PharosError('USAGE', { problem: `the token for ${host} is sent with https only` })
  }
  const proxy = await openProxy({ host: name, port, addresses, maxBytes: maxFetchBytes + TALK_BYTES })
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64')
  const settings = {
    'http.proxy': proxy.url,
    ...(token === undefined ? {} : { [`http.${origin}/.extraHeader`]: `Authorization: Basic ${basic}` }),
  }
  return { url, git: { ...here, protocol, settings, secrets: token === undefined ? [] : [token, basic] }, proxy }
}

/** What a server says besides what is fetched: the names of all its branches and tags, several times. */
const TALK_BYTES = 2 ** 26

/** SSH that asks nobody, and goes where the name was looked up; keys are those of the name. */
function sshCommand(host: string, port: number, address: string): string {
  const alias = port === 22 ? host : `[${host}]:${port}`
  const settings = ['BatchMode=yes', 'PermitLocalCommand=no', `HostName=${address}`, `HostKeyAlias=${alias}`]
  return ['ssh', ...settings.map((one) => `-o '${one}'`)].join(' ')
}

/** An address as it stands in a URL. */
function bracket(address: string): string {
  return isIP(address) === 6 ? `[${address}]` : address
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.')
}

/** Time for all that is fetched, and for a list of it, in milliseconds. */
const MAX_TIME = 15 * 60_000
const LOOK_EVERY = 200

/** Ends work that takes too long. */
export async function withinTime<T>(
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = AbortSignal.timeout(MAX_TIME)
  try {
    return await work(signal === undefined ? late : AbortSignal.any([late, signal]))
  } catch (error) {
    signal?.throwIfAborted()
    if (late.aborted) throw new GitError('it took too long', { cause: error })
    throw error
  }
}

/** Ends what is fetched when it becomes too much, or takes too long. */
async function withinBounds<T>(
  folder: string,
  { maxFetchBytes, signal }: FetchOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const look = async () => {
    if ((await measure(folder)) > maxFetchBytes) over.abort()
  }
  const timer = setInterval(() => void look(), LOOK_EVERY)
  try {
    const done = await withinTime(signal, (stop) => work(AbortSignal.any([stop, over.signal])))
    await look()
    if (!over.signal.aborted) return done
  } catch (error) {
    if (!over.signal.aborted) throw error
  } finally {
    clearInterval(timer)
  }
  const advice = 'allow more with maxArchiveBytes, or name another'
  throw new GitError(`it has more than ${maxFetchBytes} bytes (maxArchiveBytes)`, { advice })
}

/** Bytes of what was fetched so far. */
async function measure(folder: string): Promise<number> {
  const packs = join(folder, 'objects', 'pack')
  const names = await readdir(packs).catch(() => [])
  const sizes = await Promise.all(names.map((name) => stat(join(packs, name)).catch(() => undefined)))
  return sizes.reduce((sum, facts) => sum + (facts?.size ?? 0), 0)
}
