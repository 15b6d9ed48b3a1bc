import { SelectorMap } from '../../../html/selector.ts'
import type { Element } from '../../../html/tree.ts'
import { readDeclarations, readStyleRules, type StyleRule } from './stylesheet.ts'
import { ASPECTS, type Aspect, judgeDeclarations, type Verdicts } from './visibility.ts'

/** A rule of a style sheet, or of several alike. */
export interface HidingRule {
  readonly selector: string
  readonly hides: boolean
}

interface Candidate extends HidingRule {
  readonly aspect: Aspect
  readonly weight: number
}

/** More rules about one class, id or name are not read; matching them all would take too long. */
const MAX_RULES_PER_KEY = 50

/** Style sheets longer than this are not written by a site for one page. */
const MAX_CSS = 2_000_000

/**
 * What the style sheets in a page hide. Only selectors that look at one element are trusted to hide it. A selector that
 * looks further, and a rule under conditions, may show something again but never hide it: to lose content is worse than
 * to keep a closed menu.
 */
export class HidingRules {
  readonly #maps: Readonly<Record<Aspect, SelectorMap<HidingRule>>> = {
    display: new SelectorMap(),
    visibility: new SelectorMap(),
    box: new SelectorMap(),
  }

  /** `isThere` tells whether a class (`.a`) or id (`#a`) occurs in the document. */
  constructor(sheets: Iterable<{ css: string; isConditional: boolean }>, isThere: (name: string) => boolean) {
    const candidates: Candidate[] = []
    const counts = new Map<string, number>()
    let left = MAX_CSS
    for (const { css, isConditional } of sheets) {
      for (const rule of readStyleRules(css.slice(0, left))) {
        const selectors = readSelectors(rule, isConditional, isThere)
        // Most rules of a theme are about other pages of the site.
        if (selectors.length === 0) continue
        const verdicts = entriesOf(judgeDeclarations(readDeclarations(rule.declarations), false))
        const important = rule.declarations.includes('!important') ? 1_000_000 : 0
        for (const { own, key, weight, mayHide } of selectors) {
          for (const [aspect, hides] of verdicts) {
            if (hides && !mayHide) continue
            const count = (counts.get(`${aspect} ${key}`) ?? 0) + 1
            counts.set(`${aspect} ${key}`, count)
            if (count <= MAX_RULES_PER_KEY)
              candidates.push({ selector: own, hides, aspect, weight: weight + important })
          }
        }
      }
      left = Math.max(0, left - css.length)
    }
    // The strongest first, of equals the last: a map answers with the rule that was added first.
    for (const rule of candidates.reverse().sort((a, b) => b.weight - a.weight)) {
      this.#maps[rule.aspect].add(rule.selector, rule)
    }
  }

  /** The rule that hides an element. What its `style` attribute says is stronger. */
  match(element: Element, inline: Verdicts): HidingRule | undefined {
    for (const aspect of ASPECTS) {
      if (inline[aspect] !== undefined) continue
      const rule = this.#maps[aspect].match(element)
      if (rule?.hides === true) return rule
    }
    return undefined
  }
}

function entriesOf(verdicts: Verdicts): [Aspect, boolean][] {
  return ASPECTS.flatMap((aspect) => (verdicts[aspect] === undefined ? [] : [[aspect, verdicts[aspect]]]))
}

interface ReadSelector {
  /** The part that looks at the element itself. */
  readonly own: string
  readonly key: string
  readonly weight: number
  readonly mayHide: boolean
}

const OWN = /^(?:[a-z][\w-]*|\*)?(?:[#.][a-z_-][\w-]*|\[hidden\])*$/i
const MAX_SELECTOR = 200

/** States in which a page is not read, and what is not in the document at all. */
const PASSING = /::|:(?:hover|focus|active|visited|disabled|before|after|placeholder)/

/** The selectors of a rule that may match something in the document. */
function readSelectors(rule: StyleRule, isConditional: boolean, isThere: (name: string) => boolean): ReadSelector[] {
  const isWeak = isConditional || rule.isConditional
  return rule.selectors.split(',').flatMap((selector) => readSelector(selector.trim(), isWeak, isThere) ?? [])
}

function readSelector(
  text: string,
  isConditional: boolean,
  isThere: (name: string) => boolean,
): ReadSelector | undefined {
  if (text.length > MAX_SELECTOR || text.includes('\\') || PASSING.test(text)) return undefined
  const names = text.match(/[#.][\w-]+/g) ?? []
  if (!names.every(isThere)) return undefined
  const plain = text.replace(/:[\w-]+(?:\([^)]*\))?/g, '')
  const own = plain.split(/[\s>+~]+/).at(-1) ?? ''
  if (own === '' || !OWN.test(own)) return undefined
  const ids = names.filter((name) => name.startsWith('#')).length
  return {
    own: own.replace(/^[a-z][\w-]*/i, (name) => name.toLowerCase()),
    key: /#[\w-]+/.exec(own)?.[0] ?? /\.[\w-]+/.exec(own)?.[0] ?? own,
    weight: ids * 1000 + (names.length - ids) * 10 + (/^[a-z]/i.test(own) ? 1 : 0),
    // Components of a page's own (`my-card`) are often hidden until their script has made them.
    mayHide: own === text && !isConditional && !/^[a-z]+-/i.test(own),
  }
}
