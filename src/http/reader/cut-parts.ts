import { isBlank } from '../../core/text/lines.ts'
import type { LineRange } from './render-markdown.ts'

/** About how many characters one part of a long page has. */
const PART_CHARS = 60_000

/**
 * Cuts a long page into parts that can be shown one at a time. A part of Markdown begins at a heading or after a blank line, and never
 * inside a code block, unless a single block is longer than two parts.
 */
export function cutParts(lines: readonly string[], isMarkdown: boolean, partChars: number = PART_CHARS): LineRange[] {
  const parts: LineRange[] = []
  let start = 1
  let chars = 0
  let fence = ''
  lines.forEach((line, i) => {
    const isFree = !isMarkdown || (fence === '' && isBoundary(lines[i - 1] ?? '', line))
    const isNeeded = chars > partChars && (isFree || chars > 2 * partChars)
    const isGoodPlace = chars > 0.75 * partChars && isMarkdown && fence === '' && /^#{1,3} /.test(line)
    if (isNeeded || isGoodPlace) {
      parts.push({ start, end: i })
      start = i + 1
      chars = 0
    }
    chars += line.length + 1
    const marker = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? ''
    if (fence === '') fence = marker
    else if (marker.startsWith(fence) && isBlank(line.trim().slice(marker.length))) fence = ''
  })
  parts.push({ start, end: Math.max(start, lines.length) })
  return parts
}

/** Whether a block may begin at a line: not indented, after a blank line. */
function isBoundary(previous: string, line: string): boolean {
  return isBlank(previous) && /^\S/.test(line)
}
