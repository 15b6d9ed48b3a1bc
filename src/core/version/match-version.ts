import Range from 'semver/classes/range.js'
import SemVer from 'semver/classes/semver.js'
import outside from 'semver/ranges/outside.js'
import {
  compareParsed,
  isNamedVersion,
  isPrerelease,
  isSameVersion,
  parseVersion,
  sortNewestFirst,
  type Version,
} from './version.ts'

/** The result of a request for a version. */
export interface VersionMatch {
  /** The requested version; null when there is none. */
  readonly best: string | null
  /** All versions that match, the newest first; `best` is the first of them. */
  readonly matches: readonly string[]
  /** How the request was interpreted. A series is a version with numbers left out: `5` or `5.2`. */
  readonly kind: 'latest' | 'exact' | 'series' | 'range'
  /** Whether only prereleases match, although the request names none. */
  readonly isPrerelease: boolean
  /** Whether `best` is older than requested: the newest version before the requested one. */
  readonly isOlder: boolean
}

/** How strictly a request is matched. */
export interface MatchOptions {
  /** Returns the newest version before the requested one if the requested one does not exist. @default false */
  readonly orOlder?: boolean | undefined
}

/**
 * Finds the requested version: by `latest` or nothing, by a version, by a version with its last numbers left out (`5`, `5.2`), by a semver
 * range (`^5.2`, `5.x`, `>=5 <6`, `5.2 - 5.4`) or by a name. A version with exactly this label takes precedence. Prereleases count only
 * when they are requested or nothing else matches.
 */
export function matchVersion(
  target: string | undefined,
  versions: Iterable<string>,
  { orOlder = false }: MatchOptions = {},
): VersionMatch {
  const sorted = sortNewestFirst(versions)
  const request = target?.trim() ?? ''
  if (request === '' || request.toLowerCase() === 'latest') return createMatch('latest', preferReleases(sorted))
  const parsed = parseVersion(request)
  const exact = sorted.filter(({ text }) => text === target || text === request)
  if (exact.length === 0) exact.push(...sorted.filter((version) => isExactMatch(version, parsed)))
  if (exact.length > 0) return createMatch('exact', { versions: exact, isPrerelease: false })
  const range = isSeries(parsed) || isNamedVersion(parsed) ? parseRange(request) : undefined
  const kind = range === undefined ? 'exact' : isNamedVersion(parsed) ? 'range' : 'series'
  const found = range === undefined ? { versions: [], isPrerelease: false } : filterByRange(sorted, request, range)
  if (found.versions.length > 0 || !orOlder) return createMatch(kind, found)
  const isBefore = (version: Version) =>
    range === undefined
      ? !isNamedVersion(parsed) && compareParsed(version, parsed) < 0
      : outside(semverOf(version), range, '<')
  const older = preferReleases(sorted.filter((version) => !isNamedVersion(version) && isBefore(version)))
  return { ...createMatch(kind, older), isOlder: older.versions.length > 0 }
}

/** Whether a version is exactly the requested one. `5` requests any 5.x, unless a version is labeled `5` or `v5`. */
function isExactMatch(version: Version, requested: Version): boolean {
  if (isSeries(requested) && version.numbers.length !== requested.numbers.length) return false
  return isSameVersion(version, requested)
}

/** Whether a version is a series: a release with fewer than three numbers. */
function isSeries(version: Version): boolean {
  return !isNamedVersion(version) && version.numbers.length < 3 && !isPrerelease(version)
}

/** Some versions, the newest first, and whether they are prereleases because there are no releases. */
interface MatchedVersions {
  readonly versions: readonly Version[]
  readonly isPrerelease: boolean
}

function createMatch(kind: VersionMatch['kind'], { versions, isPrerelease }: MatchedVersions): VersionMatch {
  const matches = versions.map(({ text }) => text)
  return { best: matches[0] ?? null, matches, kind, isPrerelease, isOlder: false }
}

/** Releases and names, or prereleases if there is nothing else. */
function preferReleases(versions: readonly Version[]): MatchedVersions {
  const releases = versions.filter((version) => !isPrerelease(version))
  return releases.length > 0
    ? { versions: releases, isPrerelease: false }
    : { versions, isPrerelease: versions.length > 0 }
}

/** The versions in a range by semver's rule, which excludes prereleases that the range does not name. */
function filterByRange(versions: readonly Version[], request: string, range: Range): MatchedVersions {
  const numbered = versions.filter((version) => !isNamedVersion(version))
  const strict = numbered.filter((version) => range.test(semverOf(version)))
  if (strict.length > 0) return { versions: strict, isPrerelease: false }
  const wide = parseRange(request, true) ?? range
  const loose = numbered.filter((version) => wide.test(semverOf(version)))
  return { versions: loose, isPrerelease: loose.length > 0 }
}

/** Semver has three numbers: further ones order versions but do not affect ranges. */
function semverOf(version: Version): SemVer {
  return new SemVer(writeSemver(version))
}

function writeSemver({ numbers, prerelease }: Version): string {
  const [major = 0, minor = 0, patch = 0] = numbers
  return `${major}.${minor}.${patch}${writePrerelease(prerelease)}`
}

function writePrerelease(prerelease: Version['prerelease']): string {
  return prerelease.length === 0 ? '' : `-${prerelease.join('.')}`
}

/** A version in a range: the text between spaces, bars and comparison signs. */
const VERSION_IN_RANGE = /[^\s|<>=~^]+/g

/** Parses a range; undefined for an invalid one. Dates and leading zeros are converted to semver. */
function parseRange(text: string, includePrerelease = false): Range | undefined {
  if (text.length > MAX_RANGE_CHARS) return undefined
  const normalized = text.replace(VERSION_IN_RANGE, (part) => {
    const version = parseVersion(part)
    return isNamedVersion(version) ? part.replace(/(?<![\w-])0+(?=\d)/g, '') : writePartial(version)
  })
  try {
    return new Range(normalized, { includePrerelease })
  } catch (error) {
    // Semver throws a TypeError for every invalid range.
    if (error instanceof TypeError) return undefined
    throw error
  }
}

const MAX_RANGE_CHARS = 256

/** Writes only the given numbers, since an omitted number matches any number. */
function writePartial(version: Version): string {
  const { numbers, prerelease } = version
  return prerelease.length > 0 || numbers.length > 2 ? writeSemver(version) : numbers.join('.')
}
