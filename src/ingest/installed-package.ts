import { access, lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { ArchiveError } from '../core/archive/archive-error.ts'
import { isJsonObject } from '../core/json/is-json-object.ts'
import { tryParseJson } from '../core/json/try-parse-json.ts'
import { escapeGoPath } from '../core/url/go-path.ts'
import {
  type PackageName,
  packageTitle,
  parsePackageUrl,
  typesPackageOf,
  writePackageUrl,
} from '../core/url/package-url.ts'
import type { Refusal } from '../crawl/ledger.ts'
import type { InstalledTypes } from '../library/source.ts'
import type { ArchiveContent, ContentFile } from './archive/content.ts'
import { DEFAULT_ARCHIVE_LIMITS, MemberError, refuse, UNPACK_ADVICE } from './archive/members.ts'
import { type ArchiveSourceOptions, openLocalArchive } from './archive/source.ts'
import { findSkippedFolder } from './package-files.ts'
import { readPomLinks } from './package-links.ts'
import { settledStamp } from './read-folder.ts'
import { readStable } from './read-stable.ts'
import type { PackageKind } from './registry/package-archive.ts'
import { ignoreSystemError, isSystemError } from './walk-folder.ts'

/** The files of a package that is installed on this machine. */
export interface InstalledPackage {
  readonly kind: PackageKind
  readonly version: string
  readonly content: ArchiveContent
  /** Reads the links of a manifest that is not among the files. @default the manifest is among the files, or there is none */
  readonly readLinks?: () => Promise<readonly unknown[]>
}

/**
 * Opens a package where its package manager installed it: the folder of an npm package, a crate, a Go module or an artifact of Maven, or the
 * `.dist-info` folder of a Python package. Undefined if nothing is there, or another package or version.
 */
export async function openInstalled(
  name: PackageName,
  folder: string,
  options: ArchiveSourceOptions,
): Promise<InstalledPackage | undefined> {
  try {
    const root = await realpath(folder)
    const found = await LAYOUTS[name.type](root, name)
    if (found === undefined || !isSamePackage(found, name)) return undefined
    const { kind, version, archive, readLinks } = found
    const request = { address: writePackageUrl(name), format: 'zip' } as const
    const content =
      archive === undefined
        ? await readContent(found, options)
        : (await openLocalArchive(archive, request, options)).content
    return { kind, version, content, ...(readLinks === undefined ? {} : { readLinks }) }
  } catch (error) {
    // It was moved or removed, so it is not installed here.
    return ignoreSystemError(error)
  }
}

/** Opens the type declarations that `@types` has for an npm package; undefined if the folder has another package or version. */
export async function openInstalledTypes(
  name: PackageName,
  { folder, version }: InstalledTypes,
  options: ArchiveSourceOptions,
): Promise<ArchiveContent | undefined> {
  try {
    const root = await realpath(folder)
    const found = await readNpmFolder(root)
    if (found?.address !== `npm:${typesPackageOf(packageTitle(name))}@${version}`) return undefined
    return await readContent(found, options)
  } catch (error) {
    return ignoreSystemError(error)
  }
}

/** What a folder of a package manager holds. */
interface FoundPackage {
  readonly kind: PackageKind
  /** Address of the package as its own files name it. */
  readonly address: string
  readonly version: string
  /** Folder to which the paths of its files are relative. */
  readonly base: string
  /** The files, if they share a folder with those of other packages. @default all files in the folder */
  readonly list?: readonly string[]
  /** Folders with files of other packages, relative to the base. @default none */
  readonly foreign?: ReadonlySet<string>
  /** Archive with the files. @default they are in the folder */
  readonly archive?: string
  readonly readLinks?: () => Promise<readonly unknown[]>
}

type Layout = (root: string, name: PackageName) => Promise<FoundPackage | undefined>

const LAYOUTS: Readonly<Record<PackageName['type'], Layout>> = {
  npm: readNpmFolder,
  pypi: readDistInfo,
  cargo: readCrateFolder,
  golang: readGoFolder,
  maven: readMavenFolder,
}

/**
 * A folder of the module cache, whose path names the module and its version (https://go.dev/ref/mod#module-cache), or one below `vendor`,
 * where `modules.txt` names the versions.
 */
async function readGoFolder(root: string, name: PackageName): Promise<FoundPackage | undefined> {
  const { version } = name
  if (version === null) return undefined
  const title = packageTitle(name)
  const path = root.split(sep).join('/')
  const found: FoundPackage = { kind: 'go', address: writePackageUrl(name), version, base: root }
  if (path.endsWith(`/${escapeGoPath(title)}@${escapeGoPath(version)}`)) return found
  if (!path.endsWith(`/vendor/${title}`)) return undefined
  const modules = await readFile(join(root.slice(0, -title.length), 'modules.txt'), 'utf8')
  const lines = modules.split(/\r?\n/)
  if (!lines.includes(`# ${title} ${version}`)) return undefined
  const others = lines.map((line) => /^# (\S+)/.exec(line)?.[1] ?? '').filter((other) => other.startsWith(`${title}/`))
  return { ...found, foreign: new Set(others.map((other) => other.slice(title.length + 1))) }
}

/** A folder of the local repository of Maven, with an archive of sources or Javadoc beside the `pom`. */
async function readMavenFolder(root: string, name: PackageName): Promise<FoundPackage | undefined> {
  const { namespace, name: artifact, version } = name
  if (version === null || namespace === null) return undefined
  if (
    !root
      .split(sep)
      .join('/')
      .endsWith(`/${namespace.replaceAll('.', '/')}/${artifact}/${version}`)
  )
    return undefined
  for (const kind of ['sources', 'javadoc'] as const) {
    const archive = join(root, `${artifact}-${version}-${kind}.jar`)
    const isThere = await access(archive).then(
      () => true,
      () => false,
    )
    if (!isThere) continue
    const readLinks = async () => readPomLinks(await readFile(join(root, `${artifact}-${version}.pom`), 'utf8'))
    return { kind, address: writePackageUrl(name), version, base: root, archive, readLinks }
  }
  return undefined
}

async function readNpmFolder(root: string): Promise<FoundPackage | undefined> {
  const manifest = tryParseJson(await readFile(join(root, 'package.json'), 'utf8'))
  if (!isJsonObject(manifest)) return undefined
  const { name, version } = manifest
  if (typeof name !== 'string' || typeof version !== 'string') return undefined
  return { kind: 'npm', address: `npm:${name}@${version}`, version, base: root }
}

/** https://packaging.python.org/en/latest/specifications/recording-installed-packages/ */
async function readDistInfo(root: string): Promise<FoundPackage | undefined> {
  const [, name, version] = /^(.+)-([^-]+)\.dist-info$/.exec(basename(root)) ?? []
  if (name === undefined || version === undefined) return undefined
  const record = await readFile(join(root, 'RECORD'), 'utf8')
  const paths = record.split(/\r?\n/).map((line) => /^(?:"((?:[^"]|"")*)"|([^,]*)),/.exec(line))
  const list = paths.map((match) => (match?.[1]?.replaceAll('""', '"') ?? match?.[2] ?? '').replaceAll('\\', '/'))
  // Scripts and data outside of the folder of all packages are not documentation.
  const own = list.filter((path) => path !== '' && !path.startsWith('/') && !/(?:^|\/)\.\.(?:\/|$)|\p{Cc}/u.test(path))
  return { kind: 'wheel', address: `pypi:${name}@${version}`, version, base: dirname(root), list: own }
}

async function readCrateFolder(root: string): Promise<FoundPackage | undefined> {
  const manifest = await readFile(join(root, 'Cargo.toml'), 'utf8')
  const [, section = ''] = /^\[package\][ \t]*$([\s\S]*?)(?:^\[|$(?![\s\S]))/m.exec(manifest) ?? []
  const [, name] = /^name\s*=\s*"([^"]+)"/m.exec(section) ?? []
  const [, version] = /^version\s*=\s*"([^"]+)"/m.exec(section) ?? []
  if (name === undefined || version === undefined) return undefined
  return { kind: 'crate', address: `crates:${name}@${version}`, version, base: root }
}

