import { findIgnoringLine, parseIgnoreFile } from '../../../src/core/ignore/ignore-rules.ts'

/** Returns the line that excludes a path, or undefined. */
export interface LeaveOut {
  /** Matches the path of the file itself or of a parent folder. */
  file(path: string): string | undefined
  /** Matches only parent folders. */
  folderOf(path: string): string | undefined
}

/**
 * Parses exclusion patterns, one per line, with the rules of an ignore file. Ignore files in the folder cannot re-include what they
 * exclude.
 */
export function readLeaveOut(text: string): LeaveOut {
  const rules = [parseIgnoreFile(text, '')]
  const folderOf = (path: string) => {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      const line = findIgnoringLine(rules, path.slice(0, at), true)
      if (line !== undefined) return line
    }
    return undefined
  }
  return { folderOf, file: (path) => folderOf(path) ?? findIgnoringLine(rules, path, false) }
}
