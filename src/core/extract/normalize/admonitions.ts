import type { Element } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import { hasText, listDescendants, type Rule, shortText } from './rule.ts'
import { unwrapTable } from './tables.ts'

const STEP = 'admonitions'

/** Classes of boxes, which are admonitions if another class names a kind. `admonition` and `callout` need no other class. */
const ADMONITION_CLASSES =
  `admonition admonitionblock custom-block theme-admonition alert markdown-alert callout starlight-aside
  notice notification hint bd-callout docs-callout infobox aside message box panel`.split(/\s+/)

/** Classes that mark an admonition on their own. */
const KIND_CLASSES = `note tip warning important caution danger seealso hint attention error deprecated`.split(/\s+/)

const ELEMENTS = ['div', 'aside', 'section', 'p', 'blockquote']

export const ADMONITION_SELECTOR: string = [...new Set([...ADMONITION_CLASSES, ...KIND_CLASSES])]
  .flatMap((name) => ELEMENTS.map((element) => `${element}.${name}`))
  .join(', ')

const KINDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    NOTE: 'note info information seealso see todo abstract summary tldr example quote cite question faq primary secondary',
    TIP: 'tip hint success check done best-practice',
    IMPORTANT: 'important',
    WARNING: 'warning warn attention deprecated',
    CAUTION: 'caution danger error bug failure fail missing critical',
  }).flatMap(([kind, names]) => names.split(' ').map((name): [string, string] => [name, kind])),
)

/** The kind of admonition that a word names; undefined for a word that names none. */
export function admonitionKind(word: string): string | undefined {
  return KINDS.get(word.toLowerCase())
}

const PAGE_HEADINGS = new Set(['h1', 'h2'])
const MAX_DESCENDANTS = 100

export const normalizeAdmonition: Rule = (element) => {
  convertToAdmonition(element)
}

/** Turns an element into an admonition if its classes or attributes name a kind of admonition. */
export function convertToAdmonition(element: Element): void {
  const kind = kindOf(element)
  if (kind === undefined) return
  const descendants = listDescendants(element, MAX_DESCENDANTS)
  if (descendants.some((child) => PAGE_HEADINGS.has(child.name) && !isTitle(child))) return
  for (const child of descendants) if (child.name === 'table' && isLayoutTable(child)) unwrapLayoutTable(child)
  const title = takeTitle(element, descendants)
  if (title === '' && !hasText(element)) return
  element.name = 'Admonition'
  element.setAttribute('Kind', kind)
  if (title !== '' && title.toUpperCase() !== kind) element.setAttribute('Title', title)
}

function kindOf(element: Element): string | undefined {
  const callout = element.attribute('data-callout') ?? element.attribute('data-type')
  const { classes } = element
  for (const name of callout === undefined ? classes : [callout, ...classes]) {
    const kind = admonitionKind(name)
    if (kind !== undefined) return kind
  }
  const isBox = classes.some((name) => ADMONITION_CLASSES.includes(name)) || element.name === 'details'
  if (!isBox) return undefined
  for (const name of classes) {
    for (const part of name.toLowerCase().split(/[-_]+/)) {
      const kind = KINDS.get(part)
      if (kind !== undefined && (element.name !== 'details' || classes.includes('admonition'))) return kind
    }
  }
  return classes.includes('admonition') || classes.includes('callout') ? 'NOTE' : undefined
}

/** Whether a table lays out an admonition, as in Asciidoctor and DocBook: an icon, and the text beside it. */
function isLayoutTable(table: Element): boolean {
  const cells = listDescendants(table, 12).filter(({ name }) => name === 'td' || name === 'th')
  const [first] = cells
  return cells.length > 1 && cells.length <= 3 && first !== undefined && isIcon(first)
}

function isIcon(cell: Element): boolean {
  return cell.hasClass('icon') || /^\[?\w*\]?$/.test(shortText(cell, MAX_TITLE) ?? ' ')
}

function unwrapLayoutTable(table: Element): void {
  const [icon, second] = listDescendants(table, 12).filter(({ name }) => name === 'td' || name === 'th')
  if (icon !== undefined) drop(icon, STEP, 'icon of an admonition')
  if (second?.name === 'th') second.setAttribute('class', 'title')
  unwrapTable(table)
}

const TITLE_CLASS = /(?:^|[-_])(?:title|heading|label)(?:$|[-_])|admonitionHeading/i
const MAX_TITLE = 120

function isTitle(element: Element): boolean {
  if (element.name === 'summary') return true
  return element.hasAttribute('class') && element.classes.some((name) => TITLE_CLASS.test(name))
}

/** Drops the title of an admonition from its content and returns it. */
function takeTitle(admonition: Element, descendants: readonly Element[]): string {
  for (const child of descendants.slice(0, 20)) {
    if (child.dropped !== undefined || !isTitle(child)) continue
    const text = shortText(child, MAX_TITLE) ?? ''
    if (text === '') continue
    drop(child, STEP, 'title of an admonition')
    if (hasText(admonition)) return text.replace(/(?<!\s)\s*:$/, '')
    child.dropped = undefined
  }
  return ''
}
