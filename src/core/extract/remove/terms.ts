import type { Element } from '../../html/tree.ts'

/*
 * Authors name the parts of a page in classes and ids: `site-nav`, `ArticleBody__share`, `cookie_banner`. A term is one
 * word of such a name, or up to three in a row joined by hyphens.
 */

const MAX_WORDS = 3
/** A name of more words is a description: `filtering-and-pagination-collection-page-container`. */
const MAX_NAME_WORDS = 5
const MAX_ID_WORDS = 2
/** Machine-made class names can be long; names that people give to a part are shorter. */
const MAX_NAME_CHARS = 80

/** Names that publishing programs give to entries by their categories. */
const CATEGORY_NAME =
  /^(?:(?:category|tag)-(?!list|cloud|links)|product_cat-|product_tag-|post-\d|type-|status-|format-|elementor-|wp-image-)/

/** A name with one of these prefixes or suffixes describes the surroundings or the content of the element, not the element. */
const STATE_NAME =
  /^(?:no|has|have|with|without|hide|show|is|js|not|toggle)-|-(?:open|opened|enabled|disabled|active|visible|hidden|loaded|true|false|layout|trigger)$/

/** The suffix that CSS build tools add to keep names unique: `card__a8Xf2`. */
const HASH = /__(?=[\w-]*[A-Z\d])[\w-]{5,6}$/

/** A term of a name. */
export interface Term {
  readonly text: string
  /** Whether the name ends with this term, apart from variants: `nav` in `site-nav--dark`. The end of a name tells the kind of part. */
  readonly isLast: boolean
  /** The word that follows the term in the name; '' for none. */
  readonly next: string
}

/** Reads terms from classes and ids. Names repeat a thousand times on a page, so each is parsed once. */
export class TermReader {
  readonly #byName = new Map<string, readonly Term[]>()
  /** Terms by value of the `class` attribute; the same values occur on many elements. */
  readonly #byClasses = new Map<string, readonly Term[]>()

  /** The terms of an element's classes and id, and of its name if it is a custom one, with repetitions. */
  read(element: Element): readonly Term[] {
    const classes = element.attribute('class') ?? ''
    const ofClasses = classes === '' ? NONE : this.#readClasses(classes, element)
    const { id } = element
    const ofId = id === '' || isLongId(id) || isSection(element) ? NONE : this.#readName(id)
    const ofElement = element.name.includes('-') ? this.#readName(element.name) : NONE
    if (ofId.length === 0 && ofElement.length === 0) return ofClasses
    return [...ofElement, ...ofClasses, ...ofId]
  }

  #readClasses(classes: string, element: Element): readonly Term[] {
    let terms = this.#byClasses.get(classes)
    if (terms === undefined) {
      terms = element.classes.flatMap((name) => this.#readName(name))
      this.#byClasses.set(classes, terms)
    }
    return terms
  }

  #readName(name: string): readonly Term[] {
    let terms = this.#byName.get(name)
    if (terms === undefined) {
      terms = splitName(name)
      this.#byName.set(name, terms)
    }
    return terms
  }
}

const NONE: readonly Term[] = []

/** The id of a section is made from its heading, so it does not describe the kind of part. */
function isSection(element: Element): boolean {
  return element.name === 'section' || element.hasClass('section')
}

/** Whether an id is long: many ids of headings and anchors are made from their words, so long ids are ignored. */
function isLongId(id: string): boolean {
  return id.split(/[-_\s]+/).length > MAX_ID_WORDS
}

function splitName(name: string): readonly Term[] {
  if (name.length > MAX_NAME_CHARS || CATEGORY_NAME.test(name)) return []
  const [part = '', ...modifiers] = name.replace(HASH, '').split('--')
  const words = wordsOf(part)
  const partEnd = words.length
  words.push(...modifiers.flatMap(wordsOf))
  if (words.length > MAX_NAME_WORDS || STATE_NAME.test(words.join('-'))) return []
  const terms: Term[] = []
  for (let from = 0; from < words.length; from++) {
    for (let to = from + 1; to <= from + MAX_WORDS && to <= words.length; to++) {
      const isLast = to === partEnd
      terms.push({ text: words.slice(from, to).join('-'), isLast, next: isLast ? '' : (words[to] ?? '') })
    }
  }
  return terms
}

function wordsOf(name: string): string[] {
  return (
    name
      .replace(/([a-z\d])([A-Z])/g, '$1-$2')
      .toLowerCase()
      .split(/[^a-z\d]+/)
      .map((word) => word.replace(/^([a-z]{4,})\d+$/, '$1'))
      // Parts with digits come from machines: `ad4` in a hash does not mean an advertisement.
      .filter((word) => /^[a-z]+$/.test(word))
  )
}
