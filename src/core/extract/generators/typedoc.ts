import { selector } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import type { Generator } from './generator.ts'
import { becomeSignature, fillWithCode, leadsOnlyTo, unlink } from './rewrite.ts'

/** TypeDoc. */
export const typedoc: Generator = {
  name: 'typedoc',
  meta: ['typedoc'],
  signs: ['.tsd-page-title', '.tsd-page-toolbar', '.tsd-signature'],
  content: ['.col-content', '.tsd-page'],
  drop: {
    '.tsd-breadcrumb': 'breadcrumbs',
    'a.tsd-anchor-icon, a.tsd-anchor': 'permalink',
    'aside.tsd-sources, .tsd-sources': 'link to the source',
    '.tsd-generator, footer': 'footer of the page',
    '.tsd-page-toolbar, .tsd-navigation, .site-menu, .page-menu': 'navigation',
    '.tsd-widget, button': 'control',
  },
  keep: ['.tsd-accordion-details', '.tsd-panel', '.tsd-descriptions > li'],
  normalize: normalizeTypedoc,
}

const isSignature = selector('div.tsd-signature, h3.tsd-signature')
const isParameter = selector(
  'ul.tsd-parameter-list > li > span, ul.tsd-type-parameter-list > li > span, ul.tsd-parameters > li > h5',
)
const NO_IDS: ReadonlySet<string> = new Set()
const isTyped = selector('h4.tsd-returns-title, h1, h3')

function normalizeTypedoc(content: Element): void {
  for (const element of content.descendants()) {
    if (element.hasClass('tsd-index-panel') && leadsOnlyTo(element, NO_IDS)) {
      drop(element, 'typedoc', 'table of contents of the page')
    } else if (isSignature(element)) becomeSignature(element)
    else if (isParameter(element)) fillWithCode(element)
    else if (isTyped(element)) unlink(element)
    else if (element.hasClass('tsd-alert')) element.setAttribute('class', kindOf(element))
    else if (element.name === 'code' && element.parent?.name === 'pre') nameLanguage(element)
    // Flags directly precede their name, so a space is added.
    else if (element.hasClass('tsd-tag')) element.append(' ')
  }
}

/** `tsd-alert tsd-alert-note` → `alert note` */
function kindOf(alert: Element): string {
  return alert.classes.map((name) => name.replace(/^tsd-(?:alert-)?/, '')).join(' ')
}

/** The language of an example is the class of its code. */
function nameLanguage(code: Element): void {
  const [language] = code.classes
  if (language !== undefined && !language.startsWith('language-')) code.setAttribute('class', `language-${language}`)
}
