import { DOCUMENT_LIMITS } from '../document.ts'
import {
  type OfficeBlock,
  type OfficeCell,
  type OfficeRow,
  type RunFormat,
  writeBlocks,
  writeRun,
  writeTable,
} from './office-blocks.ts'

/** The kind of a paragraph, known when it ends. */
export interface ParagraphKind {
  /** Level of a heading, 0 for the title; null when it is not a heading. */
  readonly heading: number | null
  /** The label of a list item; '' when it is not an item. */
  readonly label: string
  readonly level: number
  readonly isInTable: boolean
  /** Whether the paragraph has a table heading style. */
  readonly isTableHeading: boolean
}

/** The right edge of a cell, and how the cell is merged. */
export interface CellEdge {
  readonly right: number
  readonly verticalMerge: 'begins' | 'continues' | null
  readonly isMergedAcross: boolean
}

interface Row {
  readonly cells: readonly string[]
  readonly edges: readonly CellEdge[]
  readonly isHeader: boolean
}

/** An independent text: the document or one note. */
export class RtfTextBuilder {
  html = ''
  #text = ''
  #isFixed = true
  readonly #blocks: OfficeBlock[] = []
  #cellBlocks: OfficeBlock[] = []
  #cells: string[] = []
  #rows: Row[] = []
  /** Kinds of paragraphs in the current row: column headings have their own style. */
  readonly #rowStyles = new Set<'heading' | 'plain'>()
  readonly #numbers: number[] = []
  /** Whether the text has a title, so that headings are one level lower. */
  #hasTitle = false

  add(text: string, format: RunFormat): void {
    this.#text += text
    this.html += writeRun(text, format)
    if (format.code !== true && text.trim() !== '') this.#isFixed = false
  }

  endParagraph(kind: ParagraphKind): void {
    const block = this.#createBlock(kind)
    if (kind.isInTable) {
      this.#noteCellText(kind)
      this.#cellBlocks.push(block)
    } else if (this.html.trim() !== '' || this.#rows.length === 0) {
      this.#endTable()
      this.#blocks.push(block)
    }
    this.#restart()
  }

  endCell(kind: ParagraphKind): void {
    this.#noteCellText(kind)
    this.#cellBlocks.push(this.#createBlock(kind))
    this.#restart()
    this.#cells.push(writeBlocks(this.#cellBlocks))
    this.#cellBlocks = []
  }

  endRow(edges: readonly CellEdge[], isHeader: boolean): void {
    const isHeadingRow = this.#rows.length === 0 && this.#rowStyles.size === 1 && this.#rowStyles.has('heading')
    this.#rows.push({ cells: this.#cells, edges, isHeader: isHeader || isHeadingRow })
    this.#cells = []
    this.#rowStyles.clear()
  }

  write(kind: ParagraphKind): string {
    this.endParagraph(kind)
    this.#endTable()
    return writeBlocks(this.#hasTitle ? this.#blocks.map(lowerHeading) : this.#blocks)
  }

  #noteCellText({ isTableHeading }: ParagraphKind): void {
    if (this.#text.trim() !== '') this.#rowStyles.add(isTableHeading ? 'heading' : 'plain')
  }

  #restart(): void {
    this.html = ''
    this.#text = ''
    this.#isFixed = true
  }

  #createBlock({ heading, label, level }: ParagraphKind): OfficeBlock {
    const text = this.#text
    if (heading !== null && text.trim() !== '') {
      if (heading === 0) this.#hasTitle = true
      // Headings need no bold text.
      const html = this.html.replace(/<\/?strong>/g, '')
      return { type: 'heading', level: heading, html }
    }
    if (label !== '') return { type: 'item', level, number: this.#numberOf(label, level), html: this.html }
    if (this.#isFixed && text.trim() !== '') return { type: 'code', text }
    if (text.trim() !== '') this.#numbers.length = 0
    return { type: 'paragraph', html: this.html }
  }

  /** The number of an item: the displayed one, or the next one for letters. Null for a bullet. */
  #numberOf(label: string, level: number): number | null {
    const counter = /^\(?(?:\d+\.)*(\d{1,6}|[a-z]{1,5})[.):]?$/i.exec(label)?.[1]
    if (counter === undefined) return null
    this.#numbers.length = Math.min(this.#numbers.length, level + 1)
    const number = /^\d/.test(counter) ? Number(counter) : (this.#numbers[level] ?? 0) + 1
    this.#numbers[level] = number
    return number
  }

  #endTable(): void {
    if (this.#rows.length === 0) return
    this.#blocks.push({ type: 'markup', html: writeTable(arrangeRows(this.#rows)) })
    this.#rows = []
  }
}

function lowerHeading(block: OfficeBlock): OfficeBlock {
  return block.type === 'heading' ? { ...block, level: block.level + 1 } : block
}

/** Computes column spans: a cell spans one more column for each cell edge of other rows between its own two edges. */
function arrangeRows(rows: readonly Row[]): OfficeRow[] {
  const edges = [...new Set(rows.flatMap((row) => row.edges.map(({ right }) => right)))].sort((a, b) => a - b)
  const columns = new Map(edges.slice(0, DOCUMENT_LIMITS.columns).map((edge, i) => [edge, i + 1]))
  const openMerges = new Map<number, OfficeCell>()
  return rows.map((row) => {
    const cells: OfficeCell[] = []
    let start = 0
    for (const [i, html] of row.cells.entries()) {
      const edge = row.edges[i]
      const end = Math.max(columns.get(edge?.right ?? 0) ?? start + 1, start + 1)
      const cellAbove = openMerges.get(start)
      const before = cells.at(-1)
      if (edge?.verticalMerge === 'continues' && cellAbove !== undefined) cellAbove.rows++
      else if (edge?.isMergedAcross === true && before !== undefined) before.columns += end - start
      else {
        const cell = { html, columns: end - start, rows: 1 }
        cells.push(cell)
        if (edge?.verticalMerge === 'begins') openMerges.set(start, cell)
        else openMerges.delete(start)
      }
      start = end
    }
    return { cells, isHeader: row.isHeader }
  })
}
