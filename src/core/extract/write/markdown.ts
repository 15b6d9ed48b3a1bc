import type { Element } from '../../html/tree.ts'
import type { Section } from '../../model.ts'
import { BlockBuilder } from './builder.ts'
import { createSections } from './sections.ts'
import { writeBlocks } from './write-blocks.ts'

/** Markdown and the sections in it. */
export interface WrittenMarkdown {
  readonly markdown: string
  readonly sections: readonly Section[]
  /** Number of invisible characters that were left out of text and code. */
  readonly invisibleChars: number
}

/**
 * Writes elements as Markdown: elements become blocks, blocks become lines. Relative addresses resolve against `base`. The Markdown
 * contains no HTML, and only markup that the elements have.
 */
export function writeMarkdown(content: readonly Element[], base: string): WrittenMarkdown {
  const builder = new BlockBuilder(base)
  const page = writeBlocks(builder.build(content))
  const markdown = [...page.lines, ''].join('\n')
  return {
    markdown,
    sections: createSections(page.lines, page.headings, page.marks),
    invisibleChars: builder.invisibleChars,
  }
}
