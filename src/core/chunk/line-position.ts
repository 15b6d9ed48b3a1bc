import type { LineMap } from '../text/line-map.ts'

/** Where the content of a span starts: at its first line that is not blank, with the indentation if the span contains the whole line. */
export function contentStart(text: string, start: number, lines: LineMap): number {
  let at = start
  while (at < text.length && isSpace(text, at)) at++
  const first = lines.startOf(lines.lineAt(at))
  return first >= start ? first : at
}

/** The end of the last character in `[start, end)` that is not white space, or `start`. */
export function trimmedEnd(text: string, start: number, end: number): number {
  let at = end
  while (at > start && isSpace(text, at - 1)) at--
  return at
}

export function lineStart(text: string, offset: number): number {
  let at = offset
  while (at > 0 && !isLineEnd(text, at - 1)) at--
  return at
}

export function isFirstOnLine(text: string, offset: number): boolean {
  let at = offset
  while (at > 0 && isSpace(text, at - 1)) {
    if (isLineEnd(text, at - 1)) return true
    at--
  }
  return at === 0
}

export function isLastOnLine(text: string, offset: number): boolean {
  let at = offset
  while (at < text.length && isSpace(text, at)) {
    if (isLineEnd(text, at) || text[at] === '\r') return true
    at++
  }
  return at === text.length
}

/** True at the last character of a line end, so that CRLF counts once. */
export function isLineEnd(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit === 10 || (unit === 13 && text.charCodeAt(at + 1) !== 10)
}

/** Whether the character is white space by the rules of `trim`. */
export function isSpace(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit <= 32 ? unit === 32 || (unit >= 9 && unit <= 13) : unit >= 160 && text.charAt(at).trim() === ''
}
