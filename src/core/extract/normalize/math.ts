import { type Element, lineOf, textOf } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import { isLikelyTex } from './likely-tex.ts'
import { writeMathMl } from './mathml.ts'
import { elementAfter, type Rule } from './rule.ts'

const STEP = 'math'

export const MATH_SELECTOR =
  'math, script[type^="math/tex"], mjx-container, math-renderer, .katex-display, .katex, .MathJax_Preview, .MathJax, .MathJax_Display, .MathJax_SVG, .MathJax_SVG_Display, .MathJax_CHTML, .mwe-math-element, div.math, span.math, p.math'

/** Pictures of formulas whose alternative text is TeX. */
export const MATH_IMAGE_SELECTOR =
  'img.mwe-math-fallback-image-inline, img.mwe-math-fallback-image-display, img.math, img.tex, img.latex'

/** Converts every form of a formula to one element with its TeX. */
export const normalizeMath: Rule = (element, siblings, index) => {
  if (isRendering(element)) {
    const next = elementAfter(siblings, index)
    const hasSource = next !== undefined && (next.name === 'script' || isRendering(next))
    if (hasSource || element.hasClass('MathJax_Preview')) {
      drop(element, STEP, 'rendering of a formula')
      return
    }
  }
  const tex = findTex(element)
  if (tex === '') return
  const isDisplay = isDisplayed(element)
  element.name = 'Math'
  element.children = []
  element.setAttribute('Tex', tex)
  if (isDisplay) element.setAttribute('Display', 'true')
}

/** Restores a script that holds a formula. An earlier step drops all scripts. */
export function restoreMathScript(element: Element): void {
  if (element.name === 'script' && element.attribute('type')?.startsWith('math/tex') === true)
    element.dropped = undefined
}

const RENDERINGS = [
  'MathJax_Preview',
  'MathJax',
  'MathJax_Display',
  'MathJax_SVG',
  'MathJax_SVG_Display',
  'MathJax_CHTML',
]

function isRendering(element: Element): boolean {
  return element.hasAttribute('class') && RENDERINGS.some((name) => element.hasClass(name))
}

function findTex(element: Element): string {
  if (element.name === 'script') return textOf(element).trim()
  if (element.name === 'img') return cleanTex(element.attribute('alt') ?? '')
  const math = element.name === 'math' ? element : findDescendant(element, (inner) => inner.name === 'math')
  if (math !== undefined) {
    const annotation = findDescendant(math, isTexAnnotation)
    const tex = cleanTex(annotation === undefined ? (math.attribute('alttext') ?? '') : rawText(annotation))
    return tex !== '' && isLikelyTex(tex, shownText(element)) ? tex : writeMathMl(math)
  }
  const script = findDescendant(element, (inner) => inner.name === 'script' && isTexScript(inner))
  if (script !== undefined) return rawText(script).trim()
  const image = findDescendant(element, (inner) => inner.name === 'img' && inner.hasAttribute('alt'))
  if (image !== undefined) return cleanTex(image.attribute('alt') ?? '')
  for (const child of element.elements()) if (child.hasClass('eqno')) drop(child, STEP, 'number of a formula')
  return cleanTex(lineOf(element))
}

function isTexScript(element: Element): boolean {
  return element.attribute('type')?.startsWith('math/tex') === true
}

function isTexAnnotation(element: Element): boolean {
  return element.name === 'annotation' && /tex/i.test(element.attribute('encoding') ?? '')
}

const MAX_DESCENDANTS = 5000

/** Finds a descendant, even a dropped one: sources of formulas are often hidden. */
function findDescendant(root: Element, matches: (element: Element) => boolean): Element | undefined {
  let elementsLeft = MAX_DESCENDANTS
  const search = (element: Element): Element | undefined => {
    for (const child of element.children) {
      if (typeof child === 'string') continue
      if (--elementsLeft < 0) return undefined
      const found = matches(child) ? child : search(child)
      if (found !== undefined) return found
    }
    return undefined
  }
  return search(root)
}

/** The visible text of a formula, without the source stored in it. */
function shownText(element: Element): string {
  if (element.name.startsWith('annotation') || element.name === 'script') return ''
  return element.children.map((child) => (typeof child === 'string' ? child : shownText(child))).join('')
}

function rawText(element: Element): string {
  return element.children.map((child) => (typeof child === 'string' ? child : rawText(child))).join('')
}

const DELIMITED = /^(?:\\\((.*)\\\)|\\\[(.*)\\\]|\$\$(.*)\$\$|\$(.*)\$)$/s
const DISPLAY_STYLE = /^\{\s*\\displaystyle\s+(?=\S)(.*)\}$/s

/** TeX without its delimiters. */
function cleanTex(source: string): string {
  const text = source.trim()
  const delimited = DELIMITED.exec(text)
  const inner =
    delimited
      ?.slice(1)
      .find((group) => group !== undefined)
      ?.trim() ?? text
  return (DISPLAY_STYLE.exec(inner)?.[1] ?? inner).trim()
}

/** Whether a formula is on lines of its own. */
function isDisplayed(element: Element): boolean {
  const { name } = element
  if (name === 'script') return element.attribute('type')?.includes('display') === true
  if (name === 'math' || name === 'mjx-container') {
    return (
      element.attribute('display') === 'block' ||
      element.attribute('display') === 'true' ||
      element.attribute('mode') === 'display'
    )
  }
  if (name === 'math-renderer') return element.hasClass('js-display-math')
  if (element.classes.some((each) => /display/i.test(each))) return true
  if (name === 'div' || name === 'p') return true
  const math = findDescendant(element, (inner) => inner.name === 'math')
  return math?.attribute('display') === 'block' && !element.hasClass('katex')
}
