import { isBlank } from '../../text/lines.ts'
import { isElement, isLinePrefix, isVoid, type TagOutput } from './components.ts'
import { OPTIONAL_END_TAGS } from './html-elements.ts'
import { type Item, strong } from './layout.ts'
import { ProsePiece } from './prose-piece.ts'
import type { Scanner, Tag } from './scanner.ts'

/** Facts about the whole text that are known before it is parsed. */
export interface TextFacts {
  /** Whether all braces hold expressions, and all tags are components or elements. */
  readonly isMdx: boolean
  /** Names of tags that are opened and closed. */
  readonly pairedTags: ReadonlySet<string>
  /** Names of template tags that are closed. */
  readonly closedTemplateTags: ReadonlySet<string>
  /** Whether the text is MyST, in which comments begin with a percent sign. */
  readonly isMyst: boolean
  /** The front matter of the text. */
  readonly fields: ReadonlyMap<string, string>
}

const MAX_OPEN_TAGS = 100
const MAX_NESTING = 20

interface OpenTag {
  readonly name: string
  readonly part: TagOutput
  /** Number of labels that the tabs in it have already used. */
  usedLabelCount: number
}

/** Parses the tags and braces in prose. Code is passed in separately and stays unchanged. */
export class ProseReader {
  readonly items: Item[] = []
  hiddenChars = 0
  readonly #facts: TextFacts
  readonly #scanner: Scanner
  /** The text of the line that is being written. */
  #line = ''
  /** The heading or title that is being written on one line. */
  #heading: Extract<TagOutput, { type: 'heading' }> | undefined
  /** The hidden element, whose source is copied unchanged, and how many elements with the same name are open. */
  #hidden: { readonly name: string; depth: number } | undefined
  readonly #open: OpenTag[] = []
  /** The closing text of each open mark and link. */
  readonly #closings: { readonly name: string; readonly closingText: string }[] = []
  readonly #lists: { readonly isOrdered: boolean; count: number }[] = []

  constructor(facts: TextFacts, scanner: Scanner) {
    this.#facts = facts
    this.#scanner = scanner
  }

  /** Whether the text is in a component, where indentation has no meaning. */
  get isInComponent(): boolean {
    return this.#open.some(({ name, part }) => part.type === 'block' && !isElement({ name }))
  }

  /** Adds lines that are final. */
  addVerbatim(lines: readonly string[], isFence: boolean): void {
    this.#endHeading()
    this.#endLine()
    this.items.push({ type: 'verbatim', lines, isFence })
  }

  /** Adds a block of code with a title. */
  addTitledCode(lead: string, title: string, lines: readonly string[]): void {
    this.#endLine()
    this.items.push({ type: 'gap' }, { type: 'line', addText: lead + strong(title) }, { type: 'gap' })
    this.addVerbatim(lines, true)
    this.items.push({ type: 'gap' })
  }

  addProse(text: string): void {
    new ProsePiece(text, this).read()
    this.#endHeading()
  }

  finish(): void {
    this.#endHeading()
    this.#endLine()
  }

  get isHidden(): boolean {
    return this.#hidden !== undefined
  }

  get facts(): TextFacts {
    return this.#facts
  }

  get scanner(): Scanner {
    return this.#scanner
  }

  get isInHeading(): boolean {
    return this.#heading !== undefined
  }

