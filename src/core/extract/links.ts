import type { Element } from '../html/tree.ts'
import type { Link } from '../model.ts'

/** Where relative addresses of a document start: its `<base>`, else its own address. */
export function baseOf(_root: Element, url: string): string {
  return url
}

/** Every link of a document, in order, each address once. `content` is what was taken as its content. */
export function readLinks(_root: Element, _base: string, _content: readonly Element[]): Link[] {
  return []
}
