import { decodePlain } from '../core/extract/decode-html.ts'
import { escapeHtml } from '../core/html/escape.ts'
import { writeNumber } from '../core/text/count.ts'
import { isBinary } from '../core/text/decode.ts'
import { clipText } from '../core/text/lines.ts'
import { DOCUMENT_LIMITS, DocumentError, type TextDocument } from './document.ts'

/* What the converters of text formats have in common: reading the text, and writing HTML that says nothing else. */

/** The text of a file, at most as long as a document may be. */
export function readText(bytes: Uint8Array, most: number = DOCUMENT_LIMITS.characters): string {
  if (isBinary(bytes)) throw new DocumentError('not-text', 'it holds bytes that are no text')
  // No encoding takes more than four bytes for a character.
  if (bytes.length > 4 * most) throw tooLong(most)
  // The mark of byte order counts as a space, which it is not inside a word.
  const text = decodePlain(bytes, '').replaceAll('\ufeff', '')
  if (text.length > most) throw tooLong(most)
  if (text.trim() === '') throw new DocumentError('empty', 'it holds no text')
  return text
}

function tooLong(most: number): DocumentError {
  return new DocumentError('too-large', `it has more than ${writeNumber(most)} characters`)
}

/** A document without what a format does not say about itself. */
export function createDocument(
  text: string,
  form: 'html' | 'markdown',
  about: Partial<Omit<TextDocument, 'body'>> = {},
): TextDocument & { readonly type: 'document' } {
  const { title = null, author = null, language = null, modifiedAt = null } = about
  if (text.trim() === '') throw new DocumentError('empty', 'it holds no text')
  return { type: 'document', title, author, language, modifiedAt, body: { form, text } }
}

/** A block of code; the language may be unknown. */
export function writeCode(code: string, language = ''): string {
  const name = /^[\w+#.-]{1,30}$/.test(language) ? ` class="language-${language}"` : ''
  return `<pre><code${name}>${escapeHtml(code)}</code></pre>\n`
}

/** A box that tells the reader to mind something. `kind` is one word that names it: note, tip, warning. */
export function writeBox(kind: string, title: string, html: string): string {
  return `<div class="admonition ${escapeHtml(kind)}"><p class="admonition-title">${title}</p>\n${html}</div>\n`
}

/** How addresses begin that can be opened from anywhere. */
const OPENABLE = /^(?:https?|ftps?|mailto|tel|news|irc|git|ssh|doi):/i

/** Whether an address can be opened from anywhere: one of a file, or a relative one, cannot. */
export function isOpenable(address: string): boolean {
  return OPENABLE.test(address.trim())
}

/** An address that a link may lead to; '' for one that would run something. */
export function safeAddress(address: string): string {
  const plain = address.trim()
  return /^[a-z][a-z\d+.-]*:/i.test(plain) && !isOpenable(plain) && !/^file:/i.test(plain) ? '' : plain
}

/** A link with text that is HTML already. */
export function writeLink(address: string, html: string): string {
  const safe = safeAddress(address)
  return safe === '' ? html : `<a href="${escapeHtml(safe)}">${html}</a>`
}

/** The mark that leads to a note. */
export function writeNoteMark(id: string, shown: string): string {
  return `<a class="footnote-reference" href="#${escapeHtml(id)}">${escapeHtml(shown)}</a>`
}

const MAX_ANCHOR = 80

/** Gives every heading a fragment that no other one has. */
export class Anchors {
  readonly #given = new Map<string, number>()

  /** By the words of a title: `Getting started` → `getting-started`. */
  create(title: string): string {
    const words = clipText(title, MAX_ANCHOR)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '-')
      .replace(/^-|-$/g, '')
    return this.claim(words === '' ? 'section' : words)
  }

  /** By a name that the document itself gives. */
  claim(name: string): string {
    const count = (this.#given.get(name) ?? 0) + 1
    this.#given.set(name, count)
    // Another number would be taken by a title that ends in it.
    return count === 1 ? name : this.claim(`${name}-${count}`)
  }
}

/** One cell of a table, as HTML. */
export interface Cell {
  readonly html: string
  readonly columns?: number
  readonly rows?: number
}

/** A table; its first rows may be the header. Rows and cells beyond the limits are left out, and a line says how many there were. */
export function writeTable(rows: readonly (readonly Cell[])[], headerRows: number, caption = ''): string {
  const parts = ['<table>']
  if (caption !== '') parts.push(`<caption>${caption}</caption>`)
  for (const [i, row] of rows.slice(0, DOCUMENT_LIMITS.rows).entries()) {
    const name = i < headerRows ? 'th' : 'td'
    const cells = row.slice(0, DOCUMENT_LIMITS.columns).map((cell) => writeCell(cell, name))
    parts.push(`<tr>${cells.join('')}</tr>`)
  }
  parts.push('</table>\n')
  const { length } = rows
  if (length > DOCUMENT_LIMITS.rows)
    parts.push(`<p>These are the first ${writeNumber(DOCUMENT_LIMITS.rows)} of ${writeNumber(length)} rows.</p>\n`)
  return parts.join('\n')
}

/** One cell of a row, as the element of a name. */
export function writeCell({ html, columns = 1, rows = 1 }: Cell, name: string): string {
  const wide = columns > 1 ? ` colspan="${columns}"` : ''
  const high = rows > 1 ? ` rowspan="${rows}"` : ''
  return `<${name}${wide}${high}>${html}</${name}>`
}

/** The one paragraph that HTML consists of, without its tags; other HTML as it is. */
export function unwrapParagraph(html: string): string {
  const inner = html.trim()
  if (!inner.startsWith('<p>') || !inner.endsWith('</p>') || inner.indexOf('<p', 1) > 0) return inner
  return inner.slice('<p>'.length, -'</p>'.length)
}
