/** Splits text into lines at LF, CRLF or a lone CR. A final line end opens no further line; empty text has no line. */
export function splitLines(text: string): string[] {
  if (text === '') return []
  const lines = text.includes('\r') ? text.split(/\r\n|\n|\r/) : text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Whether a line has only white space. */
export function isBlank(line: string): boolean {
  return line.trim() === ''
}

/** A line that is indented by at least this many columns is code. */
export const CODE_INDENT = 4

/** Columns before the first character; a tab reaches to the next multiple of four. */
export function indentOf(line: string): number {
  let column = 0
  for (let i = 0; i < line.length; i++) {
    const char = line.charCodeAt(i)
    if (char === 0x20) column++
    else if (char === 0x09) column += 4 - (column % 4)
    else break
  }
  return column
}

/** Lines without blank lines at either end. */
export function trimBlank(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => !isBlank(line))
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex((line) => !isBlank(line)) + 1)
}

/** Cuts text into slices of at most `size` code units, never inside a surrogate pair unless `size` is 1. */
export function sliceText(text: string, size: number): string[] {
  const slices: string[] = []
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + size, text.length)
    if (end < text.length && end - start > 1 && isHighSurrogate(text.charCodeAt(end - 1))) end--
    slices.push(text.slice(start, end))
    start = end
  }
  return slices
}

/** The beginning of a text, at most `size` code units, never half a surrogate pair. */
export function clipText(text: string, size: number): string {
  if (text.length <= size) return text
  return text.slice(0, isHighSurrogate(text.charCodeAt(size - 1)) ? size - 1 : size)
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
