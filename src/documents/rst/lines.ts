import { isBlank } from '../../core/text/lines.ts'
import { indentOf } from '../indent.ts'

/* Lines and their indentation, which structures the blocks of reStructuredText. */

/** Tab width. */
const TAB = 8

/** A line with tabs expanded and trailing white space removed. */
export function expandTabs(line: string): string {
  const text = line.trimEnd()
  if (!text.includes('\t')) return text
  const parts: string[] = []
  let width = 0
  for (const part of text.split('\t')) {
    parts.push(part)
    width += part.length
    const gap = TAB - (width % TAB)
    parts.push(' '.repeat(gap))
    width += gap
  }
  return parts.slice(0, -1).join('')
}

/**
 * Index after the lines from `start` on that are indented by at least `minIndent`. Blank lines between such lines are included, trailing
 * ones are not.
 */
export function endOfIndented(lines: readonly string[], start: number, minIndent: number): number {
  let end = start
  for (let i = start; i < lines.length; i++) {
    const line = lines[i] ?? ''
    if (isBlank(line)) continue
    if (indentOf(line) < minIndent) break
    end = i + 1
  }
  return end
}

/** Text without escaping backslashes; white space after one is removed. */
export function unescapeText(text: string): string {
  return text.includes('\\') ? text.replace(/\\(?:\s|([^\s]))/g, '$1') : text
}
