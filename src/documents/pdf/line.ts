import { type RunFormat, writeLink, writeRun } from '../office/office-blocks.ts'
import type { Cell, Row } from './rows.ts'
import type { Fragment } from './text.ts'

/** A piece of a line, including the space before it. */
export interface Run {
  readonly text: string
  readonly fragment: Fragment
  /** Whether the run is superscript. */
  readonly isRaised: boolean
}

/** The text of a cell in reading order. */
export function runsOf(cell: Cell, baseline: number, size: number): Run[] {
  const rightToLeft = cell.fragments.filter(({ isRightToLeft }) => isRightToLeft).length * 2 > cell.fragments.length
  const fragments = rightToLeft ? [...cell.fragments].sort((a, b) => b.left - a.left) : cell.fragments
  const runs: Run[] = []
  let last: Fragment | undefined
  for (const fragment of fragments) {
    const gap = last === undefined ? 0 : rightToLeft ? last.left - fragment.right : fragment.left - last.right
    const isApart = last !== undefined && gap > 0.12 * Math.min(size, fragment.size * 1.5)
    const isSpaced = isApart && !/\s$/.test(last?.text ?? '') && !/^\s/.test(fragment.text)
    const isRaised = fragment.size < 0.85 * size && baseline - fragment.baseline > 0.15 * size
    runs.push({ text: (isSpaced ? ' ' : '') + fragment.text, fragment, isRaised })
    last = fragment
  }
  return runs
}

/** The text of a row, with spaces between its cells. */
export function textOfRow(row: Row): string {
  return row.cells.map((cell) => textOfCell(cell, row)).join(' ')
}

export function textOfCell(cell: Cell, row: Row): string {
  const text = runsOf(cell, row.baseline, row.size)
    .map((run) => run.text)
    .join('')
  return text.replace(/\s+/g, ' ').trim()
}

/** Writes runs with their formatting, unless the options say otherwise. */
export function writeRuns(runs: readonly Run[], { isPlain, note }: WriteOptions = {}): string {
  let html = ''
  for (const { text, fragment, isRaised } of runs) {
    const { isBold, isItalic, isFixed } = fragment.font
    const mark = isRaised && note !== undefined ? note(text.trim()) : undefined
    if (mark !== undefined) {
      html += mark
      continue
    }
    const fontFormat: RunFormat = { bold: isBold, italic: isItalic, code: isFixed, raised: isRaised }
    html += writeLink(writeRun(text, isPlain === true ? {} : fontFormat), fragment.link ?? undefined)
  }
  return html
}

interface WriteOptions {
  /** Whether to ignore fonts, as in a heading. */
  readonly isPlain?: boolean
  /** Writes the reference of a note; undefined when the text is not one. */
  readonly note?: (text: string) => string | undefined
}
