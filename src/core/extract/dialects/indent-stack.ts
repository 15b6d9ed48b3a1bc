import { CODE_INDENT, indentOf, isBlank } from '../../text/lines.ts'

const ITEM = /^(\s*)((?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$))/
const MAX_DEPTH = 50
/** A line without the white space in its first `columns` columns. */
export function cutIndent(line: string, columns: number): string {
  let at = 0
  for (let passed = 0; passed < columns && (line[at] === ' ' || line[at] === '\t'); at++) {
    passed += line[at] === '\t' ? 4 - (passed % 4) : 1
  }
  return line.slice(at)
}

/** The columns where the content of lists, and of other blocks with an indented body, begins. Lines are passed in one after the other. */
export class IndentStack {
  readonly #columns: number[] = []

  /** The column where the text of the innermost block begins. */
  get current(): number {
    return this.#columns.at(-1) ?? 0
  }

  get isInList(): boolean {
    return this.#columns.length > 0
  }

  /** Leaves the blocks that a line is not indented enough for. */
  leave(line: string): void {
    if (isBlank(line)) return
    const indent = indentOf(line)
    while (this.#columns.length > 0 && indent < this.current) this.#columns.pop()
  }

  /** Enters a list item if a line begins one. */
  enter(line: string): void {
    const [, lead, mark = ''] = ITEM.exec(line) ?? []
    if (lead === undefined || indentOf(lead) >= this.current + CODE_INDENT) return
    // After more than four spaces the content is indented code, which begins one column after the marker.
    const width = mark.trimEnd().length
    const space = mark.length - width
    this.push(indentOf(lead) + width + (space > 4 || space === 0 ? 1 : space))
  }

  push(column: number): void {
    if (this.#columns.length < MAX_DEPTH) this.#columns.push(column)
  }
}
