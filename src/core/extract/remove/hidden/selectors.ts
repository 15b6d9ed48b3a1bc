import { readEscapes } from './stylesheet.ts'

/** A selector of a style sheet, reduced to the syntax that can be matched. */
export interface ParsedSelector {
  /** The selector, in the CSS subset of `SelectorMap`. */
  readonly selector: string
  /** The class, id or name under which its rules are counted. */
  readonly key: string
  readonly specificity: number
  /** Whether a rule with this selector may hide an element. Other rules can only show an element again. */
  readonly mayHide: boolean
}

const MAX_SELECTOR = 200
/** Longer selectors describe the layout of a site, and are costly to match. */
const MAX_STEPS = 3

/** Transient states, and pseudo-elements that are not in the document. */
const TRANSIENT_STATE = /::|:(?:hover|focus|active|visited|disabled|before|after|placeholder)/

/** Combinators between the steps of a selector, outside of brackets. */
const COMBINATORS = /(?:\s*[>+~]\s*|\s+)(?![^[\]]*\])/
const NAME = /[#.](?:[\w\x80-\uffff-]|\\.)+/g
const ATTRIBUTES = /\[[^[\]]*\]/g
const PSEUDO = /(?<!\\):[\w-]+(?:\([^)]{0,200}\))?/g
const COMPOUND =
  /^(?:[a-z][\w-]*|\*)?(?:[#.](?:[\w\x80-\uffff-]|\\.)+|\[[\w:-]+(?:[~^$*]?=(?:"[^"'\]]*"|'[^"'\]]*'|[\w-]+))?\])*$/i

/** Names that mark a page until its scripts have run. */
const PRE_SCRIPT_NAME = /cloak|no-?js|no-?script|\bjs\b|load|lazy|reveal|unresolved|hydrat/i

/** The selectors in a list that may match an element of the document; `isInDocument` tells whether it has a class or id. */
export function readSelectors(
  list: string,
  isConditional: boolean,
  isInDocument: (name: string) => boolean,
): ParsedSelector[] {
  return list.split(',').flatMap((one) => readSelector(plainSelector(one), isConditional, isInDocument) ?? [])
}

/** A selector without needless escapes, and without `:is()` around a single selector. */
function plainSelector(text: string): string {
  const plain = text
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/:(?:is|where)\(\s*([.#][\w-]+)\s*\)/gi, '$1')
  if (!plain.includes('\\')) return plain
  return plain.replace(/\\(?:[\da-f]{1,6}\s?|.)/gis, (escaped) => {
    const character = readEscapes(escaped)
    return /^[\w\x80-\uffff-]/.test(character) ? character : `\\${character}`
  })
}

function readSelector(
  text: string,
  isConditional: boolean,
  isInDocument: (name: string) => boolean,
): ParsedSelector | undefined {
  if (text === '' || text.length > MAX_SELECTOR || TRANSIENT_STATE.test(text)) return undefined
  const bare = text.replace(ATTRIBUTES, '')
  const names = bare.match(NAME) ?? []
  if (!names.every((name) => isInDocument(name.replace(/\\(.)/g, '$1')))) return undefined
  const plain = text.replace(PSEUDO, '')
  const steps = plain.split(COMBINATORS)
  const last = steps.at(-1) ?? ''
  if (last === '' || last === '*' || !steps.every((step) => step !== '' && COMPOUND.test(step))) return undefined
  // For selectors with states, sibling combinators or too many steps, only the last compound is matched.
  const isExact = plain === text && !/[+~]/.test(bare.replace(/\\./g, '')) && steps.length <= MAX_STEPS
  const idCount = names.filter((name) => name.startsWith('#')).length
  const otherCount = names.length - idCount + (text.match(ATTRIBUTES)?.length ?? 0) + (text.match(PSEUDO)?.length ?? 0)
  return {
    selector: (isExact ? text : last).replace(/(?<=^|[\s>])[a-z][\w-]*/gi, (name) => name.toLowerCase()),
    key: last.match(NAME)?.[0] ?? last,
    specificity: idCount * 10_000 + otherCount * 100 + steps.filter((step) => /^[a-z]/i.test(step)).length,
    // Custom elements (`my-card`) are often hidden until their script has defined them.
    mayHide: isExact && !isConditional && !/^[a-z]+-/i.test(last) && !isPreScriptState(steps),
  }
}

/** Whether a selector applies only until scripts run: by a class of an ancestor, or by an attribute such as `x-cloak`. */
function isPreScriptState(steps: readonly string[]): boolean {
  return steps.some((step, i) => (i < steps.length - 1 || step.includes('[')) && PRE_SCRIPT_NAME.test(step))
}
