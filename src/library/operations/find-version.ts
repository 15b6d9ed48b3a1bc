import type { VersionMatch } from '../../core/version/match-version.ts'
import { compareVersions } from '../../core/version/version.ts'
import type { Library } from '../library.ts'
import { type Shortfall, writeShortfall } from '../shortfall.ts'
import { labelOf, type Source, versionOf } from '../source.ts'
import type { Crawl, Store } from '../store.ts'
import { unknownSource } from './find-source.ts'
import { readShortfall } from './source-status.ts'

/** Which version of what is asked for. */
export interface VersionQuery {
  /** Name of the sources. */
  readonly name: string
  /** A version, a range, a name such as `stable`, or `latest`. @default latest */
  readonly target?: string | undefined
  /** Takes the newest version before the one that was asked for, where there is no such. @default false */
  readonly orOlder?: boolean | undefined
}

/** What a library has of a name. */
export interface FoundVersion {
  readonly name: string
  readonly target: string
  /** The one that was meant; null when there is none. */
  readonly best: SourceVersion | null
  /** All versions of that name, the newest first. */
  readonly versions: readonly SourceVersion[]
  /** Whether there is also a source of that name without a version. */
  readonly hasUnversioned: boolean
  /** All of that in words. */
  readonly message: string
}

/** One version of a name. */
export interface SourceVersion {
  readonly version: string
  readonly source: Source
  /** Whether a crawl of everything has come to its end; what was crawled before that may lack any page. */
  readonly isComplete: boolean
  /** Its missing pages, where it is not complete and they are known. */
  readonly shortfall: Shortfall | null
}

/**
 * Finds the version of a name that is meant. What is not complete is taken only where it was asked for exactly, or nothing else
 * would do.
 */
export async function findVersion(library: Library, { name, target, orOlder }: VersionQuery): Promise<FoundVersion> {
  const sources = await library.store.listSources()
  const named = sources.filter((source) => source.name === name.trim())
  if (named.length === 0) throw unknownSource(library, name, sources)
  const choice = await chooseVersion(library, named, target, orOlder)
  const { best, versions, hasUnversioned } = choice
  return {
    name: name.trim(),
    target: choice.target,
    best,
    versions,
    hasUnversioned,
    message: describe(name.trim(), choice),
  }
}

/** What was chosen from the sources of one name, and why. */
export interface VersionChoice extends Pick<FoundVersion, 'target' | 'best' | 'versions' | 'hasUnversioned'> {
  readonly match: VersionMatch
  /** Those that would do, complete or not. */
  readonly among: readonly SourceVersion[]
  /** Newer ones that would do, and are not complete. */
  readonly passedOver: readonly SourceVersion[]
}

/** Chooses among sources of one name. */
export async function chooseVersion(
  library: Library,
  named: readonly Source[],
  target: string | undefined,
  orOlder?: boolean,
): Promise<VersionChoice> {
  // Loaded when it is needed: most searches name no version, and have no use for the rules of ranges.
  const { matchVersion } = await import('../../core/version/match-version.ts')
  const versions = await listVersions(library, named)
  const all = versions.map(({ version }) => version)
  const complete = versions.filter(({ isComplete }) => isComplete).map(({ version }) => version)
  const loose = matchVersion(target, all, { orOlder })
  const safe = loose.kind === 'exact' ? loose : matchVersion(target, complete, { orOlder })
  const match = safe.best === null ? loose : safe
  const best = versions.find(({ version }) => version === match.best) ?? null
  const among = versions.filter(({ version }) => loose.matches.includes(version))
  const isPassedOver = ({ version, isComplete }: SourceVersion) =>
    !isComplete && best !== null && compareVersions(version, best.version) > 0
  return {
    target: target?.trim() || 'latest',
    best,
    match,
    versions,
    among,
    passedOver: among.filter(isPassedOver),
    hasUnversioned: named.some((source) => versionOf(source) === null),
  }
}

