import { PharosError } from '../core/errors.ts'
import { isListed, writeIntegrity } from '../core/integrity.ts'
import { writeList } from '../core/text/list.ts'
import {
  type PackageName,
  PUBLIC_REGISTRIES,
  packageTitle,
  parsePackageUrl,
  writePackageUrl,
} from '../core/url/package-url.ts'
import { encodePath, normalizeFolder, writeInnerUrl } from '../core/url/tree-url.ts'
import type { Download } from '../library/ports/download.ts'
import { listRegistries, type RegistriesOption, registryTypeOf, registryUrlOf } from '../library/ports/registries.ts'
import type { OpenTree, TreeEntry, TreeFacts, TreeOptions } from '../library/ports/tree.ts'
import { hasDeclarations, sourceOfPage, withApiPages, withTypes } from './api-pages.ts'
import type { ArchiveContent } from './archive/content.ts'
import { refuse } from './archive/members.ts'
import {
  type ArchiveSourceOptions,
  contentBelow,
  openDownloadedArchive,
  requireLocked,
  topFolderOf,
  withSourceErrors,
} from './archive/source.ts'
import { createContentTree } from './archive/tree.ts'
import { openInstalled, openInstalledTypes } from './installed-package.ts'
import { createKnownContent } from './known-content.ts'
import { findSkippedFolder, judgePackageFile } from './package-files.ts'
import { readDocumentation, writePackagePage } from './package-links.ts'
import type { FilePages } from './read-file-page.ts'
import { findPackage, withTokens } from './registries.ts'
import type { PackageArchive, PackageKind } from './registry/package-archive.ts'

/** Options for opening packages. */
export interface PackageOptions extends ArchiveSourceOptions {
  /** @default the public ones */
  readonly registries?: RegistriesOption
  /** Downloads from registries; rejects when downloads are disabled. */
  readonly openDownload: () => Promise<Download>
}

/** Describes a package without downloading it: the registry says which version is current. */
export async function describePackage(
  address: string,
  options: PackageOptions,
  treeOptions: TreeOptions = {},
): Promise<TreeFacts> {
  const { name, archive } = await findArchive(address, options, treeOptions)
  const { version, registry, integrity } = archive
  return { url: writePackageUrl(name), name: packageTitle(name), version, registry, archive: writeIntegrity(integrity) }
}

/** Opens a package as a tree of its files that are worth reading. */
export async function openPackage(
  address: string,
  pages: FilePages,
  options: PackageOptions,
  treeOptions: TreeOptions = {},
): Promise<OpenTree> {
  const { profile = 'library', path = null, hashes = [], readLastRows, signal } = treeOptions
  const installed = await openInstalledPackage(address, pages, options, treeOptions)
  if (installed !== undefined) return installed
  const { name, archive, download } = await findArchive(address, options, treeOptions)
  const { format, integrity, version, kind, registry } = archive
  const request = { address, format, integrity, hashes, ...(signal === undefined ? {} : { signal }) }
  const folder = normalizeFolder(path)
  const url = writePackageUrl(name)
  const stamp = writeIntegrity(integrity)
  const open = async () => {
    const { content } = await openDownloadedArchive(download, archive.url, request, options)
    try {
      const top = PACKED_IN_FOLDER.has(kind) ? topFolderOf(content) : ''
      const documentation = await readDocumentation(archive, content, top)
      const own = contentBelow(content, top + folder, writeInnerUrl(url, folder))
      return { top, documentation, content: await addApiPages(own, kind, name, pages) }
    } catch (error) {
      await content.close()
      throw error
    }
  }
  // A lock file whose digests cannot be compared with that of the registry needs the archive itself.
  const isChecked = hashes.length === 0 || isListed(stamp, hashes) === true
  const rows = isChecked ? ((await readLastRows?.()) ?? []) : []
  const known = createKnownContent(rows, stamp, async () => (await open()).content)
  const knownUrls = new Map(rows.map((row) => [row.key, row.url]))
  const { top, documentation, content } =
    known === undefined ? await open() : { top: '', documentation: undefined, content: known }
  const pageUrlOf = pageOf(name, archive, top)
  const tree = createContentTree({
    url,
    name: packageTitle(name),
    version,
    folderId: PACKAGE_ID,
    addressOf: (file) => {
      const knownUrl = known === undefined ? undefined : knownUrls.get(file)
      return knownUrl ?? pageUrlOf?.(folder + file) ?? writeInnerUrl(url, folder + file)
    },
    content,
    pages,
    profile,
    maxFileBytes: options.maxFileBytes,
    stamp,
    walk: (all, stop) => walkPackage(kind, all, stop),
    close: content.close,
  })
  return {
    ...tree,
    registry,
    archive: stamp,
    ...(archive.isPublic && { packagePage: writePackagePage(name, version) }),
    ...(documentation !== undefined && { documentation }),
  }
}

