/** Finds the line of an offset and the start of a line. Lines end as in {@link splitLines} and count from 1. */
export class LineMap {
  /** Number of lines, the same as `splitLines` returns. */
  readonly count: number
  readonly #starts: Uint32Array
  readonly #length: number

  constructor(text: string) {
    let found = 1
    for (let at = nextLine(text, 0); at >= 0; at = nextLine(text, at)) found++
    this.#starts = new Uint32Array(found)
    let line = 1
    for (let at = nextLine(text, 0); at >= 0; at = nextLine(text, at)) this.#starts[line++] = at
    this.#length = text.length
    this.count = this.#starts[found - 1] === text.length ? found - 1 : found
  }

  /** The line of an offset. */
  lineAt(offset: number): number {
    let low = 0
    let high = this.#starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.#starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }

  /** Offset of a line's first character; the length of the text for lines past the last. */
  startOf(line: number): number {
    return this.#starts[line - 1] ?? this.#length
  }
}

/** Start of the line after the one at `from`, or -1 for the last line. */
function nextLine(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === 10) return at + 1
    if (unit === 13) return text.charCodeAt(at + 1) === 10 ? at + 2 : at + 1
  }
  return -1
}
