import { type Glob, literalOf, matchesGlob, parseGlob } from './glob.ts'

/** One line of an ignore file. */
interface IgnoreRule {
  /** The line itself. */
  readonly text: string
  /** Globs for the parts of a path; `**` for any number of parts. */
  readonly parts: readonly (Glob | '**')[]
  readonly directoriesOnly: boolean
  /** The line began with `!`. */
  readonly isNegated: boolean
}

/**
 * The lines of one `.gitignore`, which apply below its folder. Lines are untrusted and may be very many, so rules without a wildcard are
 * found by lookup and only the others are tried one by one.
 */
export interface IgnoreFile {
  /** Path of the folder with the ignore file, ending in `/`, or empty for the root. */
  readonly base: string
  readonly rules: readonly IgnoreRule[]
  /** Rules that are a name at any depth, by that name. */
  readonly names: ReadonlyMap<string, LastRuleIndexes>
  /** Rules that are one path, by that path. */
  readonly paths: ReadonlyMap<string, LastRuleIndexes>
  /** Indexes of all other rules, ascending. */
  readonly wildcardRules: readonly number[]
}

/** Indexes of the last rules for one name or path, -1 for none: a rule for any entry, and a rule for folders only. */
interface LastRuleIndexes {
  any: number
  folder: number
}

/** Reads an ignore file by the rules of gitignore(5). */
export function parseIgnoreFile(text: string, base: string): IgnoreFile {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n|\r$/)
  const seen = new Set<string>()
  const rules: IgnoreRule[] = []
  for (const line of lines.reverse()) {
    const pattern = trimTrailingSpaces(line)
    // The later of two lines with the same pattern decides, so the earlier one is skipped.
    const unnegatedPattern = pattern.startsWith('!') ? pattern.slice(1) : pattern
    const rule = seen.has(unnegatedPattern) ? undefined : parseRule(pattern)
    if (rule === undefined) continue
    rules.push(rule)
    seen.add(unnegatedPattern)
  }
  return indexRules(rules.reverse(), base)
}

/**
 * The line that ignores a path; undefined for a path that is not ignored. Files are given outermost first; the last matching line decides.
 * Parent folders are not checked again, because the walk never enters an ignored folder.
 */
export function findIgnoringLine(files: readonly IgnoreFile[], path: string, isDirectory: boolean): string | undefined {
  for (const file of files.toReversed()) {
    if (!path.startsWith(file.base)) continue
    const decisive = findLastMatch(file, path.slice(file.base.length), isDirectory)
    if (decisive !== undefined) return decisive.isNegated ? undefined : decisive.text
  }
  return undefined
}

/** The same ignore file without the rules that ignore one of these folders. */
export function withoutRulesFor(file: IgnoreFile, folders: readonly string[]): IgnoreFile {
  const foldersBelow = folders.filter((path) => path.startsWith(file.base)).map((path) => splitPath(path, file.base))
  const ignoresOne = ({ parts }: IgnoreRule) => foldersBelow.some((folder) => matchesParts(parts, folder))
  const kept = file.rules.filter((rule) => rule.isNegated || !ignoresOne(rule))
  return indexRules(kept, file.base)
}

function indexRules(rules: readonly IgnoreRule[], base: string): IgnoreFile {
  const names = new Map<string, LastRuleIndexes>()
  const paths = new Map<string, LastRuleIndexes>()
  const wildcardRules: number[] = []
  for (const [index, { parts, directoriesOnly }] of rules.entries()) {
    const isName = parts.length === 2 && parts[0] === '**'
    const texts = (isName ? parts.slice(1) : parts).map((part) => (part === '**' ? undefined : literalOf(part)))
    if (!texts.every((text) => text !== undefined)) {
      wildcardRules.push(index)
      continue
    }
    const map = isName ? names : paths
    const last = map.get(texts.join('/')) ?? { any: -1, folder: -1 }
    last[directoriesOnly ? 'folder' : 'any'] = index
    map.set(texts.join('/'), last)
  }
  return { base, rules, names, paths, wildcardRules }
}

/** The last rule that matches a path relative to the folder of the file. */
function findLastMatch(file: IgnoreFile, path: string, isDirectory: boolean): IgnoreRule | undefined {
  const found = [file.names.get(path.slice(path.lastIndexOf('/') + 1)), file.paths.get(path)]
  const indexes = found.flatMap((last) => (last === undefined ? [] : [last.any, isDirectory ? last.folder : -1]))
  const literalMatch = Math.max(-1, ...indexes)
  const parts = file.wildcardRules.length === 0 ? [] : splitPath(path, '')
  const wildcardMatch = file.wildcardRules.findLast((index) => {
    // The rule found by lookup overrides all rules before it.
    if (index < literalMatch) return true
    const rule = file.rules[index]
    return rule !== undefined && (isDirectory || !rule.directoriesOnly) && matchesParts(rule.parts, parts)
  })
  return file.rules[Math.max(literalMatch, wildcardMatch ?? -1)]
}

/** The parts of a path below a folder, each as its characters. */
function splitPath(path: string, base: string): string[][] {
  return path
    .slice(base.length)
    .split('/')
    .map((part) => [...part])
}

function parseRule(trimmed: string): IgnoreRule | undefined {
  let pattern = trimmed
  if (pattern === '' || pattern.startsWith('#')) return undefined
  const isNegated = pattern.startsWith('!')
  if (isNegated) pattern = pattern.slice(1)
  const directoriesOnly = pattern.endsWith('/')
  if (directoriesOnly) pattern = pattern.slice(0, -1)
  const isAnchored = pattern.includes('/')
  const names = pattern.replace(/^\//, '').split('/')
  if (names.join('') === '') return undefined
  const parts = names.map((name) => (name === '**' ? name : parseGlob(name)))
  if (!parts.every((part) => part !== undefined)) return undefined
  return { text: trimmed, parts: isAnchored ? parts : ['**', ...parts], directoriesOnly, isNegated }
}

/** Trailing spaces do not count unless an unescaped backslash precedes them. */
function trimTrailingSpaces(line: string): string {
  if (!line.endsWith(' ')) return line
  let end = 0
  for (let i = 0; i < line.length; i++) {
    const isEscape = line[i] === '\\'
    if (isEscape) i++
    if (isEscape || line[i] !== ' ') end = i + 1
  }
  return line.slice(0, end)
}

/** Like {@link matchesGlob}, for the parts of a path: `**` matches any number of parts, at the end of a pattern at least one. */
function matchesParts(pattern: IgnoreRule['parts'], parts: readonly (readonly string[])[]): boolean {
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
    } else if (step !== undefined && matchesGlob(step, parts[i] ?? [])) {
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
