import { escapeHtml } from '../../core/html/escape.ts'
import { type ConversionResult, DOCUMENT_LIMITS, DocumentError } from '../document.ts'
import { parseXml, type XmlElement } from '../xml-tree.ts'
import { ZipMembers } from '../zip-members.ts'
import { type OdtStyle, OdtStyles } from './odt-styles.ts'
import {
  type OfficeBlock,
  type OfficeCell,
  OfficeNotes,
  type OfficeRow,
  spanOf,
  writeBlocks,
  writeLink,
  writePicture,
  writeRun,
  writeTable,
} from './office-blocks.ts'
import { createOfficeDocument } from './office-document.ts'
import { lineIn } from './office-package.ts'

/** Converts an OpenDocument text to a page, without comments, deleted and hidden text, headers and footers. */
export function convertOdt(bytes: Uint8Array): ConversionResult {
  const members = new ZipMembers(bytes)
  const read = (name: string): XmlElement | undefined => {
    const member = members.read(name)
    return member === undefined ? undefined : parseXml(member)
  }
  for (const entry of read('META-INF/manifest.xml')?.elements('file-entry') ?? []) {
    if (entry.find('encryption-data') !== undefined)
      throw new DocumentError('encrypted', 'it is encrypted with a password')
  }
  const content = read('content.xml')
  if (content === undefined) throw new DocumentError('damaged', 'it has no document in it')
  const reader = new OdtReader(new OdtStyles(read('styles.xml'), content))
  const meta = read('meta.xml')?.find('meta')
  const about = {
    title: lineIn(meta, 'title'),
    author: lineIn(meta, 'initial-creator') ?? lineIn(meta, 'creator'),
    language: lineIn(meta, 'language'),
    modifiedAt: lineIn(meta, 'date'),
  }
  return createOfficeDocument(about, reader.read(content.find('body', 'text')))
}

/** State of the paragraph that is being read. */
interface ParagraphState {
  html: string
  text: string
  /** Whether the text ends with white space, so that further white space is dropped. */
  isSpaced: boolean
  readonly framed: OfficeBlock[]
}

/** Position of the next paragraph in a list. */
interface ListPosition {
  readonly level: number
  readonly style: string | null
  /** Number of the item, null for a bullet, undefined after its first paragraph and for an item without a label. */
  number: number | null | undefined
}

class OdtReader {
  readonly #styles: OdtStyles
  readonly #notes = new OfficeNotes()
  /** 1 if the document has a title, so that headings are one level lower; otherwise 0. */
  #levelOffset = 0

  constructor(styles: OdtStyles) {
    this.#styles = styles
  }

