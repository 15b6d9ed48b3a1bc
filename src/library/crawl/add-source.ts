import { PharosError, usageError } from '../../core/errors.ts'
import { clipText } from '../../core/text/lines.ts'
import { hideCredentials } from '../../core/url/credentials.ts'
import { decodePart } from '../../core/url/decode-part.ts'
import { isLocalUrl } from '../../core/url/file-url.ts'
import { urlKey } from '../../core/url/key.ts'
import { isShortPackageUrl } from '../../core/url/package-url.ts'
import { parseTreeUrl } from '../../core/url/parse-tree-url.ts'
import { findGlobProblem } from '../../core/url/path-glob.ts'
import { nameOfRepository, parseRepositoryUrl } from '../../core/url/repository-url.ts'
import { DEFAULT_SCOPE, type Scope } from '../../core/url/scope.ts'
import { findFolderProblem, readImportUrl, treeKindOf, writeImportUrl } from '../../core/url/tree-url.ts'
import { withScheme } from '../../core/url/with-scheme.ts'
import { type Library, machineOf } from '../library.ts'
import { DEFAULT_SETTINGS, type Source, type SourceSettings } from '../source.ts'

/** Input for a new source. */
export interface SourceInput {
  /** Start address of a site, or address of a tree of files in any notation: an archive on the web, a Git repository or a package. */
  readonly url: string
  /**
   * Allows a folder, file or repository on this machine. Only the owner of the machine may set this, never a page or a request.
   * @default false
   */
  readonly isOwnFolder?: boolean
  /** Whether the source consists of imported chunks for a web address. @default false */
  readonly isImported?: boolean
  /** @default the host with the path; for a tree, the end of its address */
  readonly name?: string | undefined
  readonly version?: string | undefined
  readonly scope?: Partial<Scope>
  readonly settings?: Partial<SourceSettings>
}

/** Stores a new source without fetching anything. */
export async function addSource(library: Library, input: SourceInput): Promise<Source> {
  const start = findAddress(library, input)
  const scope = resolveScope(DEFAULT_SCOPE, input.scope ?? {})
  const settings = { ...DEFAULT_SETTINGS, ...machineFor(library, start), ...input.settings }
  checkTree(start, settings.tree)
  settings.seeds.forEach(parseStart)
  if (settings.llmsTxtUrl !== null) checkListAddress(settings.llmsTxtUrl, start)
  const source: Source = {
    id: library.newId(),
    name: checkLabel('name', input.name ?? clipText(nameOf(start), MAX_LABEL)),
    version: input.version === undefined ? null : checkLabel('version', input.version),
    url: start,
    siteUrl: start,
    scope,
    settings,
    createdAt: library.clock.now(),
  }
  await library.store.addSource(source)
  return source
}

/** Throws for a path: it may mean a file on this machine or on the site. */
function checkListAddress(text: string, start: string): void {
  if (URL.canParse(withScheme(text))) parseStart(text)
  else throw usageError(`llms.txt: expected a web address such as ${new URL('/llms.txt', start).href}, got ${text}`)
}

/** Records the machine of a local tree if workers on other machines share the library. */
function machineFor(
  { workers, runner }: Pick<Library, 'runner' | 'workers'>,
  start: string,
): Pick<SourceSettings, 'machine'> {
  return workers === undefined || !isLocalUrl(start) ? {} : { machine: machineOf(runner) }
}

/** Returns the start address of the source. */
function findAddress(library: Pick<Library, 'trees'>, input: SourceInput): string {
  if (input.isImported === true) return writeImportUrl(parseStart(input.url).href)
  return findTreeAddress(library, input) ?? parseStart(input.url).href
}

/** Returns the address of a tree of files; undefined for a web site. Local trees require `isOwnFolder`. */
export function findTreeAddress(
  { trees }: Pick<Library, 'trees'>,
  { url, isOwnFolder = false }: Pick<SourceInput, 'url' | 'isOwnFolder'>,
): string | undefined {
  if (trees === undefined) return undefined
  if (isLocalUrl(url)) return isOwnFolder ? new URL(url).href : undefined
  return parseRemoteTree(url)
}

/**
 * Parses the address of a web archive, remote repository or package; undefined for anything else. Throws if it contains a password or
 * token, which would be stored and shown.
 */
export function parseRemoteTree(text: string): string | undefined {
  const address = parseTreeUrl(withScheme(text))
  if (address === undefined || isLocalUrl(address)) return undefined
  const { username, password, protocol, searchParams } = new URL(address)
  const secret = [...searchParams.keys()].find((name) => SECRET_PARAMETER.test(name))
  if (secret !== undefined) {
    const problem = `its parameter ${secret} is a signature or token, which would be stored; add a downloaded copy`
    throw new PharosError('URL_INVALID', { url: hideCredentials(text.replace(/\?.*$/s, '')), problem })
  }
  if (password === '' && (username === '' || protocol === 'git+ssh:')) return address
  const instead = treeKindOf(address) === 'repository' ? '; use the setting gitTokens for the token instead' : ''
  const problem = `it contains a user name or password${instead}`
  throw new PharosError('URL_INVALID', { url: hideCredentials(text), problem })
}