function isSamePackage({ address }: FoundPackage, name: PackageName): boolean {
  const found = parsePackageUrl(address)
  return found !== undefined && packageTitle(found) === packageTitle(name) && found.version === name.version
}

async function readContent(
  { base, kind, list, foreign = new Set() }: Pick<FoundPackage, 'base' | 'kind' | 'list' | 'foreign'>,
  { maxFileBytes, now = Date.now }: ArchiveSourceOptions,
): Promise<ArchiveContent> {
  const openedAt = now()
  const files = new Map<string, ContentFile>()
  const links = new Set<string>()
  const refused = new Map<string, Refusal>()
  const add = async (path: string) => {
    const skipped = path.endsWith('/') ? findSkippedFolder(kind, path) : undefined
    if (skipped !== undefined) return void refused.set(skipped.folder, skipped.refusal)
    if (files.size >= DEFAULT_ARCHIVE_LIMITS.maxEntries) {
      throw new ArchiveError(`it has more than ${DEFAULT_ARCHIVE_LIMITS.maxEntries} files`, { advice: UNPACK_ADVICE })
    }
    const stats = await lstat(join(base, path))
    // A folder on the way may be a link that leads out of the package.
    if (list !== undefined && !isInside(await realpath(dirname(join(base, path))), base)) return void links.add(path)
    const stamp = settledStamp(stats, openedAt)
    if (stats.isSymbolicLink()) links.add(path)
    else if (stats.isFile()) files.set(path, { size: stats.size, ...(stamp === null ? {} : { stamp }) })
    else refused.set(path, refuse('not-text', 'neither a file nor a folder'))
  }
  for await (const path of list ?? walkFiles({ base, kind, foreign })) await add(path).catch(ignoreMissing)
  return {
    files,
    links,
    refused,
    async read(path) {
      const outcome = await readStable(join(base, path), maxFileBytes).catch((error: unknown) => {
        throw isSystemError(error) ? new MemberError(error.message, { reason: 'unreadable', cause: error }) : error
      })
      if (outcome.type === 'read') return outcome.bytes
      throw new MemberError('it changed while it was read', { reason: 'unreadable' })
    },
    close: () => Promise.resolve(),
  }
}

/** Walks the files of a folder in a fixed order. A folder that is skipped is reported as one entry that ends with a slash. */
async function* walkFiles(
  found: Required<Pick<FoundPackage, 'base' | 'kind' | 'foreign'>>,
  folder = '',
): AsyncGenerator<string, void, void> {
  const { base, kind, foreign } = found
  const entries = await readdir(join(base, folder), { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = folder + entry.name
    if (!entry.isDirectory()) yield path
    else if (foreign.has(path)) continue
    else if (findSkippedFolder(kind, `${path}/`) !== undefined) yield `${path}/`
    else if (path.split('/').length < DEFAULT_ARCHIVE_LIMITS.maxDepth) yield* walkFiles(found, `${path}/`)
  }
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder + sep)
}

function ignoreMissing(error: unknown): void {
  if (!isSystemError(error)) throw error
}
