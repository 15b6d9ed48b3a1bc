const QUOTE = 0x22
const BACKSLASH = 0x5c
const SLASH = 0x2f
const STAR = 0x2a
const COMMA = 0x2c
const CLOSE_BRACE = 0x7d
const CLOSE_BRACKET = 0x5d
const BYTE_ORDER_MARK = 0xfeff

/**
 * Replaces comments, trailing commas and a byte order mark with spaces, so that the rest is plain JSON at the same offsets. Reads the text
 * once, whatever it holds. A comment that never ends stays as it is, with all that follows.
 */
export function maskComments(text: string): string {
  const parts: string[] = []
  let copied = 0
  let lastComma = -1
  const mask = (start: number, end: number): void => {
    parts.push(text.slice(copied, start), text.slice(start, end).replaceAll(/[^\r\n]/g, ' '))
    copied = end
  }
  const comments: (readonly [start: number, end: number])[] = []
  /** Masks the comma before a closing bracket, and then the comments since. */
  const flush = (isClosing: boolean): void => {
    if (isClosing && lastComma >= 0) mask(lastComma, lastComma + 1)
    for (const [start, end] of comments) mask(start, end)
    comments.length = 0
    lastComma = -1
  }
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    const commentEnd = unit === SLASH ? findCommentEnd(text, at) : unit === BYTE_ORDER_MARK ? at + 1 : undefined
    if (commentEnd === -1) break
    if (commentEnd !== undefined) {
      comments.push([at, commentEnd])
      at = commentEnd - 1
    } else if (unit > 0x20) {
      if (lastComma >= 0 || comments.length > 0) flush(unit === CLOSE_BRACE || unit === CLOSE_BRACKET)
      if (unit === COMMA) lastComma = at
      if (unit === QUOTE) at = findStringEnd(text, at) - 1
    }
  }
  flush(false)
  return copied === 0 ? text : parts.join('') + text.slice(copied)
}

/** The offset after the comment that begins at an offset; undefined if none begins there, -1 if it does not end. */
function findCommentEnd(text: string, start: number): number | undefined {
  const next = text.charCodeAt(start + 1)
  if (next === SLASH) {
    const end = text.indexOf('\n', start)
    return end < 0 ? text.length : end
  }
  if (next !== STAR) return undefined
  const end = text.indexOf('*/', start + 2)
  return end < 0 ? -1 : end + 2
}

/** The offset after the string that begins at an offset; a line break ends it too. */
function findStringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) return at + 1
    if (unit === 0x0a) return at
    if (unit === BACKSLASH) at++
  }
  return text.length
}
