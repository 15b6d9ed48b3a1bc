import { METADATA_ELEMENTS } from '../html/element-names.ts'
import type { Element } from '../html/tree.ts'
import { isBylineClass, isCommentClass } from './metadata/class-names.ts'
import { isForScreenReaders } from './remove/hidden/screen-readers.ts'

/**
 * The elements that the steps of the extraction need, found in one walk, so that each step goes through short lists instead of the whole
 * tree. Lists are in source order. The content of a template is not part of the document: only its ids and classes are listed.
 */
export interface ElementIndex {
  readonly root: Element
  readonly bases: readonly Element[]
  readonly scripts: readonly Element[]
  readonly styles: readonly Element[]
  /** Elements whose content is never shown as text: `head`, `datalist`, `style`, `script` and templates. */
  readonly nonText: readonly Element[]
  /** The outermost `noscript` elements. */
  readonly noscripts: readonly Element[]
  /** Elements that may link to another address. */
  readonly links: readonly Element[]
  /** Every `h1`. */
  readonly h1s: readonly Element[]
  /**
   * Elements that may be hidden even without a style sheet: a `dialog`, or an element with a certain attribute or a class for screen
   * readers.
   */
  readonly hideable: readonly Element[]
  /** Elements that may show or hide a part of the page. */
  readonly controls: readonly Element[]
  /** Elements with an id. */
  readonly withId: readonly Element[]
  /** Lists of classes, each once. */
  readonly classLists: Iterable<readonly string[]>
  readonly metadataElements: MetadataElements
}

/** Elements with metadata of the document, outside of code, pictures and `noscript`. */
export interface MetadataElements {
  readonly titles: readonly Element[]
  readonly metas: readonly Element[]
  readonly scripts: readonly Element[]
  /** Every `<link>` in the head. Links in the body may come from user content. */
  readonly links: readonly Element[]
  /** Elements with an `itemtype`. */
  readonly items: readonly Element[]
  /** Elements that may be a property of an item, or name its author; none is inside a comment. */
  readonly properties: readonly Element[]
  /** Every `<time>` outside of comments. */
  readonly times: readonly Element[]
}

/** Indexes the elements of a document. The index stays valid as long as elements are only marked, not moved. */
export function indexElements(root: Element): ElementIndex {
  const indexer = new ElementIndexer(root)
  indexer.visit(root, 0)
  return indexer
}

/** Elements that may precede the body; the first other element ends the head. */
const HEAD: ReadonlySet<string> = new Set(['html', 'head', ...METADATA_ELEMENTS])

/** Element names that the steps of the extraction look for. Most elements have other names. */
const NAMES: ReadonlySet<string> = new Set([
  ...['a', 'area', 'base', 'button', 'datalist', 'dialog', 'frame', 'h1', 'head', 'link', 'meta', 'noscript', 'pre'],
  ...['script', 'style', 'summary', 'svg', 'template', 'time', 'title'],
])

// Bits for the position of an element.
const IN_NOSCRIPT = 1
const IN_COMMENT = 2
/**
 * Inside an element whose content never counts as metadata of the document: `pre`, `svg`, `noscript`, `script`, `style`, `title`, or a
 * template with `shadowrootmode`.
 */
const ASIDE = 4
/** Inside a shadow root, whose style sheets apply only there. */
const IN_SHADOW = 8

// Bits for the attributes and classes of an element.
const HAS_ID = 1
const IS_HIDEABLE = 2
const IS_CONTROL = 4
const IS_ITEM = 8
const IS_PROPERTY = 16
const IS_COMMENT = 32

const BY_ATTRIBUTE: ReadonlyMap<string, number> = new Map([
  ['id', HAS_ID],
  ['style', IS_HIDEABLE],
  ['hidden', IS_HIDEABLE],
  ['popover', IS_HIDEABLE],
  ['aria-hidden', IS_HIDEABLE],
  ['aria-expanded', IS_CONTROL],
  ['role', IS_CONTROL],
  ['data-toggle', IS_CONTROL],
  ['data-bs-toggle', IS_CONTROL],
  ['itemtype', IS_ITEM],
  ['itemprop', IS_PROPERTY],
  ['rel', IS_PROPERTY],
])

function readClasses(list: string): number {
  return (
    (isForScreenReaders(list) ? IS_HIDEABLE : 0) |
    (isBylineClass(list) ? IS_PROPERTY : 0) |
    (isCommentClass(list) ? IS_COMMENT : 0)
  )
}

