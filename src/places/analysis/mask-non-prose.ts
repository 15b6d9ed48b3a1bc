import { FenceReader } from '../../core/markdown/fences.ts'

/**
 * The text of Markdown with everything that is not prose replaced by spaces: link targets, URLs, code blocks and spans, brackets. The
 * result has the same length, so offsets are valid in both.
 */
export function maskNonProse(markdown: string): string {
  const parts: string[] = []
  /** Everything before this offset is in `parts`. */
  let done = 0
  const blank = (from: number, to: number) => {
    if (to <= from) return
    parts.push(markdown.slice(done, from), ' '.repeat(to - from))
    done = to
  }
  const fences = new FenceReader()
  for (let start = 0; start < markdown.length; ) {
    let end = markdown.indexOf('\n', start)
    if (end < 0) end = markdown.length
    if (fences.read(markdown.slice(start, end)) !== undefined) blank(start, end)
    else blankLine(markdown, start, end, blank)
    start = end + 1
  }
  return parts.length === 0 ? markdown : parts.join('') + markdown.slice(done)
}

type Blank = (from: number, to: number) => void

function blankLine(markdown: string, start: number, end: number, blank: Blank): void {
  for (let i = start; i < end; ) {
    switch (markdown.charCodeAt(i)) {
      case BACKSLASH:
        i += 2
        continue
      case BACKTICK: {
        const open = endOfRun(markdown, i, end, BACKTICK)
        const close = closeOfSpan(markdown, open, end, open - i)
        if (close > 0) blank(i, close)
        i = close > 0 ? close : open
        continue
      }
      case OPEN_BRACKET:
        blank(i, i + 1)
        break
      case CLOSE_BRACKET: {
        const stop = markdown.charCodeAt(i + 1) === PARENTHESIS ? endOfTarget(markdown, i + 1, end) : i + 1
        blank(i, stop)
        i = stop
        continue
      }
      case COLON: {
        const from = schemeStart(markdown, start, i)
        if (from >= 0) {
          const stop = endOfAddress(markdown, i, end)
          blank(from, stop)
          i = stop
          continue
        }
      }
    }
    i++
  }
}

const PARENTHESIS = 0x28
const END_PARENTHESIS = 0x29
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const BACKTICK = 0x60

function endOfRun(text: string, from: number, end: number, unit: number): number {
  let i = from
  while (i < end && text.charCodeAt(i) === unit) i++
  return i
}

/** Offset after the run of `length` backticks that closes a code span; -1 when the line has none. */
function closeOfSpan(text: string, from: number, end: number, length: number): number {
  for (let i = from; i < end; ) {
    if (text.charCodeAt(i) !== BACKTICK) {
      i++
      continue
    }
    const stop = endOfRun(text, i, end, BACKTICK)
    if (stop - i === length) return stop
    i = stop
  }
  return -1
}

function endOfTarget(text: string, from: number, end: number): number {
  let depth = 0
  for (let i = from; i < end; i++) {
    const unit = text.charCodeAt(i)
    if (unit === BACKSLASH) i++
    else if (unit === PARENTHESIS) depth++
    else if (unit === END_PARENTHESIS && --depth === 0) return i + 1
  }
  return end
}

/** Offset of the scheme of a URL whose `:` is at `colon`; -1 when the colon is not part of a URL. */
function schemeStart(text: string, lineStart: number, colon: number): number {
  if (!text.startsWith('//', colon + 1)) return -1
  for (const scheme of ['https', 'http', 'ftp']) {
    const from = colon - scheme.length
    if (from >= lineStart && text.startsWith(scheme, from)) return from
  }
  return -1
}

const ADDRESS_END = /[\s<>"]/

function endOfAddress(text: string, from: number, end: number): number {
  let i = from
  while (i < end && !ADDRESS_END.test(text.charAt(i))) i++
  return i
}