/** Query parameters of signed addresses and access tokens. */
const SECRET_PARAMETER =
  /^(?:x-(?:amz|goog|oss)-.*|sig|signature|token|.*[_-]token|.*api[_-]?key|auth|authorization|key-pair-id|policy)$/i

/** Throws if tree settings do not apply to the kind of tree. */
function checkTree(url: string, { ref, path }: SourceSettings['tree']): void {
  const kind = treeKindOf(url)
  if (ref !== null && kind !== 'repository') {
    throw usageError('ref: only a Git repository has branches, tags and commits, and this is not one')
  }
  if (path !== null && (kind === undefined || kind === 'folder')) {
    throw usageError('path: only for a repository, an archive or a package; name the folder itself')
  }
  const problem = path === null ? undefined : findFolderProblem(path)
  if (problem !== undefined) {
    throw usageError(`path: ${problem}, got ${JSON.stringify(path)}`)
  }
}

/** Merges scope options and validates their patterns. */
export function resolveScope(base: Scope, given: Partial<Scope>): Scope {
  const scope = { ...base, ...given }
  for (const pattern of [...scope.allow, ...scope.block]) {
    const problem = findGlobProblem(pattern)
    if (problem !== undefined) throw usageError(`pattern ${JSON.stringify(pattern)}: ${problem}`)
  }
  return scope
}

/** Advice for a single word, which may be the name of a package. */
export function adviseWord(text: string): { readonly advice?: string } {
  const [word] = /^[a-z][\w.-]*$/i.exec(text.trim()) ?? []
  if (word === undefined) return {}
  return {
    advice: `give an address that begins with http:// or https://, or the registry of a package: npm:${word}, pypi:${word}, crates:${word}`,
  }
}

const LOCAL_PATH_HINT = 'a local file or folder can only be added on its own machine, with `pharos add <path>`'

/** What is wrong with the port of an address; undefined if nothing is. */
export function findPortProblem(text: string): string | undefined {
  const port = /^(?:[a-z]+:\/\/)?[^\s/?#]*:(\d+)(?=[/?#]|$)/i.exec(text.trim())?.[1]
  return Number(port) > MAX_PORT ? `its port is ${port}, and the highest is ${MAX_PORT}` : undefined
}

const MAX_PORT = 65_535

/** Parses a start address from user input; throws if it is not an address or contains credentials. */
export function parseStart(text: string): URL {
  const url = URL.parse(withScheme(text)) ?? undefined
  const shown = hideCredentials(text)
  if (url === undefined) {
    const isPath = /^(?:[/~]|\.{1,2}(?:\/|$))/.test(text)
    const problem = isPath ? `it is a path; ${LOCAL_PATH_HINT}` : (findPortProblem(text) ?? 'it is not an address')
    throw new PharosError('URL_INVALID', { url: shown, problem, ...adviseWord(text) })
  }
  if (isShortPackageUrl(text)) {
    const [scheme] = text.trim().split(':')
    const form = `${scheme}:${scheme?.toLowerCase() === 'maven' ? 'group:artifact' : 'name'}`
    throw new PharosError('URL_INVALID', {
      url: shown,
      problem: `it names no package; expected ${form}, or ${form}@version`,
    })
  }
  if (urlKey(url) === undefined) {
    const scheme = `its scheme is ${url.protocol.slice(0, -1)}`
    const problem = isLocalUrl(url.href) ? `${scheme}; ${LOCAL_PATH_HINT}` : scheme
    throw new PharosError('URL_INVALID', { url: shown, problem })
  }
  if (url.username !== '' || url.password !== '') {
    const problem = 'it contains a user name or password; give them with --header instead'
    throw new PharosError('URL_INVALID', { url: shown, problem })
  }
  url.hash = ''
  return url
}

/** Examples: `https://docs.example/v2/guide/` → `docs.example/v2/guide`, `file:///home/me/docs/` → `docs` */
function nameOf(start: string): string {
  const { host, pathname } = new URL(readImportUrl(start))
  const kind = treeKindOf(start)
  const repository = kind === 'repository' ? parseRepositoryUrl(start) : undefined
  if (repository !== undefined) return toName(nameOfRepository(repository))
  if (kind === undefined || kind === 'import') return toName(`${host}${pathname.replace(/\/(?:index\.\w+)?$/, '')}`)
  return toName(decodePart(/([^/]*)\/?$/.exec(pathname)?.[1] ?? '')) || '/'
}

/** Converts a text to a valid source name. */
export function toName(text: string): string {
  return text.replace(/^@/, '').replaceAll('@', '-').replaceAll(INVISIBLE, '-')
}

/** Control characters, line breaks, bidirectional marks and other invisible characters. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Maximum length of the name or version of a source, as in the HTTP API. */
const MAX_LABEL = 200

/** Validates the name or version of a source. `@` separates the two, and both appear in single lines of text. */
export function checkLabel(what: 'name' | 'version', label: string): string {
  if (label.length > MAX_LABEL) throw usageError(`the ${what} has ${label.length} characters, more than ${MAX_LABEL}`)
  const shown = `the ${what} ${JSON.stringify(label)}`
  if (label.trim() === '') throw usageError(`${shown} is empty`)
  if (label.includes('@')) {
    throw usageError(`${shown} contains @, which separates name and version`)
  }
  if (label.search(INVISIBLE) >= 0) throw usageError(`${shown} contains an invisible character`)
  return label.trim()
}
