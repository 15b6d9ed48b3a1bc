import { textOfRow } from './line.ts'
import type { Row } from './rows.ts'

/** An entry of the document outline. */
export interface OutlineEntry {
  readonly title: string
  /** From 0. */
  readonly depth: number
}

/** Facts about a row that do not depend on its neighbors. */
export interface RowFacts {
  readonly row: Row
  readonly text: string
  readonly isFixed: boolean
  readonly isBold: boolean
  /** Rounded size and weight, by which rows are compared. */
  readonly style: string
}

/** Facts about the whole document. */
export interface DocumentMetrics {
  /** Letter height of most of the text. */
  readonly bodySize: number
  /** Distance between lines of a paragraph, in letter heights. */
  readonly lineSpacing: number
  /** Words of the text in lowercase, which tell whether a hyphen at the end of a line belongs to the word. */
  readonly words: ReadonlySet<string>
}

export function factsOf(row: Row): RowFacts {
  const fragments = row.cells.flatMap((cell) => [...cell.fragments]).filter(({ text }) => /[\p{L}\p{N}]/u.test(text))
  const isBold = fragments.length > 0 && fragments.every(({ font }) => font.isBold)
  const isFixed = row.cells.every((cell) => cell.fragments.every(({ font }) => font.isFixed))
  return { row, text: textOfRow(row), isFixed, isBold, style: `${roundSize(row.size)}${isBold ? ' bold' : ''}` }
}

/** Rounds sizes, so that invisible differences do not count. */
export function roundSize(size: number): number {
  return Math.round(size * 2) / 2
}

const MAX_WORDS = 300_000

export function measureRows(rows: readonly RowFacts[]): DocumentMetrics {
  const sizes = new Map<number, number>()
  const words = new Set<string>()
  const spacings: number[] = []
  let last: Row | undefined
  for (const { row, text, isFixed } of rows) {
    if (!isFixed) sizes.set(roundSize(row.size), (sizes.get(roundSize(row.size)) ?? 0) + text.length)
    if (words.size < MAX_WORDS)
      for (const word of text.toLowerCase().match(/\p{L}[\p{L}-]*\p{L}/gu) ?? []) words.add(word)
    const step = last === undefined || last.page !== row.page ? 0 : (row.baseline - last.baseline) / row.size
    // A line that fills its column continues in the next line. Table rows are further apart.
    const continues = last !== undefined && isFull(last) && row.cells.length === 1
    if (continues && step > 0.9 && step < 2.5 && roundSize(last?.size ?? 0) === roundSize(row.size)) spacings.push(step)
    last = row
  }
  const [bodySize = 10] = [...sizes].sort(([, a], [, b]) => b - a)[0] ?? []
  spacings.sort((a, b) => a - b)
  return { bodySize, lineSpacing: spacings[spacings.length >> 1] ?? 1.2, words }
}

function isFull({ cells, right, column }: Row): boolean {
  return cells.length === 1 && right > column.right - 0.1 * (column.right - column.left)
}

/** Normalizes a title for comparison: without its number, and without differences between fonts and programs. */
export function plainTitle(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^(?:chapter|section|appendix|part|kapitel|teil)?\s*(?:\d+(?:\.\d+)*|[a-z](?=\.))\.?\s+/u, '')
    .replace(/[^\p{L}\p{N}]+/gu, '')
}
