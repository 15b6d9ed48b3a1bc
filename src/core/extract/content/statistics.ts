import { HEADINGS, INLINE_ELEMENTS } from '../../html/element-names.ts'
import type { Element } from '../../html/tree.ts'

/** Counts over the content of an element, without dropped parts. Lengths are in Latin characters. */
export interface Statistics {
  /** Length of all text. */
  readonly textLength: number
  /** Length of text in links. */
  readonly linkLength: number
  /** Length of text in runs long enough to be sentences, and of code. */
  readonly proseLength: number
  readonly linkCount: number
  readonly headingCount: number
  /** Number of headings of the first level. */
  readonly h1Count: number
  /** Number of elements that are declared as the main content. */
  readonly mainCount: number
  readonly controlCount: number
  readonly imageCount: number
  /** Number of blocks of code. */
  readonly codeBlockCount: number
}

/** Statistics of elements; an unknown element has those of an empty one. */
export interface StatisticsMap {
  get(element: Element): Statistics
}

class Counts implements Statistics {
  textLength = 0
  linkLength = 0
  proseLength = 0
  linkCount = 0
  headingCount = 0
  h1Count = 0
  mainCount = 0
  controlCount = 0
  imageCount = 0
  codeBlockCount = 0

  add(other: Statistics): void {
    this.textLength += other.textLength
    this.linkLength += other.linkLength
    this.proseLength += other.proseLength
    this.linkCount += other.linkCount
    this.headingCount += other.headingCount
    this.h1Count += other.h1Count
    this.mainCount += other.mainCount
    this.controlCount += other.controlCount
    this.imageCount += other.imageCount
    this.codeBlockCount += other.codeBlockCount
  }
}

const EMPTY_COUNTS: Statistics = new Counts()

/** Elements whose text does not belong to the page. */
const NON_TEXT_ELEMENTS = new Set(['script', 'style', 'template', 'svg', 'head', 'title', 'iframe', 'object', 'canvas'])
const CONTROLS = new Set(['input', 'select', 'textarea', 'button'])

/** A run of text that is shorter is a label, not a sentence. */
const SENTENCE_CHARS = 50

/** A run of text: the text of a block up to the next block. Counts its length and the length of the part in links. */
class Run {
  text = 0
  link = 0
}

/** Counts all elements in a tree in one pass. */
export function countStatistics(root: Element): StatisticsMap {
  const map = new Map<Element, Counts>()
  countElement(root, map, new Run(), false)
  return { get: (element) => map.get(element) ?? EMPTY_COUNTS }
}

/** The totals of several elements. */
export function sumStatistics(parts: readonly Statistics[]): Statistics {
  const sum = new Counts()
  for (const part of parts) sum.add(part)
  return sum
}

/** Share of the text that is in links, from 0 to 1. */
export function linkShare({ textLength, linkLength }: Statistics): number {
  return textLength === 0 ? 0 : linkLength / textLength
}

function countElement(element: Element, map: Map<Element, Counts>, outer: Run, isInLink: boolean): Counts {
  const counts = new Counts()
  const { name } = element
  if (element.dropped !== undefined || NON_TEXT_ELEMENTS.has(name)) return counts
  map.set(element, counts)
  const isBlock = !INLINE_ELEMENTS.has(name)
  const isCode = name === 'pre'
  const isLink = isInLink || name === 'a'
  const run = isBlock ? new Run() : outer
  if (name === 'a') counts.linkCount++
  else if (name === 'img') counts.imageCount++
  else if (isCode) counts.codeBlockCount++
  else if (CONTROLS.has(name)) counts.controlCount++
  else if (HEADINGS.has(name)) counts.headingCount++
  if (name === 'h1') counts.h1Count++
  if (name === 'main' || element.attribute('role') === 'main') counts.mainCount++
  for (const child of element.children) {
    if (typeof child === 'string') {
      const length = lengthOf(child)
      counts.textLength += length
      run.text += length
      if (isLink) {
        counts.linkLength += length
        run.link += length
      }
      continue
    }
    if (!INLINE_ELEMENTS.has(child.name) && child.name !== 'br') endRun(run, counts, isCode)
    counts.add(countElement(child, map, run, isLink))
  }
  if (isBlock) endRun(run, counts, isCode)
  return counts
}

/** Ends a run of text. It counts as prose if it is code, or long enough to be a sentence and not mostly links. */
function endRun(run: Run, counts: Counts, isCode: boolean): void {
  const isProse = isCode || (run.text >= SENTENCE_CHARS && run.link < run.text / 2)
  if (isProse) counts.proseLength += run.text
  run.text = 0
  run.link = 0
}

/** One Chinese, Japanese or Korean character carries about as much meaning as this many letters. */
const IDEOGRAPH_LETTERS = 3
const FIRST_IDEOGRAPH = 0x2e80

/** Length of a text in which a run of white space counts as one character, and an ideograph as several. */
function lengthOf(text: string): number {
  let length = 0
  let isSpace = true
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code <= 0x20) {
      if (!isSpace) length++
      isSpace = true
      continue
    }
    isSpace = false
    length += code >= FIRST_IDEOGRAPH && code < 0xd800 ? IDEOGRAPH_LETTERS : 1
  }
  return length
}
