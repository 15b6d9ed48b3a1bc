import { mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { usageError } from '../core/errors.ts'
import { type GitAccess, portOf, type RepositoryAddress } from '../core/url/repository-url.ts'
import type { OpenProxy, ProxyTarget } from '../library/ports/download.ts'
import { GitError, type GitOptions, runGit, streamGit } from './git.ts'

/** Options for fetching repositories. */
export interface FetchOptions {
  readonly git: GitAccess
  /** Larger files are not fetched, if the server supports that filter. */
  readonly maxFileBytes: number
  /** Limit of fetched bytes. */
  readonly maxFetchBytes: number
  /** Resolves a host to its allowed addresses, best first; rejects when it is not allowed. */
  readonly resolveHost: (host: string, port: number) => Promise<readonly string[]>
  /** Opens the proxy through which git reaches an HTTP host. */
  readonly openProxy: (target: ProxyTarget) => Promise<OpenProxy>
  readonly signal?: AbortSignal | undefined
}

/** A commit of a local repository. */
export interface OpenCommit {
  readonly git: GitOptions
  readonly commit: string
  /** Whether large files may be missing from the repository. */
  readonly isPartial: boolean
  close(): Promise<void>
}

/** Fetches one commit without its history into its own folder, which is deleted on close. */
export async function fetchCommit(
  repository: RepositoryAddress,
  ref: string | null,
  options: FetchOptions,
): Promise<OpenCommit> {
  await removeStaleFolders()
  const folder = await mkdtemp(join(tmpdir(), `pharos-git-${process.pid}-`))
  const touchTimer = setInterval(() => void touch(folder), STALE_FOLDER_AGE_MS / 24).unref()
  const close = async () => {
    clearInterval(touchTimer)
    // Stopped programs may still write for a moment.
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
  try {
    const local = createGitOptions(folder, options)
    await createRepository(local, 'sha1')
    const remote = await openRemote(repository, local, options)
    try {
      const fetch = () => withLimits(folder, options, (signal) => fetchRef({ ...remote, signal }, ref, local, options))
      const commit = await fetch().catch(async (error: unknown) => {
        // Only the server knows which hash algorithm it uses.
        if (!(error instanceof GitError && error.message.includes('server sha256'))) throw error
        await createRepository(local, 'sha256')
        return fetch()
      })
      return { git: local, commit, isPartial: true, close }
    } finally {
      await remote.proxy?.close()
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Creates an empty repository in a folder. */
async function createRepository(local: GitOptions, hashes: 'sha1' | 'sha256'): Promise<void> {
  for (const name of await readdir(local.folder)) await rm(join(local.folder, name), { recursive: true })
  await runGit(['init', '--quiet', '--bare', '--template=', `--object-format=${hashes}`, '.'], local)
}

/** Git options for a repository, with memory limits. */
export function createGitOptions(
  folder: string,
  { git: { environment }, maxFileBytes, signal }: Pick<FetchOptions, 'git' | 'maxFileBytes' | 'signal'>,
): GitOptions {
  // Enough memory for a file, its packed form and its delta base.
  return { folder, environment, signal, maxAllocBytes: 4 * maxFileBytes }
}

/** Age in milliseconds from which a folder counts as abandoned. Running processes touch their folders every hour. */
const STALE_FOLDER_AGE_MS = 24 * 3_600_000

async function touch(folder: string): Promise<void> {
  const now = new Date()
  // The folder may already be deleted.
  await utimes(folder, now, now).catch(() => undefined)
}

/** Deletes folders that killed programs left. Process ids do not help, because another program or machine may use the same id. */
async function removeStaleFolders(): Promise<void> {
  const folders = (await readdir(tmpdir())).filter((name) => /^pharos-git-\d+-/.test(name))
  for (const name of folders) {
    const folder = join(tmpdir(), name)
    const stats = await stat(folder).catch(() => undefined)
    if (stats !== undefined && Date.now() - stats.mtimeMs > STALE_FOLDER_AGE_MS) {
      // Folders of other users stay.
      await rm(folder, { recursive: true, force: true }).catch(() => undefined)
    }
  }
}

/** A remote repository, and how git reaches it. */
interface Remote {
  readonly url: string
  readonly git: GitOptions
  /** The proxy for HTTP. */
  readonly proxy?: OpenProxy
}

const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
/** An abbreviated hash, which only the full repository can resolve. */
const SHORT_HASH = /^[0-9a-f]{7,39}$/

async function fetchRef(
  { url, git, proxy, signal }: Remote & { readonly signal: AbortSignal },
  ref: string | null,
  local: GitOptions,
  { maxFileBytes }: FetchOptions,
): Promise<string> {
  const fetchRefs = (depth: number, ...refs: readonly string[]) => {
    // Large files are filtered out if the server supports it, and are skipped later in any case.
    const limits = [`--depth=${depth}`, `--filter=blob:limit=${maxFileBytes + 1}`]
    return runGit(['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', ...limits, '--', url, ...refs], {
      ...git,
      signal,
    })
  }
  try {
    await fetchRefs(1, `+${ref ?? 'HEAD'}:${FETCHED_REF}`)
    return await findCommit(local, FETCHED_REF)
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    const isUnadvertised = /not our ref|unadvertised object|not advertised/.test(error.message)
    if (ref !== null && isNoRef(error)) throw await refuseRef(error, ref, url, { ...git, signal })
    if (ref === null || !HASH.test(ref) || !isUnadvertised) throw explainFetchError(error, url, proxy)
  }
  // A server that does not serve commits by hash may serve a branch or tag that contains the commit.
  for (const depth of [1, MAX_HISTORY]) {
    await fetchRefs(depth, '+refs/heads/*:refs/pharos/heads/*', '+refs/tags/*:refs/pharos/tags/*')
    const found = await findCommit(local, ref).catch(() => undefined)
    if (found !== undefined) return found
  }
  throw new GitError(
    `the server does not serve commits by hash, and ${ref} is not among the last ${MAX_HISTORY} of a branch or tag`,
  )
}

const FETCHED_REF = 'refs/pharos/read'
/** Number of commits of each branch and tag that are searched. */
const MAX_HISTORY = 500

/** The commit of a branch, tag or hash. */
export async function findCommit(git: GitOptions, ref: string): Promise<string> {
  try {
    return (await runGit(['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`], git)).trim()
  } catch (error) {
    if (!(error instanceof GitError && error.isSilent)) throw error
    throw new GitError(ref === 'HEAD' ? NO_COMMIT : `there is no branch, tag or commit ${ref}`, { cause: error })
  }
}

const NO_COMMIT = 'it has no commit'

function isNoRef({ message }: GitError): boolean {
  return /couldn't find remote ref/i.test(message)
}

/** The error for a branch or tag that the server does not have. */
async function refuseRef(cause: GitError, ref: string, url: string, git: GitOptions): Promise<GitError> {
  const hint = SHORT_HASH.test(ref) ? '; a commit needs its full hash' : ''
  const names = await describeRefs(['ls-remote', '--heads', '--tags', '--refs', '--', url], git)
  return new GitError(`there is no branch or tag ${ref}${hint}${names}`, { cause, advice: OTHER_REF_ADVICE })
}

/** Advice for a missing branch, tag or commit. */
export const OTHER_REF_ADVICE = 'name a branch, tag or commit that it has'
/** Number of branch and tag names in a message. */
const MAX_NAMES = 10
/** Maximum number of characters of a listing that are read. */
const MAX_LISTING_CHARS = 2 ** 16

/** The existing branches and tags, as text that follows an error message. */
export async function describeRefs(list: readonly string[], git: GitOptions): Promise<string> {
  let output = ''
  try {
    for await (const piece of streamGit(list, git)) {
      output += Buffer.from(piece).toString('utf8')
      if (output.length > MAX_LISTING_CHARS) break
    }
  } catch (error) {
    // A failed listing is not worth reporting besides the missing branch.
    if (!(error instanceof GitError)) throw error
  }
  const names = Array.from(output.matchAll(/refs\/(?:heads|tags)\/(\S{1,100})\n/g), ([, name]) => name)
  const more = names.length > MAX_NAMES ? ' and others' : ''
  return names.length === 0 ? '' : `; it has ${names.slice(0, MAX_NAMES).join(', ')}${more}`
}

/** Turns an error of git into one with advice. */
function explainFetchError(error: GitError, url: string, proxy: OpenProxy | undefined): GitError {
  if (typeof proxy?.failure === 'string') return new GitError(proxy.failure, { cause: error })
  // Removes quoted addresses, which may contain any of the words searched for.
  const message = error.message.replace(/'[^']*'/g, '')
  const { host } = new URL(url)
  if (isNoRef(error)) return new GitError(NO_COMMIT, { cause: error })
  if (/returned error: 30\d|url base from redirection/i.test(message)) {
    return new GitError(`${host} redirects to another address; name that address instead`, { cause: error })
  }
  if (/could not read Username|Authentication failed|returned error: 40[13]/i.test(message)) {
    const advice = `name a variable that holds a token with gitTokens, as ${host}=VARIABLE`
    return new GitError(`${host} requires authentication: ${advice}`, { cause: error })
  }
  return error
}

/** Decides how git reaches a repository: URL, token and proxy. */
async function openRemote(
  { remote: url, protocol }: RepositoryAddress,
  local: GitOptions,
  { git: { tokenFor }, resolveHost, openProxy, maxFetchBytes }: FetchOptions,
): Promise<Remote> {
  const { hostname, host, origin, pathname } = new URL(url)
  const name = hostname.replace(/^\[(.*)\]$/, '$1')
  const port = portOf(url)
  const addresses = await resolveHost(name, port)
  const [address = name] = addresses
  if (protocol === 'ssh') return { url, git: { ...local, protocol, ssh: sshCommand(name, port, address) } }
  // Git resolves the host itself, so the URL must have the checked address.
  if (protocol === 'git') return { url: `git://${bracket(address)}:${port}${pathname}`, git: { ...local, protocol } }
  // Another port of a host is another server, so a token is matched with its port.
  const token = tokenFor(host) ?? tokenFor(`${hostname}:${port}`)
  if (token !== undefined && protocol === 'http' && !addresses.every(isLoopback)) {
    throw usageError(`the token for ${host} is sent with https only`)
  }
  const proxy = await openProxy({ host: name, port, addresses, maxBytes: maxFetchBytes + PROTOCOL_OVERHEAD_BYTES })
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64')
  const settings = {
    'http.proxy': proxy.url,
    ...(token === undefined ? {} : { [`http.${origin}/.extraHeader`]: `Authorization: Basic ${basic}` }),
  }
  return { url, git: { ...local, protocol, settings, secrets: token === undefined ? [] : [token, basic] }, proxy }
}

/** Allowance for protocol overhead: the server lists all its branches and tags, several times. */
const PROTOCOL_OVERHEAD_BYTES = 2 ** 26

/** An SSH command that never prompts and connects to the checked address. SSH looks up the host key by the host name. */
function sshCommand(host: string, port: number, address: string): string {
  const alias = port === 22 ? host : `[${host}]:${port}`
  const settings = ['BatchMode=yes', 'PermitLocalCommand=no', `HostName=${address}`, `HostKeyAlias=${alias}`]
  return ['ssh', ...settings.map((setting) => `-o '${setting}'`)].join(' ')
}

/** An address in URL syntax. */
function bracket(address: string): string {
  return isIP(address) === 6 ? `[${address}]` : address
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.')
}

/** Timeout of a fetch or a listing, in milliseconds. */
const TIMEOUT_MS = 15 * 60_000
const SIZE_POLL_INTERVAL_MS = 200

/** Aborts work that takes too long. */
export async function withTimeout<T>(
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  try {
    return await work(signal === undefined ? timeout : AbortSignal.any([timeout, signal]))
  } catch (error) {
    signal?.throwIfAborted()
    if (timeout.aborted) throw new GitError('it took too long', { cause: error })
    throw error
  }
}

/** Aborts a fetch that exceeds its size limit or timeout. */
async function withLimits<T>(
  folder: string,
  { maxFetchBytes, signal }: FetchOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const tooLarge = new AbortController()
  const checkSize = async () => {
    if ((await measureFetched(folder)) > maxFetchBytes) tooLarge.abort()
  }
  const timer = setInterval(() => void checkSize(), SIZE_POLL_INTERVAL_MS)
  try {
    const result = await withTimeout(signal, (stop) => work(AbortSignal.any([stop, tooLarge.signal])))
    await checkSize()
    if (!tooLarge.signal.aborted) return result
  } catch (error) {
    if (!tooLarge.signal.aborted) throw error
  } finally {
    clearInterval(timer)
  }
  const advice = 'allow more with maxArchiveBytes, or name another repository'
  throw new GitError(`it has more than ${maxFetchBytes} bytes (maxArchiveBytes)`, { advice })
}

/** Bytes fetched so far. */
async function measureFetched(folder: string): Promise<number> {
  const packs = join(folder, 'objects', 'pack')
  const names = await readdir(packs).catch(() => [])
  const sizes = await Promise.all(names.map((name) => stat(join(packs, name)).catch(() => undefined)))
  return sizes.reduce((sum, stats) => sum + (stats?.size ?? 0), 0)
}
