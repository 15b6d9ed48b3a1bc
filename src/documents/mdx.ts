import { cutFrontMatter } from '../core/extract/front-matter.ts'
import { isBlank, splitLines } from '../core/text/lines.ts'
import type { Convert } from './document.ts'
import { indentOf } from './indent.ts'
import { closesFence, openFence, quoteLines } from './markdown-text.ts'
import { createDocument, readText, safeAddress } from './markup.ts'
import { readTag, Scanner, type Tag, textOfExpression } from './mdx/scan.ts'

/**
 * Makes Markdown of MDX: without its imports, exports and expressions, of which nothing is run, and with what its components hold.
 * Code stays as it is.
 */
export const convertMdx: Convert = (bytes) => {
  const source = readText(bytes)
  const { fields, lines } = cutFrontMatter(splitLines(source))
  const scanner = new Scanner(source.length)
  const writer = new MdxWriter(scanner)
  for (const piece of splitFences(lines)) {
    if (piece.isCode) writer.code(piece.lines)
    else writer.prose(`${dropModules(piece.lines, scanner).join('\n')}\n`)
  }
  const text = layOut(writer.finish())
  return createDocument(text, 'markdown', {
    title: fields.get('title') ?? null,
    author: fields.get('author') ?? null,
    language: fields.get('lang') ?? null,
    modifiedAt: null,
  })
}

interface Piece {
  readonly isCode: boolean
  readonly lines: string[]
}

/** Parts of a text that are code in fences, and those that are not. */
function splitFences(lines: readonly string[]): Piece[] {
  const pieces: Piece[] = []
  let fence: string | undefined
  const push = (line: string, isCode: boolean, isNew: boolean) => {
    const last = pieces.at(-1)
    if (last?.isCode === isCode && !isNew) last.lines.push(line)
    else pieces.push({ isCode, lines: [line] })
  }
  for (const line of lines) {
    const opened = fence === undefined ? openFence(line) : undefined
    push(line, fence !== undefined || opened !== undefined, opened !== undefined)
    if (fence !== undefined && closesFence(line, fence)) fence = undefined
    else fence ??= opened
  }
  return pieces
}

/** Leaves out statements of modules. They begin a block, and end with the line on which all brackets are closed. */
function dropModules(lines: readonly string[], scanner: Scanner): string[] {
  const kept: string[] = []
  let isStart = true
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (!isStart || !/^(?:import|export)[\s{*]/.test(line) || !isStatement(line)) {
      kept.push(line)
      isStart = isBlank(line)
      continue
    }
    at = endOfStatement(lines, at, scanner)
    isStart = true
    kept.push('')
  }
  return kept
}

/** A sentence may begin with the word as well. */
function isStatement(line: string): boolean {
  return /^import\s*(?:["'{*]|[\w$]+\s*(?:,|from\b))|^export\s*(?:[{*]|default\b|const\b|let\b|var\b|function\b|class\b|async\b|type\b|interface\b|enum\b)/.test(
    line,
  )
}

const MAX_STATEMENT = 2000
/** So much of a line tells whether a statement ends with it. */
const LINE_END = 20

function endOfStatement(lines: readonly string[], start: number, scanner: Scanner): number {
  let depth = 0
  for (let at = start; at < Math.min(lines.length, start + MAX_STATEMENT) && !scanner.isSpent; at++) {
    const line = lines[at] ?? ''
    scanner.spend(LINE_END)
    for (let i = 0; i < line.length; i = scanner.endOfToken(line, i)) {
      if ('{(['.includes(line[i] ?? ' ')) depth++
      else if ('})]'.includes(line[i] ?? ' ')) depth--
    }
    // A statement goes on after a line that cannot be its end.
    if (depth <= 0 && !/(?:=>?|,|\|\||&&|\?|:|from|\()\s*$/.test(line.slice(-LINE_END))) return at
  }
  return start
}

/** Boxes by the names that components for them have. */
const BOXES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    note: 'NOTE',
    info: 'NOTE',
    callout: 'NOTE',
    admonition: 'NOTE',
    aside: 'NOTE',
    alert: 'NOTE',
    hint: 'TIP',
    tip: 'TIP',
    check: 'TIP',
    success: 'TIP',
    important: 'IMPORTANT',
    warning: 'WARNING',
    warn: 'WARNING',
    caution: 'CAUTION',
    danger: 'CAUTION',
    error: 'CAUTION',
  }),
)

