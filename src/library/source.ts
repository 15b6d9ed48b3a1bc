import type { ChunkProfile } from '../core/chunk/profiles.ts'
import type { Scope } from '../core/url/scope.ts'
import type { Rendering } from '../crawl/ports.ts'

/** How pages are read, for those who may not know the crawl itself. */
export { RENDERINGS, type Rendering } from '../crawl/ports.ts'

/** What a person asked to index. */
export interface Source {
  /** UUID. */
  readonly id: string
  /** Unique together with the version. */
  readonly name: string
  readonly version: string | null
  /** Where it starts, as it was given. */
  readonly url: string
  /** The same with the scheme and host it turned out to have: what belongs to its site is judged by this. */
  readonly siteUrl: string
  readonly scope: Scope
  readonly settings: SourceSettings
  readonly createdAt: number
}

/** What may be changed of a source once it is there. */
export type SourceChange = Partial<Pick<Source, 'name' | 'version' | 'siteUrl' | 'settings'>>

/** How a source is read, besides its scope. Everything here is kept for later crawls. */
export interface SourceSettings {
  /** Addresses to begin with besides the start. */
  readonly seeds: readonly string[]
  /** Address of an llms.txt, instead of looking for one. */
  readonly llmsTxtUrl: string | null
  /** Whether llms-full.txt is used: as far as it helps, not at all, or instead of every other page. */
  readonly llmsFull: 'auto' | 'off' | 'only'
  /** Where addresses are looked for, unless a crawl is told otherwise. */
  readonly crawlType: UsualType
  /** How its pages are read. */
  readonly render: Rendering
  /** How they are cut. */
  readonly chunks: ChunkProfile
  /** Which state of a repository, and which part of any tree, is read, as far as that was said. */
  readonly tree: { readonly ref: string | null; readonly path: string | null }
  /** Of what is on a machine, in a library that several use: the one that it is on. What is at the same path of another is something else. */
  readonly machine?: string
  /** Which version of a package was last read in full, where the source names none, or another. */
  readonly readVersion?: string
}

/** The settings of a tree, as far as something was said. */
export function treeSettings({
  ref,
  path,
}: {
  readonly ref?: string | undefined
  readonly path?: string | undefined
}): Partial<Pick<SourceSettings, 'tree'>> {
  return ref === undefined && path === undefined ? {} : { tree: { ref: ref ?? null, path: path ?? null } }
}

/** The settings of a source about which nothing else was said. */
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
 * Which lists and links a crawl reads. The last two plan what to visit from what they learn of the site; `history` also goes through
 * everything that is older.
 */
export const CRAWL_TYPES = ['docs', 'basic', 'sitemap-only', 'basic-with-sitemap', 'intelligent', 'history'] as const

/** One of {@link CRAWL_TYPES}. */
export type CrawlType = (typeof CRAWL_TYPES)[number]

/** Whether crawls of a type plan what they visit. */
export function hasPlan(type: CrawlType | undefined): boolean {
  return type === 'intelligent' || type === 'history'
}

/** What a source may usually be crawled as. Its history is gone through when somebody asks for it, not again and again. */
export type UsualType = Exclude<CrawlType, 'history'>

/** How a source is called: its name, with the version where it has one. */
export function labelOf({ name, version }: Pick<Source, 'name' | 'version'>): string {
  return version === null ? name : `${name}@${version}`
}

/** Which version a source holds: the one that it was given, else the one that was read. */
export function versionOf({ version, settings }: Pick<Source, 'version' | 'settings'>): string | null {
  return version ?? settings.readVersion ?? null
}
