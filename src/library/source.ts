import type { ChunkProfile } from '../core/chunk/profiles.ts'
import type { Scope } from '../core/url/scope.ts'
import type { Rendering } from '../crawl/ports.ts'

/** Re-exported for modules that may not import the crawl folder. */
export { RENDERINGS, type Rendering } from '../crawl/ports.ts'

/** A site or tree that a user asked to index. */
export interface Source {
  /** UUID. */
  readonly id: string
  /** Unique together with the version. */
  readonly name: string
  readonly version: string | null
  /** Start address as given. */
  readonly url: string
  /** Start address with the actual scheme and host, which defines the site. */
  readonly siteUrl: string
  readonly scope: Scope
  readonly settings: SourceSettings
  readonly createdAt: number
  /** When the source is crawled again by itself. @default never */
  readonly refresh?: RefreshSchedule
}

/** Fields of a source that may change. */
export interface SourceChange extends Partial<Pick<Source, 'name' | 'version' | 'siteUrl' | 'settings'>> {
  /** Null turns the schedule off. */
  readonly refresh?: RefreshSchedule | null
}

/** A change, or a function that decides it from the stored source. */
export type SourceUpdate = SourceChange | ((stored: Source) => SourceChange)

/** When a source is crawled again by itself. All times are stored, so that a restart changes nothing. */
export interface RefreshSchedule {
  /** Pause between the end of a crawl and the next one. */
  readonly everyMs: number
  readonly dueAt: number
  /** Number of attempts since the last success. An attempt counts from its start, because its process may be killed. */
  readonly attempts: number
  /** Why the last attempt failed; null if that is unknown, or if it did not fail. */
  readonly problem: string | null
}

/** Settings of a source besides its scope, stored for later crawls. */
export interface SourceSettings {
  /** Further start addresses. */
  readonly seeds: readonly string[]
  /** Address of an llms.txt, which replaces discovery. */
  readonly llmsTxtUrl: string | null
  /** Use of llms-full.txt: where it helps, never, or instead of all other pages. */
  readonly llmsFull: 'auto' | 'off' | 'only'
  /** Default crawl type. */
  readonly crawlType: DefaultCrawlType
  /** Rendering mode of its pages. */
  readonly render: Rendering
  /** Chunk profile of its pages. */
  readonly chunks: ChunkProfile
  /** Ref of a repository and folder of a tree to read; null if not given. */
  readonly tree: { readonly ref: string | null; readonly path: string | null }
  /** In a library that several machines share: the machine of a local tree, because the same path elsewhere holds something else. */
  readonly machine?: string
  /** Folder of this machine in which the package is installed; it is read there, without a request. */
  readonly installedAt?: string
  /** Registry of the package, without a user name and password. Later crawls ask no other. @default not known */
  readonly registry?: string
  /** Digest of the archive that was read; undefined if the package was read where it is installed. */
  readonly archive?: string
  /** The `@types` package whose declarations become pages of the installed package, if it has none itself. @default none */
  readonly types?: InstalledTypes
  /** Projects that use this version of a package. @default none */
  readonly projects?: readonly ProjectName[]
  /** Whether it was added for a project, not by the user. @default false */
  readonly isDependency?: boolean
  /** Package version last read in full, unless the source gives exactly this version. */
  readonly readVersion?: string
  /** Web page of the package version last read in full; only for packages of public registries. */
  readonly packagePage?: string
  /** Addresses of documentation that the metadata of the package name. */
  readonly documentation?: readonly string[]
}

/** An installed `@types` package. */
export interface InstalledTypes {
  readonly folder: string
  readonly version: string
}

/** A project whose dependencies are in the library. */
export interface ProjectName {
  readonly name: string
  /** Folder of the project, which tells projects of one name apart. */
  readonly folder: string
}

/** Returns tree settings if any is given. */
export function treeSettings({
  ref,
  path,
}: {
  readonly ref?: string | undefined
  readonly path?: string | undefined
}): Partial<Pick<SourceSettings, 'tree'>> {
  return ref === undefined && path === undefined ? {} : { tree: { ref: ref ?? null, path: path ?? null } }
}

/** Default settings of a source. */
export const DEFAULT_SETTINGS: SourceSettings = {
  seeds: [],
  llmsTxtUrl: null,
  llmsFull: 'auto',
  crawlType: 'docs',
  render: 'http',
  chunks: 'library',
  tree: { ref: null, path: null },
}

/**
 * Which lists and links a crawl reads. The last two plan their visits from what they learn about the site; `history` also covers old
 * content.
 */
export const CRAWL_TYPES = ['docs', 'basic', 'sitemap-only', 'basic-with-sitemap', 'intelligent', 'history'] as const

/** One of {@link CRAWL_TYPES}. */
export type CrawlType = (typeof CRAWL_TYPES)[number]

/** Whether a source is documentation, whose pages have classes and milestones that matter for news only. */
export function isDocumentation({ settings }: Pick<Source, 'settings'>): boolean {
  return settings.crawlType === 'docs'
}

/** Whether crawls of a type have a planner. */
export function hasPlan(type: CrawlType | undefined): boolean {
  return type === 'intelligent' || type === 'history'
}

/** Crawl types that can be a source's default; `history` is only run on request. */
export type DefaultCrawlType = Exclude<CrawlType, 'history'>

/** Label of a source: its name, with its version if there is one. */
export function labelOf({ name, version }: Pick<Source, 'name' | 'version'>): string {
  return version === null ? name : `${name}@${version}`
}

/** Returns the version of a source: the given one, otherwise the one that was read. */
export function versionOf({ version, settings }: Pick<Source, 'version' | 'settings'>): string | null {
  return version ?? settings.readVersion ?? null
}

/** The version to cite for a page of a source, and the web page of its package if the page itself has no web address. */
export function versionFieldsOf(
  source: Pick<Source, 'version' | 'settings'>,
  url: string,
): { readonly version: string | null; readonly packagePage?: string } {
  const { packagePage } = source.settings
  const hasPage = packagePage !== undefined && !/^https?:/.test(url)
  return { version: versionOf(source), ...(hasPage && { packagePage }) }
}
