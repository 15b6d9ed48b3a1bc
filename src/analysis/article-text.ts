/**
 * The text of Markdown with everything that is not read as text made spaces: targets of links, addresses, blocks and spans of
 * code, brackets. It is as long as what it was made of, so that what is found in it stands at the same place there.
 */
export function readableText(markdown: string): string {
  const parts: string[] = []
  /** Everything before it is in the parts. */
  let done = 0
  const blank = (from: number, to: number) => {
    if (to <= from) return
    parts.push(markdown.slice(done, from), ' '.repeat(to - from))
    done = to
  }
  let fence = ''
  for (let start = 0; start < markdown.length; ) {
    let end = markdown.indexOf('\n', start)
    if (end < 0) end = markdown.length
    const mark = fenceAt(markdown, start, end)
    if (mark !== '' || fence !== '') {
      blank(start, end)
      if (fence === '') fence = mark
      else if (mark.startsWith(fence)) fence = ''
    } else blankLine(markdown, start, end, blank)
    start = end + 1
  }
  return parts.length === 0 ? markdown : parts.join('') + markdown.slice(done)
}

type Blank = (from: number, to: number) => void

/** The run of signs that opens or closes a block of code in a line; '' where there is none. */
function fenceAt(markdown: string, start: number, end: number): string {
  let at = start
  while (at < end && FENCE_INDENT.has(markdown.charCodeAt(at))) at++
  const sign = markdown.charCodeAt(at)
  if (sign !== BACKTICK && sign !== TILDE) return ''
  const stop = endOfRun(markdown, at, end, sign)
  return stop - at >= 3 ? markdown.slice(at, stop) : ''
}

/** Blocks of code stand in lists and quotes as well. */
const FENCE_INDENT = new Set([0x20, 0x09, 0x3e])

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
      case OPEN:
        blank(i, i + 1)
        break
      case CLOSE: {
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
const OPEN = 0x5b
const BACKSLASH = 0x5c
const CLOSE = 0x5d
const BACKTICK = 0x60
const TILDE = 0x7e

function endOfRun(text: string, from: number, end: number, unit: number): number {
  let i = from
  while (i < end && text.charCodeAt(i) === unit) i++
  return i
}

/** Behind the run of backticks that closes a span opened by as many; -1 where there is none in the line. */
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

/** Where the scheme of an address begins whose `:` is here; -1 where this is none. */
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
