import { isBlank } from '../../core/text/lines.ts'
import { indentOf } from '../indent.ts'

/* Lines and how far they are indented, which is how the blocks of reStructuredText are told apart. */

/** Tabs are as wide as up to the next column that is a multiple of this. */
const TAB = 8

/** A line without tabs and without white space behind it. */
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

/** Where lines end that are blank or indented by at least so much. */
export function endOfIndented(lines: readonly string[], start: number, least: number): number {
  let end = start
  for (let i = start; i < lines.length; i++) {
    const line = lines[i] ?? ''
    if (isBlank(line)) continue
    if (indentOf(line) < least) break
    end = i + 1
  }
  return end
}

/** Text without the backslashes that only keep signs from being marks; white space behind one is nothing. */
export function plainOf(text: string): string {
  return text.includes('\\') ? text.replace(/\\(?:\s|([^\s]))/g, '$1') : text
}
