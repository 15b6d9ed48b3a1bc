import type { Element } from '../../html/tree.ts'
import type { BlockBuilder } from './builder.ts'
import { collapseText } from './escape.ts'

/** Writes a formula as `$…$`, or as `$$…$$` on a line of its own. */
export function writeMath(builder: BlockBuilder, element: Element): void {
  const tex = escapeTex(collapseText(element.attribute('Tex') ?? '').trim())
  if (tex === '') return
  if (element.attribute('Display') !== 'true') {
    builder.run.addMarkdown(`$${tex}$`)
    return
  }
  builder.flush()
  builder.run.addMarkdown(`$$${tex}$$`)
  builder.flush()
}

/**
 * Changes TeX so that nothing in it ends the formula, and renderers without formulas find no tags, links or code in it. Spaces mean nothing
 * to TeX, and a backtick is an opening quotation mark.
 */
function escapeTex(tex: string): string {
  return tex
    .replace(/\\.|\$/g, (escaped) => (escaped === '$' ? '\\$' : escaped))
    .replace(/<(?=[A-Za-z/!?])/g, '< ')
    .replace(/\](?=[(:])/g, '] ')
    .replace(/\[(?=[\^!])/g, '[ ')
    .replaceAll('`', '‘')
    .replace(/(?<!\\)(\\\\)*\\$/, '$1')
    .trim()
}
