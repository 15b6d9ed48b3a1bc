import type { Element } from '../../html/tree.ts'
import type { Generator } from '../generators/generator.ts'

/** Drops what no reader would have seen. Returns how many characters that were. */
export function removeHidden(_root: Element, _generator: Generator | undefined): number {
  return 0
}
