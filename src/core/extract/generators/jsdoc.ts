import type { Generator } from './generator.ts'

/** JSDoc with its default template. */
export const jsdoc: Generator = {
  name: 'jsdoc',
  meta: ['jsdoc'],
  signs: ['#main > h1.page-title'],
  content: ['#main'],
  drop: {
    'dl.details > .tag-source, dt.tag-source': 'link to the source',
    '#main > footer, #main > nav': 'navigation',
  },
}
