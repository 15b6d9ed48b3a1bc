import { packageTitle, parsePackageUrl, writePackageUrl } from '../../core/url/package-url.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import type { Library } from '../library.ts'
import type { InstalledTypes, ProjectName, Source } from '../source.ts'
import { isComplete } from '../sources/find-version.ts'
import { offerDocumentation } from '../sources/offer-documentation.ts'
import { findRegistry, hasArchive, isReadInstalled } from '../sources/package-origin.ts'

/** A package that a project uses. */
export interface WantedPackage {
  /** Address of the package with its exact version. */
  readonly address: string
  /** Folder of this machine in which it is installed. @default read from the registry */
  readonly installedAt?: string
  /** The installed `@types` package with declarations for it. @default none */
  readonly types?: InstalledTypes
  /** The registries that the project uses for it, in the order in which they are asked. @default those of the library */
  readonly registries?: readonly string[]
  /** Digests of its lock file, one of which the archive must have. @default none */
  readonly hashes?: readonly string[]
}

/** State of a wanted package in the library. */
export interface PackageState {
  readonly wanted: WantedPackage
  /** The source with this version; undefined if it has to be added. */
  readonly source?: Source
  /**
   * `ready`: read in full; `incomplete`: added, but not read in full, with other declarations of `@types`, or from an unknown registry;
   * `missing`: not in the library.
   */
  readonly state: 'ready' | 'incomplete' | 'missing'
  /** Sources with this version that the project cannot use: they come from another registry, or their archive is not that of its lock file. */
  readonly elsewhere: readonly Source[]
  /** Other versions of the package in the library. */
  readonly otherVersions: readonly string[]
}

/** Documentation to offer for packages of a project with hardly more than a short README. */
export async function offerForProject(
  library: Pick<Library, 'store'>,
  { packages }: Pick<ProjectPlan, 'packages'>,
): Promise<{ readonly source: Source; readonly documentation: readonly string[] }[]> {
  const offers: { readonly source: Source; readonly documentation: readonly string[] }[] = []
  for (const { source, state } of packages) {
    if (source === undefined || state !== 'ready' || (source.settings.documentation ?? []).length === 0) continue
    const documentation = await offerDocumentation(library, source, await library.store.countContent(source.id))
    if (documentation.length > 0) offers.push({ source, documentation })
  }
  return offers
}

/** The packages of a project, compared with the library. */
export interface ProjectPlan {
  readonly packages: readonly PackageState[]
  /** Sources of the project that it does not use any more. */
  readonly dropped: readonly Source[]
}

/** Compares packages that a project uses with the library. Changes nothing. `isUsed` tells whether the project still uses a source. */
export async function planProject(
  library: Pick<Library, 'store' | 'trees'>,
  project: ProjectName,
  wanted: readonly WantedPackage[],
  isUsed: (source: Source) => boolean,
): Promise<ProjectPlan> {
  const sources = (await library.store.listSources()).filter(({ url }) => treeKindOf(url) === 'package')
  const byName = new Map<string, Source[]>()
  for (const source of sources) {
    const name = withoutVersion(source.url)
    byName.set(name, [...(byName.get(name) ?? []), source])
  }
  const packages: PackageState[] = []
  for (const one of wanted) {
    const versions = byName.get(withoutVersion(one.address)) ?? []
    const known = versions.filter(({ url }) => url === one.address)
    const otherVersions = versions.flatMap(({ url, version }) => {
      return url === one.address || version === null ? [] : [version]
    })
    const source = await chooseSource(library, project, one, known)
    const elsewhere = known.filter((other) => other !== source)
    if (source === undefined) packages.push({ wanted: one, state: 'missing', otherVersions, elsewhere })
    else {
      const isTyped =
        one.types === undefined ||
        one.types.version === source.settings.types?.version ||
        // Reading it again would replace the text that others use by that of the folder of this project.
        isUsedByOthers(source, project)
      const isCurrent = isTyped && (isReadInstalled(source) || findRegistry(source) !== undefined)
      const state = isCurrent && (await isComplete(library, source)) ? 'ready' : 'incomplete'
      packages.push({ wanted: one, source, state, otherVersions, elsewhere })
    }
  }
  // Of one version from several registries, a project uses one.
  const replaced = new Set(packages.flatMap(({ state, elsewhere }) => (state === 'ready' ? elsewhere : [])))
  const dropped = sources.filter((source) => isUsedBy(source, project) && (replaced.has(source) || !isUsed(source)))
  return { packages, dropped }
}

/** The source of a package that a project can use: by its lock file, else by its registry, else if that is not known. */
async function chooseSource(
  library: Pick<Library, 'store' | 'trees'>,
  project: ProjectName,
  wanted: WantedPackage,
  known: readonly Source[],
): Promise<Source | undefined> {
  if (known.length === 0) return undefined
  const { hashes = [], registries = (await library.trees?.listRegistries(wanted.address)) ?? [] } = wanted
  const isOfRegistry = (source: Source, registry: string) => {
    // The first registry that has a package counts. Only a project that has asked them all may use the others.
    return registry === registries[0] || (registries.includes(registry) && isUsedBy(source, project))
  }
  const usable = known.filter((source) => hasArchive(source, hashes) !== false)
  const found =
    usable.find((source) => hasArchive(source, hashes) === true) ??
    usable.find((source) => !isReadInstalled(source) && isOfRegistry(source, findRegistry(source) ?? '')) ??
    usable.find(isReadInstalled)
  if (found !== undefined) return found
  const unknown = usable.find((source) => findRegistry(source) === undefined)
  // It is read again, which must not change what others use.
  const isFree = unknown !== undefined && (!isUsedByOthers(unknown, project) || !(await isComplete(library, unknown)))
  return isFree ? unknown : undefined
}

/** Whether a source belongs to the user or to another project. */
function isUsedByOthers({ settings: { isDependency = false, projects = [] } }: Source, project: ProjectName): boolean {
  return !isDependency || projects.some(({ name, folder }) => folder !== project.folder || name !== project.name)
}

/** Whether the library has recorded that a project uses a source. */
export function isUsedBy({ settings: { projects = [] } }: Source, { name, folder }: ProjectName): boolean {
  return projects.some((project) => project.folder === folder && project.name === name)
}

/** The common name of a package by its address; the address itself if it is none. */
export function titleOf(address: string): string {
  const name = parsePackageUrl(address)
  return name === undefined ? address : packageTitle(name)
}

/** The address of a package without its version, which all its versions share. */
export function withoutVersion(address: string): string {
  const name = parsePackageUrl(address)
  return name === undefined ? address : writePackageUrl({ ...name, version: null })
}

/** Lists the package versions that were added for projects, but that none uses any more. */
export async function listUnused({ store }: Pick<Library, 'store'>): Promise<Source[]> {
  const sources = await store.listSources()
  return sources.filter(
    ({ settings: { isDependency = false, projects = [] } }) => isDependency && projects.length === 0,
  )
}

/** The project that a folder belongs to: the one whose folder is nearest above it; undefined if the library has none. */
export function findProject(sources: readonly Source[], folder: string): ProjectName | undefined {
  const projects = sources.flatMap(({ settings }) => settings.projects ?? [])
  const enclosing = projects.filter((project) => withSlash(folder).startsWith(withSlash(project.folder)))
  return enclosing.sort((a, b) => b.folder.length - a.folder.length)[0]
}

/** A path that ends with a slash, with slashes as separators on every system. */
function withSlash(path: string): string {
  return `${path.replaceAll('\\', '/').replace(/(?<!\/)\/+$/, '')}/`
}
