import { splitLines } from '../core/text/lines.ts'
import type { Converter } from './document.ts'
import { createDocument, readText } from './markup.ts'
import type { Block, Blocks } from './rst/blocks.ts'
import { RstContext } from './rst/context.ts'
import { expandTabs } from './rst/lines.ts'
import { BlockParser } from './rst/parse.ts'
import { writeBlocks } from './rst/write.ts'

/** Converts reStructuredText to HTML, with the directives and roles of Docutils and Sphinx. Included files are named, not read. */
export const convertRst: Converter = (bytes) => {
  const context = new RstContext()
  const lines = splitLines(readText(bytes)).map(expandTabs)
  const blocks = nameHeadings(new BlockParser(lines, context).parse(), context)
  context.restartNumbering()
  const title = blocks.find((block) => block.type === 'heading')
  return createDocument(writeBlocks(blocks, context), 'html', {
    title: title === undefined ? null : plainTitle(title.text),
    author: fieldOf(blocks, 'author'),
    language: fieldOf(blocks, 'language'),
  })
}

/** Gives headings their fragments and the names of the targets before them. */
function nameHeadings(blocks: Blocks, context: RstContext): Blocks {
  let names: string[] = []
  return blocks.map((block): Block => {
    if (block.type === 'target') {
      names.push(block.name)
      return block
    }
    if (block.type !== 'heading') {
      names = []
      return block
    }
    const title = plainTitle(block.text)
    const address = `#${context.anchors.create(title)}`
    // Two sections may share a title, but never a fragment.
    for (const name of [address, ...names, title]) context.define(name, { address, title })
    names = []
    return { ...block, names: [address] }
  })
}

/** A title without its markup. */
function plainTitle(text: string): string {
  return text
    .replace(/:[\w:-]{1,60}:`/g, '`')
    .replace(/[`*]/g, '')
    .replace(/\\(.)/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Number of blocks at the start that may include the field list. */
const FIELD_LIST_BLOCKS = 4

/** A field of the field list at the start. */
function fieldOf(blocks: Blocks, name: string): string | null {
  for (const block of blocks.slice(0, FIELD_LIST_BLOCKS)) {
    if (block.type !== 'fields') continue
    const [first] = block.items.find((field) => field.name.toLowerCase() === name)?.blocks ?? []
    if (first?.type === 'paragraph') return first.text.replace(/\s+/g, ' ')
  }
  return null
}
