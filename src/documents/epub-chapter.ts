import { escapeHtml } from '../core/html/escape.ts'
import type { XmlElement } from './xml-tree.ts'

/** A chapter as HTML without page chrome. */
export interface Chapter {
  readonly html: string
  /** Text of the first heading. */
  readonly heading: string | null
  /** The declared language of the chapter, if any. */
  readonly language: string | null
}

/** Elements that are dropped with their content: scripts, forms and media. */
const DROPPED_ELEMENTS = new Set(
  `script style template noscript iframe object embed applet form input button select textarea audio video canvas link meta base
  head title svg`.split(/\s+/),
)
/** Attributes that keep their meaning outside of the book. */
const KEPT_ATTRIBUTES = new Set([
  'id',
  'colspan',
  'rowspan',
  'start',
  'value',
  'alt',
  'lang',
  'class',
  'title',
  'scope',
  'headers',
])
const VOID_ELEMENTS = new Set(['br', 'hr', 'img', 'wbr', 'col'])
const HTML_NAME = /^[a-z][a-z0-9]*$/

/** Writes a chapter; undefined when it has no text. A chapter without a heading gets its title from the table of contents. */
export function writeChapter(page: XmlElement, title: string | undefined): Chapter | undefined {
  const body = page.find('body') ?? page
  if (body.text.trim() === '' && !hasDescription(body)) return undefined
  const writer = new ChapterWriter()
  writer.writeChildren(body)
  const language = page.attribute('lang')?.trim() || null
  const heading = writer.heading
  const html = writer.html
  if (html.replace(/<[^<>]*>/g, '').trim() === '' && !html.includes('<img ')) return undefined
  if (heading !== null || title === undefined) return { html, heading, language }
  return { html: `<h1>${escapeHtml(title)}</h1>${html}`, heading: title, language }
}

function hasDescription(body: XmlElement): boolean {
  for (const element of body.descendants()) if (element.name === 'img' && element.attribute('alt')) return true
  return false
}

class ChapterWriter {
  heading: string | null = null
  readonly #parts: string[] = []

  get html(): string {
    return this.#parts.join('')
  }

  writeChildren(parent: XmlElement): void {
    for (const child of parent.children) {
      if (typeof child === 'string') this.#parts.push(escapeHtml(child))
      else if (!DROPPED_ELEMENTS.has(child.name)) this.#write(child)
    }
  }

  #write(element: XmlElement): void {
    const { name } = element
    // MathML and other non-HTML elements are reduced to their text.
    if (!HTML_NAME.test(name)) {
      this.writeChildren(element)
      return
    }
    if (/^h[1-6]$/.test(name)) this.heading ??= element.text.replace(/\s+/g, ' ').trim() || null
    this.#parts.push(`<${name}${writeAttributes(element)}>`)
    if (VOID_ELEMENTS.has(name)) return
    this.writeChildren(element)
    this.#parts.push(`</${name}>`)
  }
}

function writeAttributes(element: XmlElement): string {
  let attributes = ''
  for (const key of KEPT_ATTRIBUTES) {
    const value = element.attribute(key)
    if (value !== undefined) attributes += ` ${key}="${escapeHtml(value)}"`
  }
  const href = element.name === 'a' ? element.attribute('href') : undefined
  // A link to another chapter is valid only inside of the book.
  if (href !== undefined && /^(?:#|https?:|mailto:)/i.test(href)) attributes += ` href="${escapeHtml(href)}"`
  const role = ROLES.get(element.prefixed('type') ?? '') ?? element.attribute('role')
  return role === undefined ? attributes : `${attributes} role="${escapeHtml(role)}"`
}

/** EPUB types and the ARIA roles that correspond to them. */
const ROLES: ReadonlyMap<string, string> = new Map([
  ['noteref', 'doc-noteref'],
  ['footnote', 'doc-footnote'],
  ['endnote', 'doc-endnote'],
  ['rearnote', 'doc-endnote'],
  ['footnotes', 'doc-endnotes'],
  ['endnotes', 'doc-endnotes'],
])
