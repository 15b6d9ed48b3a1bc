/*
 * A document as a tree of elements and strings. `parseHtml` builds it once; later steps only mark elements as dropped, with the step and
 * the reason, so that every removal can be reported.
 */

/** A child of an element: another element, or text with decoded entities. */
export type Node = Element | string

/** Why an element is left out. */
export interface Drop {
  /** Name of the step that left it out. */
  readonly step: string
  readonly reason: string
}

const NO_CHILDREN: Node[] = []
const NO_ATTRIBUTES: string[] = []
const NO_CLASSES: readonly string[] = []

/** An element of HTML. Names of elements and attributes are in lower case. */
export class Element {
  /** Normalizing steps may change the name. */
  name: string
  parent: Element | undefined
  /** Replace the list or use `append`, but never change the list in place: elements without children share one list. */
  children: Node[] = NO_CHILDREN
  /** Set when the element and all it contains is left out. */
  dropped: Drop | undefined
  /** Names and values alternately. */
  #attributes: string[]
  #classes: readonly string[]

  /** `classes` are the parsed classes of `attributes`, if the caller knows them. */
  constructor(name: string, attributes: string[] = NO_ATTRIBUTES, classes?: readonly string[]) {
    this.name = name
    this.#attributes = attributes
    this.#classes = classes ?? splitClasses(this.attribute('class'))
  }

  /** The value of an attribute: '' when it has none, `undefined` when it is missing. */
  attribute(name: string): string | undefined {
    const list = this.#attributes
    for (let i = 0; i < list.length; i += 2) if (list[i] === name) return list[i + 1]
    return undefined
  }

  get hasNoAttributes(): boolean {
    return this.#attributes.length === 0
  }

  hasAttribute(name: string): boolean {
    return this.attribute(name) !== undefined
  }

  setAttribute(name: string, value: string): void {
    if (name === 'class') this.#classes = splitClasses(value)
    const list = this.#attributes
    for (let i = 0; i < list.length; i += 2) {
      if (list[i] !== name) continue
      list[i + 1] = value
      return
    }
    if (list === NO_ATTRIBUTES) this.#attributes = [name, value]
    else list.push(name, value)
  }

  get attributeCount(): number {
    return this.#attributes.length >> 1
  }

  /** Name of an attribute by its index, for callers that visit every element and cannot afford a generator for each. */
  attributeName(index: number): string {
    return this.#attributes[index << 1] ?? ''
  }

  /** Names and values of all attributes, in the order of the source. */
  *attributes(): Generator<readonly [string, string], void, void> {
    const list = this.#attributes
    for (let i = 0; i + 1 < list.length; i += 2) yield [list[i] ?? '', list[i + 1] ?? '']
  }

  get id(): string {
    return this.attribute('id') ?? ''
  }

  get classes(): readonly string[] {
    return this.#classes
  }

  hasClass(name: string): boolean {
    return this.classes.includes(name)
  }

  /** Adds a node as the last child. */
  append(node: Node): void {
    if (typeof node !== 'string') node.parent = this
    // An array created with its first node takes a tenth of the memory of one that grows.
    if (this.children.length === 0) this.children = [node]
    else this.children.push(node)
  }

  /** Child elements that are not dropped. */
  elements(): Element[] {
    const elements: Element[] = []
    for (const child of this.children)
      if (typeof child !== 'string' && child.dropped === undefined) elements.push(child)
    return elements
  }

  /**
   * This element and all its descendants that are not dropped, in source order. An element that the caller drops right after receiving it
   * is not entered.
   */
  descendants(): IterableIterator<Element, undefined> {
    return new Walk(this)
  }

  /** The ancestors, nearest first. */
  *ancestors(): Generator<Element, void, void> {
    for (let element = this.parent; element !== undefined; element = element.parent) yield element
  }

  contains(other: Element): boolean {
    for (let element: Element | undefined = other; element !== undefined; element = element.parent) {
      if (element === this) return true
    }
    return false
  }
}

/** The names in the value of a `class` attribute. */
export function splitClasses(value: string | undefined): readonly string[] {
  if (value === undefined || value === '') return NO_CLASSES
  return /\s/.test(value) ? value.split(/\s+/).filter((name) => name !== '') : [value]
}

/** The text in an element as in the source, without dropped parts. */
export function textOf(node: Node): string {
  if (typeof node === 'string') return node
  if (node.dropped !== undefined) return ''
  const [only] = node.children
  if (node.children.length === 1 && only !== undefined) return textOf(only)
  let text = ''
  for (const child of node.children) text += textOf(child)
  return text
}

/** White space of HTML. Unlike `\s`, it does not match no-break spaces and other spaces of Unicode. */
export const HTML_SPACE: RegExp = /[ \t\n\f\r]+/g

/** Whether text is only HTML white space. Half of all texts in a page are, because they separate block elements. */
export function isHtmlSpace(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x09 && unit !== 0x0d && unit !== 0x0c) return false
  }
  return true
}

/** The text in an element on one line. */
export function lineOf(node: Node): string {
  return textOf(node).replace(/\s+/g, ' ').trim()
}

/** Whether an element has at least this many characters other than white space. Stops reading once they are counted. */
export function holdsText(element: Element, chars: number): boolean {
  return countMissing(element, chars) <= 0
}

/** Number of characters other than white space that a node lacks to reach the given count. */
function countMissing(node: Node, chars: number): number {
  let missing = chars
  if (typeof node === 'string') {
    for (let i = 0; i < node.length && missing > 0; i++) if (node.charCodeAt(i) > 0x20) missing--
  } else if (node.dropped === undefined) {
    const { children } = node
    for (let i = 0; i < children.length && missing > 0; i++) missing = countMissing(children[i] ?? '', missing)
  }
  return missing
}

/** A walk through a tree. Every `next` returns the same object, which `for` loops allow; a generator creates one for each element. */
class Walk implements IterableIterator<Element, undefined> {
  readonly #pending: Element[] = []
  readonly #step: { done: false; value: Element }
  #hasBegun = false

  constructor(root: Element) {
    this.#step = { done: false, value: root }
  }

  [Symbol.iterator](): this {
    return this
  }

  next(): IteratorResult<Element, undefined> {
    const step = this.#step
    const pending = this.#pending
    if (this.#hasBegun) {
      const { children, dropped } = step.value
      for (let i = dropped === undefined ? children.length - 1 : -1; i >= 0; i--) {
        const child = children[i]
        if (typeof child === 'object') pending.push(child)
      }
    } else {
      this.#hasBegun = true
      pending.push(step.value)
    }
    for (let element = pending.pop(); element !== undefined; element = pending.pop()) {
      if (element.dropped !== undefined) continue
      step.value = element
      return step
    }
    return { done: true, value: undefined }
  }
}
