import { type Applicability, mediaApplies } from './media.ts'

/*
 * Parses enough CSS to know what a page hides by its own style sheets. The parser makes one pass over any input: comments, strings, URLs
 * and nested rules are skipped, and nothing is an error.
 */

/** Selectors and declarations of one rule, as written. */
export interface StyleRule {
  readonly selectors: string
  readonly declarations: string
  /** Whether the rule applies only under conditions: screen width, browser features. */
  readonly isConditional: boolean
}

/** The content of a block in braces. */
type Block = 'rules' | 'conditional rules' | 'declarations' | 'nothing'

/** Reads the rules of a style sheet that may apply on a screen. */
export function* readStyleRules(css: string): Generator<StyleRule, void, void> {
  const blocks: Block[] = []
  let selectors = ''
  let text = ''
  let from = 0
  const take = (to: number, next: number) => {
    text += css.slice(from, to)
    from = next
  }
  for (let i = 0; i < css.length; i++) {
    const character = css[i]
    const block = blocks.at(-1) ?? 'rules'
    if (character === '/' && css[i + 1] === '*') {
      const end = endOf(css, '*/', i + 2)
      take(i, end)
      i = end - 1
    } else if (character === '"' || character === "'") {
      i = endOfString(css, i)
    } else if (character === '(' && css.slice(i - 3, i).toLowerCase() === 'url' && !/["'\s]/.test(css[i + 1] ?? '')) {
      i = endOf(css, ')', i) - 1
    } else if (character === '\\') {
      i++
    } else if (character === '{') {
      take(i, i + 1)
      const prelude = text.replace(COMMENT_MARKS, '').trim()
      const opened = openBlock(prelude, block)
      blocks.push(opened)
      if (opened === 'declarations') selectors = prelude
      // The text after the last `;` is the selector of the nested rule, so only the declarations before it stay.
      text = block === 'declarations' ? text.slice(0, text.lastIndexOf(';') + 1) : ''
    } else if (character === '}') {
      take(i, i + 1)
      if (block === 'declarations') {
        yield { selectors, declarations: text, isConditional: blocks.includes('conditional rules') }
        text = ''
      }
      blocks.pop()
      if (blocks.at(-1) !== 'declarations') text = ''
    } else if (character === ';' && block !== 'declarations') {
      text = ''
      from = i + 1
    } else if (block === 'nothing') {
      from = i + 1
    }
  }
  // The end of a sheet closes open blocks.
  if (blocks.at(-1) !== 'declarations') return
  take(css.length, css.length)
  yield { selectors, declarations: text, isConditional: blocks.includes('conditional rules') }
}

/** Comment marks that hid style sheets from the first browsers; they are ignored. */
const COMMENT_MARKS = /^(?:<!--|-->|\s)+/

function openBlock(prelude: string, outer: Block): Block {
  if (outer === 'declarations' || outer === 'nothing') return 'nothing'
  const [, name = '', condition = ''] = /^@([\w-]+)(.*)$/s.exec(prelude) ?? []
  switch (name.toLowerCase()) {
    case '':
      return prelude.startsWith('@') ? 'nothing' : 'declarations'
    case 'media':
      return blockUnderCondition(mediaApplies(condition), outer)
    case 'supports':
      // Sites test for features that browsers support, so the condition counts as met.
      return blockUnderCondition(/\bnot\b/i.test(condition) ? 'sometimes' : 'always', outer)
    case 'layer':
      return outer
    case 'container':
      return 'conditional rules'
    default:
      return 'nothing'
  }
}

function blockUnderCondition(applies: Applicability, outer: Block): Block {
  if (applies === 'always') return outer
  return applies === 'never' ? 'nothing' : 'conditional rules'
}

function endOf(css: string, mark: string, from: number): number {
  const found = css.indexOf(mark, from)
  return found < 0 ? css.length : found + mark.length
}

/** End of a string; an unclosed one ends with its line. */
function endOfString(css: string, from: number): number {
  for (let i = from + 1; i < css.length; i++) {
    if (css[i] === '\\') i++
    else if (css[i] === css[from] || css[i] === '\n') return i
  }
  return css.length
}

/** The value of a property, in lower case. */
export interface Declaration {
  readonly value: string
  readonly isImportant: boolean
}

/** Declarations by their properties, in lower case. */
export type Declarations = ReadonlyMap<string, Declaration>

/** All declarations; for a repeated name the last important one counts, or else the last. */
export function readDeclarations(source: string): Declarations {
  const text = source.includes('/*') ? source.replace(/\/\*.*?(?:\*\/|$)/gs, '') : source
  const declarations = new Map<string, Declaration>()
  let depth = 0
  let from = 0
  const take = (to: number) => {
    const colon = text.indexOf(':', from)
    if (colon >= 0 && colon < to) {
      const name = readEscapes(text.slice(from, colon).trim()).toLowerCase()
      const isImportant = IMPORTANT.test(text.slice(Math.max(colon, to - MAX_VALUE), to))
      const value = readEscapes(text.slice(colon + 1, Math.min(to, colon + MAX_VALUE)).replace(IMPORTANT, ''))
      const known = declarations.get(name)
      if (isImportant || known?.isImportant !== true)
        setIfValid(declarations, name, value.trim().toLowerCase(), isImportant)
    }
    from = to + 1
  }
  for (let i = 0; i < text.length; i++) {
    const character = text[i]
    if (character === '"' || character === "'") i = endOfString(text, i)
    else if (character === '(') depth++
    else if (character === ')') depth = Math.max(0, depth - 1)
    else if (character === ';' && depth === 0) take(i)
  }
  take(text.length)
  return declarations
}

/** Values that matter here are short. Embedded pictures are longer. */
const MAX_VALUE = 100
const IMPORTANT = /!\s*important\s*$/i

const VALID_DISPLAY =
  /^(?:none|contents|(?:block|inline|flow|flow-root|flex|grid|table|ruby|math|list-item|run-in)(?:[\s-].*)?|-\w+-.+|inherit|initial|unset|revert(?:-layer)?|var\(.*)$/

/** Stores a value, unless a browser would ignore it. */
function setIfValid(declarations: Map<string, Declaration>, name: string, value: string, isImportant: boolean): void {
  if (name === 'display' && !VALID_DISPLAY.test(value)) return
  declarations.set(name, { value, isImportant })
}

/** Decodes the escapes in the text of a style sheet: `\64 isplay` is `display`. */
export function readEscapes(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(/\\(?:([\da-f]{1,6})\s?|(.))/gis, (_, hex: string | undefined, character: string | undefined) => {
    const code = Number.parseInt(hex ?? '0', 16)
    return character ?? (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd')
  })
}