  /** Writes text, which may have several lines. */
  text(text: string): void {
    if (this.#heading !== undefined) {
      this.#line += text.replaceAll('\n', ' ')
      return
    }
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      this.items.push({ type: 'line', addText: this.#line + text.slice(from, end) })
      this.#line = ''
      from = end + 1
    }
    this.#line += text.slice(from)
  }

  addGap(): void {
    this.#endLine()
    this.items.push({ type: 'gap' })
  }

  /** Hides an element until its end. Its source is kept, so that the hidden text can be counted. */
  hide(name: string): void {
    this.#hidden = { name, depth: 1 }
  }

  /** Follows the nesting of the hidden element. Its last closing tag ends the hiding. */
  countHidden(tag: Tag): void {
    if (this.#hidden?.name !== tag.name || isVoid(tag)) return
    this.#hidden.depth += tag.isClosing ? -1 : 1
    if (this.#hidden.depth <= 0) this.#hidden = undefined
  }

  /** Whether a closing tag ends an open part. */
  canClose({ name }: Tag): boolean {
    if (OPTIONAL_END_TAGS.has(name) || name === 'li' || (this.#heading !== undefined && isHeading(name))) return true
    return this.#closings.some((entry) => entry.name === name) || this.#open.some((entry) => entry.name === name)
  }

  /** Closes the part that a tag ends. Returns whether it was a block. */
  close(tag: Tag): boolean {
    const { name } = tag
    const closing = this.#closings.findLastIndex((entry) => entry.name === name)
    if (closing >= 0) {
      this.text(this.#closings[closing]?.closingText ?? '')
      this.#closings.splice(closing, 1)
      return false
    }
    if (this.#heading !== undefined && isHeading(name)) {
      this.#endHeading()
      return true
    }
    const at = this.#open.findLastIndex((entry) => entry.name === name)
    const found = this.#open[at]
    if (found === undefined) {
      if (OPTIONAL_END_TAGS.has(name)) this.addGap()
      else if (name === 'li') this.#endLine()
      return true
    }
    this.#open.splice(at, 1)
    if (found.part.type === 'block') {
      if (found.part.after !== '') {
        this.addGap()
        this.text(found.part.after)
      }
      this.#endLine()
      this.items.push({ type: 'close', name })
    } else if (found.part.type === 'list' || found.part.type === 'item') {
      this.#lists.pop()
      if (this.#lists.length === 0) this.addGap()
      else this.#endLine()
    }
    return true
  }

  /** Begins emphasis or a link whose closing tag was found. */
  beginMark(name: string, before: string, after: string): void {
    if (this.#closings.length >= MAX_NESTING) return
    this.text(before)
    this.#closings.push({ name, closingText: after })
  }

  beginHeading(part: Extract<TagOutput, { type: 'heading' }>): void {
    const lead = isLinePrefix(this.#line) ? this.#line : ''
    if (lead !== '') this.#line = ''
    this.addGap()
    this.#heading = part
    this.#line = ''
  }

  beginItem(tag: Tag, part: Extract<TagOutput, { type: 'item' }>): void {
    this.#endLine()
    if (this.#lists.length === 0) this.items.push({ type: 'gap' })
    const list = this.#lists.at(-1)
    const depth = Math.max(this.#lists.length - 1, 0)
    if (list !== undefined) list.count++
    this.#line = `${'  '.repeat(depth)}${list?.isOrdered === true ? `${list.count}.` : '-'} ${part.text}`
    if (!part.isList) return
    this.#endLine()
    if (!isVoid(tag)) this.#push(tag.name, part, { isOrdered: false, count: 0 })
  }

  beginList(tag: Tag, part: Extract<TagOutput, { type: 'list' }>): void {
    if (this.#lists.length === 0) this.addGap()
    else this.#endLine()
    this.#push(tag.name, part, { isOrdered: part.isOrdered, count: 0 })
  }

  #push(name: string, part: TagOutput, list: { isOrdered: boolean; count: number }): void {
    if (this.#lists.length >= MAX_NESTING) return
    this.#lists.push(list)
    this.#open.push({ name, part, usedLabelCount: 0 })
  }

  beginBlock(tag: Tag, part: Extract<TagOutput, { type: 'block' }>): void {
    const lead = isLinePrefix(this.#line) ? this.#line : ''
    if (lead !== '') this.#line = ''
    this.addGap()
    const label = this.#labelOf(tag, part)
    const isShown = label !== ''
    // The title follows the marker of a list item, and the content is below it.
    const indent = lead.replace(/\S/g, ' ')
    if (isShown) {
      for (const [i, line] of label.split('\n').entries()) {
        this.items.push({ type: 'line', addText: line === '' ? '' : (i === 0 ? lead : indent) + line })
      }
      this.items.push({ type: 'gap' })
    }
    if (isVoid(tag) || this.#open.length >= MAX_OPEN_TAGS || OPTIONAL_END_TAGS.has(tag.name)) return
    const isIndented = this.#facts.isMdx || !isElement(tag)
    this.#open.push({ name: tag.name, part, usedLabelCount: 0 })
    this.items.push({ type: 'open', name: tag.name, lead: isShown ? indent : lead, box: part.box, isIndented })
  }

  /** The label of a part. The labels of tabs may be listed in the tab set around them. */
  #labelOf({ name, attributes }: Tag, { box, label }: Extract<TagOutput, { type: 'block' }>): string {
    const parent = this.#open.at(-1)
    if (box !== null || parent?.part.type !== 'block' || !/tab|panel/i.test(name)) return label
    const { labels } = parent.part
    const listed =
      labels.get(attributes.get('value') ?? '') ??
      (label === '' ? labels.get(String(parent.usedLabelCount++)) : undefined)
    return listed === undefined ? label : strong(listed)
  }

  /** Whether the current line already has words. */
  get hasLineText(): boolean {
    return !isLinePrefix(this.#line)
  }

  #endHeading(): void {
    const heading = this.#heading
    if (heading === undefined) return
    this.#heading = undefined
    const words = this.#line.trim().replace(/\s+/g, ' ')
    this.#line = ''
    const { before, after } = heading
    const plain = before === '**' ? words.replaceAll('**', '') : words
    if (plain !== '') this.items.push({ type: 'line', addText: before + plain + after })
    this.items.push({ type: 'gap' })
  }

  #endLine(): void {
    if (!isBlank(this.#line)) this.items.push({ type: 'line', addText: this.#line })
    this.#line = ''
  }
}

function isHeading(name: string): boolean {
  return /^h[1-6]$/.test(name) || name === 'summary' || name === 'figcaption' || name === 'dt'
}
