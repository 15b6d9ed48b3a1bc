import type { Generator } from './generator.ts'

/** Markdown as GitHub renders it, on GitHub and on other sites that use its style. */
export const github: Generator = {
  name: 'github',
  meta: [],
  fingerprints: ['article.markdown-body', 'div.markdown-body', '#readme .markdown-body'],
  content: ['#readme article.markdown-body', 'article.markdown-body', '.markdown-body'],
  isContentRepeatable: true,
  drop: {
    'a.anchor, a.heading-link': 'permalink',
    'clipboard-copy, .zeroclipboard-container': 'control',
    'svg.octicon, hr.footnotes-sep': 'decoration',
    '.data-footnote-backref': 'link back from a footnote',
  },
}
