import type { StateBlock } from 'markdown-it'

/**
 * A markdown-it block rule that finds GFM tables but creates one token for the whole table instead of three for every cell: chunking needs
 * its lines only, and a table of 4 MB would otherwise take a gigabyte.
 */
export function tableRule(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  if (startLine + 1 >= endLine || isCode(state, startLine + 1) || isOutsideBlock(state, startLine + 1)) return false
  const delimiter = lineText(state, startLine + 1)
  if (!isDelimiterRow(delimiter)) return false
  const header = lineText(state, startLine)
  if (!header.includes('|') || isCode(state, startLine)) return false
  if (countColumns(header) !== countColumns(delimiter)) return false
  if (silent) return true

  const terminators = state.md.block.ruler.getRules('blockquote')
  let line = startLine + 2
  while (line < endLine && !isOutsideBlock(state, line) && !isCode(state, line) && lineText(state, line) !== '') {
    const currentLine = line
    if (terminators.some((rule) => rule(state, currentLine, endLine, true))) break
    line++
  }
  const token = state.push('table_open', 'table', 0)
  token.map = [startLine, line]
  state.line = line
  return true
}

function lineText(state: StateBlock, line: number): string {
  return state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line] ?? 0).trimEnd()
}

function isOutsideBlock(state: StateBlock, line: number): boolean {
  return (state.sCount[line] ?? 0) < state.blkIndent
}

function isCode(state: StateBlock, line: number): boolean {
  return (state.sCount[line] ?? 0) - state.blkIndent >= 4
}

/** `| --- | :-: |`, also without the outer pipes; a lone row of dashes is a rule or an underline, not a table. */
function isDelimiterRow(text: string): boolean {
  if (!/^[|:\-\s]+$/.test(text) || !/[|:]/.test(text)) return false
  const cells = text.split('|')
  return cells.every((cell, i) => {
    const isEdge = i === 0 || i === cells.length - 1
    return (isEdge && cell.trim() === '') || /^\s*:?-+:?\s*$/.test(cell)
  })
}

function countColumns(row: string): number {
  let columns = 1
  for (let i = 0; i < row.length; i++) {
    if (row[i] === '\\') i++
    else if (row[i] === '|') columns++
  }
  if (row.startsWith('|')) columns--
  if (row.endsWith('|') && !row.endsWith('\\|') && row.length > 1) columns--
  return columns
}
