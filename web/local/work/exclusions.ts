import { findIgnoringLine, parseIgnoreFile } from '../../../src/core/ignore/ignore-rules.ts'

/** Finds the line that excludes a path; undefined if there is none. */
export interface Exclusions {
  /** Matches the path of the file itself or of a parent folder. */
  matchFile(path: string): string | undefined
  /** Matches only parent folders. */
  matchParent(path: string): string | undefined
}

/**
 * Parses exclusion patterns, one per line, with the rules of an ignore file. Ignore files in the folder cannot re-include what
 * these patterns exclude.
 */
export function parseExclusions(text: string): Exclusions {
  const rules = [parseIgnoreFile(text, '')]
  const matchParent = (path: string) => {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      const line = findIgnoringLine(rules, path.slice(0, at), true)
      if (line !== undefined) return line
    }
    return undefined
  }
  return { matchParent, matchFile: (path) => matchParent(path) ?? findIgnoringLine(rules, path, false) }
}
