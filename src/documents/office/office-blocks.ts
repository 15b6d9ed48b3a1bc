import { escapeHtml } from '../../core/html/escape.ts'
import { DOCUMENT_LIMITS, DocumentError } from '../document.ts'
import { isOpenable, writeLink as writeAnchorElement, writeCell } from '../markup.ts'
import type { XmlElement } from '../xml-tree.ts'

/** Blocks of a document in reading order. `html` is inline markup. */
export type OfficeBlock =
  | { readonly type: 'heading'; readonly level: number; readonly html: string; readonly id?: string }
  | { readonly type: 'paragraph'; readonly html: string }
  /** One or more lines; adjacent blocks are joined. */
  | { readonly type: 'code'; readonly text: string }
  /** A list item; an item of a higher level is nested in the previous one. Number is null for a bullet. */
  | { readonly type: 'item'; readonly level: number; readonly number: number | null; readonly html: string }
  /** A further paragraph of the previous item. */
  | { readonly type: 'more'; readonly html: string }
  /** A whole block of markup. */
  | { readonly type: 'markup'; readonly html: string }
  /** A fragment that applies from the next block on. */
  | { readonly type: 'mark'; readonly anchor: string }

/** Writes blocks as HTML, without those that have no text. */
export function writeBlocks(blocks: readonly OfficeBlock[]): string {
  const writer = new BlockWriter()
  for (const block of blocks) writer.add(block)
  return writer.end()
}

/** Limit of nested levels; deeper items are not nested further. */
const MAX_LEVEL = 9

class BlockWriter {
  readonly #parts: string[] = []
  #characters = 0
  /** The open lists, outermost first: whether they are numbered, and the number of their last item. */
  readonly #lists: { readonly isNumbered: boolean; number: number }[] = []
  #code: string[] = []
  #mark = ''

  add(block: OfficeBlock): void {
    if (block.type === 'mark') {
      this.#endCode()
      this.#mark = `<div data-mark="${escapeHtml(block.anchor)}"></div>`
      return
    }
    if (block.type === 'code') {
      this.#closeLists(0)
      this.#code.push(block.text)
      return
    }
    if (isBlank(block.html)) return
    this.#endCode()
    const html = joinRuns(block.html)
    if (block.type === 'item') {
      this.#addItem(block.level, block.number, html)
      return
    }
    if (block.type === 'more' && this.#lists.length > 0) {
      this.#write(`${this.#takeMark()}<p>${html}</p>`)
      return
    }
    this.#closeLists(0)
    this.#write(this.#takeMark() + writeBlock({ ...block, html }))
  }

  end(): string {
    this.#endCode()
    this.#closeLists(0)
    return this.#parts.join('')
  }

  #addItem(requestedLevel: number, number: number | null, html: string): void {
    const isNumbered = number !== null
    const level = Math.max(0, Math.min(requestedLevel, this.#lists.length, MAX_LEVEL))
    this.#closeLists(level + 1)
    const list = this.#lists[level]
    const continuesList =
      list !== undefined && list.isNumbered === isNumbered && (number === null || number === list.number + 1)
    if (continuesList) this.#write('</li>')
    else {
      this.#closeLists(level)
      this.#write(isNumbered ? `<ol start="${number}">` : '<ul>')
      this.#lists.push({ isNumbered, number: 0 })
    }
    const current = this.#lists.at(-1)
    if (current !== undefined && number !== null) current.number = number
    this.#write(`<li>${this.#takeMark()}${html}`)
  }

  #takeMark(): string {
    const mark = this.#mark
    this.#mark = ''
    return mark
  }

  /** Closes the open lists, except for the given number of outer lists. */
  #closeLists(kept: number): void {
    while (this.#lists.length > kept) this.#write(this.#lists.pop()?.isNumbered ? '</li></ol>' : '</li></ul>')
  }

  #endCode(): void {
    const start = this.#code.findIndex((line) => line.trim() !== '')
    const text = start === -1 ? '' : this.#code.slice(start).join('\n').trimEnd()
    this.#code = []
    if (text !== '') this.#write(`${this.#takeMark()}<pre><code>${escapeHtml(text)}</code></pre>`)
  }

  #write(part: string): void {
    this.#characters += part.length
    checkTextLength(this.#characters)
    this.#parts.push(part)
  }
}

/** @throws {DocumentError} when a document has more text than allowed */
export function checkTextLength(characters: number): void {
  if (characters <= DOCUMENT_LIMITS.characters) return
  throw new DocumentError('too-large', `it has more than ${DOCUMENT_LIMITS.characters} characters`)
}

function writeBlock(block: Exclude<OfficeBlock, { type: 'code' | 'item' | 'mark' }>): string {
  if (block.type === 'markup') return block.html
  if (block.type !== 'heading') return `<p>${block.html}</p>`
  const level = Math.max(1, Math.min(block.level, 6))
  const id = block.id === undefined ? '' : ` id="${escapeHtml(block.id)}"`
  return `<h${level}${id}>${block.html}</h${level}>`
}

