import { type Element, type Node, textOf } from '../../html/tree.ts'
import { AddressResolver } from './address.ts'
import type { Block } from './block.ts'
import { ELEMENT_WRITERS } from './elements.ts'
import { countInvisible } from './escape.ts'
import { InlineRun, type Mark } from './inline.ts'
import { isBlock } from './is-block.ts'

/** Limit for repeated cells in the tables of a page, so that a few bytes of source cannot become many lines. */
export interface RepeatBudget {
  cells: number
  chars: number
}

const CODE_BLOCKS = new Set(['pre', 'CodeBlock'])

/** A link around blocks. Only the first text in them becomes the link. */
interface Card {
  readonly address: string
  mark: Mark
}

/** Turns elements into blocks. Time and memory depend only on the size of the tree. */
export class BlockBuilder {
  readonly addresses: AddressResolver
  readonly repeats: RepeatBudget = { cells: 100_000, chars: 1_000_000 }
  /** How many lists and quotations are open. */
  nesting = 0
  /** Number of invisible characters that were left out. */
  invisibleChars = 0
  readonly #withBlocks = new Set<Element>()
  readonly #withCode = new Set<Element>()
  #blocks: Block[] = []
  #run = new InlineRun(true)
  #isSingleLine = false
  /** Fragments that apply from the next block on. */
  #marks: string[] = []
  #definition = ''
  #card: Card | undefined
  /** Openers of the emphasis around the current position. */
  #emphasis: string[] = []

  constructor(base: string) {
    this.addresses = new AddressResolver(base)
  }

