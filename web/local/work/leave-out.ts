import { findIgnoringLine, parseIgnoreFile } from '../../../src/core/ignore/ignore-rules.ts'

/** Tells by which line something is left out; undefined where none says so. */
export interface LeaveOut {
  /** By its own path, or by that of a folder it lies in. */
  file(path: string): string | undefined
  /** By that of a folder it lies in alone. */
  folderOf(path: string): string | undefined
}

/** Reads patterns, a line each, as an ignore file of the folder would say them. What they leave out nothing in the folder takes back. */
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
