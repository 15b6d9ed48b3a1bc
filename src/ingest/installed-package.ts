import { lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { ArchiveError } from '../core/archive/archive-error.ts'
import { isJsonObject } from '../core/json/is-json-object.ts'
import { tryParseJson } from '../core/json/try-parse-json.ts'
import { type PackageName, packageTitle, parsePackageUrl } from '../core/url/package-url.ts'
import type { Refusal } from '../crawl/ledger.ts'
import type { ArchiveContent, ContentFile } from './archive/content.ts'
import { DEFAULT_ARCHIVE_LIMITS, MemberError, refuse, UNPACK_ADVICE } from './archive/members.ts'
import { findSkippedFolder } from './package-files.ts'
import { settledStamp } from './read-folder.ts'
import { readStable } from './read-stable.ts'
import type { PackageKind } from './registry/package-archive.ts'
import { isSystemError } from './walk-folder.ts'

/** The files of a package that is installed on this machine. */
export interface InstalledPackage {
  readonly kind: PackageKind
  readonly version: string
  readonly content: ArchiveContent
}

/** How the files are read. */
export interface InstalledOptions {
  /** Larger files are listed, but cannot be read. */
  readonly maxFileBytes: number
  /** Current time in milliseconds. @default Date.now */
  readonly now?: () => number
}

/**
 * Opens a package where its package manager installed it: the folder of an npm package or a crate, or the `.dist-info` folder of a Python
 * package. Undefined if nothing is there, or another package or version.
 */
export async function openInstalled(
  name: PackageName,
  folder: string,
  options: InstalledOptions,
): Promise<InstalledPackage | undefined> {
  try {
    const root = await realpath(folder)
    const found = await LAYOUTS[name.type]?.(root)
    if (found === undefined || !isSamePackage(found, name)) return undefined
    const { kind, version, base, list } = found
    return { kind, version, content: await readContent(base, kind, list, options) }
  } catch (error) {
    // It was moved or removed, so it is not installed here.
    if (isSystemError(error)) return undefined
    throw error
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
}

type Layout = (root: string) => Promise<FoundPackage | undefined>

const LAYOUTS: Readonly<Partial<Record<PackageName['type'], Layout>>> = {
  npm: readNpmFolder,
  pypi: readDistInfo,
  cargo: readCrateFolder,
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
  base: string,
  kind: PackageKind,
  list: readonly string[] | undefined,
  { maxFileBytes, now = Date.now }: InstalledOptions,
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
  for await (const path of list ?? walkFiles(base, kind)) await add(path).catch(ignoreMissing)
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
async function* walkFiles(root: string, kind: PackageKind, folder = ''): AsyncGenerator<string, void, void> {
  const entries = await readdir(join(root, folder), { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = folder + entry.name
    if (!entry.isDirectory()) yield path
    else if (findSkippedFolder(kind, `${path}/`) !== undefined) yield `${path}/`
    else if (path.split('/').length < DEFAULT_ARCHIVE_LIMITS.maxDepth) yield* walkFiles(root, kind, `${path}/`)
  }
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder + sep)
}

function ignoreMissing(error: unknown): void {
  if (!isSystemError(error)) throw error
}
