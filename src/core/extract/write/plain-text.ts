import type { Node } from '../../html/tree.ts'
import { collapseText } from './escape.ts'
import { isBlock } from './is-block.ts'

const SKIPPED_ELEMENTS = new Set([
  'button',
  'script',
  'style',
  'svg',
  'template',
  'select',
  'textarea',
  'rp',
  'FootnoteRef',
])

/** The words in an element on one line, without markup. Words of different blocks are separated. */
export function plainText(node: Node): string {
  return collapseText(rawText(node)).trim()
}

function rawText(node: Node): string {
  if (typeof node === 'string') return node
  if (node.dropped !== undefined || SKIPPED_ELEMENTS.has(node.name)) return ''
  if (node.name === 'br') return ' '
  if (node.name === 'img') return node.attribute('alt') ?? ''
  if (node.name === 'Math') return node.attribute('Tex') ?? ''
  let text = ''
  for (const child of node.children) text += rawText(child)
  return isBlock(node) ? ` ${text} ` : text
}
