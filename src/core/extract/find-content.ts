import { find } from '../html/selector.ts'
import type { Element } from '../html/tree.ts'
import type { Generator } from './generators/generator.ts'
import type { Metadata } from './metadata.ts'

/** The elements that hold the content of a document, in its order; none is in another. */
export function findContent(root: Element, _generator: Generator | undefined, _metadata: Metadata): Element[] {
  return [find(root, (element) => element.name === 'main') ?? find(root, (element) => element.name === 'body') ?? root]
}
