import { escapeHtml } from '../core/html/escape.ts'
import { DOCUMENT_LIMITS, DocumentError } from './document.ts'
import { isOpenable, writeLink as writeAddressed, writeCell } from './markup.ts'

/** What a document is made of, in the order of reading. `html` is markup inside of one line of text. */
export type OfficeBlock =
  | { readonly type: 'heading'; readonly level: number; readonly html: string; readonly id?: string }
  | { readonly type: 'paragraph'; readonly html: string }
  /** One line or several; those next to each other are one block. */
  | { readonly type: 'code'; readonly text: string }
  /** An item of a list; those of a higher level stand in the one before. Number is null for a bullet. */
  | { readonly type: 'item'; readonly level: number; readonly number: number | null; readonly html: string }
  /** A further paragraph of the item before. */
  | { readonly type: 'more'; readonly html: string }
  /** A whole block of markup. */
  | { readonly type: 'markup'; readonly html: string }
  /** A place with a fragment of its own begins with the block after it. */
  | { readonly type: 'mark'; readonly anchor: string }

/** Writes blocks as HTML. Those without any text are left out. */
export function writeBlocks(blocks: readonly OfficeBlock[]): string {
  const writer = new BlockWriter()
  for (const block of blocks) writer.add(block)
  return writer.end()
}

/** Deeper items are written as if they were not nested. */
const MAX_LEVEL = 9

class BlockWriter {
  readonly #parts: string[] = []
  #characters = 0
  /** The lists that are open, outermost first: whether they are numbered, and the number of their last item. */
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
    this.#write(this.#takeMark() + markUp({ ...block, html }))
  }

  end(): string {
    this.#endCode()
    this.#closeLists(0)
    return this.#parts.join('')
  }

  #addItem(wanted: number, number: number | null, html: string): void {
    const isNumbered = number !== null
    const level = Math.max(0, Math.min(wanted, this.#lists.length, MAX_LEVEL))
    this.#closeLists(level + 1)
    const same = this.#lists[level]
    const follows =
      same !== undefined && same.isNumbered === isNumbered && (number === null || number === same.number + 1)
    if (follows) this.#write('</li>')
    else {
      this.#closeLists(level)
      this.#write(isNumbered ? `<ol start="${number}">` : '<ul>')
      this.#lists.push({ isNumbered, number: 0 })
    }
    const list = this.#lists.at(-1)
    if (list !== undefined && number !== null) list.number = number
    this.#write(`<li>${this.#takeMark()}${html}`)
  }

  #takeMark(): string {
    const mark = this.#mark
    this.#mark = ''
    return mark
  }

  /** Ends the lists that are open, but for the given number of outer ones. */
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
    refuseLong(this.#characters)
    this.#parts.push(part)
  }
}

/** @throws {DocumentError} when a document would have more text than is read of any */
export function refuseLong(characters: number): void {
  if (characters <= DOCUMENT_LIMITS.characters) return
  throw new DocumentError('too-large', `it has more than ${DOCUMENT_LIMITS.characters} characters`)
}

function markUp(block: Exclude<OfficeBlock, { type: 'code' | 'item' | 'mark' }>): string {
  if (block.type === 'markup') return block.html
  if (block.type !== 'heading') return `<p>${block.html}</p>`
  const level = Math.max(1, Math.min(block.level, 6))
  const id = block.id === undefined ? '' : ` id="${escapeHtml(block.id)}"`
  return `<h${level}${id}>${block.html}</h${level}>`
}

/** Runs that look alike are one: programs divide text wherever somebody once changed it. */
function joinRuns(html: string): string {
  let joined = html
  for (const pattern of SAME_LOOKS) joined = joined.replace(pattern, '$1')
  return joined
}

/** Outermost first, as runs are written. */
const SAME_LOOKS = [/<\/strong>(\s*)<strong>/g, /<\/em>(\s*)<em>/g, /<\/s>(\s*)<s>/g, /<\/code>(\s*)<code>/g]

