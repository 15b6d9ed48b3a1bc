import { compileSelector } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import type { Generator } from './generator.ts'
import { hasOnlyFragmentLinks, makeSignature, removeLinks, replaceWithCode } from './rewrite.ts'

/** TypeDoc. */
export const typedoc: Generator = {
  name: 'typedoc',
  meta: ['typedoc'],
  fingerprints: ['.tsd-page-title', '.tsd-page-toolbar', '.tsd-signature'],
  content: ['.col-content', '.tsd-page'],
  drop: {
    '.tsd-breadcrumb': 'breadcrumbs',
    'a.tsd-anchor-icon, a.tsd-anchor': 'permalink',
    'aside.tsd-sources, .tsd-sources': 'link to the source',
    '.tsd-generator, footer': 'footer of the page',
    '.tsd-page-toolbar, .tsd-navigation, .site-menu, .page-menu': 'navigation',
    '.tsd-widget, button': 'control',
  },
  keepHidden: ['.tsd-accordion-details', '.tsd-panel', '.tsd-descriptions > li'],
  normalize: normalizeTypedoc,
}

const isSignature = compileSelector('div.tsd-signature, h3.tsd-signature')
const isParameter = compileSelector(
  'ul.tsd-parameter-list > li > span, ul.tsd-type-parameter-list > li > span, ul.tsd-parameters > li > h5',
)
const NO_IDS: ReadonlySet<string> = new Set()
const isHeadingWithTypes = compileSelector('h4.tsd-returns-title, h1, h3')

function normalizeTypedoc(content: Element): void {
  for (const element of content.descendants()) {
    if (element.hasClass('tsd-index-panel') && hasOnlyFragmentLinks(element, NO_IDS)) {
      drop(element, 'typedoc', 'table of contents of the page')
    } else if (isSignature(element)) makeSignature(element)
    else if (isParameter(element)) replaceWithCode(element)
    else if (isHeadingWithTypes(element)) removeLinks(element)
    else if (element.hasClass('tsd-alert')) element.setAttribute('class', alertClasses(element))
    else if (element.name === 'code' && element.parent?.name === 'pre') nameLanguage(element)
    // A flag such as `Readonly` directly precedes a name, so a space is added.
    else if (element.hasClass('tsd-tag')) element.append(' ')
  }
}

/** `tsd-alert tsd-alert-note` → `alert note` */
function alertClasses(alert: Element): string {
  return alert.classes.map((name) => name.replace(/^tsd-(?:alert-)?/, '')).join(' ')
}

/** Prefixes the class of example code, which is the name of its language, with `language-`. */
function nameLanguage(code: Element): void {
  const [language] = code.classes
  if (language !== undefined && !language.startsWith('language-')) code.setAttribute('class', `language-${language}`)
}
