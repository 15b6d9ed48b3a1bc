import { compileSelector } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import type { Generator } from './generator.ts'
import { replaceWithCode } from './rewrite.ts'

/** JSDoc with its default template. */
export const jsdoc: Generator = {
  name: 'jsdoc',
  meta: ['jsdoc'],
  fingerprints: ['#main > h1.page-title'],
  content: ['#main'],
  drop: {
    'dl.details > .tag-source, dt.tag-source': 'link to the source',
    '#main > footer, #main > nav': 'navigation',
    // The text below the signature repeats these attributes.
    '.signature-attributes': 'attribute of a parameter',
  },
  normalize: normalizeJsdoc,
}

const isSignature = compileSelector('h4.name, header > h2')

function normalizeJsdoc(content: Element): void {
  for (const element of content.descendants()) if (isSignature(element)) replaceWithCode(element)
}
