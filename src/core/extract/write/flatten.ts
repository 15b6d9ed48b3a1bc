import type { Block } from './block.ts'
import { escapeText, writeCodeSpan } from './escape.ts'

/** Writes blocks on one line, for cells and headings. `separator` comes between the texts of two blocks. */
export function flatten(blocks: readonly Block[], separator = '; '): string {
  const [first] = blocks
  if (first === undefined) return ''
  if (blocks.length === 1 && first.type === 'paragraph') return oneLine(first.text)
  return join(
    blocks.map((block) => flattenBlock(block, separator)),
    separator,
  )
}

function flattenBlock(block: Block, separator: string): string {
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return oneLine(block.text)
    case 'code':
      return block.text
        .split('\n')
        .map((line) => line.trimEnd())
        .filter((line) => line !== '')
        .map(flattenCode)
        .join(' ')
    case 'list':
      return join(
        block.items.map((item) => flatten(item, separator)),
        separator,
      )
    case 'table':
      return join(
        [block.header, ...block.rows].map((row) => row.filter((cell) => cell !== '').join(', ')),
        separator,
      )
    case 'quote':
    case 'footnote':
      return flatten(block.blocks, separator)
    case 'rule':
      return ''
  }
}

/**
 * Writes a line of code as a code span, except if it contains `\|`: a table cell writes every pipe as `\|`, so in a code span the backslash
 * of the code could not be told from that of the cell. Such a line is written as escaped text.
 */
function flattenCode(line: string): string {
  return line.includes('\\|') ? escapeText(line.trimStart(), '', false) : writeCodeSpan(line)
}

function oneLine(text: string): string {
  return text.includes('\n') ? text.replace(/(?<! ) *\n/g, ' ') : text
}

const END_PUNCTUATION = new Set('.,:;!?…。，：；！？')

/** A part that ends with punctuation needs no separator before the next. */
function join(parts: readonly string[], separator: string): string {
  const joined: string[] = []
  for (const part of parts) {
    if (part === '') continue
    const previous = joined.at(-1)
    if (previous !== undefined) joined.push(END_PUNCTUATION.has(previous.slice(-1)) ? ' ' : separator)
    joined.push(part)
  }
  return joined.join('')
}
