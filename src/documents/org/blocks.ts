import { escapeHtml } from '../../core/html/escape.ts'
import { capitalize } from '../../core/text/capitalize.ts'
import { isBlank } from '../../core/text/lines.ts'
import { dedent, indentOf } from '../indent.ts'
import { unwrapParagraph, writeAdmonition, writeCode, writeTable } from '../markup.ts'
import { type OrgTargets, writeOrg } from './inline.ts'

/* Content below the headlines of an Org file: paragraphs, lists, tables, and blocks between `#+begin` and `#+end`. */

const MAX_DEPTH = 40

/** The HTML of some lines, and the line after them. */
interface ReadResult {
  readonly html: string
  readonly end: number
}

/** Writes lines as HTML. */
export class OrgBlocks {
  readonly #targets: OrgTargets
  #depth = 0
  /** The `#+CAPTION` for the next block. */
  #caption = ''
  #closingLines: ClosingLines = new Map()

  constructor(targets: OrgTargets) {
    this.#targets = targets
  }

  write(lines: readonly string[]): string {
    if (this.#depth >= MAX_DEPTH) return `<p>${escapeHtml(lines.join('\n'))}</p>\n`
    this.#depth++
    const outer = this.#closingLines
    this.#closingLines = findClosingLines(lines)
    const parts: string[] = []
    for (let at = 0; at < lines.length; ) {
      const { html, end } = this.#read(lines, at)
      parts.push(html)
      at = Math.max(end, at + 1)
    }
    this.#depth--
    this.#closingLines = outer
    return parts.join('')
  }

  inline(text: string): string {
    return writeOrg(text, this.#targets)
  }

  #read(lines: readonly string[], at: number): ReadResult {
    const line = lines[at] ?? ''
    const text = line.trim()
    if (text === '' || text === '#' || text.startsWith('# ')) return { html: '', end: at + 1 }
    if (text.startsWith('#+')) return this.#keyword(lines, at, text)
    if (/^:[\w-]+:$/.test(text)) return { html: '', end: (firstAfter(this.#closingLines.get(':end:'), at) ?? at) + 1 }
    if (/^(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):/.test(text)) return { html: '', end: at + 1 }
    if (text === ':' || text.startsWith(': ')) return this.#fixedWidth(lines, at)
    if (text.startsWith('|')) return this.#table(lines, at)
    if (/^-{5,}$/.test(text)) return { html: '<hr>\n', end: at + 1 }
    if (/^\[fn:[\w-]{1,80}\]/.test(line)) return { html: '', end: endOfNote(lines, at) }
    if (text.startsWith('\\begin{')) return this.#formula(lines, at, text)
    return itemOf(line) === undefined ? this.#paragraph(lines, at) : this.#list(lines, at)
  }

  #keyword(lines: readonly string[], at: number, text: string): ReadResult {
    const [, name] = /^#\+begin_(\S+)/i.exec(text) ?? []
    if (name !== undefined) return this.#block(lines, at, name.toLowerCase(), text.slice(8 + name.length).trim())
    const [, key = '', value = ''] = /^#\+([\w-]{1,40})(?:\[[^\]]*\])?:\s*(.*)$/.exec(text) ?? []
    if (key.toLowerCase() === 'caption') this.#caption = value
    if (key.toLowerCase() === 'include') {
      const file = value.replace(/^"([^"]*)".*$/, '$1')
      return { html: `<p>File <code>${escapeHtml(file)}</code></p>\n`, end: at + 1 }
    }
    return { html: '', end: at + 1 }
  }

  #takeCaption(): string {
    const caption = this.#caption
    this.#caption = ''
    return caption === '' ? '' : `<p><strong>${this.inline(caption)}</strong></p>\n`
  }

  #block(lines: readonly string[], start: number, name: string, argument: string): ReadResult {
    const end = firstAfter(this.#closingLines.get(`#+end_${name}`), start)
    // An unclosed `#+begin` starts no block.
    if (end === undefined) return { html: '', end: start + 1 }
    const body = dedent(lines.slice(start + 1, end))
    return { html: this.#takeCaption() + this.#writeBlock(name, argument, body), end: end + 1 }
  }

  #writeBlock(name: string, argument: string, body: readonly string[]): string {
    // A leading comma escapes a line of code that would be a headline.
    const code = () => body.map((line) => line.replace(/^(\s*),([*,]|#\+)/, '$1$2')).join('\n')
    switch (name) {
      case 'src': {
        const [language = ''] = argument.split(/\s+/)
        return writeCode(code(), LANGUAGES.get(language) ?? language)
      }
      case 'example':
        return writeCode(code())
      case 'comment':
      case 'export':
        return ''
      case 'quote':
        return `<blockquote>\n${this.write(body)}</blockquote>\n`
      case 'verse':
        return `<p>${body.map((line) => this.inline(line)).join('<br>\n')}</p>\n`
      default:
        return ADMONITIONS.has(name) ? writeAdmonition(name, capitalize(name), this.write(body)) : this.write(body)
    }
  }

  #formula(lines: readonly string[], start: number, text: string): ReadResult {
    const closingText = text.slice(0, text.indexOf('}') + 1).replace('\\begin', '\\end')
    const end = firstAfter(this.#closingLines.get(closingText), start)
    if (end === undefined) return { html: `<p>${escapeHtml(text)}</p>\n`, end: start + 1 }
    const tex = lines.slice(start, end + 1).join('\n')
    return { html: `<div class="math">\\[${escapeHtml(tex)}\\]</div>\n`, end: end + 1 }
  }

  #fixedWidth(lines: readonly string[], start: number): ReadResult {
    let end = start
    while (end < lines.length && /^\s*:(?: |$)/.test(lines[end] ?? '')) end++
    const code = lines.slice(start, end).map((line) => line.trim().slice(2))
    return { html: writeCode(code.join('\n')), end }
  }

  #table(lines: readonly string[], start: number): ReadResult {
    let end = start
    const rows: string[][] = []
    let headerRows = 0
    for (; end < lines.length && lines[end]?.trim().startsWith('|') === true; end++) {
      const text = lines[end]?.trim() ?? ''
      if (text.startsWith('|-')) {
        if (headerRows === 0) headerRows = rows.length
        continue
      }
      const cells = text.replace(/\|$/, '').slice(1).split('|')
      // `<r10>` only sets the width of a column.
      if (cells.every((cell) => /^\s*(?:<[lrc]?\d*>\s*)?$/.test(cell)) && cells.some((cell) => cell.includes('<')))
        continue
      rows.push(cells.map((cell) => this.inline(cell.trim())))
    }
    // A rule below the last row does not end a header.
    const header = headerRows === rows.length ? 0 : headerRows
    const html = writeTable(
      rows.map((row) => row.map((cell) => ({ html: cell }))),
      header,
    )
    return { html: this.#takeCaption() + html, end }
  }

  #paragraph(lines: readonly string[], start: number): ReadResult {
    let end = start + 1
    while (end < lines.length && !endsParagraph(lines[end] ?? '')) end++
    const text = lines.slice(start, end).map((line) => line.trim())
    return { html: `${this.#takeCaption()}<p>${this.inline(text.join('\n'))}</p>\n`, end }
  }

  #list(lines: readonly string[], start: number): ReadResult {
    const first = itemOf(lines[start] ?? '')
    if (first === undefined) return this.#paragraph(lines, start)
    const items: string[] = []
    const kind = kindOf(first)
    let at = start
    while (at < lines.length) {
      const item = itemOf(lines[at] ?? '')
      if (item === undefined || item.indent !== first.indent || kindOf(item) !== kind) break
      const end = endOfItem(lines, at + 1, first.indent)
      items.push(this.#item(item, lines.slice(at + 1, end), kind))
      at = end
      // One blank line may separate items; two end the list.
      if (isBlank(lines[at] ?? '') && itemOf(lines[at + 1] ?? '')?.indent === first.indent) at++
    }
    return { html: `<${kind}>\n${items.join('')}</${kind}>\n`, end: at }
  }

  #item(item: Item, rest: readonly string[], kind: string): string {
    const body = dedent(rest)
    if (kind === 'dl') {
      const middle = item.text.indexOf(' :: ')
      const term = middle < 0 ? item.text.replace(/ ::$/, '') : item.text.slice(0, middle)
      const text = middle < 0 ? '' : item.text.slice(middle + 4)
      return `<dt>${this.inline(term)}</dt>\n<dd>${unwrapParagraph(this.write([text, ...body]))}</dd>\n`
    }
    const [box, mark] = /^\[([ xX-])\](?: |$)/.exec(item.text) ?? []
    const text = box === undefined ? item.text : item.text.slice(box.length)
    const input = mark === undefined ? '' : `<input type="checkbox"${mark.toLowerCase() === 'x' ? ' checked' : ''}> `
    const value = item.number === undefined ? '' : ` value="${item.number}"`
    return `<li${value}>${input}${unwrapParagraph(this.write([text, ...body]))}</li>\n`
  }
}

const LANGUAGES: ReadonlyMap<string, string> = new Map(
  Object.entries({ 'emacs-lisp': 'elisp', sh: 'sh', 'C++': 'cpp', C: 'c', R: 'r' }),
)
const ADMONITIONS = new Set('note tip warning important caution danger hint info attention'.split(' '))

interface Item {
  readonly indent: number
  readonly text: string
  readonly number: number | undefined
  readonly isOrdered: boolean
}

function itemOf(line: string): Item | undefined {
  const [marker, space = '', sign = ''] = /^(\s*)([-+]|\*|\d{1,6}[.)]|[a-zA-Z][.)])(?:\s+|$)/.exec(line) ?? []
  if (marker === undefined || (sign === '*' && space === '')) return undefined
  const [, counter] = /^\[@(\d{1,6})\]\s*/.exec(line.slice(marker.length)) ?? []
  const number = /^\d/.test(sign) ? Number.parseInt(counter ?? sign, 10) : undefined
  const text = line.slice(marker.length).replace(/^\[@\w{1,6}\]\s*/, '')
  return { indent: space.length, text, number, isOrdered: /^\w/.test(sign) }
}

