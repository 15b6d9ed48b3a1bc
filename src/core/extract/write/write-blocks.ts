import type { SectionMark } from '../../model.ts'
import type { Block, List, Table } from './block.ts'
import { restoreDollars } from './dollars.ts'
import { escapeHeading, fenceFor } from './escape.ts'
import type { HeadingPosition } from './sections.ts'

/** Lines of Markdown, and the headings that divide them. Headings in quotations and lists do not count. */
export interface MarkdownLines {
  readonly lines: readonly string[]
  readonly headings: readonly HeadingPosition[]
  /** The lines from which a fragment applies, including those in quotations and lists. */
  readonly marks: readonly SectionMark[]
}

/** Writes blocks as lines, with a blank line between blocks. */
export function writeBlocks(blocks: readonly Block[]): MarkdownLines {
  const page = new Layout()
  page.write(blocks, '', '')
  return page
}

class Layout implements MarkdownLines {
  readonly lines: string[] = []
  readonly headings: HeadingPosition[] = []
  readonly marks: SectionMark[] = []

  /** The first line begins with `first`, all others with `rest`. */
  write(blocks: readonly Block[], first: string, rest: string, isTight = false): void {
    let lead = first
    let previous: Block | undefined
    let isAlternate = false
    for (const block of blocks) {
      if (previous !== undefined && !isTight) this.#blank(rest)
      // Two lists in a row with the same marker would be read as one.
      isAlternate = block.type === 'list' && isSameKind(previous, block) ? !isAlternate : false
      this.#writeBlock(block, lead, rest, isAlternate)
      lead = rest
      previous = block
    }
  }

  #blank(prefix: string): void {
    this.lines.push(prefix.trimEnd())
  }

  #writeBlock(block: Block, first: string, rest: string, isAlternate: boolean): void {
    for (const anchor of block.marks ?? []) this.marks.push({ line: this.lines.length + 1, anchor })
    switch (block.type) {
      case 'paragraph':
        this.#writeText(restoreDollars(block.text), first, rest)
        return
      case 'heading':
        if (rest === '') this.headings.push({ ...block, startLine: this.lines.length + 1 })
        this.lines.push(`${first}${'#'.repeat(block.level)} ${escapeHeading(restoreDollars(block.text))}`)
        return
      case 'code': {
        const fence = fenceFor(block.text, 3)
        this.lines.push(first + fence + block.lang)
        for (const line of block.text.split('\n')) this.lines.push(line === '' ? rest.trimEnd() : rest + line)
        this.lines.push(rest + fence)
        return
      }
      case 'list':
        this.#writeList(block, first, rest, isAlternate)
        return
      case 'quote':
        this.#writeQuote(block.alert, block.blocks, first, rest)
        return
      case 'footnote':
        if (block.blocks[0]?.type === 'paragraph')
          this.write(block.blocks, `${first}[^${block.label}]: `, `${rest}    `)
        else {
          this.lines.push(`${first}[^${block.label}]:`)
          this.#blank(rest)
          this.write(block.blocks, `${rest}    `, `${rest}    `)
        }
        return
      case 'table':
        this.#writeTable(block, first, rest)
        return
      case 'rule':
        this.lines.push(`${first}---`)
        return
    }
  }

  #writeText(text: string, first: string, rest: string): void {
    if (!text.includes('\n')) {
      this.lines.push(first + text)
      return
    }
    for (const [i, line] of text.split('\n').entries()) this.lines.push((i === 0 ? first : rest) + line)
  }

  #writeList(list: List, first: string, rest: string, isAlternate: boolean): void {
    const isTight = list.items.every(isTightItem)
    let lead = first
    for (const [i, item] of list.items.entries()) {
      if (i > 0 && !isTight) this.#blank(rest)
      const number = list.numbers[i]
      const marker = number === undefined ? (isAlternate ? '* ' : '- ') : `${number}${isAlternate ? ')' : '.'} `
      this.write(item, lead + marker, rest + ' '.repeat(marker.length), isTight)
      lead = rest
    }
  }

  #writeQuote(alert: string, blocks: readonly Block[], first: string, rest: string): void {
    if (alert === '') {
      this.write(blocks, `${first}> `, `${rest}> `)
      return
    }
    this.lines.push(`${first}> [!${alert}]`)
    if (blocks[0]?.type !== 'paragraph') this.#blank(`${rest}> `)
    this.write(blocks, `${rest}> `, `${rest}> `)
  }

  #writeTable({ header, rows }: Table, first: string, rest: string): void {
    this.lines.push(first + writeRow(header))
    this.lines.push(`${rest}|${' --- |'.repeat(header.length)}`)
    for (const row of rows) this.lines.push(rest + writeRow(row))
  }
}

function writeRow(cells: readonly string[]): string {
  let line = '|'
  for (const cell of cells) line += cell === '' ? ' |' : ` ${writeCell(cell)} |`
  return line
}

function writeCell(cell: string): string {
  const text = restoreDollars(cell)
  return text.includes('|') ? text.replace(/\|/g, '\\|') : text
}

/** Items of one paragraph, with or without lists below it, need no blank lines. */
function isTightItem(item: readonly Block[]): boolean {
  const [first, ...rest] = item
  if (first === undefined || (first.type !== 'paragraph' && first.type !== 'list')) return false
  // A list that begins with a number other than 1 needs a blank line before it.
  return rest.every((block, i) => block.type === 'list' && (block.numbers[0] ?? 1) === 1 && !isSameKind(item[i], block))
}

function isSameKind(previous: Block | undefined, list: List): boolean {
  return previous?.type === 'list' && (previous.numbers.length === 0) === (list.numbers.length === 0)
}