/** Components whose title or label is a line above what they hold. */
const LABELS = ['title', 'label', 'name', 'summary', 'header', 'question', 'heading']
const LABELLED = new Set(
  'tab tabitem tabpanel step card linkcard accordion accordionitem details collapsible expandable dropdown feature item section update frame example'.split(
    ' ',
  ),
)
/** Descriptions of parameters, as in references of interfaces. */
const FIELDS = new Set(['paramfield', 'responsefield', 'property', 'field', 'param'])
/** What stands in these is never shown. */
const UNSHOWN = new Set(['script', 'style', 'template', 'head', 'noscript', 'svg'])
/** Elements that words stand in; all others begin and end lines. */
const INLINE = new Set(
  'a b i em strong code kbd span sub sup small mark del s u br abbr cite q var samp badge icon link tooltip inlinecode'.split(
    ' ',
  ),
)
const MARKS: Readonly<Record<string, string>> = {
  b: '**',
  strong: '**',
  i: '*',
  em: '*',
  code: '`',
  del: '~~',
  s: '~~',
}

/** Lines that begin and end a box, until they are laid out. No text has this sign: it is taken out before. */
const SIGN = '\u{f8ff}'

class MdxWriter {
  readonly #out: string[] = []
  /** The element whose content is not shown, and how many of it are open. */
  #unshown: { readonly name: string; depth: number } | undefined
  readonly #links: string[] = []
  readonly #scanner: Scanner

  constructor(scanner: Scanner) {
    this.#scanner = scanner
  }

  finish(): string {
    return this.#out.join('')
  }

