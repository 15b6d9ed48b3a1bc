import { METADATA } from '../../html/names.ts'
import type { Element } from '../../html/tree.ts'
import { clipText } from '../../text/lines.ts'

/** Where a document may speak about itself, gathered in one pass. Texts are on one line and bounded. */
export interface Facts {
  /** Values of `<meta>` by name, property or http-equiv in lower case, in order. */
  readonly meta: ReadonlyMap<string, readonly string[]>
  /** Values of the `itemprop` that are of use here, by name in lower case, in order. */
  readonly items: ReadonlyMap<string, readonly string[]>
  /** `itemtype` of every item. */
  readonly itemTypes: readonly string[]
  /** Every `<link>` in the head that has an address and a relation. In the body it may be anybody's. */
  readonly links: readonly Element[]
  /** Texts of JSON-LD scripts. */
  readonly jsonLd: readonly string[]
  readonly title: string
  readonly headings: readonly string[]
  /** `<time datetime>` beside the first heading, the nearest first. */
  readonly times: readonly string[]
  /** Texts of what is marked as the author of the document. */
  readonly bylines: readonly string[]
  readonly language: string
}

/** Longer values are cut; nobody's name or title is so long. */
const MAX_VALUE = 2000
const MAX_VALUES = 20
const MAX_JSON_LD = 1_000_000

/** What may stand before the body, whose first element ends the head. */
const HEAD: ReadonlySet<string> = new Set(['html', 'head', ...METADATA])

/** How far from the first heading a date may stand, in characters of text. */
const NEAR_AFTER = 500
const NEAR_BEFORE = 200

const BYLINE_CLASS =
  /(?:^|\s)(?:by-?line|author|(?:entry|post|article|story|page)[-_]{1,2}author|author[-_]{1,2}name|byline[-_]{1,2}name)(?=\s|$)/i

/** Gathers what a document says about itself. Headings that were dropped as hidden are none. */
export function gatherFacts(root: Element): Facts {
  const meta = new Map<string, string[]>()
  const items = new Map<string, string[]>()
  const itemTypes = new Set<string>()
  const links: Element[] = []
  const jsonLd: string[] = []
  const headings: string[] = []
  const bylines: string[] = []
  const times: { value: string; at: number }[] = []
  let jsonLdLeft = MAX_JSON_LD
  let title = ''
  let chars = 0
  let headingAt = 0
  let isInHead = true

  const visit = (element: Element, isInComment: boolean, isHidden: boolean) => {
    if (!HEAD.has(element.name)) isInHead = false
    switch (element.name) {
      case 'svg':
      case 'template':
      case 'style':
      case 'noscript':
      case 'pre':
        return
      case 'script': {
        const text = /^application\/ld\+json/i.test(element.attribute('type') ?? '') ? element.children.join('') : ''
        if (text !== '' && text.length <= jsonLdLeft) {
          jsonLd.push(text)
          jsonLdLeft -= text.length
        }
        return
      }
      case 'meta': {
        const names = ['name', 'property', 'http-equiv'].map((name) => element.attribute(name))
        const name = names.find((one) => one !== undefined)
        if (name !== undefined) addValue(meta, name, element.attribute('content') ?? '')
        break
      }
      case 'link':
        if (isInHead && element.hasAttribute('href') && element.hasAttribute('rel')) links.push(element)
        break
      case 'title':
        if (title === '') title = boundedLine(element)
        return
      case 'h1':
        if (isHidden || element.dropped !== undefined) break
        if (headings.length === 0) headingAt = chars
        if (headings.length < MAX_VALUES) headings.push(boundedLine(element))
        break
      case 'time': {
        const value = element.attribute('datetime')
        if (value !== undefined && times.length < 100 && !isInComment) times.push({ value, at: chars })
        break
      }
    }
    const itemType = element.isBare ? undefined : element.attribute('itemtype')
    if (itemType !== undefined) itemTypes.add(itemType)
    const isComment = isInComment || /(?:^|[\s_-])comments?(?=[\s_-]|$)/i.test(element.attribute('class') ?? '')
    if (!isComment && !element.isBare) {
      const property = element.attribute('itemprop')
      if (property !== undefined && isWanted(items, property)) addValue(items, property, itemValue(element))
      if (isByline(element) && bylines.length < MAX_VALUES) bylines.push(boundedLine(element))
    }
    for (const child of element.children) {
      if (typeof child === 'string') chars += child.trim().length
      else visit(child, isComment, isHidden || element.dropped !== undefined)
    }
  }
  visit(root, false, false)

  const language = root.attribute('lang') ?? root.attribute('xml:lang') ?? ''
  const near = times
    .map(({ value, at }) => ({ value, distance: at - headingAt }))
    .filter(({ distance }) => distance <= NEAR_AFTER && distance >= -NEAR_BEFORE)
    .sort((a, b) => Math.abs(a.distance) - Math.abs(b.distance))
  return {
    meta,
    items,
    itemTypes: [...itemTypes],
    links,
    jsonLd,
    title,
    headings: headings.filter((heading) => heading !== ''),
    times: near.map(({ value }) => value),
    bylines: bylines.filter((byline) => byline !== ''),
    language,
  }
}

function addValue(values: Map<string, string[]>, name: string, value: string): void {
  const line = clipText(value, MAX_VALUE).replace(/\s+/g, ' ').trim()
  if (line === '') return
  const key = name.trim().toLowerCase()
  const known = values.get(key)
  if (known === undefined) values.set(key, [line])
  else if (known.length < MAX_VALUES) known.push(line)
}

const PROPERTIES = new Set(['author', 'datepublished', 'datemodified'])

/** Reading the text of a property takes time, so it is read only when it will be used. */
function isWanted(items: ReadonlyMap<string, readonly string[]>, property: string): boolean {
  const key = property.trim().toLowerCase()
  return PROPERTIES.has(key) && (items.get(key)?.length ?? 0) < MAX_VALUES
}

function isByline(element: Element): boolean {
  return element.attribute('rel') === 'author' || BYLINE_CLASS.test(element.attribute('class') ?? '')
}

/** The value of a property, or of the name in it. */
function itemValue(element: Element): string {
  return element.attribute('content') ?? element.attribute('datetime') ?? boundedLine(namedIn(element) ?? element)
}

/** How many children of an item are looked at for its name. */
const MAX_CHILDREN = 20

function namedIn(element: Element): Element | undefined {
  for (const child of element.children.slice(0, MAX_CHILDREN)) {
    if (typeof child === 'string') continue
    if (child.attribute('itemprop') === 'name') return child
    const [inner] = child.children
    if (typeof inner === 'object' && inner.attribute('itemprop') === 'name') return inner
  }
  return undefined
}

/** The beginning of the text in an element. Stops as soon as it has enough, since elements with names may be nested. */
function boundedLine(element: Element): string {
  let text = ''
  let visited = 0
  const visit = (node: Element | string) => {
    if (text.length > MAX_VALUE || visited++ > MAX_VALUE) return
    if (typeof node === 'string') text += node.slice(0, MAX_VALUE)
    else if (node.name !== 'script' && node.name !== 'style') {
      for (const child of node.children) {
        if (typeof child !== 'string' && child.dropped !== undefined) continue
        if (text.length > MAX_VALUE || visited > MAX_VALUE) return
        visit(child)
      }
    }
  }
  visit(element)
  return clipText(text.replace(/\s+/g, ' ').trim(), MAX_VALUE)
}