  /** The blocks of the given elements. Must be called only once. */
  build(content: readonly Element[]): Block[] {
    for (const element of content) this.#inspect(element)
    for (const element of content) {
      this.flush()
      this.visit(element)
    }
    this.flush()
    return withoutOuterRules(this.#blocks)
  }

  /** The run to which text and inline markup are added. */
  get run(): InlineRun {
    return this.#run
  }

  /** Whether all text must fit on one line. */
  get isSingleLine(): boolean {
    return this.#isSingleLine
  }

  /** Whether an element contains blocks, at any depth. */
  hasBlocks(element: Element): boolean {
    return this.#withBlocks.has(element)
  }

  /** Whether an element contains code on several lines, at any depth. */
  hasCode(element: Element): boolean {
    return this.#withCode.has(element)
  }

  visit(node: Node): void {
    if (typeof node === 'string') {
      this.#run.addText(node)
      return
    }
    if (node.dropped !== undefined) return
    const write = ELEMENT_WRITERS.get(node.name)
    if (write === undefined) this.writeChildren(node)
    else write(this, node)
  }

  writeChildren(element: Element): void {
    for (const child of element.children) this.visit(child)
  }

  /** Ends the current paragraph, if there is one. */
  flush(): void {
    const run = this.#run
    const card = this.#card
    if (card === undefined && run.isEmpty) return
    if (card !== undefined) {
      run.close(card.mark, `](${card.address})`)
      if (card.mark.openerIndex !== -1) this.#card = undefined
    }
    const texts = this.#isSingleLine ? [run.finishLine()] : run.finish()
    for (const text of texts) if (text !== '') this.#add({ type: 'paragraph', text })
    run.reset()
    if (this.#card !== undefined) this.#card.mark = run.open('[')
  }

  /** Adds a block after the text written so far. */
  push(block: Block): void {
    this.flush()
    this.#add(block)
  }

  /** Sets the fragment that applies from here on. */
  addMark(anchor: string): void {
    this.flush()
    this.#marks.push(anchor)
  }

  /** The fragment of the current definition; empty outside of one. */
  get definition(): string {
    return this.#definition
  }

  /** Begins the definition with a fragment, or continues an outer one. An empty fragment ends the definition. */
  beginDefinition(anchor: string): void {
    if (anchor === this.#definition) return
    this.flush()
    // The previous definition has no content, so its mark is removed.
    if (this.#marks.at(-1) === this.#definition) this.#marks.pop()
    this.addMark(anchor)
    this.#definition = anchor
  }

  /** The blocks of nodes, separate from all others. */
  collect(nodes: readonly Node[], isLine: boolean = this.#isSingleLine): Block[] {
    this.flush()
    const outer = this.#blocks
    const wasLine = this.#isSingleLine
    const emphasis = this.#emphasis
    const marks = this.#marks
    this.#emphasis = []
    // Parts of a line have no marks of their own: the mark goes to the block that contains the line.
    if (isLine) this.#marks = []
    this.#blocks = []
    this.#isSingleLine = isLine
    this.#renewRun()
    for (const node of nodes) this.visit(node)
    this.flush()
    const blocks = this.#blocks
    this.#blocks = outer
    this.#isSingleLine = wasLine
    this.#emphasis = emphasis
    if (isLine) this.#marks = [...marks, ...this.#marks]
    this.#renewRun()
    return blocks
  }

  /** Writes the content of an element inside a mark. An element with blocks in it cannot be marked. */
  writeMarked(element: Element, opener: string): void {
    if (this.hasBlocks(element) || this.#isRuledOut(opener)) {
      this.writeChildren(element)
      return
    }
    const mark = this.#run.open(opener)
    this.#emphasis.push(opener)
    this.writeChildren(element)
    this.#emphasis.pop()
    this.#run.close(mark)
  }

  writeLinked(element: Element, address: string): void {
    if (address === '' || this.#run.isInLink) {
      this.writeChildren(element)
      return
    }
    if (!this.hasBlocks(element)) {
      const mark = this.#run.open('[')
      this.writeChildren(element)
      this.#run.close(mark, `](${address})`)
      return
    }
    this.flush()
    const outer = this.#card
    this.#card = { address, mark: this.#run.open('[') }
    this.writeChildren(element)
    this.flush()
    if (this.#card !== undefined) this.#run.close(this.#card.mark)
    this.#card = outer
    this.#run = this.#createRun()
  }

  /** Whether open emphasis rules out this mark. Strong and plain emphasis are not nested: many parsers would read asterisks as text. */
  #isRuledOut(opener: string): boolean {
    return this.#emphasis.some((open) => open === opener || (open !== '~~' && opener !== '~~'))
  }

  /** Starts a run, unless the current one is unused. Without the check, each block with blocks inside would create two. */
  #renewRun(): void {
    const canReuse = this.#card === undefined && this.#run.isUnused && this.#run.hasBreaks === !this.#isSingleLine
    if (!canReuse) this.#run = this.#createRun()
  }

  #createRun(): InlineRun {
    const run = new InlineRun(!this.#isSingleLine)
    if (this.#card !== undefined) this.#card.mark = run.open('[')
    return run
  }

  #add(block: Block): void {
    const marks = this.#marks.splice(0)
    this.#blocks.push(marks.length === 0 ? block : { ...block, marks: [...(block.marks ?? []), ...marks] })
  }

  #inspect(element: Element): void {
    const isCode = CODE_BLOCKS.has(element.name)
    for (const child of element.children) {
      if (typeof child === 'string') this.invisibleChars += countInvisible(child, isCode)
      else if (child.dropped === undefined) {
        if (isBlock(child)) this.#recordBlock(child)
        this.#inspect(child)
      }
    }
  }

  #recordBlock(block: Element): void {
    addAncestors(this.#withBlocks, block)
    if (CODE_BLOCKS.has(block.name) && textOf(block).trim().includes('\n')) addAncestors(this.#withCode, block)
  }
}

function addAncestors(set: Set<Element>, element: Element): void {
  for (let at = element.parent; at !== undefined && !set.has(at); at = at.parent) set.add(at)
}

/** Removes rules at the start and at the end, where they divide nothing. A rule at the start would also be read as front matter. */
function withoutOuterRules(blocks: readonly Block[]): Block[] {
  const start = blocks.findIndex(isNotRule)
  return start === -1 ? [] : blocks.slice(start, blocks.findLastIndex(isNotRule) + 1)
}

function isNotRule({ type }: Block): boolean {
  return type !== 'rule'
}
