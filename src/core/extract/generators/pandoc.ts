import type { Generator } from './generator.ts'

/** Standalone HTML documents written by pandoc. */
export const pandoc: Generator = {
  name: 'pandoc',
  meta: ['pandoc'],
  fingerprints: ['header#title-block-header', 'nav#TOC[role=doc-toc]'],
  content: ['body'],
  drop: {
    'nav#TOC, div#TOC': 'table of contents of the page',
    'td.lineNumbers': 'line numbers',
    '#title-block-header .author, #title-block-header .date': 'byline',
    'figcaption[aria-hidden=true]': 'repeats the text of the picture',
    'a.footnote-back': 'link back from a footnote',
  },
  keepHidden: ['#title-block-header'],
}
