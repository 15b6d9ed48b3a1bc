import { compileSelector } from '../../html/selector.ts'
import { type Element, lineOf } from '../../html/tree.ts'
import type { Generator } from './generator.ts'
import { renameElement, replaceChildren } from './rewrite.ts'

/** GitBook: the old program, its successor HonKit, and the hosted service. */
export const gitbook: Generator = {
  name: 'gitbook',
  meta: ['gitbook', 'honkit'],
  fingerprints: ['.book .book-body', '.book-summary', '.gitbook-root', '#book-search-results'],
  content: ['section.markdown-section', '.markdown-section', '.page-inner', 'main'],
  drop: {
    '.search-results, .book-header, .book-summary, a.navigation': 'navigation',
    'a.gitbook-link, .treeview__container-title': 'navigation',
    'a.plugin-anchor, a.anchor-navigation-ex-anchor': 'permalink',
    '.page-footer, .footer-modification': 'footer of the page',
  },
  keepHidden: ['[role=tabpanel]'],
  normalize: normalizeGitbook,
}

const isFootnote = compileSelector('blockquote[id^=fn_]')

function normalizeGitbook(content: Element): void {
  for (const element of content.descendants()) if (isFootnote(element)) makeFootnote(element)
}

/** Turns `<blockquote><sup>1</sup>. The note.</blockquote>` into a footnote. */
function makeFootnote(note: Element): void {
  const [mark, text, ...rest] = note.children.filter((child) => typeof child !== 'string' || child.trim() !== '')
  if (mark === undefined || typeof mark === 'string' || mark.name !== 'sup' || lineOf(mark) === '') return
  renameElement(note, 'div', { role: 'doc-footnote' })
  replaceChildren(note, [typeof text === 'string' ? text.replace(/^\.\s*/, '') : (text ?? ''), ...rest])
}
