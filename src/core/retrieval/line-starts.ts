/** Returns the offset where a line starts; lines count from 1. For lines past the last it returns the length of the text. */
export type LineStarts = (line: number) => number

/**
 * Finds where lines start, only as far as needed: a hit at the beginning of a long page does not scan the rest. Lines end as in
 * `splitLines`.
 */
export function createLineStarts(text: string): LineStarts {
  const starts = [0]
  const next = text.includes('\r') ? nextAfterAnyEnd : nextAfterNewline
  return (line) => {
    for (let last = starts.at(-1) ?? -1; starts.length < line && last < text.length; ) {
      last = next(text, last)
      starts.push(last)
    }
    return starts[line - 1] ?? text.length
  }
}

function nextAfterNewline(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end + 1
}

function nextAfterAnyEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === 0x0a) return at + 1
    if (unit === 0x0d) return text.charCodeAt(at + 1) === 0x0a ? at + 2 : at + 1
  }
  return text.length
}
