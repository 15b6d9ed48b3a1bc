import { decodePart } from './decode-part.ts'
import { encodePath, readInnerPath } from './tree-url.ts'

/** The location of a git repository: its address for git, and its address in this program. */
export interface RepositoryAddress {
  /** `git+https://host/path`, `git+ssh://user@host/path`, `git+file:///path`. */
  readonly url: string
  /** The address for git: the same without `git+`. */
  readonly remote: string
  readonly protocol: RepositoryProtocol
}

/** The parts of this machine that git may use. */
export interface GitAccess {
  /** The environment variables for git, such as the paths of programs and keys. */
  readonly environment: Readonly<Record<string, string>>
  /** The token for a host; undefined if none is configured. Throws if a configured one is missing. */
  readonly tokenFor: (host: string) => string | undefined
}

/** How a repository is reached. */
export type RepositoryProtocol = 'https' | 'http' | 'ssh' | 'git' | 'file'

/** `git@host:owner/name.git`, as copied from web pages. */
const SCP_LIKE = /^(?:([\w.-]+)@)?([\w.-]+):(?!\/\/)([^\s:][^\s]*)$/
const HOST = /^(?:\w[\w.-]*|\[[\da-f:.]+\])?$/i
const PROTOCOLS: readonly string[] = ['https', 'http', 'ssh', 'git', 'file']

/**
 * Parses the address of a repository: with a `git+` prefix, with the scheme `ssh` or `git`, in the short form for SSH, or any web address
 * that ends in `.git`. Undefined for anything else.
 */
export function parseRepositoryUrl(text: string): RepositoryAddress | undefined {
  const trimmed = text.trim()
  const hasGitPrefix = /^git\+/i.test(trimmed)
  const plain = hasGitPrefix ? trimmed.slice(4) : trimmed
  const short = hasGitPrefix || !/^[\w.-]+@/.test(plain) ? null : SCP_LIKE.exec(plain)
  const url = URL.parse(short === null ? plain : `ssh://${short[1] ?? 'git'}@${short[2]}/${short[3]}`)
  if (url === null) return undefined
  const protocol = url.protocol.slice(0, -1)
  const isGitScheme = protocol === 'ssh' || protocol === 'git'
  if (!hasGitPrefix && !isGitScheme && !(protocol !== 'file' && /\.git\/?$/.test(url.pathname))) return undefined
  if (!PROTOCOLS.includes(protocol) || (protocol === 'file') !== (url.hostname === '')) return undefined
  // Hosts of non-web schemes are not validated by URL, and SSH would read a user name that begins with `-` as an option.
  if (!HOST.test(url.hostname) || url.username.startsWith('-')) return undefined
  url.hostname = url.hostname.toLowerCase()
  url.hash = ''
  url.search = ''
  const remote = url.href.replace(/(?<!\/)\/+$/, '')
  return { url: `git+${remote}`, remote, protocol: protocol as RepositoryProtocol }
}

const PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80, 'ssh:': 22, 'git:': 9418 }

/** The port that a repository is reached at. */
export function portOf(remote: string): number {
  const { port, protocol } = new URL(remote)
  return port === '' ? (PORTS[protocol] ?? 0) : Number(port)
}

/** The name of a repository: the last part of its path. */
export function nameOfRepository({ remote }: RepositoryAddress): string {
  const path = decodePart(new URL(remote).pathname)
  return (
    path
      .replace(/(?:\/|\/?\.git)$/i, '')
      .split('/')
      .at(-1) || 'repository'
  )
}

/** A site that shows repositories, and how it writes addresses. */
interface Site {
  readonly host: RegExp
  /** The path segments between a repository and a commit. */
  readonly middle: string
  /** The path segments between a commit and a file. */
  readonly after?: string
  /** Writes the fragment for a range of lines. */
  readonly lines?: (first: number, last: number) => string
}

const SITES: readonly Site[] = [
  { host: /^(?:www\.)?github\.com$|^github\./, middle: 'blob' },
  {
    host: /^gitlab\./,
    middle: '-/blob',
    lines: (first, last) => (last === first ? `L${first}` : `L${first}-${last}`),
  },
  { host: /^(?:codeberg\.org|gitea\.com)$|^(?:gitea|forgejo)\./, middle: 'src/commit' },
  {
    host: /^bitbucket\.org$/,
    middle: 'src',
    lines: (first, last) => (last === first ? `lines-${first}` : `lines-${first}:${last}`),
  },
  {
    host: /^git\.sr\.ht$/,
    middle: 'tree',
    after: '/item',
    lines: (first, last) => (last === first ? `L${first}` : `L${first}-${last}`),
  },
]

/** `L10-L20` */
function writeLines(first: number, last: number): string {
  return last === first ? `L${first}` : `L${first}-L${last}`
}

/** The address of a file of a repository at a commit: a web page if the site of the repository is known. */
export function writeCommitUrl(address: RepositoryAddress, commit: string, path: string): string {
  const site = siteOf(address)
  return `${commitPrefixOf(address)}${commit}${site === undefined ? '!' : (site.after ?? '')}/${encodePath(path)}`
}

/** The path of a file, from any of its addresses in a repository, with or without a commit. Undefined for any other address. */
export function readRepositoryPath(repository: string, url: string): string | undefined {
  const address = parseRepositoryUrl(repository)
  if (address === undefined) return undefined
  const start = commitPrefixOf(address)
  if (!url.startsWith(start)) return readInnerPath(address.url, url)
  const [, rest] = /^(?:[0-9a-f]{40}|[0-9a-f]{64})!?(\/[^#]*)/.exec(url.slice(start.length)) ?? []
  const after = `${siteOf(address)?.after ?? ''}/`
  return rest?.startsWith(after) === true ? decodePart(rest.slice(after.length)) : undefined
}

/** The commit in the address of a repository file; undefined for any other address. */
export function readCommit(repository: string, url: string): string | undefined {
  const address = parseRepositoryUrl(repository)
  if (address === undefined || !url.startsWith(commitPrefixOf(address))) return undefined
  return /^(?:[0-9a-f]{64}|[0-9a-f]{40})(?=[!/])/.exec(url.slice(commitPrefixOf(address).length))?.[0]
}

/** Adds a line range to the URL of a repository file. Undefined if `url` is not a file of the repository or already has a fragment. */
export function writeLinesUrl(repository: string, url: string, first: number, last: number): string | undefined {
  if (readRepositoryPath(repository, url) === undefined || url.includes('#')) return undefined
  const address = parseRepositoryUrl(repository)
  const { lines = writeLines } = (address === undefined ? undefined : siteOf(address)) ?? {}
  return `${url}#${lines(first, Math.max(first, last))}`
}

/** The text before the commit in addresses of files. */
function commitPrefixOf(address: RepositoryAddress): string {
  const site = siteOf(address)
  if (site === undefined) return `${address.url}@`
  const { host, hostname, pathname } = new URL(address.remote)
  const isWeb = address.protocol === 'https' || address.protocol === 'http'
  return `https://${isWeb ? host : hostname}${pathname.replace(/\.git$/i, '')}/${site.middle}/`
}

function siteOf({ remote, protocol }: RepositoryAddress): Site | undefined {
  return protocol === 'file' ? undefined : SITES.find(({ host }) => host.test(new URL(remote).hostname))
}
