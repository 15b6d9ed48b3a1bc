import { compareUtf8 } from '../../core/text/order.ts'

/** A version of a Python package (https://packaging.python.org/en/latest/specifications/version-specifiers/). */
export interface PythonVersion {
  /** As it was written. */
  readonly text: string
  readonly epoch: number
  readonly release: readonly number[]
  /** `1.0rc2` → `rc` and 2. */
  readonly pre: { readonly name: string; readonly count: number } | undefined
  readonly post: number | undefined
  readonly dev: number | undefined
  /** `1.0+cu118` → `cu118`. */
  readonly local: readonly string[]
}

const NUMBER = '(\\d{1,15})?'
const VERSION = new RegExp(
  [
    '^v?(?:(\\d{1,15})!)?(\\d{1,15}(?:\\.\\d{1,15}){0,20})',
    `(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?${NUMBER})?`,
    `(?:-(\\d{1,15})|[-_.]?(post|rev|r)[-_.]?${NUMBER})?`,
    `(?:[-_.]?(dev)[-_.]?${NUMBER})?`,
    '(?:\\+([a-z0-9._-]{1,100}))?$',
  ].join(''),
  'i',
)

/** Spellings of prereleases. */
const SHORT_NAMES: Readonly<Record<string, string>> = { alpha: 'a', beta: 'b', c: 'rc', pre: 'rc', preview: 'rc' }

/** Parses a version; undefined if it is none. */
export function parsePythonVersion(text: string): PythonVersion | undefined {
  const match = VERSION.exec(text.trim())
  if (match === null) return undefined
  const [, epoch, release = '', preName, preCount, shortPost, postName, postCount, devName, devCount, local] = match
  const name = preName?.toLowerCase() ?? ''
  return {
    text,
    epoch: Number(epoch ?? 0),
    release: release.split('.').map(Number),
    pre: name === '' ? undefined : { name: SHORT_NAMES[name] ?? name, count: Number(preCount ?? 0) },
    post: postName === undefined && shortPost === undefined ? undefined : Number(shortPost ?? postCount ?? 0),
    dev: devName === undefined ? undefined : Number(devCount ?? 0),
    local: local?.toLowerCase().split(/[-_.]/) ?? [],
  }
}

/** Whether a version is neither a prerelease nor one of development. */
export function isStable({ pre, dev }: PythonVersion): boolean {
  return pre === undefined && dev === undefined
}

/** Orders two versions, the older one first; 0 if they differ only in spelling. */
export function comparePythonVersions(a: PythonVersion, b: PythonVersion): number {
  return (
    a.epoch - b.epoch ||
    compareNumbers(a.release, b.release) ||
    compareNumbers(rankPre(a), rankPre(b)) ||
    (a.post ?? -1) - (b.post ?? -1) ||
    // A version of development is older than the version itself.
    compareNumbers([a.dev ?? Number.MAX_VALUE], [b.dev ?? Number.MAX_VALUE]) ||
    compareLocal(a.local, b.local)
  )
}

/** Names of prereleases, the oldest first. */
const PRERELEASES = ['a', 'b', 'rc']

/** `1.0.dev1` comes before `1.0a1`, and that before `1.0`. */
function rankPre({ pre, post, dev }: PythonVersion): readonly number[] {
  if (pre !== undefined) return [PRERELEASES.indexOf(pre.name), pre.count]
  return [post === undefined && dev !== undefined ? -1 : PRERELEASES.length]
}

/** Compares number by number; a missing one counts as 0. */
function compareNumbers(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** Words come before numbers, fewer parts before more. */
function compareLocal(a: readonly string[], b: readonly string[]): number {
  for (const [i, ours] of a.entries()) {
    const theirs = b[i]
    if (theirs === undefined) return 1
    const areNumbers = [ours, theirs].map((part) => /^\d+$/.test(part))
    if (areNumbers[0] !== areNumbers[1]) return areNumbers[0] === true ? 1 : -1
    const difference = areNumbers[0] === true ? Number(ours) - Number(theirs) : compareUtf8(ours, theirs)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}
