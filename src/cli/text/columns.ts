import { widthOf } from '../terminal.ts'

/** Writes rows of cells as lines, with the columns aligned. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<readonly number[]>(
    (widest, row) => row.map((cell, i) => Math.max(widest[i] ?? 0, widthOf(cell))),
    [],
  )
  return rows.map((row) => {
    const cells = row.map((cell, i) => `${cell}${' '.repeat((widths[i] ?? 0) - widthOf(cell))}`)
    return cells.join('  ').trimEnd()
  })
}
