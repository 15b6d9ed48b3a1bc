import { find, selector } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import type { Generator } from './generator.ts'

/** Every generator we know. The first that claims a document has it. */
const GENERATORS: readonly Generator[] = []

const isGeneratorMeta = selector('meta[name=generator], meta[name=Generator], meta[name=GENERATOR]')

/** The program that made a document, if it is one we know. */
export function recognizeGenerator(root: Element): Generator | undefined {
  const meta = find(root, isGeneratorMeta)?.attribute('content')?.toLowerCase() ?? ''
  return GENERATORS.find((generator) => generator.made(root, meta))
}
