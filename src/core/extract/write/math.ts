import type { Element } from '../../html/tree.ts'
import type { BlockBuilder } from './builder.ts'
import { collapseText } from './escape.ts'

/** Writes a formula as `$…$`, or as `$$…$$` on a line of its own. */
export function writeMath(builder: BlockBuilder, element: Element): void {
  const tex = protect(collapseText(element.attribute('Tex') ?? '').trim())
  if (tex === '') return
  if (element.attribute('Display') !== 'true') {
    builder.run.markdown(`$${tex}$`)
    return
  }
  builder.flush()
  builder.run.markdown(`$$${tex}$$`)
  builder.flush()
}

/** Readers that know no formulas must not find tags or links in one; spaces mean nothing to TeX. */
function protect(tex: string): string {
  return tex.replace(/<(?=[A-Za-z/!?])/g, '< ').replace(/\](?=\()/g, '] ')
}
