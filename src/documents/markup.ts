import { decodePlain } from '../core/extract/decode-html.ts'
import { escapeHtml } from '../core/html/escape.ts'
import { writeNumber } from '../core/text/count.ts'
import { isBinary } from '../core/text/decode.ts'
import { clipText } from '../core/text/lines.ts'
import { DOCUMENT_LIMITS, DocumentError, type TextDocument } from './document.ts'

/* Shared parts of the text converters: reading the text and writing clean HTML. */

/** The text of a file, up to the length limit of a document. */
export function readText(bytes: Uint8Array, maxCharacters: number = DOCUMENT_LIMITS.characters): string {
  if (isBinary(bytes)) throw new DocumentError('not-text', 'it contains bytes that are not text')
  // No encoding uses more than four bytes per character.
  if (bytes.length > 4 * maxCharacters) throw createTooLongError(maxCharacters)
  // A byte order mark inside a word would count as a space.
  const text = decodePlain(bytes, '').replaceAll('\ufeff', '')
  if (text.length > maxCharacters) throw createTooLongError(maxCharacters)
  if (text.trim() === '') throw new DocumentError('empty', 'it has no text')
  return text
}

function createTooLongError(maxCharacters: number): DocumentError {
  return new DocumentError('too-large', `it has more than ${writeNumber(maxCharacters)} characters`)
}

/** Creates a document with null for all metadata that is not given. */
export function createDocument(
  text: string,
  form: 'html' | 'markdown',
  about: Partial<Omit<TextDocument, 'body'>> = {},
): TextDocument & { readonly type: 'document' } {
  const { title = null, author = null, language = null, modifiedAt = null } = about
  if (text.trim() === '') throw new DocumentError('empty', 'it has no text')
  return { type: 'document', title, author, language, modifiedAt, body: { form, text } }
}

/** A code block; the language may be unknown. */
export function writeCode(code: string, language = ''): string {
  const name = /^[\w+#.-]{1,30}$/.test(language) ? ` class="language-${language}"` : ''
  return `<pre><code${name}>${escapeHtml(code)}</code></pre>\n`
}

/** An admonition box. `kind` is one word: note, tip, warning. */
export function writeAdmonition(kind: string, title: string, html: string): string {
  return `<div class="admonition ${escapeHtml(kind)}"><p class="admonition-title">${title}</p>\n${html}</div>\n`
}

/** Schemes of URLs that can be opened from anywhere. */
const OPENABLE_SCHEME = /^(?:https?|ftps?|mailto|tel|news|irc|git|ssh|doi):/i

/** Whether a URL can be opened from anywhere; a file or relative URL cannot. */
export function isOpenable(address: string): boolean {
  return OPENABLE_SCHEME.test(address.trim())
}

/** A URL that is safe as a link target; '' if its scheme is not known to be harmless, as with `javascript:`. */
export function safeAddress(address: string): string {
  const plain = address.trim()
  return /^[a-z][a-z\d+.-]*:/i.test(plain) && !isOpenable(plain) && !/^file:/i.test(plain) ? '' : plain
}

/** A link whose text is already HTML. */
export function writeLink(address: string, html: string): string {
  const safe = safeAddress(address)
  return safe === '' ? html : `<a href="${escapeHtml(safe)}">${html}</a>`
}

/** The reference to a footnote. */
export function writeNoteMark(id: string, label: string): string {
  return `<a class="footnote-reference" href="#${escapeHtml(id)}">${escapeHtml(label)}</a>`
}

const MAX_ANCHOR = 80

/** Gives every heading a unique fragment. */
export class Anchors {
  readonly #useCounts = new Map<string, number>()

  /** Creates a fragment from the words of a title: `Getting started` → `getting-started`. */
  create(title: string): string {
    const words = clipText(title, MAX_ANCHOR)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '-')
      .replace(/^-|-$/g, '')
    return this.claim(words === '' ? 'section' : words)
  }

  /** Claims a fragment that the document itself defines, and returns it with a number if it is taken. */
  claim(name: string): string {
    const count = (this.#useCounts.get(name) ?? 0) + 1
    this.#useCounts.set(name, count)
    // Claims the numbered name too, because a title may end in that number.
    return count === 1 ? name : this.claim(`${name}-${count}`)
  }
}

/** One cell of a table, as HTML. */
export interface Cell {
  readonly html: string
  readonly columns?: number
  readonly rows?: number
}

/** A table whose first rows may be the header. Rows and cells beyond the limits are dropped, and a line says how many rows there were. */
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

/** A cell of a row as the given element. */
export function writeCell({ html, columns = 1, rows = 1 }: Cell, name: string): string {
  const wide = columns > 1 ? ` colspan="${columns}"` : ''
  const high = rows > 1 ? ` rowspan="${rows}"` : ''
  return `<${name}${wide}${high}>${html}</${name}>`
}

/** Removes the tags of HTML that is a single paragraph; returns other HTML unchanged. */
export function unwrapParagraph(html: string): string {
  const inner = html.trim()
  if (!inner.startsWith('<p>') || !inner.endsWith('</p>') || inner.indexOf('<p', 1) > 0) return inner
  return inner.slice('<p>'.length, -'</p>'.length)
}