/** The versions among sources of one name, the newest first. */
async function listVersions(library: Library, named: readonly Source[]): Promise<SourceVersion[]> {
  const found: SourceVersion[] = []
  for (const source of named) {
    const version = versionOf(source)
    if (version === null) continue
    const isWhole = await isComplete(library, source)
    found.push({
      version,
      source,
      isComplete: isWhole,
      shortfall: isWhole ? null : await readShortfall(library, source),
    })
  }
  return found.sort((a, b) => compareVersions(b.version, a.version))
}

/**
 * Whether a crawl of everything has come to its end at least once: one that reached the most pages it was allowed, or that was asked
 * for a part, has not. Later ones replace pages one by one, and lose none.
 */
export async function isComplete({ store }: Library, source: Source): Promise<boolean> {
  const { id } = source
  const known = complete.get(store) ?? new Set()
  complete.set(store, known)
  if (known.has(id)) return true
  const crawls = await store.listCrawls(id, Number.MAX_SAFE_INTEGER)
  const isOne = crawls.some((crawl) => isWhole(crawl, source))
  if (isOne) known.add(id)
  return isOne
}

function isWhole({ kind, state, summary, options }: Crawl, { scope }: Source): boolean {
  if (state !== 'completed' || (kind !== 'add' && kind !== 'recrawl')) return false
  // Another limit of pages is none where it was not reached.
  const asked = { ...scope, ...options.scope, maxPages: scope.maxPages }
  return (summary?.cappedAt ?? null) === null && JSON.stringify(asked) === JSON.stringify(scope)
}

/** Ids of sources that are known to be complete, which they stay: histories can be long, and every search asks. */
const complete = new WeakMap<Store, Set<string>>()

/** Says of a choice what its reader has to know: that it is not complete, or not what one would expect. */
export function describeDoubts({ best, match, passedOver, target }: VersionChoice): string[] {
  if (best === null) return []
  const label = labelOf(best.source)
  const doubts: string[] = []
  if (match.isOlder) doubts.push(`there is no ${target}: ${label} is the newest before it`)
  if (match.isPrerelease) doubts.push(`${label} is a prerelease: there is no release that would do`)
  if (!best.isComplete) doubts.push(writeIncomplete(best.source, best.shortfall))
  if (passedOver.length > 0) {
    const newer = passedOver.map(({ source }) => labelOf(source)).join(', ')
    doubts.push(`${newer} ${passedOver.length === 1 ? 'is' : 'are'} newer, but not complete yet`)
  }
  return doubts
}

/** `guide@5.3 is PARTIAL: the cap of 10 was reached: 48 known addresses not read` */
export function writeIncomplete(source: Source, shortfall: Shortfall | null): string {
  const label = labelOf(source)
  return shortfall === null
    ? `${label} is not complete: no crawl of all of it has come to its end`
    : `${label} is ${writeShortfall(shortfall)}`
}

/** The versions of a name in words: `5.3.0 (not complete), 5.2.0`. */
export function writeVersions(versions: readonly SourceVersion[]): string {
  const shown = versions
    .slice(0, MAX_LISTED)
    .map(({ version, isComplete }) => (isComplete ? version : `${version} (not complete)`))
  const more = versions.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}

const MAX_LISTED = 20

function describe(name: string, choice: VersionChoice): string {
  const { target, versions, hasUnversioned } = choice
  const list = versions.length === 0 ? [] : [`versions, newest first: ${writeVersions(versions)}`]
  const unversioned = hasUnversioned ? [`there is also ${name} without a version`] : []
  if (versions.length === 0) return writeNone(name, target)
  return [...writeBest(name, choice), ...describeDoubts(choice), ...list, ...unversioned].join('; ')
}

function writeNone(name: string, target: string): string {
  const none = `${name} has no versions: leave the version out`
  return target === 'latest' ? none : `there is no version ${target} of ${name}; ${none}`
}

function writeBest(name: string, { best, match, versions, target }: VersionChoice): string[] {
  if (best === null) return [`there is no version ${target} of ${name}`]
  const label = labelOf(best.source)
  // That there is only an older one is said as a doubt.
  if (match.isOlder) return []
  if (match.kind === 'exact') return [label]
  if (match.kind === 'latest') return [`${label} is the ${versions.length === 1 ? 'only version' : 'newest'}`]
  return [`${label} is the newest that matches ${target}`]
}
