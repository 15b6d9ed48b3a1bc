import type { Element } from '../../html/tree.ts'

const PLACEHOLDER_ID = /^B:([\da-f]+)$/
const CONTENT_ID = /^S:([\da-f]+)$/

/**
 * Moves streamed parts of a page to the position where a script would put them: React sends `<template id="B:1">` as a placeholder and
 * `<div hidden id="S:1">` with the content at the end.
 */
export function placeStreamedParts(root: Element): void {
  const placeholders = new Map<string, Element>()
  const parts = new Map<string, Element>()
  const collect = (element: Element) => {
    const { id } = element
    const placeholderKey = PLACEHOLDER_ID.exec(id)?.[1]
    const partKey = CONTENT_ID.exec(id)?.[1]
    if (placeholderKey !== undefined) placeholders.set(placeholderKey, element)
    if (partKey !== undefined) parts.set(partKey, element)
    for (const child of element.children) if (typeof child !== 'string') collect(child)
  }
  collect(root)
  const partByPlaceholder = new Map<Element, Element>()
  const changedParents = new Set<Element>()
  for (const [key, part] of parts) {
    const placeholder = placeholders.get(key)
    if (placeholder?.parent === undefined || part.parent === undefined || part.contains(placeholder)) continue
    partByPlaceholder.set(placeholder, part)
    changedParents.add(placeholder.parent)
    changedParents.add(part.parent)
    part.parent = placeholder.parent
  }
  const moved = new Set(partByPlaceholder.values())
  for (const parent of changedParents) {
    parent.children = parent.children
      .filter((child) => typeof child === 'string' || !moved.has(child))
      .map((child) => (typeof child === 'string' ? child : (partByPlaceholder.get(child) ?? child)))
  }
}
