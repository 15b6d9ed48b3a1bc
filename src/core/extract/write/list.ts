import type { Element } from '../../html/tree.ts'
import type { Block } from './block.ts'
import type { BlockBuilder } from './builder.ts'
import { MAX_NESTING } from './nesting.ts'

/** Writes `ul` and `ol`. A list whose items have headings is a layout; its items are written one after the other. */
export function writeList(builder: BlockBuilder, element: Element): void {
  if (builder.nesting >= MAX_NESTING) {
    builder.flush()
    builder.writeChildren(element)
    builder.flush()
    return
  }
  builder.nesting++
  const items: Item[] = []
  collectItems(builder, element, items)
  builder.nesting--
  if (items.some(({ blocks }) => blocks.some((block) => block.type === 'heading'))) {
    for (const block of items.flatMap(({ blocks }) => blocks)) builder.push(block)
  } else if (items.length > 0) {
    const numbers = element.name === 'ol' ? numberItems(items, readNumber(element, 'start') ?? 1) : []
    builder.push({ type: 'list', numbers, items: items.map(({ blocks }) => blocks) })
  }
}

interface Item {
  readonly blocks: Block[]
  /** The number of the item, if its `value` attribute sets one. */
  readonly value: number | undefined
}

/** Larger numbers would not be read as numbers of items. */
const MAX_NUMBER = 999_999_999

function numberItems(items: readonly Item[], start: number): number[] {
  let next = start
  return items.map(({ value }) => {
    const number = Math.min(value ?? next, MAX_NUMBER)
    next = number + 1
    return number
  })
}

function readNumber(element: Element, attribute: string): number | undefined {
  const value = element.attribute(attribute) ?? ''
  return /^\d{1,9}$/.test(value) ? Number(value) : undefined
}

/** Collects the items of a list, also those nested in other elements. */
function collectItems(builder: BlockBuilder, parent: Element, items: Item[]): void {
  for (const child of parent.children) {
    if (typeof child !== 'string' && child.dropped !== undefined) continue
    if (typeof child === 'string') {
      if (child.trim() !== '') items.push({ blocks: builder.collect([child]), value: undefined })
    } else if (child.name === 'li') {
      const blocks = writeItem(builder, child)
      if (blocks.length > 0) items.push({ blocks, value: readNumber(child, 'value') })
    } else if (hasItems(child)) collectItems(builder, child, items)
    else {
      const blocks = builder.collect([child])
      const last = items.at(-1)
      // A list directly in a list belongs to the previous item.
      if (last !== undefined && blocks[0]?.type === 'list') last.blocks.push(...blocks)
      else if (blocks.length > 0) items.push({ blocks, value: undefined })
    }
  }
}

function hasItems(element: Element): boolean {
  if (element.name === 'ul' || element.name === 'ol') return false
  for (const child of element.elements()) if (child.name === 'li') return true
  return false
}

const TASK_MARKER = /^\[[ xX]\](?= |$)/

function writeItem(builder: BlockBuilder, item: Element): Block[] {
  const blocks = builder.collect(item.children)
  const [first, ...rest] = blocks
  if (first === undefined) return blocks
  const checkbox = checkboxOf(item)
  if (first.type === 'paragraph') {
    const text = TASK_MARKER.test(first.text) ? `\\${first.text}` : first.text
    if (checkbox !== undefined) return [{ type: 'paragraph', text: `${checkbox} ${text}` }, ...rest]
    return text === first.text ? blocks : [{ type: 'paragraph', text }, ...rest]
  }
  // A rule directly after the marker of an item would be read as part of a longer rule.
  return first.type === 'rule' ? rest : blocks
}

/** `[x]` or `[ ]` if an item begins with a checkbox. */
function checkboxOf(item: Element): string | undefined {
  let at: Element | undefined = item
  for (let depth = 0; at !== undefined && depth < 4; depth++) {
    at = firstElement(at)
    if (at?.name === 'input' && at.attribute('type') === 'checkbox') return at.hasAttribute('checked') ? '[x]' : '[ ]'
  }
  return undefined
}

/** The first child, if it is an element; undefined if text comes first. */
function firstElement(parent: Element): Element | undefined {
  for (const child of parent.children) {
    if (typeof child !== 'string') return child
    if (child.trim() !== '') return undefined
  }
  return undefined
}
