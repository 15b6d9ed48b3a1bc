import { options } from 'preact'
import { writeShowable } from '../../src/core/text/showable.ts'

/** Attributes that people read or hear; the others are for programs and stay as they are. */
const READ = ['title', 'aria-label', 'alt']

/**
 * From now on every text is shown without what cannot be seen or turns the direction of writing around. It is done where texts become
 * part of the page, because most of them are of others, and a place that forgets it would look like all the others.
 */
export function showOnlyShowable(): void {
  const { vnode: before } = options
  options.vnode = (vnode) => {
    const node: { readonly type: unknown; props: unknown } = vnode
    // A text has no type, and is its own properties.
    if (node.type === null && typeof node.props === 'string') node.props = writeShowable(node.props)
    if (typeof node.type === 'string') cleanAttributes(node.props as Record<string, unknown>)
    before?.(vnode)
  }
}

function cleanAttributes(attributes: Record<string, unknown>): void {
  for (const name of READ) {
    const value = attributes[name]
    if (typeof value === 'string') attributes[name] = writeShowable(value)
  }
}
