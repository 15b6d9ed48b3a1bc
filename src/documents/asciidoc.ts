import { type Document, Html5Converter, load, NullLogger, Reader } from '@asciidoctor/core'
import { parseDate } from '../core/extract/metadata/dates.ts'
import { checkAsciidoc, MAX_ASCIIDOC } from './asciidoc-limits.ts'
import type { Converter } from './document.ts'
import { createDocument, readText, writeAdmonition } from './markup.ts'

/** Time attributes stay as written, because the time of reading would change the text each time. */
const UNRESOLVED_ATTRIBUTES: Readonly<Record<string, string>> = Object.fromEntries(
  ['local', 'doc'].flatMap((origin) =>
    ['date', 'year', 'time', 'datetime'].map((unit) => [origin + unit, `{${origin}${unit}}@`]),
  ),
)

/**
 * Attributes that fix the form of the output and keep the source extension in links to other documents. A document can override only the
 * time attributes.
 */
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
  ...UNRESOLVED_ATTRIBUTES,
}

/** Discards the parser's messages, which are not used. */
const SILENT = new NullLogger()
// Readers of nested content ignore the given logger and LoggerManager and print to the console, so their logger is replaced.
Object.defineProperty(Reader.prototype, 'logger', { get: () => SILENT })

/** Converts AsciiDoc to HTML. In `secure` mode nothing is read, included or run; included files are only named. */
export const convertAsciidoc: Converter = async (bytes) => {
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

/** The plain text of an attribute value, whose markup the library has already converted to HTML. */
function plainText(html: string): string {
  return html
    .replace(/<[^<>]*>/g, '')
    .replace(/&#(\d{1,6});/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

/** Marks block titles as strong text, so that they do not become headings without a section. */
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

/** The node fields that are used; the library has no types for them. */
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

/** Asciidoctor's HTML without layout tables, generated numbers and icons, which would be read as content. */
class PlainConverter extends Html5Converter {
  override async convert_admonition(node: AsciidocNode): Promise<string> {
    const title = node.hasTitle() ? node.title : String(node.getAttribute('textlabel'))
    return writeAdmonition(String(node.getAttribute('name')), title, await node.content())
  }

  /** Converts a horizontal description list like a normal one. */
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
    // Footnotes are known only after the content has been converted.
    const notes = node.footnotes.map(
      ({ index, text }) => `<div class="footnote" id="_footnotedef_${index}">${text}</div>\n`,
    )
    return `${title}${content}\n${notes.join('')}`
  }

  /** Passthrough HTML must not close its surrounding elements. */
  override async convert_pass(node: AsciidocNode): Promise<string> {
    return `<div>${String(await super.convert_pass(node)).replaceAll('</article', '</div')}</div>`
  }
}
