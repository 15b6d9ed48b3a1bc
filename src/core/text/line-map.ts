/** Answers on which line an offset lies. Lines end as in {@link splitLines}. */
export class LineMap {
  readonly #starts: number[] = [0]

  constructor(text: string) {
    if (text.includes('\r')) {
      for (const match of text.matchAll(/\r\n|\n|\r/g)) this.#starts.push(match.index + match[0].length)
    } else {
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1)
    }
  }

  /** The line of an offset, from 1. */
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
}
