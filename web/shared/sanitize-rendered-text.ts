import { options } from 'preact'
import { sanitizeText } from '../../src/core/text/sanitize-text.ts'

/** Attributes that are displayed or read aloud; all others stay unchanged. */
const READABLE_ATTRIBUTES = ['title', 'aria-label', 'alt']

/**
 * Replaces control characters and characters that change the direction of writing by U+FFFD, in every text and in READABLE_ATTRIBUTES. The
 * replacement hooks into rendering, so that no component can forget it: most texts come from crawled pages.
 */
export function sanitizeRenderedText(): void {
  const { vnode: previousHook } = options
  options.vnode = (vnode) => {
    const node: { readonly type: unknown; props: unknown } = vnode
    // A text node has no type, and its props are the text.
    if (node.type === null && typeof node.props === 'string') node.props = sanitizeText(node.props)
    if (typeof node.type === 'string') cleanAttributes(node.props as Record<string, unknown>)
    previousHook?.(vnode)
  }
}

function cleanAttributes(attributes: Record<string, unknown>): void {
  for (const name of READABLE_ATTRIBUTES) {
    const value = attributes[name]
    if (typeof value === 'string') attributes[name] = sanitizeText(value)
  }
}
