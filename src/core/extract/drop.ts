import { type Drop, type Element, lineOf } from '../html/tree.ts'
import type { Removal } from '../model.ts'

/** Drops an element with its content. An element that is already dropped keeps its first reason. */
export function drop(element: Element, step: string, reason: string): void {
  element.dropped ??= { step, reason } satisfies Drop
}

/** Elements whose text is never visible, so a removal report does not list them. */
const NEVER_SHOWN = new Set(['head', 'script', 'style', 'template'])

const REPORT_CHARS = 80

/** Lists the parts that were dropped from a tree, in source order, without the parts nested inside them. */
export function listRemovals(root: Element): Removal[] {
  const removals: Removal[] = []
  const visit = (element: Element) => {
    const { dropped } = element
    if (dropped === undefined) {
      for (const child of element.children) if (typeof child !== 'string') visit(child)
      return
    }
    if (NEVER_SHOWN.has(element.name)) return
    // `lineOf` skips dropped elements.
    element.dropped = undefined
    const text = (lineOf(element) || describePicture(element)).slice(0, REPORT_CHARS)
    element.dropped = dropped
    if (text !== '') removals.push({ ...dropped, element: describeElement(element), text })
  }
  visit(root)
  return removals
}

const PICTURES = new Set(['img', 'iframe', 'video', 'audio', 'embed', 'object'])

/** Describes the first picture or media element of an element without text: by its label, or else by its address. */
function describePicture(element: Element): string {
  for (const inner of element.descendants()) {
    if (!PICTURES.has(inner.name)) continue
    const name = inner.attribute('alt') ?? inner.attribute('title') ?? ''
    const source = inner.attribute('src') ?? inner.attribute('data') ?? ''
    const text = name.trim() || (source.startsWith('data:') ? '' : source.trim())
    if (text !== '') return text
  }
  return ''
}

/** `div#main.content.wide` */
function describeElement(element: Element): string {
  const id = element.id === '' ? '' : `#${element.id}`
  return [element.name + id, ...element.classes].join('.')
}
