import { capitalize } from '../../text/capitalize.ts'
import { CODE_INDENT, indentOf, isBlank, trimBlank } from '../../text/lines.ts'
import { admonitionKind } from '../normalize/admonitions.ts'
import { cutIndent, IndentStack } from './indent-stack.ts'

/** A part of a text whose tags were parsed: the text of its lines, and where blocks begin and end. */
export type Item =
  | { readonly type: 'line'; readonly addText: string }
  /** Code, or Markdown that needs no further conversion. */
  | { readonly type: 'verbatim'; readonly lines: readonly string[]; readonly isFence: boolean }
  /** The boundary between two blocks. */
  | { readonly type: 'gap' }
  /** Begins the content of a tag; `lead` is the text before the tag on its line. */
  | {
      readonly type: 'open'
      readonly name: string
      readonly lead: string
      readonly box: Admonition | null
      /** Whether the indentation of its content comes from the tags around it. */
      readonly isIndented: boolean
    }
  | { readonly type: 'close'; readonly name: string }

/** A box with a note, a warning or similar text. */
export interface Admonition {
  readonly kind: string
  readonly title: string
}

/**
 * The box for a word and a title. Without a title, a word that is not the name of the kind becomes the title. Undefined for a word that is
 * not a kind of box.
 */
export function admonitionOf(word: string, title: string): Admonition | undefined {
  const kind = admonitionKind(word)
  if (kind === undefined) return undefined
  const wordTitle = word.charAt(0).toUpperCase() + word.slice(1).replaceAll('-', ' ')
  const defaultTitle = word.toUpperCase() === kind ? '' : wordTitle
  return { kind, title: title === '' ? defaultTitle : title }
}

interface OpenBlock {
  readonly lines: string[]
  readonly lead: string
  readonly box: Admonition | null
  readonly columns: IndentStack
  /** Columns to remove from its lines; undefined until its first line is read. */
  strip: number | undefined
  /** The condition that ends the block: the closing tag of a name, the next item, or a line with less indentation. */
  readonly end: { readonly name: string } | { readonly item: number } | { readonly indent: number }
  /** The name of the block, which decides how its lines are read. */
  readonly word: string
}

const MAX_OPEN_BLOCKS = 12

/** Writes items as lines of Markdown: boxes as quotations, titles in bold, and no indentation except that of lists. */
export function writeItems(items: readonly Item[], isMdx: boolean): string[] {
  return new Layout(items, isMdx).write()
}

class Layout {
  readonly #items: readonly Item[]
  readonly #isMdx: boolean
  readonly #ends: ReadonlyMap<number, number>
  readonly #endItems: ReadonlySet<number>
  readonly #openBlocks: OpenBlock[] = [createOpenBlock('', null, { item: -1 }, 0, '')]
  /** Number of blocks that were not opened because too many were open. */
  #skipped = 0
  /** Whether a block has just ended, so that a blank line must follow. */
  #isGap = false
  #at = 0

  constructor(items: readonly Item[], isMdx: boolean) {
    this.#items = items
    this.#isMdx = isMdx
    this.#ends = pairContainers(items)
    this.#endItems = new Set(this.#ends.values())
  }

  write(): string[] {
    for (; this.#at < this.#items.length; this.#at++) {
      const item = this.#items[this.#at]
      if (item !== undefined) this.#take(item)
    }
    while (this.#openBlocks.length > 1) this.#close()
    return this.#top.lines
  }

  get #top(): OpenBlock {
    const block = this.#openBlocks.at(-1)
    if (block === undefined) throw new Error('the outermost block never ends')
    return block
  }

  #take(item: Item): void {
    if (item.type === 'gap') this.#isGap = true
    else if (item.type === 'open') this.#openTag(item)
    else if (item.type === 'close') this.#closeTag(item.name)
    else if (item.type === 'verbatim') this.#verbatim(item)
    else if (!this.#endItems.has(this.#at)) this.#line(item.addText)
    else this.#closeUntil((block) => 'item' in block.end && block.end.item === this.#at)
  }

  /** A line without the indentation of the open blocks. A line with too little indentation ends blocks. */
  #enter(line: string): string {
    let text = line
    for (const [i, block] of this.#openBlocks.entries()) {
      if (isBlank(text)) return ''
      const indent = indentOf(text)
      if ('indent' in block.end && indent < block.end.indent) {
        while (this.#openBlocks.length > i) this.#close()
        break
      }
      block.strip ??= indent
      text = cutIndent(text, block.strip)
    }
    return text
  }

