import { barriersOf, type ImpliedEnd, PARAGRAPH, Tag, TagTable } from './tag.ts'
import { type TokenSink, tokenize } from './tokenizer.ts'
import { Element, splitClasses } from './tree.ts'

/** Elements deeper than this become siblings, as in browsers, so that steps may walk the tree by recursion. */
export const MAX_DEPTH = 500

/** Maximum number of attributes that repeated `html` and `body` tags can add. */
const MAX_INHERITED = 100

/**
 * Parses HTML into a tree like a browser, as far as readers would notice: missing end tags are added, unmatched end tags are ignored, and
 * parsing never fails. Returns the `html` element. Time and memory are linear in the length of the source.
 */
export function parseHtml(source: string): Element {
  return parseHtmlTree(source).root
}

/** The result of parsing a source. */
export interface HtmlTree {
  readonly root: Element
  /** Number of characters in comments, without surrounding white space. */
  readonly commentChars: number
}

/** Like {@link parseHtml}, with facts about the source that the tree does not show. */
export function parseHtmlTree(source: string): HtmlTree {
  const tags = new TagTable()
  const builder = new TreeBuilder(tags)
  tokenize(source, tags, builder)
  builder.end()
  return { root: builder.root, commentChars: builder.commentChars }
}

class TreeBuilder implements TokenSink {
  readonly root = new Element('html')
  commentChars = 0
  readonly #head: Tag
  readonly #link: Tag
  readonly #paragraph: Tag
  readonly #span: Tag
  readonly #wordBreak: Tag
  /** The open elements, the innermost last. */
  readonly #stack: Element[] = [this.root]
  /** The tags of the open elements, at the same indices. */
  readonly #openTags: Tag[] = [new Tag('html')]
  #top = this.root
  #topTag: Tag | undefined
  /** How many open elements are `svg` or `math`. */
  #foreignCount = 0
  #body: Element | undefined
  /** How many attributes repeated tags have added. */
  #inheritedCount = 0
  /** Parsed classes by the value of `class`, because a few values are on very many elements. */
  readonly #classLists = new Map<string, readonly string[]>()
  #text = ''

  constructor(tags: TagTable) {
    this.#head = tags.get('head')
    this.#link = tags.get('a')
    this.#paragraph = tags.get('p')
    this.#span = tags.get('span')
    this.#wordBreak = tags.get('wbr')
  }

  get isForeign(): boolean {
    return this.#foreignCount > 0
  }

  text(text: string): void {
    this.#text += text
  }

  startTag(tag: Tag, attributes: readonly string[], attributesEnd: number, isSelfClosing: boolean): void {
    // A word with an optional break is still one word.
    if (tag === this.#wordBreak) return
    this.#flushText()
    this.#openElement(tag, attributes, attributesEnd, isSelfClosing)
  }

  endTag(tag: Tag): void {
    if (tag === this.#wordBreak) return
    this.#flushText()
    this.#closeElement(tag)
  }

  comment(text: string): void {
    this.commentChars += text.trim().length
  }

  cdata(text: string): void {
    if (this.isForeign) this.#text += text
  }

  end(): void {
    this.#flushText()
  }

  #listClasses(value: string): readonly string[] {
    const known = this.#classLists.get(value)
    if (known !== undefined) return known
    const list = splitClasses(value)
    this.#classLists.set(value, list)
    return list
  }

  #flushText(): void {
    if (this.#text === '') return
    const text = this.#text
    this.#text = ''
    if (this.#topTag === this.#head && text.trim() !== '') this.#pop()
    this.#top.append(text)
  }

  #openElement(tag: Tag, attributes: readonly string[], attributesEnd: number, isSelfClosing: boolean): void {
    const { name } = tag
    if (name === 'html') {
      this.#inherit(this.root, attributes, attributesEnd)
      return
    }
    if (name === 'body' && this.#body !== undefined) {
      this.#inherit(this.#body, attributes, attributesEnd)
      return
    }
    this.#closeImplied(tag)
    const element = this.#createElement(name === 'image' ? 'img' : name, attributes, attributesEnd)
    this.#top.append(element)
    if (name === 'body') this.#body = element
    const isClosed = tag.isVoid || (isSelfClosing && (this.isForeign || tag.isForeign))
    if (isClosed) return
    if (this.#stack.length > MAX_DEPTH) tag.tooDeepCount++
    else this.#push(element, tag)
  }

  #createElement(name: string, attributes: readonly string[], attributesEnd: number): Element {
    if (attributesEnd === 0) return new Element(name)
    const ownAttributes = attributes.slice(0, attributesEnd)
    for (let i = 0; i < attributesEnd; i += 2) {
      if (ownAttributes[i] !== 'class') continue
      return new Element(name, ownAttributes, this.#listClasses(ownAttributes[i + 1] ?? ''))
    }
    return new Element(name, ownAttributes)
  }

  /** Adds the attributes of a repeated `html` or `body` tag. */
  #inherit(element: Element, attributes: readonly string[], attributesEnd: number): void {
    for (let i = 0; i < attributesEnd; i += 2) {
      const name = attributes[i] ?? ''
      if (this.#inheritedCount >= MAX_INHERITED || element.hasAttribute(name)) continue
      element.setAttribute(name, attributes[i + 1] ?? '')
      this.#inheritedCount++
    }
  }

  #push(element: Element, tag: Tag): void {
    this.#stack.push(element)
    this.#openTags.push(tag)
    this.#top = element
    this.#topTag = tag
    tag.openCount++
    if (tag.isForeign) this.#foreignCount++
  }

  #pop(): void {
    this.#popTo(this.#stack.length - 1)
  }

