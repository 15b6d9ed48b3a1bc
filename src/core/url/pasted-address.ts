import { decodePart } from './decode-part.ts'
import { unwrapAddress, withScheme } from './with-scheme.ts'

/** What a pasted address names. */
export interface PastedAddress {
  /** The address of a repository or package, or the text itself, completed with a scheme. */
  readonly url: string
  /** What it was understood as; undefined if it was taken as it is. */
  readonly meaning?: string
  /** The branch, tag or commit of a repository. */
  readonly ref?: string
  /** The folder of a repository. */
  readonly path?: string
  /** Set for a page of a code host that names no repository. */
  readonly isCodeHostPage?: boolean
}

/** The web site of a code host, and how its pages name a folder or file of a repository. */
interface CodeHost {
  readonly host: RegExp
  /**
   * Matches the path of a page of a repository. Groups: `repository`, and on pages of a folder or file `kind`, `ref` and `path`. A branch
   * is taken to be one segment, since the address does not say where its name ends.
   */
  readonly page: RegExp
  /** First segments of pages that belong to the host itself. */
  readonly own: RegExp
}

const SEGMENT = String.raw`[\w.~-]+`
const REPOSITORY = `(?<repository>${SEGMENT}/${SEGMENT})`

const CODE_HOSTS: readonly CodeHost[] = [
  {
    host: /^github\.com$/,
    page: new RegExp(`^/${REPOSITORY}(?:/(?<kind>tree|blob|releases/tag)/(?<ref>[^/]+)(?<path>/.*)?)?/?$`),
    own: /^\/(?:about|account|apps|codespaces|collections|contact|customer-stories|enterprise|explore|features|git-guides|login|marketplace|new|notifications|organizations|orgs|pricing|pulls|issues|readme|resources|search|security|settings|site|solutions|sponsors|stars|team|topics|trending|users)(?:\/|$)/,
  },
  {
    host: /^gist\.github\.com$/,
    page: new RegExp(`^/(?<repository>${SEGMENT}/[0-9a-f]{20,})(?:/(?<ref>[0-9a-f]{40}))?/?$`),
    own: /^\/(?:discover|starred|forked|search)(?:\/|$)/,
  },
  {
    host: /^gitlab\.com$/,
    page: new RegExp(
      `^/(?<repository>${SEGMENT}(?:/(?!-/)${SEGMENT})+)(?:/-/(?<kind>tree|blob)/(?<ref>[^/]+)(?<path>/.*)?)?/?$`,
    ),
    own: /^\/(?:explore|groups|help|projects|search|users)(?:\/|$)|\/(?:issues|merge_requests|pipelines|wikis)(?:\/|$)/,
  },
  {
    host: /^codeberg\.org$/,
    page: new RegExp(
      `^/${REPOSITORY}(?:/(?:src/)?(?<kind>(?<=/src/)(?:branch|tag|commit)|releases/tag)/(?<ref>[^/]+)(?<path>/.*)?)?/?$`,
    ),
    own: /^\/(?:explore|issues|pulls|user|-)(?:\/|$)/,
  },
  {
    host: /^bitbucket\.org$/,
    page: new RegExp(`^/${REPOSITORY}(?:/(?<kind>src)/(?<ref>[^/]+)(?<path>/.*)?)?/?$`),
    own: /^\/(?:account|dashboard|product|repo)(?:\/|$)/,
  },
]

/** The web site of a package registry: groups `name`, `version`, and `group` for Maven. */
interface PackageSite {
  readonly host: RegExp
  readonly page: RegExp
  readonly prefix: 'npm' | 'pypi' | 'crates' | 'maven'
}

const PACKAGE_SITES: readonly PackageSite[] = [
  {
    host: /^npmjs\.com$/,
    page: /^\/package\/(?<name>(?:@[\w.~-]+\/)?[\w.~-]+)(?:\/v\/(?<version>[^/]+))?\/?$/,
    prefix: 'npm',
  },
  { host: /^pypi\.org$/, page: /^\/p(?:roject)?\/(?<name>[\w.-]+)(?:\/(?<version>[^/]+))?\/?$/, prefix: 'pypi' },
  {
    host: /^(?:crates\.io|lib\.rs)$/,
    page: /^\/crates\/(?<name>[a-z][\w-]*)(?:\/(?<version>[^/]+))?(?:\/.*)?$/i,
    prefix: 'crates',
  },
  {
    host: /^docs\.rs$/,
    page: /^\/(?:crate\/)?(?!(?:about|alloc|core|proc_macro|releases|std|test)(?:\/|$))(?<name>[a-z][\w-]*)(?:\/(?<version>[^/]+))?(?:\/.*)?$/i,
    prefix: 'crates',
  },
  {
    host: /^(?:central\.sonatype\.com|mvnrepository\.com)$/,
    page: /^\/artifact\/(?<group>[\w.-]+)\/(?<name>[\w.-]+)(?:\/(?<version>[^/]+))?(?:\/.*)?$/,
    prefix: 'maven',
  },
]

