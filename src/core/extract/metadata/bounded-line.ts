import type { Element } from '../../html/tree.ts'
import { clipText } from '../../text/lines.ts'

/** Longer values are cut; no real name or title is this long. */
export const MAX_VALUE = 2000

/**
 * The beginning of the text in an element. The rest is not read: elements with metadata may be nested, so reading each to its end could
 * take quadratic time.
 */
export function boundedLine(element: Element): string {
  let text = ''
  let visited = 0
  const visit = (node: Element | string) => {
    if (text.length > MAX_VALUE || visited++ > MAX_VALUE) return
    if (typeof node === 'string') text += node.slice(0, MAX_VALUE)
    else if (node.name !== 'script' && node.name !== 'style') {
      for (const child of node.children) {
        if (typeof child !== 'string' && child.dropped !== undefined) continue
        if (text.length > MAX_VALUE || visited > MAX_VALUE) return
        visit(child)
      }
    }
  }
  visit(element)
  return clipText(text.replace(/\s+/g, ' ').trim(), MAX_VALUE)
}
