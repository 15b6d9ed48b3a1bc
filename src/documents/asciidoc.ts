import { type Document, Html5Converter, load, NullLogger, Reader } from '@asciidoctor/core'
import { parseDate } from '../core/extract/metadata/dates.ts'
import { checkAsciidoc, MAX_ASCIIDOC } from './asciidoc-limits.ts'
import type { Convert } from './document.ts'
import { createDocument, readText, writeBox } from './markup.ts'

/** When it is read is no part of what it says, and would make another text of it each time: the names of these stay as they stand. */
const AS_WRITTEN: Readonly<Record<string, string>> = Object.fromEntries(
  ['local', 'doc'].flatMap((of) => ['date', 'year', 'time', 'datetime'].map((unit) => [of + unit, `{${of}${unit}}@`])),
)

/** What a document may not change: the forms below, and that links to other documents lead to their sources. */
const ATTRIBUTES = {
  showtitle: '',
  relfilesuffix: '.adoc',
  toc: null,
  icons: null,
  sectanchors: null,
  sectlinks: null,
  sectnums: null,
  'source-highlighter': null,
  'table-caption': null,
  'figure-caption': null,
  'example-caption': null,
  'listing-caption': null,
  ...AS_WRITTEN,
}

/** What the parser has to say about a document is of no use here. */
const SILENT = new NullLogger()
// Readers of parts of a document know none, and print: they ask the console, and neither the logger that is given nor LoggerManager.
Object.defineProperty(Reader.prototype, 'logger', { get: () => SILENT })

/** Makes HTML of AsciiDoc. In the mode `secure` nothing is read, included or run; files that it includes are named. */
export const convertAsciidoc: Convert = async (bytes) => {
  const source = readText(bytes, MAX_ASCIIDOC)
  checkAsciidoc(source)
  const document = await load(source, {
    safe: 'secure',
    converter: PlainConverter,
    logger: SILENT,
    attributes: ATTRIBUTES,
  })
  const html = await document.convert()
  return createDocument(strengthenTitles(String(html)), 'html', {
    title: textOf(document, 'doctitle'),
    author: textOf(document, 'author'),
    language: textOf(document, 'lang'),
    modifiedAt: parseDate(textOf(document, 'revdate') ?? ''),
  })
}

function textOf(document: Document, name: string): string | null {
  const value: unknown = document.getAttribute(name)
  return typeof value === 'string' && value !== '' ? plainText(value) : null
}

/** A title as text: the library has put in its marks already. */
function plainText(html: string): string {
  return html
    .replace(/<[^<>]*>/g, '')
    .replace(/&#(\d{1,6});/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

/** Titles of blocks are marked as such: they stand before code, tables and lists like headings that lead nowhere. */
function strengthenTitles(html: string): string {
  const [first = '', ...rest] = html.split('<div class="title">')
  const parts = [first]
  for (const part of rest) {
    const end = part.indexOf('</div>')
    if (end < 0) parts.push(part)
    else parts.push(`<p><strong>${part.slice(0, end)}</strong></p>${part.slice(end + '</div>'.length)}`)
  }
  return parts.join('')
}

/** What is asked of the nodes of a document; the library does not tell. */
interface AsciidocNode {
  readonly title: string
  readonly text: string
  readonly type: string
  readonly header: { readonly title: string }
  readonly footnotes: readonly { readonly index: number; readonly text: string }[]
  style: string | null
  hasTitle(): boolean
  hasHeader(): boolean
  isNotitle(): boolean
  getAttribute(name: string): string | number | null
  content(): Promise<string>
}

/** The HTML of Asciidoctor but for what it lays out with tables, numbers and signs, which would be read as such. */
class PlainConverter extends Html5Converter {
  override async convert_admonition(node: AsciidocNode): Promise<string> {
    const title = node.hasTitle() ? node.title : String(node.getAttribute('textlabel'))
    return writeBox(String(node.getAttribute('name')), title, await node.content())
  }

  /** Terms beside what is said about them are terms. */
  override async convert_dlist(node: AsciidocNode): Promise<string> {
    if (node.style === 'horizontal') node.style = null
    return super.convert_dlist(node)
  }

  override async convert_ulist(node: AsciidocNode): Promise<string> {
    const html = await super.convert_ulist(node)
    return html
      .replaceAll('<p>&#10003; ', '<p><input type="checkbox" checked> ')
      .replaceAll('<p>&#10063; ', '<p><input type="checkbox"> ')
  }

  override async convert_inline_footnote(node: AsciidocNode): Promise<string> {
    const index = node.getAttribute('index')
    return index === null ? '' : `<a class="footnote" href="#_footnotedef_${index}">${index}</a>`
  }

  override async convert_inline_quoted(node: AsciidocNode): Promise<string> {
    if (node.type === 'latexmath') return `<span class="math">\\(${node.text}\\)</span>`
    return node.type === 'asciimath' ? `<code>${node.text}</code>` : super.convert_inline_quoted(node)
  }

  override async convert_stem(node: AsciidocNode): Promise<string> {
    const formula = await node.content()
    return node.style === 'latexmath' ? `<div class="math">\\[${formula}\\]</div>` : `<pre>${formula}</pre>`
  }

  override async convert_embedded(node: AsciidocNode): Promise<string> {
    const title = node.hasHeader() && !node.isNotitle() ? `<h1>${node.header.title}</h1>\n` : ''
    const content = await node.content()
    // They are only known once the content is written.
    const notes = node.footnotes.map(
      ({ index, text }) => `<div class="footnote" id="_footnotedef_${index}">${text}</div>\n`,
    )
    return `${title}${content}\n${notes.join('')}`
  }

  /** HTML that is passed on must not end what it stands in. */
  override async convert_pass(node: AsciidocNode): Promise<string> {
    return `<div>${String(await super.convert_pass(node)).replaceAll('</article', '</div')}</div>`
  }
}
