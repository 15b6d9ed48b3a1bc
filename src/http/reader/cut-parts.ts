import { FenceReader } from '../../core/markdown/fences.ts'
import { isBlank } from '../../core/text/lines.ts'
import type { LineRange } from './render-markdown.ts'

/** About how many characters one part of a long page has. */
const PART_CHARS = 60_000

/** A part of a long page. */
export interface PagePart extends LineRange {
  /** The line that opened the code block in which the part begins; null outside of code. */
  readonly fence: string | null
}

/**
 * Cuts a long page into parts that can be shown one at a time. A part of Markdown begins at a heading or after a blank line, and never
 * inside a code block, unless a single block is longer than two parts.
 */
export function cutParts(lines: readonly string[], isMarkdown: boolean, partChars: number = PART_CHARS): PagePart[] {
  const parts: PagePart[] = []
  let part: Pick<PagePart, 'start' | 'fence'> = { start: 1, fence: null }
  let chars = 0
  const fences = new FenceReader()
  lines.forEach((line, i) => {
    const { fence } = fences
    const isFree = !isMarkdown || (fence === undefined && isBoundary(lines[i - 1] ?? '', line))
    const isNeeded = chars > partChars && (isFree || chars > 2 * partChars)
    const isGoodPlace = chars > 0.75 * partChars && isMarkdown && fence === undefined && /^#{1,3} /.test(line)
    if (isNeeded || isGoodPlace) {
      parts.push({ ...part, end: i })
      part = {
        start: i + 1,
        fence: isMarkdown && fence !== undefined ? fence.indent + fence.marker + fence.info : null,
      }
      chars = 0
    }
    chars += line.length + 1
    fences.read(line)
  })
  parts.push({ ...part, end: Math.max(part.start, lines.length) })
  return parts
}

/** Whether a block may begin at a line: not indented, after a blank line. */
function isBoundary(previous: string, line: string): boolean {
  return isBlank(previous) && /^\S/.test(line)
}