/** Opens a package from the folder in which it is installed; undefined if it is not installed there. */
async function openInstalledPackage(
  address: string,
  pages: FilePages,
  options: PackageOptions,
  { profile = 'library', path = null, installedAt, types: givenTypes }: TreeOptions,
): Promise<OpenTree | undefined> {
  const name = parsePackageUrl(address)
  const installed =
    name === undefined || installedAt === undefined ? undefined : await openInstalled(name, installedAt, options)
  if (name === undefined || installed === undefined) return undefined
  const { kind, version, readLinks } = installed
  const url = writePackageUrl(name)
  const folder = normalizeFolder(path)
  const documentation = await readDocumentation({ kind, ...(readLinks && { readLinks }) }, installed.content, '')
  const own = contentBelow(installed.content, folder, writeInnerUrl(url, folder))
  const isUntyped = kind === 'npm' && folder === '' && !hasDeclarations(own)
  const types = isUntyped && givenTypes ? await openInstalledTypes(name, givenTypes, options) : undefined
  const content =
    types === undefined
      ? await addApiPages(own, kind, name, pages)
      : withTypes(own, await addApiPages(types, kind, name, pages))
  const tree = createContentTree({
    ...{ url, name: packageTitle(name), version, folderId: PACKAGE_ID, content, pages, profile },
    addressOf: (file) => writeInnerUrl(url, folder + file),
    maxFileBytes: options.maxFileBytes,
    stamp: null,
    walk: (all, stop) => walkPackage(kind, all, stop),
    close: content.close,
  })
  return { ...tree, documentation }
}

/** Replaces the type declarations of an npm package by readable pages. */
function addApiPages(
  content: ArchiveContent,
  kind: PackageKind,
  name: PackageName,
  pages: FilePages,
): Promise<ArchiveContent> {
  return kind === 'npm' ? withApiPages(content, packageTitle(name), pages.readModule) : Promise.resolve(content)
}

/** A constant, because the next version of a package counts as the same source. */
const PACKAGE_ID = 'package'

/**
 * Kinds of packages with one top folder, whose name may contain the version. Paths are relative to that folder, so that they stay the same
 * in all versions.
 */
const PACKED_IN_FOLDER: ReadonlySet<PackageKind> = new Set<PackageKind>(['npm', 'sdist', 'crate'])

interface NamedArchive {
  readonly name: PackageName
  readonly archive: PackageArchive
  readonly download: Download
}

/** Asks the registry for the archive of a package. */
async function findArchive(
  address: string,
  { registries: given = PUBLIC_REGISTRIES, openDownload }: PackageOptions,
  { registries: chosen, hashes = [], signal }: TreeOptions,
): Promise<NamedArchive> {
  const name = parsePackageUrl(address)
  if (name === undefined) {
    const problem = 'it names no package of npm, PyPI, crates.io, Maven or Go'
    throw new PharosError('URL_INVALID', { url: address, problem })
  }
  const configured = typeof given === 'function' ? await given() : given
  const broken = name.type === 'golang' ? undefined : configured.broken?.[registryTypeOf(name.type)]
  if (broken !== undefined) throw broken
  const registries = chosen ?? listRegistries(name, configured)
  const download = withTokens(await openDownload(), name)
  const archive = await withSourceErrors(address, async () => {
    const found = await findPackage(name, registries, { download, signal, hashes })
    requireLocked(found.integrity, hashes)
    return found
  }).catch((error: unknown) => {
    if (error instanceof PharosError && error.details['reason'] === 'address-refused') {
      // Only the command line shows advice; the address of a registry may be secret.
      const advice = `its registry is ${writeList(registries.map(registryUrlOf))}; ${error.details['advice']}`
      throw new PharosError('SOURCE_UNREADABLE', { ...error.details, advice }, { cause: error })
    }
    if (!(error instanceof PharosError) || error.code !== 'SOURCE_NOT_FOUND') throw error
    const hosts = registries.map((registry) => new URL(registryUrlOf(registry)).host)
    const advice = `${writeList(hosts)} has no package ${packageTitle(name)}; check its name`
    throw new PharosError('SOURCE_NOT_FOUND', { path: address, advice }, { cause: error })
  })
  return { name, archive, download }
}

/** Returns a function that gives the URL of a file's page on a public registry; undefined when the registry has no such pages. */
export function pageOf(
  name: PackageName,
  { kind, version, url, isPublic }: PackageArchive,
  top: string,
): ((path: string) => string) | undefined {
  const isPinned = name.version === version
  if (!isPublic) return undefined
  if (kind === 'crate') {
    const versionSegment = isPinned ? encodeURIComponent(version) : 'latest'
    return (path) => `https://docs.rs/crate/${name.name}/${versionSegment}/source/${encodePath(path)}`
  }
  // The page URL contains the path of the archive, which changes with each version.
  if ((kind === 'sdist' || kind === 'wheel') && isPinned) {
    const release = `${name.name}/${encodeURIComponent(version)}${new URL(url).pathname}`
    return (path) => `https://inspector.pypi.io/project/${release}/${encodePath(top + path)}`
  }
  return undefined
}

/** Lists which files of a package are read, and which are not, with the reason. */
async function* walkPackage(
  kind: PackageKind,
  { files, links, refused }: ArchiveContent,
  signal: AbortSignal,
): AsyncGenerator<TreeEntry, void, void> {
  const reported = new Set<string>()
  for (const path of files.keys()) {
    signal.throwIfAborted()
    const skipped = findSkippedFolder(kind, path)
    if (skipped === undefined) {
      const refusal = judgePackageFile(kind, sourceOfPage(path))
      yield refusal === null ? { type: 'file', path } : { type: 'refused', path, refusal }
    } else if (!reported.has(skipped.folder)) {
      reported.add(skipped.folder)
      yield { type: 'refused', path: skipped.folder, refusal: skipped.refusal }
    }
  }
  for (const path of links) yield { type: 'refused', path, refusal: refuse('excluded', 'symbolic links') }
  for (const [path, refusal] of refused) yield { type: 'refused', path, refusal }
}
