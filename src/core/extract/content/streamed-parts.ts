import type { Element } from '../../html/tree.ts'

const PLACEHOLDER_ID = /^B:([\da-f]+)$/
const CONTENT_ID = /^S:([\da-f]+)$/

/**
 * Moves streamed parts of a page to the position where a script would put them: React sends `<template id="B:1">` as a placeholder and
 * `<div hidden id="S:1">` with the content at the end.
 */
export function placeStreamedParts(root: Element): void {
  const places = new Map<string, Element>()
  const parts = new Map<string, Element>()
  const collect = (element: Element) => {
    const { id } = element
    const place = PLACEHOLDER_ID.exec(id)?.[1]
    const part = CONTENT_ID.exec(id)?.[1]
    if (place !== undefined) places.set(place, element)
    if (part !== undefined) parts.set(part, element)
    for (const child of element.children) if (typeof child !== 'string') collect(child)
  }
  collect(root)
  const partAt = new Map<Element, Element>()
  const changed = new Set<Element>()
  for (const [key, part] of parts) {
    const place = places.get(key)
    if (place?.parent === undefined || part.parent === undefined || part.contains(place)) continue
    partAt.set(place, part)
    changed.add(place.parent)
    changed.add(part.parent)
    part.parent = place.parent
  }
  const moved = new Set(partAt.values())
  for (const parent of changed) {
    parent.children = parent.children
      .filter((child) => typeof child === 'string' || !moved.has(child))
      .map((child) => (typeof child === 'string' ? child : (partAt.get(child) ?? child)))
  }
}