  #push(line: string): void {
    const { lines } = this.#top
    const isEmpty = isBlank(line)
    if (this.#isGap) {
      if (isEmpty) return
      if (lines.length > 0 && !isBlank(lines.at(-1) ?? '')) lines.push('')
      this.#isGap = false
    }
    lines.push(line)
  }

  #line(source: string): void {
    if (isBlank(source)) {
      // A blank line keeps the white space that its author wrote.
      this.#push(this.#openBlocks.length === 1 ? source : '')
      return
    }
    const text = this.#enter(source)
    const block = this.#top
    block.columns.leave(text)
    if (this.#openContainer(text)) return
    if (this.#takeInstruction(text, block)) {
      this.#isGap = true
      return
    }
    // Inside tags indentation belongs to the tags, and in MDX it never makes code.
    const isInTag = this.#openBlocks.some(({ end }) => 'name' in end)
    const isIndentIgnored = !block.columns.isInList && (isInTag || (this.#isMdx && indentOf(text) >= CODE_INDENT))
    const written = isIndentIgnored ? text.trimStart() : text
    block.columns.enter(written)
    this.#push(written)
  }

  /** Writes the label of a line that is an instruction for the generator, and drops the rest. Returns false for any other line. */
  #takeInstruction(text: string, { word }: OpenBlock): boolean {
    const line = text.trim()
    if (word === 'tabs' && line.startsWith('== ')) {
      this.#isGap = true
      this.#push(strong(line.slice(3)))
      return true
    }
    const [directive, label = ''] = LEAF_DIRECTIVE.exec(line) ?? []
    if (directive !== undefined && label !== '') this.#push(label)
    return directive !== undefined || IGNORED_LINE.test(line)
  }

  #verbatim({ lines, isFence }: Extract<Item, { type: 'verbatim' }>): void {
    const [first = ''] = lines
    this.#enter(first)
    const { columns } = this.#top
    const outer = this.#strip
    const indent = Math.max(indentOf(first) - outer, 0)
    columns.leave(' '.repeat(indent) + first.trimStart())
    const cut = outer + (isFence ? this.#fenceIndent(indent, columns) : 0)
    for (const line of lines) this.#push(cutIndent(line, cut))
  }

  /**
   * Further columns to remove from the lines of a fence: its indentation beyond its list. Less than `CODE_INDENT` stays, unless the fence
   * is in a block but in no list.
   */
  #fenceIndent(indent: number, columns: IndentStack): number {
    const extraIndent = indent - columns.current
    if (columns.isInList) return extraIndent >= CODE_INDENT ? extraIndent : 0
    return this.#openBlocks.length > 1 || extraIndent >= CODE_INDENT ? extraIndent : 0
  }

  /** Columns that the surrounding blocks remove from a line. */
  get #strip(): number {
    return this.#openBlocks.reduce((sum, { strip = 0 }) => sum + strip, 0)
  }

  #openTag({ name, lead, box, isIndented }: Extract<Item, { type: 'open' }>): void {
    this.#isGap = true
    if (this.#openBlocks.length > MAX_OPEN_BLOCKS) {
      this.#skipped++
      return
    }
    const text = this.#enter(`${lead}x`).slice(0, -1)
    const { columns } = this.#top
    columns.leave(`${text}x`)
    columns.enter(text)
    const isItem = !isBlank(text)
    const prefix = isItem || columns.isInList ? text : ''
    if (isItem) this.#isGap = false
    this.#openBlocks.push(createOpenBlock(prefix, box, { name }, isIndented ? undefined : 0, name))
  }

  #closeTag(name: string): void {
    this.#isGap = true
    if (this.#skipped > 0) this.#skipped--
    else this.#closeUntil((block) => 'name' in block.end && block.end.name === name)
  }

  /** Closes the innermost matching block, with all blocks inside it. */
  #closeUntil(isMatch: (block: OpenBlock) => boolean): void {
    const at = this.#openBlocks.findLastIndex(isMatch)
    while (at > 0 && this.#openBlocks.length > at) this.#close()
    this.#isGap = true
  }

  #close(): void {
    const block = this.#openBlocks.pop()
    if (block === undefined) return
    const { lead, box } = block
    const inner = trimBlank(block.lines)
    // No blank line follows the marker of a list item.
    this.#isGap = isBlank(lead)
    const continuation = lead.replace(/\S/g, ' ')
    for (const [i, line] of (box === null ? inner : writeAdmonition(box, inner)).entries()) {
      if (line === '') this.#top.lines.push('')
      else this.#push((i === 0 ? lead : continuation) + line)
    }
    this.#isGap = true
  }

  /** Opens the block that a line begins: `:::tip`, `!!! note`, `=== "Tab"`, `/// tip | Title`. */
  #openContainer(text: string): boolean {
    const end = this.#ends.get(this.#at)
    const start = end === undefined ? readIndented(text) : readFenced(text)
    if (start === undefined) return false
    const lead = text.slice(0, text.length - text.trimStart().length)
    const bodyIndent = indentOf(lead) + 4
    if (end === undefined && !this.#hasBody(bodyIndent) && !start.mayBeEmpty) return false
    this.#isGap = true
    const { columns } = this.#top
    const prefix = columns.isInList ? lead : ''
    if (this.#openBlocks.length > MAX_OPEN_BLOCKS) return true
    const { box, label, word } = start
    if (label !== '') this.#push(prefix + strong(label))
    this.#isGap = true
    const endCondition = end === undefined ? { indent: bodyIndent } : { item: end }
    this.#openBlocks.push(createOpenBlock(prefix, box, endCondition, end === undefined ? bodyIndent : undefined, word))
    if (end !== undefined && text.trimStart().startsWith('/')) this.#skipOptions()
    return true
  }

  /** Whether the next line that is not blank has at least this indentation in the innermost block. */
  #hasBody(indent: number): boolean {
    const outer = this.#strip
    for (let at = this.#at + 1; at < Math.min(this.#items.length, this.#at + MAX_LOOKAHEAD_ITEMS); at++) {
      const item = this.#items[at]
      if (item?.type === 'gap') continue
      const line =
        item?.type === 'line'
          ? item.addText
          : item?.type === 'verbatim'
            ? (item.lines[0] ?? '')
            : item?.type === 'open'
              ? `${item.lead}x`
              : ''
      if (!isBlank(line)) return indentOf(line) - outer >= indent
    }
    return false
  }

  /** Skips the settings of a block, which are indented lines below its first one. */
  #skipOptions(): void {
    for (;;) {
      const next = this.#items[this.#at + 1]
      if (next?.type !== 'line' || !/^\s{4,}[\w-]+:(?:\s|$)/.test(next.addText)) return
      this.#at++
    }
  }
}

