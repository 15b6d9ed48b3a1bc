import { compareUtf8 } from '../text/order.ts'

/** The parsed label of a version. */
export interface Version {
  /** As it was written. */
  readonly text: string
  /** `v5.2` → 5 and 2, `2024-10-01` → 2024, 10 and 1; none in a label such as `stable`. */
  readonly numbers: readonly number[]
  /** `5.2.0-rc.1` → `rc` and 1. */
  readonly prerelease: readonly (string | number)[]
}

/** Numbers with dots between them and a prerelease, as in semver, but up to eight numbers, which may have leading zeros. */
const NUMBERED = /^v?(\d{1,15}(?:\.\d{1,15}){0,7})(?:-([0-9a-z-]+(?:\.[0-9a-z-]+)*))?(?:\+[0-9a-z.-]+)?$/i

/** Python writes its prereleases without a hyphen: `3.13.0rc1` (PEP 440). */
const UNHYPHENATED = /^v?(\d{1,15}(?:\.\d{1,15}){0,7})\.?(a|alpha|b|beta|c|rc)\.?(\d{1,15})$/i

/** Python's abbreviations of prerelease names, with the full names that others use. */
const LONG_NAMES: Readonly<Record<string, string>> = { a: 'alpha', b: 'beta', c: 'rc' }

/** A year and a month, or a day. Semver would read `2024-10` as a prerelease of 2024. */
const DATE = /^(\d{4})-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?$/

/** A longer label is a name. Semver itself reads at most 256 characters. */
const MAX_CHARS = 200

/** Parses the label of a version. A label without a number is a name, such as `stable` or `main`. */
export function parseVersion(text: string): Version {
  const plain = text.trim()
  if (plain.length > MAX_CHARS) return { text, numbers: [], prerelease: [] }
  const [date, ...parts] = DATE.exec(plain) ?? []
  if (date !== undefined) return { text, numbers: parts.filter(Boolean).map(Number), prerelease: [] }
  const [early, before = '', word = '', count] = UNHYPHENATED.exec(plain) ?? []
  if (early !== undefined) {
    const name = word.toLowerCase()
    return { text, numbers: numbersIn(before), prerelease: [LONG_NAMES[name] ?? name, Number(count)] }
  }
  const [, numbers, prerelease = ''] = NUMBERED.exec(plain) ?? []
  if (numbers === undefined) return { text, numbers: [], prerelease: [] }
  return { text, numbers: numbersIn(numbers), prerelease: identifiersIn(prerelease) }
}

/**
 * Orders two versions, the older one first: by their numbers, then by semver's order of prereleases, each before its release. Names are
 * older than anything with a number, except `latest`, which is newer; among names those of releases are newer than others. Different
 * spellings of one version are ordered by their characters, so that no two are equal.
 */
export function compareVersions(a: string, b: string): number {
  return compareParsed(parseVersion(a), parseVersion(b))
}

/** Like `compareVersions`, for parsed versions. */
export function compareParsed(a: Version, b: Version): number {
  return rankOf(a) - rankOf(b) || compareNumbers(a, b) || compareUtf8(a.text, b.text)
}

/** Whether two labels mean the same version: `v5.2.0`, `5.2` and `5.2.0+build` do, as do names that differ only in case. */
export function isSameVersion(a: Version, b: Version): boolean {
  if (isNamedVersion(a) || isNamedVersion(b)) return a.text.trim().toLowerCase() === b.text.trim().toLowerCase()
  return compareNumbers(a, b) === 0
}

/** Versions, the newest first. */
export function sortNewestFirst(versions: Iterable<string>): Version[] {
  return Array.from(versions, parseVersion).sort((a, b) => compareParsed(b, a))
}

/** Whether a label has no number. */
export function isNamedVersion({ numbers }: Version): boolean {
  return numbers.length === 0
}

export function isPrerelease({ prerelease }: Version): boolean {
  return prerelease.length > 0
}

/** Compares by numbers and prerelease alone. A missing number counts as 0. */
function compareNumbers(a: Version, b: Version): number {
  const length = Math.max(a.numbers.length, b.numbers.length)
  for (let i = 0; i < length; i++) {
    const difference = (a.numbers[i] ?? 0) - (b.numbers[i] ?? 0)
    if (difference !== 0) return difference
  }
  if (!isPrerelease(a) || !isPrerelease(b)) return Number(isPrerelease(b)) - Number(isPrerelease(a))
  return comparePrereleases(a.prerelease, b.prerelease)
}

/** Semver 2.0.0, 11.4: numbers before words, fewer identifiers before more. */
function comparePrereleases(a: Version['prerelease'], b: Version['prerelease']): number {
  for (const [i, ours] of a.entries()) {
    const theirs = b[i]
    if (theirs === undefined) return 1
    if (ours === theirs) continue
    if (typeof ours === 'number' && typeof theirs === 'number') return ours - theirs
    if (typeof ours !== typeof theirs) return typeof ours === 'number' ? -1 : 1
    return compareUtf8(String(ours), String(theirs))
  }
  return a.length - b.length
}

/** Names of releases, the newest last. */
const RELEASE_NAMES: readonly string[] = ['lts', 'release', 'current', 'stable']

const NUMBER_RANK = RELEASE_NAMES.length + 1

function rankOf(version: Version): number {
  if (!isNamedVersion(version)) return NUMBER_RANK
  const name = version.text.trim().toLowerCase()
  return name === 'latest' ? NUMBER_RANK + 1 : RELEASE_NAMES.indexOf(name) + 1
}

function numbersIn(text: string): number[] {
  return text.split('.').map(Number)
}

function identifiersIn(text: string): (string | number)[] {
  if (text === '') return []
  return text
    .split('.')
    .map((part) => (/^0*\d{1,15}$/.test(part) ? Number(part) : part.replace(/^0+(?=[1-9]\d*$|0$)/, '')))
}
