import type { Element } from '../../html/tree.ts'
import { clipText } from '../../text/lines.ts'
import type { ElementIndex } from '../element-index.ts'
import { boundedLine, MAX_VALUE } from './bounded-line.ts'
import { isBylineClass } from './class-names.ts'
import { listNearbyTimes } from './times.ts'

/** The metadata that a document declares. Texts are on one line and bounded. */
export interface DeclaredMetadata {
  /** Values of `<meta>` by name, property or http-equiv in lower case, in order. */
  readonly meta: ReadonlyMap<string, readonly string[]>
  /** Values of the item properties in PROPERTIES, by name in lower case, in order. */
  readonly items: ReadonlyMap<string, readonly string[]>
  /** `itemtype` of every item. */
  readonly itemTypes: readonly string[]
  /** Every `<link>` in the head that has an address and a relation. Links in the body may come from user content, so they do not count. */
  readonly links: readonly Element[]
  /** Texts of JSON-LD scripts. */
  readonly jsonLd: readonly string[]
  readonly title: string
  readonly headings: readonly string[]
  /** The `datetime` of each `<time>` near the first heading, the nearest first. */
  readonly times: readonly string[]
  /** Texts of elements whose markup says that they name the author of the document. */
  readonly bylines: readonly string[]
  readonly language: string
}

const MAX_VALUES = 20
const MAX_JSON_LD_CHARS = 1_000_000

/** Collects the metadata of a document. Hidden headings do not count. */
export function gatherMetadata({ root, h1s, metadataElements }: ElementIndex): DeclaredMetadata {
  const meta = new Map<string, string[]>()
  for (const element of metadataElements.metas) {
    const name = element.attribute('name') ?? element.attribute('property') ?? element.attribute('http-equiv')
    if (name !== undefined) addValue(meta, name, element.attribute('content') ?? '')
  }
  const items = new Map<string, string[]>()
  const bylines: string[] = []
  for (const element of metadataElements.properties) {
    const property = element.attribute('itemprop')
    if (property !== undefined && isWanted(items, property)) addValue(items, property, itemValue(element))
    if (isByline(element) && bylines.length < MAX_VALUES) bylines.push(boundedLine(element))
  }
  const headings = listVisibleHeadings(h1s)
  return {
    meta,
    items,
    itemTypes: [...new Set(metadataElements.items.map((element) => element.attribute('itemtype') ?? ''))],
    links: metadataElements.links.filter((element) => element.hasAttribute('href') && element.hasAttribute('rel')),
    jsonLd: readScripts(metadataElements.scripts),
    title: firstLine(metadataElements.titles),
    headings: headings.map(boundedLine).filter((heading) => heading !== ''),
    times: listNearbyTimes(root, metadataElements.times, headings[0]),
    bylines: bylines.filter((byline) => byline !== ''),
    language: root.attribute('lang') ?? root.attribute('xml:lang') ?? '',
  }
}

function readScripts(scripts: readonly Element[]): string[] {
  const texts: string[] = []
  let charsLeft = MAX_JSON_LD_CHARS
  for (const element of scripts) {
    if (!/^application\/ld\+json/i.test(element.attribute('type') ?? '')) continue
    const text = element.children.join('')
    if (text === '' || text.length > charsLeft) continue
    texts.push(text)
    charsLeft -= text.length
  }
  return texts
}

function firstLine(elements: readonly Element[]): string {
  for (const element of elements) {
    const line = boundedLine(element)
    if (line !== '') return line
  }
  return ''
}

function listVisibleHeadings(headings: readonly Element[]): Element[] {
  const visible: Element[] = []
  for (const heading of headings) {
    if (visible.length === MAX_VALUES) break
    if (isVisible(heading)) visible.push(heading)
  }
  return visible
}

/** Headings inside these elements are not headings of the page. */
const NON_PAGE_ELEMENTS = new Set(['svg', 'template', 'style', 'noscript', 'pre'])

function isVisible(heading: Element): boolean {
  for (let at: Element | undefined = heading; at !== undefined; at = at.parent) {
    if (at.dropped !== undefined || NON_PAGE_ELEMENTS.has(at.name)) return false
  }
  return true
}

function addValue(values: Map<string, string[]>, name: string, value: string): void {
  const line = clipText(value, MAX_VALUE).replace(/\s+/g, ' ').trim()
  if (line === '') return
  const key = name.trim().toLowerCase()
  const known = values.get(key)
  if (known === undefined) values.set(key, [line])
  else if (known.length < MAX_VALUES) known.push(line)
}

const PROPERTIES = new Set(['author', 'datepublished', 'datemodified', 'articlesection'])

/** Whether the text of a property will be used. Other texts are not read, because reading takes time. */
function isWanted(items: ReadonlyMap<string, readonly string[]>, property: string): boolean {
  const key = property.trim().toLowerCase()
  return PROPERTIES.has(key) && (items.get(key)?.length ?? 0) < MAX_VALUES
}

function isByline(element: Element): boolean {
  return element.attribute('rel') === 'author' || isBylineClass(element.attribute('class') ?? '')
}

/** The value of an item property. If the property is an item with a name, the name. */
function itemValue(element: Element): string {
  return element.attribute('content') ?? element.attribute('datetime') ?? boundedLine(findItemName(element) ?? element)
}

/** Maximum number of children of an item that are searched for its name. */
const MAX_CHILDREN = 20

function findItemName(element: Element): Element | undefined {
  for (const child of element.children.slice(0, MAX_CHILDREN)) {
    if (typeof child === 'string') continue
    if (child.attribute('itemprop') === 'name') return child
    const [inner] = child.children
    if (typeof inner === 'object' && inner.attribute('itemprop') === 'name') return inner
  }
  return undefined
}
