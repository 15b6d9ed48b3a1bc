import { SelectorMap } from '../../../html/selector.ts'
import type { Element } from '../../../html/tree.ts'
import { readSelectors } from './selectors.ts'
import { readDeclarations, readStyleRules } from './stylesheet.ts'
import { ASPECTS, type Aspect, readVisibility, type Visibility, type VisibilityByAspect } from './visibility.ts'

/** The effect of a style sheet rule on one aspect of the elements it selects. */
export interface HidingRule extends Visibility {
  readonly selector: string
  readonly aspect: Aspect
}

interface Candidate {
  readonly rule: HidingRule
  readonly key: string
  readonly weight: number
}

/** A style sheet of a page. */
export interface Sheet {
  readonly css: string
  /** Whether the sheet applies only under conditions. */
  readonly isConditional: boolean
}

/** Only this many rules per class, id or name are kept, the strongest first; matching more would take too long. */
const MAX_RULES_PER_KEY = 50

/** Number of characters that are read of all style sheets together. Longer style sheets are not specific to one page. */
const MAX_CSS_CHARS = 2_000_000

const NO_RULES: readonly HidingRule[] = []

/** Added to the weight of important rules; more than any specificity. */
const IMPORTANT = 1_000_000_000

/**
 * The rules by which the style sheets of a page hide elements. Only fully understood selectors may hide an element. A selector with
 * states, and a rule under conditions, may show an element again but never hide it: losing content is worse than keeping a closed menu.
 */
export class HidingRules {
  readonly #maps: Readonly<Record<Aspect, SelectorMap<HidingRule>>> = {
    display: new SelectorMap(),
    visibility: new SelectorMap(),
    box: new SelectorMap(),
    opacity: new SelectorMap(),
    font: new SelectorMap(),
  }

  /** The aspects that at least one rule uses to hide elements. */
  readonly #aspects: readonly Aspect[]

  /** `isInDocument` tells whether a class (`.a`) or id (`#a`) occurs in the document. */
  constructor(sheets: Iterable<Sheet>, isInDocument: (name: string) => boolean) {
    const counts = new Map<string, number>()
    // A map returns the rule that was added first, so stronger rules are added first, and the last of equally strong ones.
    const candidates = readCandidates(sheets, isInDocument)
    this.#aspects = ASPECTS.filter((aspect) => candidates.some(({ rule }) => rule.isHidden && rule.aspect === aspect))
    for (const { rule, key } of candidates.reverse().sort((a, b) => b.weight - a.weight)) {
      const count = counts.get(`${rule.aspect} ${key}`) ?? 0
      if (!this.#aspects.includes(rule.aspect) || count >= MAX_RULES_PER_KEY) continue
      counts.set(`${rule.aspect} ${key}`, count + 1)
      this.#maps[rule.aspect].add(rule.selector, rule)
    }
  }

  /** Whether no rule can hide an element. */
  get isEmpty(): boolean {
    return this.#aspects.length === 0
  }

  /** The rules that hide an element. Its `style` attribute overrides them, unless they are important. */
  match(element: Element, inline: VisibilityByAspect): readonly HidingRule[] {
    if (this.#aspects.length === 0) return NO_RULES
    const rules: HidingRule[] = []
    for (const aspect of this.#aspects) {
      const rule = this.#maps[aspect].match(element)
      if (rule?.isHidden !== true) continue
      const inlineVisibility = inline[aspect]
      if (inlineVisibility === undefined || (rule.isImportant && !inlineVisibility.isImportant)) rules.push(rule)
    }
    return rules
  }
}

function readCandidates(sheets: Iterable<Sheet>, isInDocument: (name: string) => boolean): Candidate[] {
  const candidates: Candidate[] = []
  let charsLeft = MAX_CSS_CHARS
  for (const { css, isConditional } of sheets) {
    for (const rule of readStyleRules(css.slice(0, charsLeft))) {
      const selectors = readSelectors(rule.selectors, isConditional || rule.isConditional, isInDocument)
      // Most rules of a theme apply to other pages of the site.
      if (selectors.length === 0) continue
      const visibilities = readVisibility(readDeclarations(rule.declarations), false)
      for (const aspect of ASPECTS) {
        const visibility = visibilities[aspect]
        if (visibility === undefined) continue
        for (const { selector, key, specificity, mayHide } of selectors) {
          if (visibility.isHidden && !mayHide) continue
          const weight = specificity + (visibility.isImportant ? IMPORTANT : 0)
          candidates.push({ rule: { ...visibility, selector, aspect }, key, weight })
        }
      }
    }
    charsLeft = Math.max(0, charsLeft - css.length)
  }
  return candidates
}