class ElementIndexer implements ElementIndex {
  readonly root: Element
  readonly bases: Element[] = []
  readonly scripts: Element[] = []
  readonly styles: Element[] = []
  readonly nonText: Element[] = []
  readonly noscripts: Element[] = []
  readonly links: Element[] = []
  readonly h1s: Element[] = []
  readonly hideable: Element[] = []
  readonly controls: Element[] = []
  readonly withId: Element[] = []
  readonly metadataElements = {
    titles: [] as Element[],
    metas: [] as Element[],
    scripts: [] as Element[],
    links: [] as Element[],
    items: [] as Element[],
    properties: [] as Element[],
    times: [] as Element[],
  }
  /** Bits by class list, cached because class lists repeat. */
  readonly #byClasses = new Map<readonly string[], number>()
  #isInHead = true

  constructor(root: Element) {
    this.root = root
  }

  get classLists(): Iterable<readonly string[]> {
    return this.#byClasses.keys()
  }

  visit(element: Element, outerPosition: number): void {
    const { name } = element
    if (this.#isInHead && (outerPosition & ASIDE) === 0 && !HEAD.has(name)) this.#isInHead = false
    let position = outerPosition
    if (NAMES.has(name)) {
      if (name === 'template' && !element.hasAttribute('shadowrootmode')) {
        this.nonText.push(element)
        this.#readTemplate(element)
        return
      }
      // A template with a shadow root is shown like any other element.
      if (name === 'template') element.name = 'div'
      if (name === 'template') position |= IN_SHADOW
      position |= this.#readName(element, outerPosition)
    }
    if (!element.hasNoAttributes) position |= this.#readAttributes(element, position)
    for (const child of element.children) if (typeof child !== 'string') this.visit(child, position)
  }

  /** Records the ids and classes in a template. Style sheets may refer to them, because scripts may insert the content later. */
  #readTemplate(element: Element): void {
    if (element.classes.length > 0) this.#readClassList(element)
    if (element.id !== '') this.withId.push(element)
    for (const child of element.children) if (typeof child !== 'string') this.#readTemplate(child)
  }

  /** Lists an element by its name. Returns the position bits for its descendants. */
  #readName(element: Element, position: number): number {
    const isAside = (position & ASIDE) !== 0
    switch (element.name) {
      case 'a':
      case 'area':
      case 'frame':
        this.links.push(element)
        return 0
      case 'link':
        this.links.push(element)
        if (this.#isInHead && !isAside) this.metadataElements.links.push(element)
        return 0
      case 'base':
        this.bases.push(element)
        return 0
      case 'h1':
        this.h1s.push(element)
        return 0
      case 'meta':
        if (!isAside) this.metadataElements.metas.push(element)
        return 0
      case 'time':
        if ((position & (ASIDE | IN_COMMENT)) === 0) this.metadataElements.times.push(element)
        return 0
      case 'button':
      case 'summary':
        this.controls.push(element)
        return 0
      case 'dialog':
        this.hideable.push(element)
        return 0
      case 'head':
      case 'datalist':
        this.nonText.push(element)
        return 0
      case 'style':
        this.nonText.push(element)
        if ((position & IN_SHADOW) === 0) this.styles.push(element)
        return ASIDE
      case 'script':
        this.nonText.push(element)
        this.scripts.push(element)
        if (!isAside) this.metadataElements.scripts.push(element)
        return ASIDE
      case 'title':
        if (!isAside) this.metadataElements.titles.push(element)
        return ASIDE
      case 'noscript':
        if ((position & IN_NOSCRIPT) === 0) this.noscripts.push(element)
        return ASIDE | IN_NOSCRIPT
      default:
        return ASIDE
    }
  }

  /** Lists an element by its attributes. Returns the position bits for its descendants. */
  #readAttributes(element: Element, position: number): number {
    let bits = 0
    for (let i = 0; i < element.attributeCount; i++) bits |= BY_ATTRIBUTE.get(element.attributeName(i)) ?? 0
    if (element.classes.length > 0) bits |= this.#readClassList(element)
    if (bits === 0) return 0
    if ((bits & HAS_ID) !== 0) this.withId.push(element)
    if ((bits & IS_HIDEABLE) !== 0 && element.name !== 'dialog') this.hideable.push(element)
    if ((bits & IS_CONTROL) !== 0) this.controls.push(element)
    const innerPosition = (bits & IS_COMMENT) === 0 ? 0 : IN_COMMENT
    if ((position & ASIDE) !== 0) return innerPosition
    if ((bits & IS_ITEM) !== 0) this.metadataElements.items.push(element)
    const isInComment = ((position | innerPosition) & IN_COMMENT) !== 0
    if ((bits & IS_PROPERTY) !== 0 && !isInComment) this.metadataElements.properties.push(element)
    return innerPosition
  }

  #readClassList(element: Element): number {
    const known = this.#byClasses.get(element.classes)
    if (known !== undefined) return known
    const bits = readClasses(element.attribute('class') ?? '')
    this.#byClasses.set(element.classes, bits)
    return bits
  }
}
