import { type Glob, matchesGlob, parseGlob } from './glob.ts'

/** One line of an ignore file. */
interface IgnoreRule {
  /** Globs for the parts of a path; `**` for any number of parts. */
  readonly parts: readonly (Glob | '**')[]
  readonly directoriesOnly: boolean
  /** The line began with `!`. */
  readonly keeps: boolean
}

/** The lines of one `.gitignore`, in force below the folder it stands in. */
export interface IgnoreFile {
  /** Path of that folder, ending in `/`, or empty for the root. */
  readonly base: string
  readonly rules: readonly IgnoreRule[]
}

/** Reads an ignore file by the rules of gitignore(5). */
export function parseIgnoreFile(text: string, base: string): IgnoreFile {
  const rules = text
    .replace(/^\ufeff/, '')
    .split(/\r?\n|\r$/)
    .map(parseRule)
    .filter((rule) => rule !== undefined)
  return { base, rules }
}

/**
 * Tells whether a path is ignored. Files are given outermost first; the last line that matches decides. Folders above
 * the path are not asked about again: nobody looks inside an ignored folder.
 */
export function isIgnored(files: readonly IgnoreFile[], path: string, isDirectory: boolean): boolean {
  for (const { base, rules } of files.toReversed()) {
    if (!path.startsWith(base)) continue
    const parts = path.slice(base.length).split('/')
    const decisive = rules.findLast((rule) => (isDirectory || !rule.directoriesOnly) && matchesParts(rule.parts, parts))
    if (decisive !== undefined) return !decisive.keeps
  }
  return false
}

function parseRule(line: string): IgnoreRule | undefined {
  let pattern = trimTrailingSpaces(line)
  if (pattern === '' || pattern.startsWith('#')) return undefined
  const keeps = pattern.startsWith('!')
  if (keeps) pattern = pattern.slice(1)
  const directoriesOnly = pattern.endsWith('/')
  if (directoriesOnly) pattern = pattern.slice(0, -1)
  const isAnchored = pattern.includes('/')
  const names = pattern.replace(/^\//, '').split('/')
  if (names.join('') === '') return undefined
  const parts = names.map((name) => (name === '**' ? name : parseGlob(name)))
  if (!parts.every((part) => part !== undefined)) return undefined
  return { parts: isAnchored ? parts : ['**', ...parts], directoriesOnly, keeps }
}

/** Spaces at the end do not count unless a backslash, which nothing escapes in turn, stands before them. */
function trimTrailingSpaces(line: string): string {
  let end = 0
  for (let i = 0; i < line.length; i++) {
    const isEscape = line[i] === '\\'
    if (isEscape) i++
    if (isEscape || line[i] !== ' ') end = i + 1
  }
  return line.slice(0, end)
}

/** As {@link matchesGlob}, a level up: `**` is to path parts what `*` is to characters. A last `**` needs a part. */
function matchesParts(pattern: IgnoreRule['parts'], parts: readonly string[]): boolean {
  let p = 0
  let i = 0
  let retryPattern = -1
  let retryPart = 0
  while (i < parts.length) {
    const step = pattern[p]
    if (step === '**') {
      if (p === pattern.length - 1) return true
      retryPattern = p++
      retryPart = i
    } else if (step !== undefined && matchesGlob(step, parts[i] ?? '')) {
      p++
      i++
    } else if (retryPattern >= 0) {
      p = retryPattern + 1
      i = ++retryPart
    } else {
      return false
    }
  }
  return p === pattern.length
}