  code(lines: readonly string[]): void {
    if (this.#unshown === undefined)
      this.#out.push(`${SIGN}code\n${lines.join('\n').replaceAll(SIGN, '')}\n${SIGN}/code\n`)
  }

  prose(source: string): void {
    const text = source.replaceAll(SIGN, '')
    const comments = text.lastIndexOf('-->')
    const spans = new CodeSpans(text)
    let from = 0
    const flush = (to: number) => {
      if (this.#unshown === undefined) this.#out.push(text.slice(from, to))
    }
    for (let at = 0; at < text.length; ) {
      const sign = text[at]
      const end = sign === '`' ? spans.endOf(at) : undefined
      if (end !== undefined) at = end
      else if (sign === '\\') at += 2
      else if (sign === '{' || sign === '<') {
        const next = sign === '{' ? this.#expression(text, at, flush) : this.#tag(text, at, comments, flush)
        if (next === undefined) at++
        else {
          at = next
          from = next
        }
      } else at++
    }
    flush(text.length)
  }

  #expression(text: string, at: number, flush: (to: number) => void): number | undefined {
    const end = this.#scanner.endOfBracket(text, at)
    if (end < 0) return undefined
    flush(at)
    if (this.#unshown === undefined) this.#out.push(textOfExpression(text.slice(at + 1, end - 1)))
    return end
  }

  /** `comments` is where the last comment ends. */
  #tag(text: string, at: number, comments: number, flush: (to: number) => void): number | undefined {
    if (text.startsWith('<!--', at) && at < comments) {
      flush(at)
      return text.indexOf('-->', at) + 3
    }
    const tag = readTag(text, at, this.#scanner)
    if (tag === undefined) return undefined
    flush(at)
    this.#write(tag)
    return tag.end
  }

  #write(tag: Tag): void {
    const name = tag.name.slice(tag.name.lastIndexOf('.') + 1).toLowerCase()
    if (this.#unshown !== undefined) {
      if (name === this.#unshown.name && !tag.isEmpty) this.#unshown.depth += tag.isClosing ? -1 : 1
      if (this.#unshown.depth === 0) this.#unshown = undefined
    } else if (UNSHOWN.has(name)) {
      if (!tag.isClosing && !tag.isEmpty) this.#unshown = { name, depth: 1 }
    } else if (name === 'a' || name === 'link') this.#link(tag)
    else if (name === 'br') this.#out.push('\n')
    else if (name === 'img' || name === 'image') this.#image(tag)
    else if (BOXES.get(name) !== undefined) this.#box(tag, name)
    else if (INLINE.has(name)) this.#out.push(MARKS[name] ?? '')
    else this.#block(tag, name)
  }

  #link({ isClosing, isEmpty, attributes }: Tag): void {
    if (isClosing) this.#out.push(this.#links.pop() ?? '')
    else if (!isEmpty) {
      const address = safeAddress(attributes.get('href') ?? attributes.get('to') ?? '').replace(
        /[\s()]/g,
        encodeURIComponent,
      )
      this.#out.push(address === '' ? '' : '[')
      this.#links.push(address === '' ? '' : `](${address})`)
    }
  }

  #image({ attributes }: Tag): void {
    const address = safeAddress(attributes.get('src') ?? '').replace(/[\s()]/g, encodeURIComponent)
    const words = (attributes.get('alt') ?? '').replace(/[[\]]/g, '')
    this.#out.push(address === '' ? words : `![${words}](${address})`)
  }

  #box({ isClosing, isEmpty, attributes }: Tag, name: string): void {
    if (isEmpty) return
    const given = (attributes.get('type') ?? attributes.get('variant') ?? attributes.get('kind') ?? '').toLowerCase()
    const kind = BOXES.get(given) ?? BOXES.get(name) ?? 'NOTE'
    this.#out.push(isClosing ? `\n${SIGN}/box\n` : `\n${SIGN}box ${kind} ${attributes.get('title') ?? ''}\n`)
  }

  #block({ isClosing, isEmpty, attributes }: Tag, name: string): void {
    this.#out.push('\n\n')
    if (isClosing) return
    if (FIELDS.has(name)) this.#out.push(writeField(attributes))
    else if (LABELLED.has(name) || name === 'summary') {
      const label = LABELS.map((key) => attributes.get(key) ?? '').find((text) => text.trim() !== '')
      const about = isEmpty ? (attributes.get('description') ?? '') : ''
      const address = safeAddress(attributes.get('href') ?? '')
      const words = label === undefined ? '' : `**${label.trim()}**`
      const linked =
        words !== '' && address !== '' ? `[${words}](${address.replace(/[\s()]/g, encodeURIComponent)})` : words
      this.#out.push([linked, about].filter((part) => part !== '').join('\n\n'), '\n\n')
    }
  }
}

function writeField(attributes: ReadonlyMap<string, string>): string {
  const name = ['path', 'query', 'body', 'header', 'name']
    .map((key) => attributes.get(key) ?? '')
    .find((text) => text !== '')
  if (name === undefined) return ''
  const facts = [attributes.get('type') ?? '', attributes.has('required') ? 'required' : ''].filter(
    (fact) => fact !== '',
  )
  return `\`${name}\`${facts.length === 0 ? '' : ` (${facts.join(', ')})`}\n\n`
}

const MAX_SPAN = 2000