/** Joins adjacent runs with the same formatting, because programs split text at every edit. */
function joinRuns(html: string): string {
  let joined = html
  for (const pattern of ADJACENT_RUNS) joined = joined.replace(pattern, '$1')
  return joined
}

/** Borders between two equal elements, outermost element first, as `writeRun` nests them. */
const ADJACENT_RUNS = [/<\/strong>(\s*)<strong>/g, /<\/em>(\s*)<em>/g, /<\/s>(\s*)<s>/g, /<\/code>(\s*)<code>/g]

/** Whether markup shows nothing: no text, and no described image. */
function isBlank(html: string): boolean {
  return !html.includes('<img ') && html.replace(/<[^<>]*>/g, '').trim() === ''
}

/** The formatting of a run of text. */
export interface RunFormat {
  readonly bold?: boolean
  readonly italic?: boolean
  readonly struck?: boolean
  readonly code?: boolean
  readonly raised?: boolean
  readonly lowered?: boolean
}

/** Writes a run of text. Line feeds become line breaks. */
export function writeRun(text: string, format: RunFormat): string {
  if (text === '') return ''
  let html = escapeHtml(text).replace(/\n/g, '<br>')
  if (text.trim() === '') return html
  if (format.code === true) html = `<code>${html}</code>`
  if (format.raised === true) html = `<sup>${html}</sup>`
  if (format.lowered === true) html = `<sub>${html}</sub>`
  if (format.struck === true) html = `<s>${html}</s>`
  if (format.italic === true) html = `<em>${html}</em>`
  return format.bold === true ? `<strong>${html}</strong>` : html
}

/** Writes a link if its URL can be opened from anywhere. */
export function writeLink(html: string, address: string | undefined): string {
  return address !== undefined && isOpenable(address) && html !== '' ? writeAnchorElement(address, html) : html
}

/** The description of an image, in its place. */
export function writePicture(description: string | undefined): string {
  const text = (description ?? '').replace(/\s+/g, ' ').trim()
  return text === '' ? '' : `<img alt="${escapeHtml(text)}">`
}

/** The notes of a document and their references. */
export class OfficeNotes {
  readonly #notes: { readonly html: string; readonly anchor: string | undefined }[] = []

  /** Stores a note and returns its reference. `anchor` is the fragment of the place that refers to the note, if it has one. */
  add(html: string, anchor?: string): string {
    const number = this.#notes.push({ html, anchor })
    return `<sup><a role="doc-noteref" href="#note-${number}">${number}</a></sup>`
  }

  write(): string {
    return this.#notes.map(writeNote).join('')
  }
}

function writeNote({ html, anchor }: { html: string; anchor: string | undefined }, index: number): string {
  const mark = anchor === undefined ? '' : `<div data-mark="${escapeHtml(anchor)}"></div>`
  return `${mark}<aside role="doc-footnote" id="note-${index + 1}">${html}</aside>`
}

/** A cell of a table, at its first row and column. */
export interface OfficeCell {
  readonly html: string
  columns: number
  rows: number
}

/** How many columns or rows a cell spans, by one of its attributes. */
export function spanOf(cell: XmlElement, name: string): number {
  return Math.max(1, Math.min(Number(cell.attribute(name) ?? '1') || 1, DOCUMENT_LIMITS.columns))
}

/** A row of a table, without the positions that other cells span. */
export interface OfficeRow {
  readonly cells: readonly OfficeCell[]
  readonly isHeader: boolean
}

/** Writes a table up to the limits of tables. */
export function writeTable(rows: readonly OfficeRow[]): string {
  if (rows.every(({ cells }) => cells.every(({ html }) => isBlank(html)))) return ''
  const shownRows = rows.slice(0, DOCUMENT_LIMITS.rows)
  // Cells may share text, so the size is known only when it is written out.
  let characters = 0
  for (const { cells } of shownRows) for (const { html } of cells) characters += html.length
  checkTextLength(characters)
  const lines = shownRows.map(
    ({ cells, isHeader }) => `<tr>${cells.map((cell) => writeCell(cell, isHeader ? 'th' : 'td')).join('')}</tr>`,
  )
  const leftOut = rows.length - shownRows.length
  const rest = leftOut > 0 ? `<p>${leftOut} further rows are left out.</p>` : ''
  return `<table>${lines.join('')}</table>${rest}`
}

const CODE_STYLE = /\b(?:code|source|preformatted|verbatim|listing|literal|monospace|macro text|console|terminal)\b/i
const FIXED_WIDTH =
  /courier|consolas|menlo|monaco|typewriter|inconsolata|cm(?:sl|it)?tt|lucida ?console|mono(?!type|gram|line)|source ?code|fira ?code|fixedsys|^hack\b/i

/** Whether a style is for column headings; LibreOffice does not mark header rows otherwise. */
export function isTableHeadingStyle(name: string): boolean {
  return /^table heading$/i.test(name)
}

/** Whether a style is for code, judged by its name. */
export function isCodeStyle(name: string): boolean {
  return CODE_STYLE.test(name)
}

/** Whether a font is fixed-width, judged by its name. */
export function isFixedWidth(font: string): boolean {
  return FIXED_WIDTH.test(font)
}
