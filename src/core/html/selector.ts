import { getOrAdd } from '../get-or-add.ts'
import type { Element } from './tree.ts'

/*
 * The subset of CSS selectors that rules about pages need: `name#id.class[attribute="value"]` with the operators `= ~= ^= $= *=`,
 * descendants (` `) or children (`>`), and lists with commas. Rules are indexed by id, class, name and attribute, so that an element is
 * tested against the few rules that could match, not against all hundreds of them.
 */

type Test = (element: Element) => boolean

interface Step {
  readonly tests: readonly Test[]
  /** The index key: `#id`, `.class` or the element name, `[` if the step tests only attributes, '' if it is `*`. */
  readonly key: string
}

/** One selector without commas. */
interface Path {
  /** The first step tests the element itself, each further step an ancestor. */
  readonly steps: readonly Step[]
  /** Whether each step must be a direct child of the next. */
  readonly isDirect: readonly boolean[]
}

interface Rule<T> {
  readonly path: Path
  readonly value: T
  readonly order: number
}

/** A map from selectors to values, which finds the value that applies to an element. */
export class SelectorMap<T> {
  readonly #byId = new Map<string, Rule<T>[]>()
  readonly #byClass = new Map<string, Rule<T>[]>()
  readonly #byName = new Map<string, Rule<T>[]>()
  /** Rules that can match any element with attributes. */
  readonly #byAttribute: Rule<T>[] = []
  /** Rules that can match any element. */
  readonly #forAll: Rule<T>[] = []
  #count = 0

  constructor(rules: Iterable<readonly [string, T]> = []) {
    for (const [selector, value] of rules) this.add(selector, value)
  }