  #popTo(length: number): void {
    while (this.#stack.length > length) {
      this.#stack.pop()
      const tag = this.#openTags.pop()
      if (tag === undefined) return
      tag.openCount--
      if (tag.isForeign) this.#foreignCount--
    }
    this.#top = this.#stack[length - 1] ?? this.root
    this.#topTag = this.#openTags[length - 1]
  }

  #closeImplied(tag: Tag): void {
    const isInHead = this.#topTag === this.#head
    // Most of a page is text with inline elements, which need no further checks.
    if (tag.isInline && tag !== this.#link && !this.isForeign && !isInHead) return
    if (isInHead && !tag.isMetadata) this.#pop()
    if (tag.isBreakout && this.isForeign) this.#leaveForeign()
    if (tag.implied !== undefined) this.#closeWithin(tag.implied)
    if (tag === this.#link && tag.openCount > 0) this.#closeLink()
    if (tag.endsParagraph && this.#paragraph.openCount > 0) this.#closeWithin(PARAGRAPH)
    if (tag.isHeading && this.#topTag?.isHeading === true) this.#pop()
  }

  /** Ends SVG or MathML at an HTML element, unless HTML is allowed there. */
  #leaveForeign(): void {
    for (let i = this.#openTags.length - 1; i > 0; i--) {
      const open = this.#openTags[i]
      if (open?.name === 'foreignobject' || open?.name === 'annotation-xml') return
      if (open?.isForeign === true) {
        this.#popTo(i)
        return
      }
    }
  }

  /** Closes the outermost open element named in `closes`, and stops at an element named in `within`. */
  #closeWithin({ closes, within }: ImpliedEnd): void {
    let outermost = 0
    for (let i = this.#openTags.length - 1; i > 0; i--) {
      const name = this.#openTags[i]?.name ?? ''
      if (within.has(name)) break
      if (closes.has(name)) outermost = i
    }
    if (outermost > 0) this.#popTo(outermost)
  }

  /** Closes an open link, because links are not nested. A link around blocks stays open. */
  #closeLink(): void {
    for (let i = this.#openTags.length - 1; i > 0; i--) {
      const open = this.#openTags[i]
      if (open === this.#link) {
        this.#popTo(i)
        return
      }
      if (open?.isInline !== true) return
    }
  }

  #closeElement(tag: Tag): void {
    const { name } = tag
    // As in browsers, `</br>` is a line break too.
    if (name === 'br') {
      this.#top.append(new Element('br'))
      return
    }
    if (tag.tooDeepCount > 0) {
      tag.tooDeepCount--
      return
    }
    if (tag === this.#topTag && this.#top !== this.#body) {
      this.#pop()
      return
    }
    if (tag.openCount === 0) return
    // Content after the body is still shown in it.
    if (name === 'body' || name === 'html') return
    const barriers = barriersOf(tag)
    for (let i = this.#openTags.length - 1; i > 0; i--) {
      const open = this.#openTags[i]
      if (open === undefined) return
      if (open === tag) {
        this.#popTo(i)
        return
      }
      if (barriers.has(open.name)) return
      if (tag.isInline && !open.isInline) {
        this.#endFormatting(i, tag)
        return
      }
    }
  }

  /**
   * Handles the end tag of an inline element that began before the current block: the rest of the block is no longer inside the element.
   * Rebuilding the tree as browsers do is not worth it, so the whole element becomes a plain `span`.
   */
  #endFormatting(from: number, tag: Tag): void {
    const at = this.#openTags.lastIndexOf(tag, from)
    const element = this.#stack[at]
    if (element === undefined) return
    tag.openCount--
    this.#span.openCount++
    this.#openTags[at] = this.#span
    element.name = 'span'
  }
}
