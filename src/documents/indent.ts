import { isBlank } from '../core/text/lines.ts'

/* Indentation of lines, which structures the blocks of several formats. */

export function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

/** The smallest indentation of non-blank lines. */
export function minIndent(lines: readonly string[]): number {
  let least = Number.POSITIVE_INFINITY
  for (const line of lines) if (!isBlank(line)) least = Math.min(least, indentOf(line))
  return Number.isFinite(least) ? least : 0
}

export function dedent(lines: readonly string[], by: number = minIndent(lines)): string[] {
  return lines.map((line) => (isBlank(line) ? '' : line.slice(Math.min(by, indentOf(line)))))
}