  /** Adds a rule for every element that the selector matches. Throws on unsupported syntax. */
  add(selector: string, value: T): void {
    for (const path of parseSelector(selector)) {
      const rule = { path, value, order: this.#count++ }
      this.#listFor(path.steps[0]?.key ?? '').push(rule)
    }
  }

  /** The value of the matching rule that was added first. */
  match(element: Element): T | undefined {
    let best = firstMatch(this.#forAll, element, undefined)
    best = firstMatch(this.#byName.get(element.name), element, best)
    if (element.hasNoAttributes) return best?.value
    best = firstMatch(this.#byAttribute, element, best)
    if (this.#byId.size > 0) best = firstMatch(this.#byId.get(element.id), element, best)
    if (this.#byClass.size > 0) {
      for (const name of element.classes) best = firstMatch(this.#byClass.get(name), element, best)
    }
    return best?.value
  }

  #listFor(key: string): Rule<T>[] {
    switch (key[0]) {
      case undefined:
        return this.#forAll
      case '[':
        return this.#byAttribute
      case '#':
        return getOrAdd(this.#byId, key.slice(1), () => [])
      case '.':
        return getOrAdd(this.#byClass, key.slice(1), () => [])
      default:
        return getOrAdd(this.#byName, key, () => [])
    }
  }
}

/** The first of the rules that matches, unless `best` was added before it. */
function firstMatch<T>(
  rules: readonly Rule<T>[] | undefined,
  element: Element,
  best: Rule<T> | undefined,
): Rule<T> | undefined {
  if (rules === undefined) return best
  for (const rule of rules) {
    if (best !== undefined && rule.order > best.order) return best
    if (matchesPath(element, rule.path)) return rule
  }
  return best
}

/** Creates a test from a selector. Throws on unsupported syntax. */
export function compileSelector(text: string): Test {
  const paths = parseSelector(text)
  const [only] = paths
  if (only !== undefined && paths.length === 1) return (element) => matchesPath(element, only)
  const map = new SelectorMap([[text, true]])
  return (element) => map.match(element) === true
}

/** The first element in `root`, itself included, that matches and is not dropped. */
export function find(root: Element, matches: Test): Element | undefined {
  if (root.dropped !== undefined) return undefined
  if (matches(root)) return root
  for (const child of root.children) {
    const found = typeof child === 'string' ? undefined : find(child, matches)
    if (found !== undefined) return found
  }
  return undefined
}

/** All elements in `root`, itself included, that match and are not dropped. */
export function findAll(root: Element, matches: Test): Element[] {
  const found: Element[] = []
  const visit = (element: Element) => {
    if (element.dropped !== undefined) return
    if (matches(element)) found.push(element)
    for (const child of element.children) if (typeof child !== 'string') visit(child)
  }
  visit(root)
  return found
}

function matchesPath(element: Element, { steps, isDirect }: Path): boolean {
  const [firstStep] = steps
  if (firstStep === undefined || !matchesStep(element, firstStep)) return false
  let at = element.parent
  for (let i = 1; i < steps.length; i++) {
    const step = steps[i]
    if (step === undefined) return false
    if (isDirect[i - 1] !== true) while (at !== undefined && !matchesStep(at, step)) at = at.parent
    if (at === undefined || !matchesStep(at, step)) return false
    at = at.parent
  }
  return true
}

function matchesStep(element: Element, { tests }: Step): boolean {
  for (const test of tests) if (!test(element)) return false
  return true
}

/** One character of an id or class name. A backslash escapes any character. */
const LETTER = String.raw`(?:[\w\x80-\uffff-]|\\.)`
const COMPOUND = new RegExp(String.raw`^(?:[\w-]+|\*|[#.]${LETTER}+|\[[^\]]+\])+$`)
const SIMPLE = new RegExp(String.raw`[\w-]+|\*|[#.]${LETTER}+|\[[^\]]+\]`, 'g')
const ATTRIBUTE = /^\[\s*([\w:-]+)\s*(?:([~^$*]?=)\s*(?!\s)["']?([^"']*)(?:["']\s*)?)?\]$/

function parseSelector(text: string): Path[] {
  return splitOutsideBrackets(text, ',').map((part) => {
    const steps: Step[] = []
    const isDirect: boolean[] = []
    let isChild = false
    for (const word of splitOutsideBrackets(part.replace(/(?<!\s)\s*>\s*/g, ' > ').trim(), ' ')) {
      if (word === '>') {
        isChild = true
        continue
      }
      if (steps.length > 0) isDirect.unshift(isChild)
      isChild = false
      steps.unshift(parseStep(word, text))
    }
    return { steps, isDirect }
  })
}

/** Splits at each separator outside square brackets and omits empty parts. */
function splitOutsideBrackets(text: string, separator: string): string[] {
  const parts: string[] = ['']
  let depth = 0
  for (const character of text) {
    if (character === '[') depth++
    if (character === ']') depth--
    if (character === separator && depth === 0) parts.push('')
    else parts.push((parts.pop() ?? '') + character)
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

function parseStep(word: string, selector: string): Step {
  if (!COMPOUND.test(word)) throw new TypeError(`Expected a simple selector, got \`${word}\` in \`${selector}\``)
  const simples = word.match(SIMPLE) ?? []
  const idOrClass = simples.find((simple) => simple.startsWith('#')) ?? simples.find((simple) => simple.startsWith('.'))
  const name = simples.find((simple) => /^[\w-]/.test(simple))
  const key = idOrClass ?? name ?? (word.includes('[') ? '[' : '')
  return { tests: simples.map((simple) => createTest(simple, selector)), key: unescapeName(key) }
}

function unescapeName(name: string): string {
  return name.includes('\\') ? name.replace(/\\(.)/g, '$1') : name
}

function createTest(simple: string, selector: string): Test {
  if (simple === '*') return () => true
  const rest = unescapeName(simple.slice(1))
  if (simple.startsWith('#')) return (element) => element.id === rest
  if (simple.startsWith('.')) return (element) => element.hasClass(rest)
  if (!simple.startsWith('[')) return (element) => element.name === simple
  const [, name = '', operator, value = ''] = ATTRIBUTE.exec(simple) ?? []
  if (name === '') throw new TypeError(`Expected an attribute test, got \`${simple}\` in \`${selector}\``)
  switch (operator) {
    case undefined:
      return (element) => element.hasAttribute(name)
    case '=':
      return (element) => element.attribute(name) === value
    case '~=':
      return (element) => (element.attribute(name) ?? '').split(/\s+/).includes(value)
    case '^=':
      return (element) => element.attribute(name)?.startsWith(value) === true
    case '$=':
      return (element) => element.attribute(name)?.endsWith(value) === true
    default:
      return (element) => element.attribute(name)?.includes(value) === true
  }
}
