import { escapeHtml } from '../../core/html/escape.ts'
import type { ConversionResult } from '../document.ts'
import type { XmlElement } from '../xml-tree.ts'
import { WordNumbering } from './docx-numbering.ts'
import { readNumbering, readOutline, WordStyles } from './docx-styles.ts'
import {
  isFixedWidth,
  type OfficeBlock,
  type OfficeCell,
  OfficeNotes,
  type OfficeRow,
  writeBlocks,
  writeLink,
  writePicture,
  writeRun,
  writeTable,
} from './office-blocks.ts'
import { createOfficeDocument } from './office-document.ts'
import { OfficePackage } from './office-package.ts'

/** Converts a Word document to a page, without comments, deleted and hidden text, headers and footers. */
export function convertDocx(bytes: Uint8Array): ConversionResult {
  const file = new OfficePackage(bytes)
  return createOfficeDocument(file.metadata, new WordReader(file).read())
}

/** State of the paragraph that is being read. */
interface ParagraphState {
  html: string
  text: string
  /** Whether all text so far is in a fixed-width font. */
  isFixed: boolean
  /** Blocks in frames that are anchored in the paragraph. */
  readonly framed: OfficeBlock[]
}

/** A field whose code or result is being read. */
interface Field {
  code: string
  isResult: boolean
  /** Offset of the result in the HTML of the paragraph. */
  start: number
}

class WordReader {
  readonly #file: OfficePackage
  readonly #main: string
  readonly #styles: WordStyles
  readonly #numbering: WordNumbering
  readonly #notes = new OfficeNotes()
  readonly #noteSources = new Map<string, XmlElement>()
  #links: ReadonlyMap<string, { readonly target: string; readonly isExternal: boolean }>
  /** 1 if the document has a title, so that headings are one level lower; otherwise 0. */
  #levelOffset = 0
  #fields: Field[] = []

