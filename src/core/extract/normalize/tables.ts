import type { Element } from '../../html/tree.ts'
import { normalizeCodeTable } from './code.ts'
import type { Rule } from './rule.ts'

/** Converts tables that hold code or are only used for layout. */
export const normalizeTable: Rule = (table) => {
  if (!normalizeCodeTable(table) && isLayout(table)) unwrapTable(table)
}

/** Turns the parts of a table into plain blocks. */
export function unwrapTable(table: Element): void {
  const unwrap = (element: Element) => {
    for (const child of element.elements()) {
      if (!TABLE_PARTS.has(child.name)) continue
      if (child.name !== 'td' && child.name !== 'th' && child.name !== 'caption') unwrap(child)
      child.name = 'div'
    }
  }
  unwrap(table)
  table.name = 'div'
}

const TABLE_PARTS = new Set(['thead', 'tbody', 'tfoot', 'tr', 'td', 'th', 'caption', 'colgroup'])

/** Number of elements of a table that are checked to find out whether it holds data. */
const MAX_DESCENDANTS = 2000

const NON_DATA_ELEMENTS = new Set([
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'form',
  'article',
  'section',
  'blockquote',
  'figure',
  'main',
  'nav',
  'CodeBlock',
])

function isLayout(table: Element): boolean {
  const role = table.attribute('role')
  if (role === 'presentation' || role === 'none') return true
  const shape = new TableShape()
  shape.visit(table, 0)
  if (shape.hasHeader) return false
  return shape.maxCells <= 1 || shape.hasBlocks || shape.hasTables
}

class TableShape {
  hasHeader = false
  hasBlocks = false
  hasTables = false
  maxCells = 0
  #elementsLeft = MAX_DESCENDANTS

  visit(element: Element, tableDepth: number): void {
    for (const child of element.elements()) {
      if (this.#elementsLeft-- <= 0) return
      const { name } = child
      if (tableDepth === 0) {
        if (name === 'th' || name === 'caption') this.hasHeader = true
        if (name === 'tr') this.maxCells = Math.max(this.maxCells, countCells(child))
      }
      if (NON_DATA_ELEMENTS.has(name) || (name === 'pre' && this.maxCells <= 2)) this.hasBlocks = true
      if (name === 'table') this.hasTables = true
      this.visit(child, name === 'table' ? tableDepth + 1 : tableDepth)
    }
  }
}

/** Counts the cells of a row, up to two. */
function countCells(row: Element): number {
  let count = 0
  for (const child of row.elements()) {
    if (child.name === 'td' || child.name === 'th') count++
    if (count > 1) break
  }
  return count
}