  read(body: XmlElement | undefined): string {
    if (body === undefined) return ''
    for (const paragraph of body.elements('p')) if (this.#styleOf(paragraph).isTitle) this.#levelOffset = 1
    const html = writeBlocks(this.#readBlocks(body, undefined))
    return html + this.#notes.write()
  }

  #readBlocks(parent: XmlElement, position: ListPosition | undefined): OfficeBlock[] {
    const blocks: OfficeBlock[] = []
    for (const child of parent.elements()) {
      for (const block of this.#readBlock(child, position)) blocks.push(block)
    }
    return blocks
  }

  #readBlock(child: XmlElement, position: ListPosition | undefined): OfficeBlock[] {
    switch (child.name) {
      case 'p':
      case 'h':
        return this.#readParagraph(child, position)
      case 'list':
        return this.#readList(child, position)
      case 'table':
        return [{ type: 'markup', html: this.#readTable(child) }]
      case 'frame':
      case 'custom-shape':
      case 'rect':
        return this.#readFrame(child)
      case 'section':
        return child.attribute('display') === 'none' ? [] : this.#readBlocks(child, position)
      case 'g':
      case 'page-sequence':
      case 'numbered-paragraph':
      case 'text-box':
        return this.#readBlocks(child, position)
      default:
        return []
    }
  }

  #styleOf(element: XmlElement): OdtStyle {
    return this.#styles.get('paragraph', element.attribute('style-name'))
  }

  #readParagraph(paragraph: XmlElement, position: ListPosition | undefined): OfficeBlock[] {
    const style = this.#styleOf(paragraph)
    if (style.isHidden) return []
    const line: ParagraphState = { html: '', text: '', isSpaced: true, framed: [] }
    this.#readText(paragraph, style, line, style.isCode)
    const createBlock = (): OfficeBlock => {
      if (style.isTitle) return { type: 'heading', level: 1, html: line.html }
      if (paragraph.name === 'h' || (style.outline !== null && position === undefined)) {
        const level = Number(paragraph.attribute('outline-level') ?? style.outline ?? 1) || 1
        return { type: 'heading', level: level + this.#levelOffset, html: line.html }
      }
      if (style.isCode && line.text.trim() !== '') return { type: 'code', text: line.text }
      if (position === undefined) return { type: 'paragraph', html: line.html }
      if (position.number === undefined) return { type: 'more', html: line.html }
      const item = { type: 'item', level: position.level, number: position.number, html: line.html } as const
      position.number = undefined
      return item
    }
    return [createBlock(), ...line.framed]
  }

  #readText(parent: XmlElement, style: OdtStyle, line: ParagraphState, isCode: boolean): void {
    const format = isCode || style.format.code !== true ? { ...style.format, code: false } : style.format
    for (const child of parent.children) {
      if (typeof child === 'string') addText(line, collapse(child, line), parent.name === 'span' ? format : {})
      else this.#readInline(child, style, line, isCode)
    }
  }

  #readInline(child: XmlElement, style: OdtStyle, line: ParagraphState, isCode: boolean): void {
    switch (child.name) {
      case 'span': {
        const spanStyle = this.#styles.get('text', child.attribute('style-name'))
        if (!spanStyle.isHidden) this.#readText(child, spanStyle, line, isCode)
        return
      }
      case 's': {
        const count = Math.min(Number(child.attribute('c') ?? '1') || 1, MAX_SPACES)
        addText(line, ' '.repeat(count), {})
        return
      }
      case 'tab':
        addText(line, '\t', {})
        return
      case 'line-break':
        addText(line, '\n', {})
        line.isSpaced = true
        return
      case 'a': {
        const before = line.html
        line.html = ''
        this.#readText(child, style, line, isCode)
        line.html = before + writeLink(line.html, child.attribute('href'))
        return
      }
      case 'note': {
        const body = child.find('note-body')
        if (body !== undefined) line.html += this.#notes.add(writeBlocks(this.#readBlocks(body, undefined)))
        return
      }
      case 'frame':
      case 'custom-shape':
      case 'rect':
        for (const picture of picturesOf(child)) line.html += picture
        for (const block of this.#readFrame(child))
          if (block.type !== 'paragraph' || !hasPicture(block.html)) line.framed.push(block)
        return
      default:
        if (!TEXTLESS_ELEMENTS.has(child.name)) this.#readText(child, style, line, isCode)
    }
  }

  #readFrame(frame: XmlElement): OfficeBlock[] {
    const blocks: OfficeBlock[] = picturesOf(frame).map((html) => ({ type: 'paragraph', html }))
    const box = frame.find('text-box') ?? (frame.name === 'frame' ? undefined : frame)
    if (box !== undefined) for (const block of this.#readBlocks(box, undefined)) blocks.push(block)
    const table = frame.find('table')
    if (table !== undefined) blocks.push({ type: 'markup', html: this.#readTable(table) })
    return blocks
  }

  #readList(list: XmlElement, outer: ListPosition | undefined): OfficeBlock[] {
    const level = outer === undefined ? 0 : outer.level + 1
    const style = list.attribute('style-name') ?? outer?.style ?? null
    const { start, isShown } = this.#styles.listLevel(style, level + 1)
    const blocks: OfficeBlock[] = []
    let number = start
    for (const item of list.elements()) {
      if (item.name !== 'list-item' && item.name !== 'list-header') continue
      const itemStart = Number(item.attribute('start-value'))
      if (itemStart > 0 && number !== null) number = itemStart
      const isItem = item.name === 'list-item' && isShown
      const position: ListPosition = { level, style, number: isItem ? number : undefined }
      for (const block of this.#readBlocks(item, position)) blocks.push(block)
      if (number !== null && isItem) number++
    }
    return blocks
  }

  /** Whether a row has text, and only in table heading styles. */
  #isHeadingRow(row: XmlElement): boolean {
    const paragraphs = [...row.descendants()].filter(({ name, text }) => name === 'p' && text.trim() !== '')
    return paragraphs.length > 0 && paragraphs.every((paragraph) => this.#styleOf(paragraph).isTableHeading)
  }

  #readTable(table: XmlElement): string {
    const rows: OfficeRow[] = []
    const gather = (parent: XmlElement, isHeader: boolean) => {
      for (const child of parent.elements()) {
        if (child.name === 'table-header-rows') gather(child, true)
        else if (child.name === 'table-rows' || child.name === 'table-row-group') gather(child, isHeader)
        else if (child.name === 'table-row') {
          const isHeaderRow = isHeader || (rows.length === 0 && this.#isHeadingRow(child))
          rows.push({ cells: this.#readCells(child), isHeader: isHeaderRow })
        }
      }
    }
    gather(table, false)
    return writeTable(rows)
  }

  #readCells(row: XmlElement): OfficeCell[] {
    const cells: OfficeCell[] = []
    for (const cell of row.elements('table-cell')) {
      const columns = spanOf(cell, 'number-columns-spanned')
      const rows = spanOf(cell, 'number-rows-spanned')
      const html = writeBlocks(this.#readBlocks(cell, undefined))
      for (let count = spanOf(cell, 'number-columns-repeated'); count > 0; count--) cells.push({ html, columns, rows })
    }
    return cells.slice(0, DOCUMENT_LIMITS.columns)
  }
}

const MAX_SPACES = 200
/** Elements that add no text to their paragraph: comments, marks and settings. */
const TEXTLESS_ELEMENTS = new Set([
  'annotation',
  'tracked-changes',
  'hidden-text',
  'hidden-paragraph',
  'ruby-text',
  'event-listeners',
  'desc',
  'title',
])

/** Collapses white space in the source; explicit spaces have their own elements. */
function collapse(source: string, line: ParagraphState): string {
  const text = source.replace(/[ \t\r\n]+/g, ' ')
  return line.isSpaced && text.startsWith(' ') ? text.slice(1) : text
}

function addText(line: ParagraphState, text: string, format: OdtStyle['format']): void {
  if (text === '') return
  line.text += text
  line.html += writeRun(text, format) || escapeHtml(text)
  line.isSpaced = text.endsWith(' ')
}

function picturesOf(frame: XmlElement): string[] {
  const isPicture = frame.find('image') !== undefined || frame.find('object') !== undefined
  const description = frame.find('desc')?.text ?? frame.find('title')?.text
  const picture = isPicture ? writePicture(description) : ''
  return picture === '' ? [] : [picture]
}

function hasPicture(html: string): boolean {
  return html.startsWith('<img ')
}
