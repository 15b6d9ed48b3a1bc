import type { Generator } from './generator.ts'

/** The manual of the Apache HTTP server. */
export const apacheManual: Generator = {
  name: 'apache-manual',
  meta: [],
  fingerprints: ['#page-content #preamble', '#index-page #page-content'],
  content: ['#page-content'],
  drop: {
    '.toplang, .bottomlang': 'languages',
    '.top': 'link to the top',
    '#quickview': 'navigation',
    '#comments_section': 'comments',
  },
}