/** `owner/name`, as people write repositories of GitHub. */
const SHORT_REPOSITORY =
  /^(?<owner>[a-z\d](?:[a-z\d-]{0,38}))\/(?!\.{1,2}$)(?<name>(?![\w.-]*\.(?:csv|docx|epub|gz|html?|json|markdown|md|odt|pdf|pptx|rst|tar|tgz|txt|xlsx|zip)$)[\w.-]{1,100})$/i

/** Commands that install one package, as its page shows them. */
const INSTALL_COMMAND =
  /^(?:\$\s*)?(?:(?<npm>(?:npm|pnpm)\s+(?:i|install|add)|(?:yarn|bun)\s+add)|(?<pypi>(?:python3?\s+-m\s+)?pip3?\s+install|uv\s+(?:add|pip\s+install)|poetry\s+add)|(?<crates>cargo\s+add))(?:\s+-\S+)*\s+["']?(?<name>[@\w][\w./@~^=-]*)["']?(?:\s+-\S+)*$/i

/**
 * Understands an address as people paste it: the page of a repository, of one of its folders or files, or of a package, as the repository
 * or package itself; a command that installs a package, as that package. Anything else is returned as it is, completed with a scheme.
 */
export function readPastedAddress(text: string): PastedAddress {
  const trimmed = unwrapAddress(text).trim()
  const install = INSTALL_COMMAND.exec(trimmed)?.groups
  if (install !== undefined) return readInstall(install)
  const completed = withScheme(trimmed)
  const short = completed === trimmed ? SHORT_REPOSITORY.exec(trimmed)?.groups : undefined
  if (short !== undefined) {
    return readRepository('github.com', `${short['owner']}/${short['name']}`)
  }
  const url = URL.parse(completed)
  if (url === null || !/^https?:$/.test(url.protocol) || url.port !== '' || url.username !== '' || url.password !== '')
    return { url: completed }
  const hostname = url.hostname.replace(/^www\./, '')
  return readPackagePage(hostname, url.pathname) ?? readCodeHostPage(hostname, url.pathname) ?? { url: completed }
}

function readPackagePage(hostname: string, pathname: string): PastedAddress | undefined {
  for (const { host, page, prefix } of PACKAGE_SITES) {
    const found = host.test(hostname) ? page.exec(decodePart(pathname))?.groups : undefined
    if (found === undefined) continue
    const { group, name = '', version } = found
    const full = group === undefined ? name : `${group}:${name}`
    // Words such as `latest` or `dependencies` name no version.
    const pinned = version !== undefined && /^v?\d/.test(version) ? `@${version}` : ''
    return { url: `${prefix}:${full}${pinned}`, meaning: `package ${prefix}:${full}${pinned}` }
  }
  return undefined
}

function readInstall({ name = '', pypi, crates }: Readonly<Record<string, string | undefined>>): PastedAddress {
  const prefix = pypi !== undefined ? 'pypi' : crates !== undefined ? 'crates' : 'npm'
  const url = `${prefix}:${name.replace('==', '@')}`
  return { url, meaning: `package ${url}` }
}

/** A file of a code host that is read by itself: an archive, or a raw file. */
const DOWNLOAD = /\.(?:zip|tar|tar\.\w+|tgz|tbz2?|txz)$|\/(?:raw|releases\/download)\//i

function readCodeHostPage(hostname: string, pathname: string): PastedAddress | undefined {
  const site = CODE_HOSTS.find(({ host }) => host.test(hostname))
  if (site === undefined || DOWNLOAD.test(pathname)) return undefined
  const path = decodePart(pathname)
  const found = site.own.test(path) ? undefined : site.page.exec(path)?.groups
  if (found === undefined) return { url: `https://${hostname}${pathname}`, isCodeHostPage: true }
  const { repository = '', kind, ref, path: rest = '' } = found
  // The name of a tag may contain slashes.
  if (kind === 'releases/tag') return readRepository(hostname, repository, `${ref}${rest}`.replace(/(?<!\/)\/+$/, ''))
  const inner = rest.replaceAll(/^\/+|(?<!\/)\/+$/g, '')
  // Codeberg and Bitbucket write folders and files alike; a name with an ending is taken for a file.
  const isFile = kind === 'blob' || (kind !== 'tree' && /\.\w+$/.test(inner))
  const folder = isFile ? inner.replace(/\/?[^/]*$/, '') : inner
  return readRepository(hostname, repository, ref, folder)
}

function readRepository(host: string, name: string, ref?: string, folder = ''): PastedAddress {
  const repository = name.replace(/\.git$/, '')
  const parts = [
    `repository ${host}/${repository}`,
    ...(folder === '' ? [] : [`folder ${folder}`]),
    ...(ref === undefined ? [] : [`at ${ref}`]),
  ]
  return {
    url: `git+https://${host}/${repository}.git`,
    meaning: parts.join(', '),
    ...(ref !== undefined && { ref }),
    ...(folder !== '' && { path: folder }),
  }
}
