import { INLINE } from '../../html/names.ts'
import { type Element, lineOf } from '../../html/tree.ts'
import type { Statistics, StatisticsMap } from '../content/statistics.ts'
import { removeBy } from './remove-by.ts'

const STEP = 'offers'
const OFF = new Set(((globalThis as any).process?.env?.OFF ?? '').split(','))

export function removeOffers(content: Element, statistics: StatisticsMap): void {
  const whole = statistics.get(content)
  let isBeforeTitle = whole.titles > 0
  removeBy(content, STEP, (element) => {
    const counts = statistics.get(element)
    if (element.name === 'h1') isBeforeTitle = false
    if (element === content || counts.text === 0 || counts.titles > 0) return undefined
    if (!OFF.has('live') && element.hasAttribute('aria-live') && element.attribute('aria-live') !== 'off' && counts.prose < whole.prose * 0.2) return 'live'
    if (!OFF.has('group') && /^(?:radiogroup|group)$/.test(element.attribute('role') ?? '') && counts.prose < whole.prose * 0.1) return 'choice'
    if (!OFF.has('footer') && element.name === 'footer' && !isBeforeTitle && whole.titles > 0) return 'frame of the site'
    if (INLINE.has(element.name) && !standsAlone(element)) return undefined
    if (counts.prose > 0) return undefined
    if (!OFF.has('before') && isBeforeTitle) return 'before the title'
    if (!OFF.has('price') && counts.text <= 60 && PRICE.test(lineOf(element)) && !isFact(element)) return 'price'
    if (!OFF.has('link') && counts.link >= counts.text * 0.9) return 'link to another page'
    if (!OFF.has('label') && isLabel(element, counts, statistics)) return 'label'
    return undefined
  })
}

const PRICE = /(?:\p{Sc}|\b(?:USD|EUR|GBP|CHF|AED|CAD|AUD)\b)\s?\d|\d\s?(?:\p{Sc}|(?:USD|EUR|GBP|CHF|AED|CAD|AUD|kr|zł)\b)/u

function isFact(element: Element): boolean {
  return FACTS.has(element.name)
}
const FACTS = new Set(['td', 'th', 'dd', 'dt', 'tr', 'tbody', 'table', 'dl'])
const STRUCTURE = new Set(['ul', 'ol', 'table', 'dl', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'summary', 'details', 'li', 'td', 'th', 'tr', 'dd', 'dt', 'tbody', 'caption', 'thead', 'blockquote', 'figcaption', 'a', 'p', 'br', 'strong', 'b', 'em', 'i', 'u', 'sup', 'sub'])

function isLabel(element: Element, counts: Statistics, statistics: StatisticsMap): boolean {
  if (counts.headings > 0 || counts.text > 50) return false
  if (STRUCTURE.has(element.name)) return false
  const { parent } = element
  if (parent === undefined || STRUCTURE.has(parent.name)) return false
  for (const one of element.descendants()) if (one.name === 'li' || one.name === 'tr' || one.name === 'dt') return false
  void statistics
  return true
}

/** Whether no text stands beside an inline element in its line. */
function standsAlone(element: Element): boolean {
  const { parent } = element
  if (parent === undefined || INLINE.has(parent.name)) return false
  for (const sibling of parent.children) {
    if (sibling === element) continue
    if (typeof sibling === 'string' ? sibling.trim() !== '' : INLINE.has(sibling.name) && lineOf(sibling) !== '')
      return false
  }
  return true
}