const MAX_LOOKAHEAD_ITEMS = 20
/** `::youtube[A film]{#id}`: a directive without content. */
const LEAF_DIRECTIVE = /^::[A-Za-z][\w-]*(?=[[{])(?:\[([^[\]]*)\])?(?:\{[^{}]*\})?$/
/** Instructions for tables of contents, definitions of abbreviations, and page breaks for print. */
const IGNORED_LINE = /^(?:\[\[?_?toc_?\]\]?|\*\[[^[\]]+\]:.*|\\(?:newpage|pagebreak))$/i

function createOpenBlock(
  lead: string,
  box: Admonition | null,
  end: OpenBlock['end'],
  strip: number | undefined,
  word: string,
): OpenBlock {
  return { lines: [], lead, box, columns: new IndentStack(), strip, end, word }
}

/** Writes a box as Markdown, in the same form as HTML extraction. */
export function writeAdmonition({ kind, title }: Admonition, lines: readonly string[]): string[] {
  const head = title === '' ? [] : lines.length === 0 ? [strong(title)] : [strong(title), '']
  if (head.length === 0 && lines.length === 0) return []
  return [`[!${kind}]`, ...head, ...lines].map((line) => (isBlank(line) ? '>' : `> ${line}`))
}

/** A title in bold. */
export function strong(text: string): string {
  const plain = text.trim().replace(/\*\*|__/g, '')
  return plain === '' ? '' : `**${plain}**`
}

/** A block that a line opens. */
interface BlockStart {
  readonly box: Admonition | null
  /** The label that is written above the block. */
  readonly label: string
  readonly word: string
  readonly mayBeEmpty: boolean
}

const INDENTED =
  /^\s*(?:(?:!!!|\?\?\?\+?)[ \t]+([\w-]+(?:[ \t]+[\w-]+)*)(?:[ \t]+"(.*)")?|===[!+]?[ \t]+["'](.+)["'])\s*$/

/** `!!! note "Title"`, `??? note`, `=== "Tab"`. */
function readIndented(text: string): BlockStart | undefined {
  const [, words, title, tab] = INDENTED.exec(text) ?? []
  if (tab !== undefined) return { box: null, label: tab, word: 'tab', mayBeEmpty: false }
  if (words === undefined) return undefined
  const [word = ''] = words.split(/\s+/)
  const box =
    title === ''
      ? { kind: admonitionKind(word) ?? 'NOTE', title: '' }
      : (admonitionOf(word, title ?? '') ?? { kind: 'NOTE', title: title ?? capitalize(word) })
  return { box, label: '', word, mayBeEmpty: title !== undefined && title !== '' }
}

/** Whether a line opens a block whose body must be indented. */
export function isIndentedBlockStart(text: string): boolean {
  return INDENTED.test(text)
}

const FENCED = /^\s*(:{2,}|\/{3,})[ \t]*(?:\{([^{}]*)\}|([A-Za-z][\w-]*))(.*)$/
const CLOSING = /^\s*(:{2,}|\/{3,})\s*$/
const ATTRIBUTE_TITLE = /\b(?:title|label|header|summary)=(?:"([^"]*)"|'([^']*)'|([^\s"'{}]+))/
/** Groups whose title is not shown above them. */
const UNLABELED_GROUPS = new Set(['code-group', 'code-tabs', 'tabs', 'tab-set', 'tabset', 'panel-tabset'])

/** `:::tip[Title]`, `::: warning Title`, `:::{note}`, `::: {.callout-note title="x"}`, `/// tip | Title`. */
function readFenced(text: string): BlockStart | undefined {
  const [, marks = '', braced, name = '', rest = ''] = FENCED.exec(text) ?? []
  if (marks === '') return undefined
  const attributes = `${braced ?? ''} ${/\{([^{}]*)\}/.exec(rest)?.[1] ?? ''}`
  const [, className] = /\.(?:callout-)?([\w-]+)/.exec(braced ?? '') ?? []
  const word = (name !== '' ? name : (className ?? (braced ?? '').trim())).toLowerCase()
  const [, double, single, bare] = ATTRIBUTE_TITLE.exec(attributes) ?? []
  const [, bracketed] = /^\s*\[(.*)\]\s*(?:\{[^{}]*\}\s*)?$/.exec(rest) ?? []
  const written = rest.replace(/\{[^{}]*\}\s*$/, '').trim()
  const words = marks.startsWith('/') ? written.replace(/^[|\s]+/, '') : written
  const title = (bracketed ?? (words === '' ? (double ?? single ?? bare ?? '') : words)).trim()
  const box =
    admonitionOf(word, title) ?? (word === 'admonition' || word === 'callout' ? { kind: 'NOTE', title } : undefined)
  if (box !== undefined) return { box, label: '', word, mayBeEmpty: true }
  const isShown = !marks.startsWith('/') || /^(?:details|tab|block|definition)$/.test(word)
  return { box: null, label: isShown && !UNLABELED_GROUPS.has(word) ? title : '', word, mayBeEmpty: true }
}

/** Maps each opening line of a block to its closing line. An unclosed block is text. */
function pairContainers(items: readonly Item[]): ReadonlyMap<number, number> {
  const ends = new Map<number, number>()
  const open: { readonly at: number; readonly character: string; readonly length: number }[] = []
  for (const [at, item] of items.entries()) {
    if (item.type !== 'line') continue
    const [, closing] = CLOSING.exec(item.addText) ?? []
    if (closing !== undefined) {
      // A directive with two colons may have no content, and then no line closes it.
      while (closing.length > 2 && open.at(-1)?.length === 2) open.pop()
      const top = open.at(-1)
      if (top === undefined || top.character !== closing[0] || top.length > closing.length) continue
      ends.set(top.at, at)
      open.pop()
      continue
    }
    const [, marks] = FENCED.exec(item.addText) ?? []
    if (marks !== undefined) open.push({ at, character: marks.charAt(0), length: marks.length })
  }
  return ends
}
