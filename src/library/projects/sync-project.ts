import { messageOf, PharosError } from '../../core/errors.ts'
import { parsePackageUrl } from '../../core/url/package-url.ts'
import type { CrawlSummary } from '../../crawl/events.ts'
import { addSource, toName } from '../crawl/add-source.ts'
import { crawlSource } from '../crawl/crawl-source.ts'
import { withdrawAfterFailure } from '../crawl/withdraw-source.ts'
import type { Library } from '../library.ts'
import { registryUrlOf } from '../ports/registries.ts'
import type { TreeFacts, TreeOptions } from '../ports/tree.ts'
import type { ProjectName, Source } from '../source.ts'
import { findSource } from '../sources/find-source.ts'
import { isComplete } from '../sources/find-version.ts'
import { offerDocumentation } from '../sources/offer-documentation.ts'
import { findRegistry, hasArchive } from '../sources/package-origin.ts'
import { isUsedBy, type PackageState, planProject, titleOf, type WantedPackage } from './plan-project.ts'

/** One step of a synchronisation. */
export type SyncEvent =
  /** A package is being read; `done` of `total` packages are finished. */
  | { readonly type: 'reading'; readonly wanted: WantedPackage; readonly done: number; readonly total: number }
  /** A package was read; `pages` is 0 if it has nothing to read. `documentation` has addresses to offer if it has hardly anything. */
  | {
      readonly type: 'read'
      readonly source: Source
      readonly pages: number
      readonly chunks: number
      /** Whether its name is not that of the package, which another source has. */
      readonly isRenamed: boolean
      readonly documentation: readonly string[]
    }
  /** A package could not be read. The others are read all the same. `advice` is for the command line only; empty without one. */
  | { readonly type: 'failed'; readonly wanted: WantedPackage; readonly problem: string; readonly advice: string }
  /** The project no longer uses this version. It stays in the library. */
  | { readonly type: 'dropped'; readonly source: Source }
  | { readonly type: 'ended'; readonly result: SyncResult }

/** Result of a synchronisation. */
export interface SyncResult {
  /** Packages that were in the library already. */
  readonly ready: number
  readonly read: number
  readonly failed: number
  readonly dropped: number
}

/**
 * Brings the library to the packages that a project uses now: reads those that are missing, and records which project uses which. Nothing is
 * removed. A package that fails does not stop the others. `isUsed` tells whether the project still uses a source, wanted now or not.
 */
export async function* syncProject(
  library: Library,
  project: ProjectName,
  wanted: readonly WantedPackage[],
  signal: AbortSignal,
  isUsed: (source: Source) => boolean,
): AsyncGenerator<SyncEvent, void, void> {
  const { name, folder } = project
  const { packages, dropped } = await planProject(library, project, wanted, isUsed)
  const toRead = packages.filter(({ state }) => state !== 'ready')
  const left = [...dropped]
  let done = 0
  let read = 0
  let failed = 0
  for (const { source } of packages) if (source !== undefined) await join(library, source, { name, folder })
  for (const one of toRead) {
    signal.throwIfAborted()
    yield { type: 'reading', wanted: one.wanted, done: done++, total: toRead.length }
    try {
      const { source, isRead } = await readPackage(library, { name, folder }, one, signal)
      // The project now uses this source instead of the same version from another registry.
      left.push(...one.elsewhere.filter((other) => other.id !== source.id && isUsedBy(other, project)))
      if (!isRead) continue
      const event = await describeRead(library, source)
      read++
      yield event
    } catch (error) {
      signal.throwIfAborted()
      failed++
      const advice = error instanceof PharosError ? String(error.details['advice'] ?? '') : ''
      yield { type: 'failed', wanted: one.wanted, problem: messageOf(error), advice }
    }
  }
  for (const source of left) {
    await leave(library, source, project)
    yield { type: 'dropped', source }
  }
  yield { type: 'ended', result: { ready: packages.length - read - failed, read, failed, dropped: left.length } }
}

/** Reads a package, unless the library has the same archive from another registry. */
async function readPackage(
  library: Library,
  project: ProjectName,
  { wanted, source: known, elsewhere }: PackageState,
  signal: AbortSignal,
): Promise<{ readonly source: Source; readonly isRead: boolean }> {
  const allowed = await chooseOrigin(library, wanted)
  const isConflict = known === undefined && elsewhere.length > 0
  // The registry decides which source has the package; nothing is stored before its answer is known.
  const facts =
    isConflict && wanted.installedAt === undefined
      ? await library.trees?.describe(wanted.address, { ...allowed, signal })
      : undefined
  const same = facts && findSame(elsewhere, facts)
  if (same !== undefined && same.settings.archive === facts?.archive && (await isComplete(library, same))) {
    await join(library, same, project)
    return { source: same, isRead: false }
  }
  const found = known ?? same
  const origin = facts?.registry === undefined ? allowed : { ...allowed, registries: [facts.registry] }
  // Of several registries, it is not known yet which one has the package.
  const only = origin.registries.length === 1 ? origin.registries[0] : undefined
  const source =
    found === undefined
      ? await addPackage(library, project, wanted, only, isConflict)
      : await locate(library, found, wanted)
  let summary: CrawlSummary | undefined
  try {
    for await (const event of crawlSource(library, source, { kind: 'add', origin }, signal)) {
      if (event.type === 'ended') summary = event.summary
    }
  } catch (error) {
    await withdrawAfterFailure(library, source, 'add', error)
    throw error
  }
  if (summary?.end !== 'completed') throw new Error(summary?.problem ?? 'reading it was interrupted')
  // A project uses what it could read: the archive may not be that of its lock file.
  if (same !== undefined) await join(library, same, project)
  return { source, isRead: true }
}

