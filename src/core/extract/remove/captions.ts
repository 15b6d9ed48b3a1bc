import { type Element, lineOf } from '../../html/tree.ts'
import { removeMatching } from './remove-matching.ts'

const STEP = 'captions'

/** Beginnings of captions that only credit the photographer. */
const CREDIT =
  /^(?:(?:photo|image|picture|illustration|graphic|foto|bild|crédit|quelle)s?(?: (?:credit|by|courtesy|source|von|from|via))?s?\s*[:|/©]|(?:photo|image|picture|illustration|courtesy|credit|source)s? (?:by|of|courtesy|from|via)\b|credits?:|©|\(c\))/i

/** A longer caption also describes the picture. */
const MAX_CHARS = 100

/** Drops captions, and parts of them, that only credit the photographer. Other captions describe the picture. */
export function removeCredits(content: Element): void {
  removeMatching(content, STEP, (element) => {
    if (element.name !== 'figcaption' && element.parent?.name !== 'figcaption') return undefined
    const text = lineOf(element)
    return text.length <= MAX_CHARS && CREDIT.test(text) ? 'credit of a picture' : undefined
  })
}
