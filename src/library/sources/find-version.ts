import type { VersionMatch } from '../../core/version/match-version.ts'
import { compareVersions } from '../../core/version/version.ts'
import type { Library, SourceState } from '../library.ts'
import type { Crawl, Store } from '../ports/store.ts'
import { quoteSpaced, writeLabel } from '../search/display-text.ts'
import { type Source, versionOf } from '../source.ts'
import { unknownSource } from './find-source.ts'
import { type Shortfall, writeShortfall } from './shortfall.ts'
import { readShortfall } from './source-status.ts'

/** Query for a version of a name. */
export interface VersionQuery {
  /** Name of the source. */
  readonly name: string
  /** A version, a range, a label such as `stable`, or `latest`. @default latest */
  readonly target?: string | undefined
  /** Falls back to the newest earlier version if the requested one does not exist. @default false */
  readonly orOlder?: boolean | undefined
}

/** Versions of a name in the library. */
export interface FoundVersion {
  readonly name: string
  readonly target: string
  /** The selected version; null if there is none. */
  readonly best: SourceVersion | null
  /** All versions of the name, newest first. */
  readonly versions: readonly SourceVersion[]
  /** Whether a source of that name without a version exists. */
  readonly hasUnversioned: boolean
  /** The result in words. */
  readonly message: string
}

/** One version of a name. */
export interface SourceVersion {
  readonly version: string
  readonly source: Source
  /** Whether a full crawl has completed; before that, pages may be missing. */
  readonly isComplete: boolean
  /** Missing pages, if the version is incomplete and they are known. */
  readonly shortfall: Shortfall | null
}

/** Finds a version of a name. An incomplete version is selected only if it was requested exactly or no other matches. */
export async function findVersion(
  library: SourceState,
  { name, target, orOlder }: VersionQuery,
): Promise<FoundVersion> {
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
    message: describe(quoteSpaced(name), choice),
  }
}

/** The selection among sources of one name, with its reasons. */
export interface VersionChoice extends Pick<FoundVersion, 'target' | 'best' | 'versions' | 'hasUnversioned'> {
  readonly match: VersionMatch
  /** Matching versions, complete or not. */
  readonly among: readonly SourceVersion[]
  /** Newer matching versions that are incomplete. */
  readonly passedOver: readonly SourceVersion[]
}

/** Selects a version among sources of one name. */
export async function chooseVersion(
  library: SourceState,
  named: readonly Source[],
  target: string | undefined,
  orOlder?: boolean,
): Promise<VersionChoice> {
  // Imported lazily: most searches name no version and need no range rules.
  const { matchVersion } = await import('../../core/version/match-version.ts')
  const versions = await listVersions(library, named)
  const all = versions.map(({ version }) => version)
  const completeVersions = versions.filter(({ isComplete }) => isComplete).map(({ version }) => version)
  const anyMatch = matchVersion(target, all, { orOlder })
  const completeMatch = anyMatch.kind === 'exact' ? anyMatch : matchVersion(target, completeVersions, { orOlder })
  const match = completeMatch.best === null ? anyMatch : completeMatch
  const best = versions.find(({ version }) => version === match.best) ?? null
  const among = versions.filter(({ version }) => anyMatch.matches.includes(version))
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

/** Lists the versions among sources of one name, newest first. */
async function listVersions(library: SourceState, named: readonly Source[]): Promise<SourceVersion[]> {
  const found: SourceVersion[] = []
  for (const source of named) {
    const version = versionOf(source)
    if (version === null) continue
    const hasFullCrawl = await isComplete(library, source)
    found.push({
      version,
      source,
      isComplete: hasFullCrawl,
      shortfall: hasFullCrawl ? null : await readShortfall(library, source),
    })
  }
  return found.sort((a, b) => compareVersions(b.version, a.version))
}

/**
 * Whether a full crawl has ever completed. A crawl that hit its page limit or had a narrower scope does not count. Later crawls replace
 * pages one by one and lose none.
 */
export async function isComplete({ store }: Pick<Library, 'store'>, source: Source): Promise<boolean> {
  const { id } = source
  const known = completeSourceIds.get(store) ?? new Set()
  completeSourceIds.set(store, known)
  if (known.has(id)) return true
  const crawls = await store.listCrawls(id, Number.MAX_SAFE_INTEGER)
  const hasFullCrawl = crawls.some((crawl) => isFullCrawl(crawl, source))
  if (hasFullCrawl) known.add(id)
  return hasFullCrawl
}

function isFullCrawl({ kind, state, summary, options }: Crawl, { scope }: Source): boolean {
  if (state !== 'completed' || (kind !== 'add' && kind !== 'recrawl')) return false
  // A different page limit is irrelevant if it was not reached.
  const crawledScope = { ...scope, ...options.scope, maxPages: scope.maxPages }
  return (summary?.cappedAt ?? null) === null && JSON.stringify(crawledScope) === JSON.stringify(scope)
}

/** Cache of complete sources, which stay complete; histories can be long and every search asks. */
const completeSourceIds = new WeakMap<Store, Set<string>>()

/** Describes caveats of a selection: incomplete, older than requested, or a prerelease. */
export function describeDoubts({ best, match, passedOver, target }: VersionChoice): string[] {
  if (best === null) return []
  const label = writeLabel(best.source)
  const doubts: string[] = []
  if (match.isOlder) doubts.push(`there is no ${quoteSpaced(target)}: ${label} is the newest before it`)
  if (match.isPrerelease) doubts.push(`${label} is a prerelease: no release matches`)
  if (!best.isComplete) doubts.push(writeIncomplete(best.source, best.shortfall))
  if (passedOver.length > 0) {
    const newer = passedOver.map(({ source }) => writeLabel(source)).join(', ')
    doubts.push(`${newer} ${passedOver.length === 1 ? 'is' : 'are'} newer, but not complete yet`)
  }
  return doubts
}

/** Example: `guide@5.3 is PARTIAL: the cap of 10 was reached: 48 known addresses not read` */
export function writeIncomplete(source: Source, shortfall: Shortfall | null): string {
  const label = writeLabel(source)
  return shortfall === null
    ? `${label} is not complete: no full crawl of it has finished yet`
    : `${label} is ${writeShortfall(shortfall)}`
}

/** Writes a list of versions: `5.3.0 (not complete), 5.2.0`. */
export function writeVersions(versions: readonly SourceVersion[]): string {
  const shown = versions
    .slice(0, MAX_LISTED)
    .map(({ version, isComplete }) => `${quoteSpaced(version)}${isComplete ? '' : ' (not complete)'}`)
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
  const label = writeLabel(best.source)
  // The caveat already mentions the fallback to an older version.
  if (match.isOlder) return []
  if (match.kind === 'exact') return [label]
  if (match.kind === 'latest') return [`${label} is the ${versions.length === 1 ? 'only version' : 'newest'}`]
  return [`${label} is the newest that matches ${target}`]
}