function kindOf({ isOrdered, text }: Item): 'ol' | 'ul' | 'dl' {
  if (isOrdered) return 'ol'
  return text.includes(' :: ') || text.endsWith(' ::') ? 'dl' : 'ul'
}

/** Where an item ends: at a line without deeper indentation, or at two blank lines. */
function endOfItem(lines: readonly string[], start: number, indent: number): number {
  let end = start
  for (let at = start; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (isBlank(line)) {
      if (isBlank(lines[at + 1] ?? '')) break
      continue
    }
    if (indentOf(line) <= indent) break
    end = at + 1
  }
  return end
}

function endsParagraph(line: string): boolean {
  const text = line.trim()
  return (
    text === '' ||
    text.startsWith('#+') ||
    text.startsWith('|') ||
    text.startsWith(': ') ||
    /^-{5,}$/.test(text) ||
    /^\[fn:[\w-]{1,80}\]/.test(line) ||
    itemOf(line) !== undefined
  )
}

/** Line numbers of closing lines, by their text. */
type ClosingLines = ReadonlyMap<string, readonly number[]>

/** Finds all closing lines at once, because a search for each missing end would scan all lines. */
function findClosingLines(lines: readonly string[]): ClosingLines {
  const closingLines = new Map<string, number[]>()
  for (const [at, line] of lines.entries()) {
    const text = line.trim()
    const key = /^(?:#\+end_\S+|:end:)$/i.test(text) ? text.toLowerCase() : /^\\end\{[^{}]{1,40}\}/.exec(text)?.[0]
    if (key === undefined) continue
    const lineNumbers = closingLines.get(key)
    if (lineNumbers === undefined) closingLines.set(key, [at])
    else lineNumbers.push(at)
  }
  return closingLines
}

/** The first of sorted numbers that is larger than `at`. */
function firstAfter(lineNumbers: readonly number[] = [], at: number): number | undefined {
  let low = 0
  let high = lineNumbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((lineNumbers[middle] ?? 0) > at) high = middle
    else low = middle + 1
  }
  return lineNumbers[low]
}

/** Where a footnote ends: at the next footnote, at a headline, or at two blank lines. */
export function endOfNote(lines: readonly string[], start: number): number {
  let at = start + 1
  for (; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (/^\[fn:[\w-]{1,80}\]/.test(line) || /^\*+ /.test(line)) break
    if (isBlank(line) && isBlank(lines[at + 1] ?? '')) break
  }
  return at
}
