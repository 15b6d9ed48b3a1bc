/*
 * As much of CSS as it takes to know what a page hides by its own style sheets. One pass over the characters, whatever
 * they are: comments, strings, addresses and rules inside of rules are stepped over, nothing is an error.
 */

/** Selectors and declarations of one rule, as they are written. */
export interface StyleRule {
  readonly selectors: string
  readonly declarations: string
  /** Whether it holds only under conditions: the width of a screen, what the browser can do. */
  readonly isConditional: boolean
}

/** What a block in braces holds. */
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
      const opened = openBlock(text.trim(), block)
      blocks.push(opened)
      if (opened === 'declarations') selectors = text.trim()
      // Of what stands before a rule inside of a rule, the last part is its selector.
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
  // The end of a sheet closes what is open.
  if (blocks.at(-1) !== 'declarations') return
  take(css.length, css.length)
  yield { selectors, declarations: text, isConditional: blocks.includes('conditional rules') }
}

const CONDITIONS = /^@(?:media|supports|layer|container)\b/i

function openBlock(prelude: string, around: Block): Block {
  if (around === 'declarations' || around === 'nothing') return 'nothing'
  if (!prelude.startsWith('@')) return 'declarations'
  if (/^@media\s+(?:only\s+)?(?:all|screen)$/i.test(prelude)) return around
  const isForScreens = CONDITIONS.test(prelude) && !/^@media\s+(?:only\s+)?(?:print|speech)\b/i.test(prelude)
  return isForScreens ? 'conditional rules' : 'nothing'
}

function endOf(css: string, mark: string, from: number): number {
  const found = css.indexOf(mark, from)
  return found < 0 ? css.length : found + mark.length
}

/** Where a string ends; one that is never closed ends with its line. */
function endOfString(css: string, from: number): number {
  for (let i = from + 1; i < css.length; i++) {
    if (css[i] === '\\') i++
    else if (css[i] === css[from] || css[i] === '\n') return i
  }
  return css.length
}

/** Property and value of every declaration, in lower case; of several with one name the last counts. */
export function readDeclarations(text: string): Map<string, string> {
  const declarations = new Map<string, string>()
  let depth = 0
  let from = 0
  const take = (to: number) => {
    const colon = text.indexOf(':', from)
    if (colon >= 0 && colon < to) {
      const name = text.slice(from, colon).trim().toLowerCase()
      declarations.set(
        name,
        text
          .slice(colon + 1, Math.min(to, colon + MAX_VALUE))
          .trim()
          .toLowerCase(),
      )
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

/** Values that matter here are short; pictures in a style sheet are not. */
const MAX_VALUE = 100
