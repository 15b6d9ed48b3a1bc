import { compileSelector, findAll, SelectorMap } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import type { Generator } from './generator.ts'
import { createElement, labelOf, makeSignature, makeStrong, renameElement, replaceChildren } from './rewrite.ts'

/** Sphinx with any theme: classic, alabaster, Read the Docs, Furo, PyData, that of the Python documentation. */
export const sphinx: Generator = {
  name: 'sphinx',
  meta: ['sphinx', 'docutils'],
  fingerprints: [
    'script#documentation_options',
    '.sphinxsidebar',
    '.sphinxsidebarwrapper',
    '.toctree-wrapper',
    '#furo-main-content',
    '.furo-main-content',
    '.wy-nav-content .rst-content',
    'div.document[role=main]',
    'div.body[role=main]',
    'article.bd-article',
    'dl.py > dt.sig',
  ],
  content: [
    'article.bd-article',
    '#furo-main-content',
    'article[role=main]',
    '[role=main] [itemprop=articleBody]',
    'div.body[role=main]',
    'div[role=main]',
    'div.body',
    '[role=main]',
    'div.document',
  ],
  drop: {
    'a.headerlink, a.toc-backref.headerlink': 'permalink',
    'a.viewcode-back, .viewcode-link, a.reference.external > .viewcode-link': 'link to the source',
    '.sphinxsidebar, div.related, .rst-footer-buttons, .prev-next-area, .related-pages': 'navigation',
    'ul.wy-breadcrumbs, .wy-breadcrumbs, .bd-breadcrumbs': 'breadcrumbs',
    '.edit-this-page, .view-this-page, .content-icon-container': 'control',
    'button.copybtn, a.copybtn, .toctree-expand, .copybutton': 'control',
    '#searchbox, div.searchbox': 'search',
    'hr.footnotes': 'line above notes',
  },
  keepHidden: ['.tab-content', '.sphinx-tabs-panel', '.sd-tab-content', '.tab-set'],
  normalize: normalizeSphinx,
}

/** The first matching rule applies. Before Sphinx 4 signatures had no class of their own. */
const RULES = new SelectorMap<(element: Element) => void>([
  [
    `dt.sig, dl.function > dt, dl.class > dt, dl.method > dt, dl.attribute > dt, dl.data > dt, dl.exception > dt,
    dl.classmethod > dt, dl.staticmethod > dt, dl.describe > dt, dl.option > dt, dl.cmdoption > dt, dl.opcode > dt`,
    makeSignature,
  ],
  ['p.rubric, p.topic-title, p.sidebar-title, .toctree-wrapper > p.caption', makeStrong],
  ['.line-block', breakLines],
  ['.tab-set', labelTabs],
  ['.classifier', (element) => replaceChildren(element, [' : ', ...element.children])],
  // Examples in the form of a Python session.
  ['div.doctest.highlight-default', (element) => element.setAttribute('class', 'highlight-pycon')],
])

/** Cited works, which become footnotes with names. References to them look like any other link and are found by the id. */
const isCitation = compileSelector('div.citation[id], dl.citation > dt[id]')

function normalizeSphinx(content: Element): void {
  const citations = new Set(findAll(content, isCitation).map(({ id }) => `#${id}`))
  for (const element of content.descendants()) {
    const rule = RULES.match(element)
    if (rule !== undefined) rule(element)
    else if (citations.has(element.attribute('href') ?? '')) element.setAttribute('role', 'doc-noteref')
  }
}

/** Keeps the line breaks of line blocks, such as poems. Indented lines are in a nested block. */
function breakLines(block: Element): void {
  const lines = findAll(block, (element) => element.hasClass('line'))
  for (const line of lines) line.name = 'span'
  replaceChildren(
    block,
    lines.flatMap((line, i) => (i === 0 ? [line] : [createElement('br'), line])),
  )
}

/** Labels the panels of sphinx-inline-tabs: each panel follows a control and its label. Tab sets may be nested in panels. */
function labelTabs(tabSet: Element): void {
  let label: Element | undefined
  for (const child of tabSet.children) {
    if (typeof child === 'string') continue
    if (child.name === 'label') label = child
    else if (child.hasClass('tab-content') && label !== undefined) {
      renameElement(child, 'Tab', { Label: labelOf(label) })
      drop(label, 'sphinx', 'label of a tab')
    }
  }
}
