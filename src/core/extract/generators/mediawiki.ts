import type { Element } from '../../html/tree.ts'
import type { Generator } from './generator.ts'

/** MediaWiki with any of its skins. */
export const mediawiki: Generator = {
  name: 'mediawiki',
  meta: ['mediawiki'],
  fingerprints: ['.mw-parser-output', '#mw-content-text'],
  content: ['main#content', '#content', '.mw-body', '#mw-content-text', '.mw-parser-output'],
  drop: {
    '.mw-editsection, .mw-indicators, .mw-ui-icon, .mw-jump-link': 'control',
    '#toc, .toc, #mw-toc-heading': 'table of contents of the page',
    '#siteSub, #contentSub, #contentSub2, #jump-to-nav, #siteNotice, #vector-page-titlebar-toc': 'navigation',
    '#catlinks, .catlinks, .printfooter': 'footer of the page',
    '.navbox, .vertical-navbox, .sistersitebox, .noprint': 'navigation',
    '.vector-page-toolbar, .vector-page-titlebar .vector-dropdown, .vector-column-end, #p-lang-btn': 'navigation',
    '.mw-body > nav, .mw-body-header > nav, .mw-body-header > label, .vector-article-toolbar, .vector-toc-toggle':
      'navigation',
    '.mw-cite-backlink': 'link back from a footnote',
    'img.mwe-math-fallback-image-inline, img.mwe-math-fallback-image-display': 'picture of a formula',
    '.mw-empty-elt': 'decoration',
  },
  keepHidden: ['.mw-collapsed', '.mw-collapsible-content', '.mwe-math-mathml-inline', '.mwe-math-mathml-display'],
  normalize: normalizeMediawiki,
}

const LANGUAGE = /^mw-highlight-lang-(.+)$/

function normalizeMediawiki(content: Element): void {
  for (const element of content.descendants()) {
    if (!element.hasClass('mw-highlight')) continue
    const language = element.classes.map((name) => LANGUAGE.exec(name)?.[1]).find((name) => name !== undefined)
    if (language !== undefined) element.setAttribute('class', `highlight-${language}`)
  }
}
