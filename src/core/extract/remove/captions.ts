import { type Element, lineOf } from '../../html/tree.ts'
import { removeBy } from './remove-by.ts'

const STEP = 'captions'

/** Beginnings of captions that only credit the photographer. */
const CREDIT =
  /^(?:(?:photo|image|picture|illustration|graphic|foto|bild|crédit|quelle)s?(?: (?:credit|by|courtesy|source|von|from|via))?s?\s*[:|/©]|(?:photo|image|picture|illustration|courtesy|credit|source)s? (?:by|of|courtesy|from|via)\b|credits?:|©|\(c\))/i

/** A longer caption also describes the picture. */
const MOST_CHARS = 100

/** Drops captions, and parts of them, that only credit the photographer. Other captions describe the picture. */
export function removeCredits(content: Element): void {
  removeBy(content, STEP, (element) => {
    if (element.name !== 'figcaption' && element.parent?.name !== 'figcaption') return undefined
    const text = lineOf(element)
    return text.length <= MOST_CHARS && CREDIT.test(text) ? 'credit of a picture' : undefined
  })
}