/** Spans of code, which end in their paragraph. */
class CodeSpans {
  readonly #text: string
  #paragraphEnd = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Where a span ends that begins at a place; where its marks end, if nothing closes it. */
  endOf(start: number): number {
    if (start >= this.#paragraphEnd) {
      const end = this.#text.indexOf('\n\n', start)
      this.#paragraphEnd = end < 0 ? this.#text.length : end
    }
    const length = this.#runAt(start)
    const limit = Math.min(this.#paragraphEnd, start + MAX_SPAN)
    for (let at = start + length; at < limit; ) {
      const run = this.#runAt(at)
      if (run === length) return at + run
      at += Math.max(run, 1)
    }
    return start + length
  }

  #runAt(start: number): number {
    let end = start
    while (this.#text[end] === '`') end++
    return end - start
  }
}

/** Boxes as quotations, also those between three colons, and no indent but that of lists: in MDX it makes no code. */
function layOut(text: string): string {
  const lines: string[] = []
  /** Where the boxes begin that are open. */
  const boxes: number[] = []
  let isCode = false
  let indent = 0
  const closeBox = () => {
    const start = boxes.pop()
    if (start === undefined) return
    const inner = lines.splice(start)
    while (inner.length > 0 && isBlank(inner.at(-1) ?? '')) inner.pop()
    if (inner.length < 2) return
    lines.push('')
    for (const line of quoteLines(inner)) lines.push(line)
    lines.push('')
  }
  const openBox = (kind: string, title: string) => {
    if (boxes.length >= MAX_BOXES) return
    boxes.push(lines.length)
    lines.push(`[!${kind}]`)
    if (title !== '') lines.push(`**${title}**`, '')
  }
  for (const line of text.split('\n')) {
    if (line === `${SIGN}code` || line === `${SIGN}/code`) {
      isCode = line === `${SIGN}code`
      indent = -1
      continue
    }
    if (isCode) {
      // A fence may be indented no further than the list that it stands in.
      if (indent < 0) indent = isInList(lines) ? 0 : indentOf(line)
      lines.push(line.slice(Math.min(indent, indentOf(line))))
      continue
    }
    const [, kind, title = ''] = BOX_LINE.exec(line) ?? []
    const [, colons, word = '', words = ''] = /^\s*(:{3,})\s*([\w-]*)\s*(.*)$/.exec(line) ?? []
    if (kind !== undefined) openBox(kind, title.trim())
    else if (line === `${SIGN}/box`) closeBox()
    else if (colons !== undefined && BOXES.get(word.toLowerCase()) !== undefined)
      openBox(BOXES.get(word.toLowerCase()) ?? 'NOTE', words.replace(/^\[|\]$|\{.*\}$/g, '').trim())
    else if (colons !== undefined && word === '') closeBox()
    else if (isBlank(line)) lines.push('')
    else lines.push(isInList(lines) ? line : line.replace(/^\s{4,}/, ''))
  }
  while (boxes.length > 0) closeBox()
  return `${collapse(lines).join('\n')}\n`
}

const BOX_LINE = new RegExp(`^${SIGN}box (\\w+) (.*)$`)
const MAX_BOXES = 10
const LOOKED_AT = 50

/** Whether a line stands in a list: the last line that is not indented begins an item. */
function isInList(lines: readonly string[]): boolean {
  for (let at = lines.length - 1; at >= Math.max(0, lines.length - LOOKED_AT); at--) {
    const line = lines[at] ?? ''
    if (isBlank(line)) continue
    if (/^\s{0,3}(?:[-*+]|\d{1,9}[.)])\s/.test(line)) return true
    if (!/^\s/.test(line)) return false
  }
  return false
}

/** Lines with at most one blank one in a row outside of code. */
function collapse(lines: readonly string[]): string[] {
  const kept: string[] = []
  let fence: string | undefined
  for (const line of lines) {
    const plain = line.replace(/^(?:> ?)+/, '')
    const opened = fence === undefined ? openFence(plain) : undefined
    if (fence !== undefined && closesFence(plain, fence)) fence = undefined
    else fence ??= opened
    if (fence === undefined && isBlank(plain) && (kept.length === 0 || kept.at(-1) === line)) continue
    kept.push(line)
  }
  return kept
}
