import type { Element } from '../../html/tree.ts'

/** How far from the first heading a date may be, in characters of text. */
const MAX_CHARS_AFTER = 500
const MAX_CHARS_BEFORE = 200

const MAX_TIMES = 100

/** The `datetime` of each time near the first heading of a page, the nearest first. */
export function listNearbyTimes(root: Element, times: readonly Element[], heading: Element | undefined): string[] {
  const dated = times.filter((time) => time.hasAttribute('datetime')).slice(0, MAX_TIMES)
  if (dated.length === 0) return []
  const offsets = textOffsetsOf(root, new Set(heading === undefined ? dated : [...dated, heading]))
  const headingOffset = (heading && offsets.get(heading)) ?? 0
  return dated
    .map((time) => ({ value: time.attribute('datetime') ?? '', distance: (offsets.get(time) ?? 0) - headingOffset }))
    .filter(({ distance }) => distance <= MAX_CHARS_AFTER && distance >= -MAX_CHARS_BEFORE)
    .sort((a, b) => Math.abs(a.distance) - Math.abs(b.distance))
    .map(({ value }) => value)
}

/** Elements whose text does not count. */
const IGNORED_ELEMENTS = new Set(['svg', 'template', 'style', 'noscript', 'pre', 'script', 'title'])

/** Number of characters of text, visible or not, before each of the elements. */
function textOffsetsOf(root: Element, elements: ReadonlySet<Element>): ReadonlyMap<Element, number> {
  const offsets = new Map<Element, number>()
  let chars = 0
  const visit = (element: Element) => {
    if (IGNORED_ELEMENTS.has(element.name)) return
    if (elements.has(element)) offsets.set(element, chars)
    for (const child of element.children) {
      if (typeof child === 'string') chars += child.trim().length
      else visit(child)
    }
  }
  visit(root)
  return offsets
}
