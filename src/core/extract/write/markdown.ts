import { INLINE } from '../../html/names.ts'
import type { Element, Node } from '../../html/tree.ts'
import type { Section } from '../../model.ts'

/** Markdown and the headings in it. */
export interface Written {
  readonly markdown: string
  readonly sections: readonly Section[]
}

/** Writes elements as Markdown. Relative addresses start at `base`. */
export function writeMarkdown(content: readonly Element[], _base: string): Written {
  let text = ''
  const visit = (node: Node) => {
    if (typeof node === 'string') {
      text += node.replace(/\s+/g, ' ')
      return
    }
    if (node.dropped !== undefined) return
    const isBlock = !INLINE.has(node.name)
    if (isBlock) text += '\n\n'
    for (const child of node.children) visit(child)
    if (isBlock) text += '\n\n'
  }
  for (const element of content) visit(element)
  const markdown = text.replace(/[ \t]*\n\s*\n\s*/g, '\n\n').trim()
  return { markdown: markdown === '' ? '' : `${markdown}\n`, sections: [] }
}