async function describeRead(library: Library, source: Source): Promise<SyncEvent & { readonly type: 'read' }> {
  const content = await library.store.countContent(source.id)
  // The crawl has recorded the addresses of its documentation.
  const documentation = await offerDocumentation(library, await findSource(library, source.id), content)
  const isRenamed = source.name !== toName(titleOf(source.url))
  return { type: 'read', source, ...content, isRenamed, documentation }
}

/** Where a package is read from. */
interface PackageOrigin extends Pick<TreeOptions, 'hashes'> {
  readonly registries: readonly string[]
}

/**
 * The registries to ask for a package. Throws if the settings of its project name one that this process does not use: a stranger may have
 * written them, and another registry may have another package of this name.
 */
async function chooseOrigin({ trees }: Pick<Library, 'trees'>, wanted: WantedPackage): Promise<PackageOrigin> {
  const { address, installedAt, hashes } = wanted
  const configured = (await trees?.listRegistries(address)) ?? []
  const { registries = configured } = wanted
  const other = registries.find((registry) => !configured.includes(registry))
  if (other === undefined && (registries.length > 0 || configured.length === 0)) return { registries, hashes }
  if (installedAt !== undefined) return { registries: [], hashes }
  const advice = 'run `pharos deps --add` in the folder of the project'
  const reason =
    other === undefined
      ? 'the settings of its project are broken, so its registry is not known'
      : `the settings of its project name the registry ${registryUrlOf(other)}`
  throw new PharosError('SOURCE_UNREADABLE', { path: address, problem: `${reason}; ${advice}`, advice })
}

/** The source that has the package of a registry: with the same archive, or from the same registry. */
function findSame(sources: readonly Source[], { registry, archive }: TreeFacts): Source | undefined {
  return (
    sources.find((source) => archive !== undefined && hasArchive(source, [archive]) === true) ??
    sources.find((source) => findRegistry(source) === registry)
  )
}

/** Records where a known package and its types are installed now. */
async function locate({ store }: Pick<Library, 'store'>, known: Source, wanted: WantedPackage): Promise<Source> {
  if (wanted.installedAt === undefined) return known
  const installed = installedSettings(wanted)
  await store.updateSource(known.id, ({ settings }) => ({ settings: { ...settings, ...installed } }))
  return { ...known, settings: { ...known.settings, ...installed } }
}

function installedSettings({ installedAt, types }: WantedPackage): Pick<WantedPackage, 'installedAt' | 'types'> {
  return { ...(installedAt === undefined ? {} : { installedAt }), ...(types === undefined ? {} : { types }) }
}

/** Adds a package. If the library has this version from another registry, the name says from which one this is. */
async function addPackage(
  library: Library,
  project: ProjectName,
  wanted: WantedPackage,
  registry: string | undefined,
  isConflict: boolean,
): Promise<Source> {
  const { address } = wanted
  const { type, version } = parsePackageUrl(address) ?? { type: '', version: null }
  const name = toName(titleOf(address))
  const settings = {
    ...{ projects: [project], isDependency: true, ...installedSettings(wanted) },
    ...(registry !== undefined && { registry }),
  }
  const input = { url: address, version: version ?? undefined, settings }
  const place = registry ?? wanted.registries?.[0]
  if (isConflict && place !== undefined) {
    return addSource(library, { ...input, name: toName(`${registryUrlOf(place).replace(/^https?:\/\//, '')}/${name}`) })
  }
  try {
    return await addSource(library, { ...input, name })
  } catch (error) {
    if (!(error instanceof PharosError) || error.code !== 'SOURCE_EXISTS') throw error
    // Something else has this name and version, such as a package of another type.
    return addSource(library, { ...input, name: `${type}:${name}` })
  }
}

/** Records that a project uses a source. */
async function join({ store }: Pick<Library, 'store'>, source: Source, project: ProjectName): Promise<void> {
  if (isUsedBy(source, project)) return
  await store.updateSource(source.id, ({ settings }) => ({
    settings: { ...settings, projects: [...(settings.projects ?? []), project] },
  }))
}

/** Records that a project does not use a source any more. */
async function leave({ store }: Pick<Library, 'store'>, source: Source, left: ProjectName): Promise<void> {
  const isLeft = ({ name, folder }: ProjectName) => name === left.name && folder === left.folder
  await store.updateSource(source.id, ({ settings }) => ({
    settings: { ...settings, projects: (settings.projects ?? []).filter((project) => !isLeft(project)) },
  }))
}
