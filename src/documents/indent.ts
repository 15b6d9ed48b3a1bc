import { isBlank } from '../core/text/lines.ts'

/* Indentation of lines, which structures the blocks of several formats. */

export function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

/** The smallest indentation of non-blank lines. */
export function minIndent(lines: readonly string[]): number {
  let smallest = Number.POSITIVE_INFINITY
  for (const line of lines) if (!isBlank(line)) smallest = Math.min(smallest, indentOf(line))
  return Number.isFinite(smallest) ? smallest : 0
}

export function dedent(lines: readonly string[], by: number = minIndent(lines)): string[] {
  return lines.map((line) => (isBlank(line) ? '' : line.slice(Math.min(by, indentOf(line)))))
}
