import { selector } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import type { Generator } from './generator.ts'
import { becomeSignature, createElement, fill, strengthen } from './rewrite.ts'

/** Sphinx with any theme: classic, alabaster, Read the Docs, Furo, PyData, that of the Python documentation. */
export const sphinx: Generator = {
  name: 'sphinx',
  meta: ['sphinx', 'docutils'],
  signs: [
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
    'div.contents.topic, nav.contents, aside.contents': 'table of contents of the page',
    '#searchbox, div.searchbox': 'search',
  },
  keep: ['.tab-content', '.sphinx-tabs-panel', '.sd-tab-content', '.tab-set'],
  normalize: normalizeSphinx,
}

/** Before Sphinx 4 signatures had no class of their own. */
const isSignature = selector(
  `dt.sig, dl.function > dt, dl.class > dt, dl.method > dt, dl.attribute > dt, dl.data > dt, dl.exception > dt,
  dl.classmethod > dt, dl.staticmethod > dt, dl.describe > dt, dl.option > dt, dl.cmdoption > dt, dl.opcode > dt`,
)
const isTitle = selector('p.rubric, p.topic-title, p.sidebar-title')

function normalizeSphinx(content: Element): void {
  for (const element of content.descendants()) {
    if (isSignature(element)) becomeSignature(element)
    else if (isTitle(element)) strengthen(element)
    else if (element.hasClass('line-block')) breakLines(element)
  }
}

/** Lines that must stay lines, as in a poem. */
function breakLines(block: Element): void {
  const lines = [...block.elements()]
  if (lines.some((line) => !line.hasClass('line'))) return
  for (const line of lines) line.name = 'span'
  fill(
    block,
    lines.flatMap((line, i) => (i === 0 ? [line] : [createElement('br'), line])),
  )
}