/** Whether markup shows nothing: no text, and no picture that would say something. */
function isBlank(html: string): boolean {
  return !html.includes('<img ') && html.replace(/<[^>]*>/g, '').trim() === ''
}

/** How a run of text looks. */
export interface RunLook {
  readonly bold?: boolean
  readonly italic?: boolean
  readonly struck?: boolean
  readonly code?: boolean
  readonly raised?: boolean
  readonly lowered?: boolean
}

/** Writes a run of text. Line feeds are breaks of lines. */
export function writeRun(text: string, look: RunLook): string {
  if (text === '') return ''
  let html = escapeHtml(text).replace(/\n/g, '<br>')
  if (text.trim() === '') return html
  if (look.code === true) html = `<code>${html}</code>`
  if (look.raised === true) html = `<sup>${html}</sup>`
  if (look.lowered === true) html = `<sub>${html}</sub>`
  if (look.struck === true) html = `<s>${html}</s>`
  if (look.italic === true) html = `<em>${html}</em>`
  return look.bold === true ? `<strong>${html}</strong>` : html
}

/** Writes a link, if it leads to an address that can be opened from elsewhere. */
export function writeLink(html: string, address: string | undefined): string {
  return address !== undefined && isOpenable(address) && html !== '' ? writeAddressed(address, html) : html
}

/** Stands for a picture by what it is said to show. */
export function writePicture(description: string | undefined): string {
  const text = (description ?? '').replace(/\s+/g, ' ').trim()
  return text === '' ? '' : `<img alt="${escapeHtml(text)}">`
}

/** Notes of a document, with the marks that lead to them. */
export class OfficeNotes {
  readonly #notes: { readonly html: string; readonly anchor: string | undefined }[] = []

  /** Keeps a note and returns its mark. The anchor leads to the place where it stands, where that has one. */
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

/** A cell of a table, at the place where it begins. */
export interface OfficeCell {
  readonly html: string
  columns: number
  rows: number
}

/** A row of a table. Cells that others reach over are not in it. */
export interface OfficeRow {
  readonly cells: readonly OfficeCell[]
  readonly isHeader: boolean
}

/** Writes a table, as far as tables are written down. */
export function writeTable(rows: readonly OfficeRow[]): string {
  if (rows.every(({ cells }) => cells.every(({ html }) => isBlank(html)))) return ''
  const shown = rows.slice(0, DOCUMENT_LIMITS.rows)
  // Cells may share their text: what they come to is known only where it is written out.
  let characters = 0
  for (const { cells } of shown) for (const { html } of cells) characters += html.length
  refuseLong(characters)
  const lines = shown.map(
    ({ cells, isHeader }) => `<tr>${cells.map((cell) => writeCell(cell, isHeader ? 'th' : 'td')).join('')}</tr>`,
  )
  const left = rows.length - shown.length
  const rest = left > 0 ? `<p>${left} further rows are left out.</p>` : ''
  return `<table>${lines.join('')}</table>${rest}`
}

const CODE_STYLE = /\b(?:code|source|preformatted|verbatim|listing|literal|monospace|macro text|console|terminal)\b/i
const FIXED_WIDTH =
  /courier|consolas|menlo|monaco|typewriter|inconsolata|cm(?:sl|it)?tt|lucida ?console|mono(?!type|gram|line)|source ?code|fira ?code|fixedsys|^hack\b/i

/** Whether paragraphs of a style name the columns of a table; LibreOffice does not mark their row as what it is. */
export function isTableHeadingStyle(name: string): boolean {
  return /^table heading$/i.test(name)
}

/** Whether a style is one for code, by its name. */
export function isCodeStyle(name: string): boolean {
  return CODE_STYLE.test(name)
}

/** Whether all letters of a font have one width, by its name. */
export function isFixedWidth(font: string): boolean {
  return FIXED_WIDTH.test(font)
}