  constructor(file: OfficePackage) {
    this.#file = file
    this.#main = file.main
    this.#styles = new WordStyles(file.related(this.#main, 'styles'))
    this.#numbering = new WordNumbering(file.related(this.#main, 'numbering'))
    this.#links = file.relations(this.#main)
    for (const kind of ['footnote', 'endnote']) {
      for (const note of file.related(this.#main, `${kind}s`)?.elements(kind) ?? []) {
        if (note.attribute('type') === undefined) this.#noteSources.set(`${kind} ${note.attribute('id')}`, note)
      }
    }
  }

  read(): string {
    const body = this.#file.root('document').find('body')
    if (body === undefined) return ''
    for (const paragraph of body.elements('p')) {
      if (this.#styles.get(paragraph.find('pPr', 'pStyle')?.attribute('val')).heading === 0) this.#levelOffset = 1
    }
    const html = writeBlocks(this.#readBlocks(body))
    return html + this.#notes.write()
  }

  #readBlocks(parent: XmlElement): OfficeBlock[] {
    const blocks: OfficeBlock[] = []
    for (const child of parent.elements()) {
      if (child.name === 'p') for (const block of this.#readParagraph(child)) blocks.push(block)
      else if (child.name === 'tbl') blocks.push({ type: 'markup', html: this.#readTable(child) })
      else if (BLOCK_WRAPPERS.has(child.name)) for (const block of this.#readBlocks(child)) blocks.push(block)
      else if (child.name === 'AlternateContent') {
        for (const block of this.#readBlocks(chooseContent(child))) blocks.push(block)
      }
    }
    return blocks
  }

  #readParagraph(paragraph: XmlElement): OfficeBlock[] {
    const properties = paragraph.find('pPr')
    const style = this.#styles.get(properties?.find('pStyle')?.attribute('val'))
    if (style.isTableOfContents) return []
    const line: ParagraphState = { html: '', text: '', isFixed: true, framed: [] }
    this.#readRuns(paragraph, line)
    const isBlank = line.text.trim() === '' && line.html === ''
    const numbering = isBlank ? null : (readNumbering(properties) ?? style.numbering)
    const label = numbering === null ? undefined : this.#numbering.next(numbering.id, numbering.level)
    const createBlock = (): OfficeBlock => {
      const heading = readOutline(properties) ?? style.heading
      if (heading !== null && line.text.trim() !== '') {
        const labelText = label === undefined || label.format === 'bullet' ? '' : `${escapeHtml(label.text)} `
        return { type: 'heading', level: heading === 0 ? 1 : heading + this.#levelOffset, html: labelText + line.html }
      }
      if (label !== undefined) {
        const number = label.format === 'bullet' ? null : label.number
        return { type: 'item', level: numbering?.level ?? 0, number, html: line.html }
      }
      if (style.isCode || (line.isFixed && line.text.trim() !== '')) return { type: 'code', text: line.text }
      return { type: 'paragraph', html: line.html }
    }
    return [createBlock(), ...line.framed]
  }

  #readRuns(parent: XmlElement, line: ParagraphState): void {
    for (const child of parent.elements()) {
      if (child.name === 'r') this.#readRun(child, line)
      else if (child.name === 'hyperlink') {
        const relation = this.#links.get(child.prefixed('id') ?? '')
        this.#readLinked(child, line, relation?.isExternal === true ? relation.target : undefined)
      } else if (child.name === 'fldSimple') this.#readLinked(child, line, linkIn(child.attribute('instr') ?? ''))
      else if (child.name === 'oMath' || child.name === 'oMathPara') addText(line, mathOf(child), '')
      else if (child.name === 'AlternateContent') this.#readRuns(chooseContent(child), line)
      else if (!SKIPPED_ELEMENTS.has(child.name)) this.#readRuns(child, line)
    }
  }

  #readLinked(parent: XmlElement, line: ParagraphState, address: string | undefined): void {
    const before = line.html
    line.html = ''
    this.#readRuns(parent, line)
    line.html = before + writeLink(line.html, address)
  }

  #readRun(run: XmlElement, line: ParagraphState): void {
    const properties = run.find('rPr')
    if (isOn(properties, 'vanish') || isOn(properties, 'webHidden')) return
    const style = this.#styles.get(properties?.find('rStyle')?.attribute('val'))
    const font = properties?.find('rFonts')?.attribute('ascii')
    const verticalAlign = properties?.find('vertAlign')?.attribute('val')
    const look = {
      bold: isOn(properties, 'b'),
      italic: isOn(properties, 'i'),
      struck: isOn(properties, 'strike') || isOn(properties, 'dstrike'),
      code: font === undefined ? style.isCode : isFixedWidth(font),
      raised: verticalAlign === 'superscript',
      lowered: verticalAlign === 'subscript',
    }
    let text = ''
    const flush = () => {
      addText(line, text, writeRun(text, look), look.code)
      text = ''
    }
    for (const child of run.elements()) {
      const plain = textOfChild(child)
      if (plain !== undefined) {
        if (this.#fields.at(-1)?.isResult !== false) text += plain
        continue
      }
      flush()
      this.#readSpecial(child, line)
    }
    flush()
  }

  #readSpecial(child: XmlElement, line: ParagraphState): void {
    switch (child.name) {
      case 'fldChar':
        this.#readField(child.attribute('fldCharType'), line)
        return
      case 'instrText': {
        const field = this.#fields.at(-1)
        if (field !== undefined) field.code += child.text
        return
      }
      case 'footnoteReference':
        line.html += this.#readNote(`footnote ${child.attribute('id')}`)
        return
      case 'endnoteReference':
        line.html += this.#readNote(`endnote ${child.attribute('id')}`)
        return
      case 'AlternateContent':
        for (const inner of chooseContent(child).elements()) this.#readSpecial(inner, line)
        return
      case 'drawing':
      case 'pict':
      case 'object':
        this.#readDrawing(child, line)
        return
    }
  }

  #readField(type: string | undefined, line: ParagraphState): void {
    if (type === 'begin') this.#fields.push({ code: '', isResult: false, start: 0 })
    const field = this.#fields.at(-1)
    if (field === undefined) return
    if (type === 'separate') {
      field.isResult = true
      field.start = line.html.length
    }
    if (type !== 'end') return
    this.#fields.pop()
    const address = field.isResult ? linkIn(field.code) : undefined
    // A field may have started in an earlier paragraph.
    if (address !== undefined && field.start <= line.html.length) {
      line.html = line.html.slice(0, field.start) + writeLink(line.html.slice(field.start), address)
    }
  }

  #readNote(id: string): string {
    const note = this.#noteSources.get(id)
    if (note === undefined) return ''
    // Each note is read only once, because a note that refers to itself would recurse without end.
    this.#noteSources.delete(id)
    return this.#notes.add(writeBlocks(this.#readBlocks(note)))
  }

  #readDrawing(drawing: XmlElement, line: ParagraphState): void {
    for (const inner of drawing.descendants()) {
      if (inner.name === 'docPr') line.html += writePicture(inner.attribute('descr'))
      else if (inner.name === 'shape') line.html += writePicture(inner.attribute('alt'))
    }
    for (const box of outermost(drawing, 'txbxContent')) {
      for (const block of this.#readBlocks(box)) line.framed.push(block)
    }
  }

  /** Whether a row has text, and only in table heading styles. */
  #isHeadingRow(row: XmlElement): boolean {
    const paragraphs = [...row.descendants()].filter(({ name, text }) => name === 'p' && text.trim() !== '')
    const styles = paragraphs.map((paragraph) => this.#styles.get(paragraph.find('pPr', 'pStyle')?.attribute('val')))
    return styles.length > 0 && styles.every(({ isTableHeading }) => isTableHeading)
  }

  #readTable(table: XmlElement): string {
    const rows: OfficeRow[] = []
    /** Cells that continue in the next row, by column. */
    const openMerges = new Map<number, OfficeCell>()
    const look = table.find('tblPr', 'tblLook')
    const hasHeaderRow =
      look?.attribute('firstRow') === '1' || (Number.parseInt(look?.attribute('val') ?? '0', 16) & 0x20) !== 0
    for (const row of tableRows(table)) {
      const cells: OfficeCell[] = []
      let column = Number(row.find('trPr', 'gridBefore')?.attribute('val') ?? '0')
      for (const cell of rowCells(row)) {
        const properties = cell.find('tcPr')
        const columns = Math.max(1, Math.min(256, Number(properties?.find('gridSpan')?.attribute('val') ?? '1') || 1))
        const merge = properties?.find('vMerge')
        const cellAbove = openMerges.get(column)
        if (merge !== undefined && merge.attribute('val') !== 'restart' && cellAbove !== undefined) cellAbove.rows++
        else {
          const newCell = { html: writeBlocks(this.#readBlocks(cell)), columns, rows: 1 }
          cells.push(newCell)
          if (merge === undefined) openMerges.delete(column)
          else openMerges.set(column, newCell)
        }
        column += columns
      }
      const isFirst = rows.length === 0
      const isHeader = isOn(row.find('trPr'), 'tblHeader') || (isFirst && (hasHeaderRow || this.#isHeadingRow(row)))
      rows.push({ cells, isHeader })
    }
    return writeTable(rows)
  }
}

/** Elements that only wrap blocks, table rows or cells. */
const BLOCK_WRAPPERS = new Set(['sdt', 'sdtContent', 'customXml', 'ins', 'moveTo', 'smartTag'])
/** Elements that add no text to their paragraph: properties, and deleted or moved content. */
const SKIPPED_ELEMENTS = new Set(['pPr', 'del', 'moveFrom', 'sdtPr', 'sdtEndPr', 'customXmlPr', 'proofErr'])

/** The text of an element in a run; undefined when the element is not plain text. */
function textOfChild(child: XmlElement): string | undefined {
  switch (child.name) {
    case 't':
      return child.text
    case 'tab':
      return '\t'
    case 'br':
    case 'cr':
      return '\n'
    case 'noBreakHyphen':
      return '-'
    default:
      return undefined
  }
}

function addText(line: ParagraphState, text: string, html: string, isFixed = false): void {
  line.text += text
  line.html += html === '' ? escapeHtml(text) : html
  if (!isFixed && text.trim() !== '') line.isFixed = false
}

/** Chooses between Word's new content and its fallback for older programs. */
function chooseContent(alternate: XmlElement): XmlElement {
  return alternate.find('Choice') ?? alternate.find('Fallback') ?? alternate
}

function isOn(properties: XmlElement | undefined, name: string): boolean {
  const value = properties?.find(name)?.attribute('val')
  return properties?.find(name) !== undefined && value !== '0' && value !== 'false' && value !== 'off'
}

/** The URL in a field code: `HYPERLINK "https://a.example/"`. */
export function linkIn(code: string): string | undefined {
  return /^\s*HYPERLINK\s+"([^"]*)"/.exec(code)?.[1]
}

function mathOf(math: XmlElement): string {
  let text = ''
  for (const inner of math.descendants()) if (inner.name === 't') text += inner.text
  return text
}

/** Elements with this name that are not nested in another one. */
function* outermost(parent: XmlElement, name: string): Generator<XmlElement, void, void> {
  for (const child of parent.elements()) {
    if (child.name === name) yield child
    else if (child.name === 'AlternateContent') yield* outermost(chooseContent(child), name)
    else yield* outermost(child, name)
  }
}

function* tableRows(parent: XmlElement): Generator<XmlElement, void, void> {
  for (const child of parent.elements()) {
    if (child.name === 'tr') {
      if (child.find('trPr', 'del') === undefined) yield child
    } else if (BLOCK_WRAPPERS.has(child.name)) yield* tableRows(child)
  }
}

function* rowCells(parent: XmlElement): Generator<XmlElement, void, void> {
  for (const child of parent.elements()) {
    if (child.name === 'tc') yield child
    else if (BLOCK_WRAPPERS.has(child.name)) yield* rowCells(child)
  }
}
