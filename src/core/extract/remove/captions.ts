import type { Element } from '../../html/tree.ts'
import { removeBy } from './remove-by.ts'

const STEP = 'captions'

/** Drops captions, which in the press tell about a picture and who took it, not what the text tells. */
export function removeCaptions(content: Element): void {
  removeBy(content, STEP, ({ name }) => (name === 'figcaption' ? 'caption of a picture' : undefined))
}
