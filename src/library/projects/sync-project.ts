import { messageOf, PharosError } from '../../core/errors.ts'
import { parsePackageUrl } from '../../core/url/package-url.ts'
import type { CrawlSummary } from '../../crawl/events.ts'
import { addSource, toName } from '../crawl/add-source.ts'
import { crawlSource } from '../crawl/crawl-source.ts'
import { withdrawAfterFailure } from '../crawl/withdraw-source.ts'
import type { Library } from '../library.ts'
import type { ProjectName, Source } from '../source.ts'
import { findSource } from '../sources/find-source.ts'
import { offerDocumentation } from '../sources/offer-documentation.ts'
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
      readonly documentation: readonly string[]
    }
  /** A package could not be read. The others are read all the same. */
  | { readonly type: 'failed'; readonly wanted: WantedPackage; readonly problem: string }
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
  let read = 0
  let failed = 0
  for (const { source } of packages) if (source !== undefined) await join(library, source, { name, folder })
  for (const one of toRead) {
    signal.throwIfAborted()
    yield { type: 'reading', wanted: one.wanted, done: read + failed, total: toRead.length }
    try {
      yield await readPackage(library, { name, folder }, one, signal)
      read++
    } catch (error) {
      signal.throwIfAborted()
      failed++
      yield { type: 'failed', wanted: one.wanted, problem: messageOf(error) }
    }
  }
  for (const source of dropped) {
    await leave(library, source, project)
    yield { type: 'dropped', source }
  }
  yield { type: 'ended', result: { ready: packages.length - toRead.length, read, failed, dropped: dropped.length } }
}

async function readPackage(
  library: Library,
  project: ProjectName,
  { wanted, source: known }: PackageState,
  signal: AbortSignal,
): Promise<SyncEvent & { readonly type: 'read' }> {
  const source = known === undefined ? await addPackage(library, project, wanted) : await locate(library, known, wanted)
  let summary: CrawlSummary | undefined
  try {
    for await (const event of crawlSource(library, source, { kind: 'add' }, signal)) {
      if (event.type === 'ended') summary = event.summary
    }
  } catch (error) {
    await withdrawAfterFailure(library, source, 'add', error)
    throw error
  }
  if (summary?.end !== 'completed') throw new Error(summary?.problem ?? 'reading it was interrupted')
  const content = await library.store.countContent(source.id)
  // The crawl has recorded the addresses of its documentation.
  const documentation = await offerDocumentation(library, await findSource(library, source.id), content)
  return { type: 'read', source, ...content, documentation }
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

async function addPackage(library: Library, project: ProjectName, wanted: WantedPackage): Promise<Source> {
  const { address } = wanted
  const { type, version } = parsePackageUrl(address) ?? { type: '', version: null }
  const name = toName(titleOf(address))
  const settings = { projects: [project], isDependency: true, ...installedSettings(wanted) }
  const input = { url: address, version: version ?? undefined, settings }
  try {
    return await addSource(library, { ...input, name })
  } catch (error) {
    if (!(error instanceof PharosError) || error.code !== 'SOURCE_EXISTS') throw error
    // Something else has this name and version, such as a package of another registry.
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
