import type { Generator } from './generator.ts'

/** Discourse, with the markup that it sends to crawlers and the markup that it sends to browsers. */
export const discourse: Generator = {
  name: 'discourse',
  meta: ['discourse'],
  fingerprints: ['.crawler-post', '.topic-body .cooked'],
  content: ['#main-outlet', '.topic-body'],
  hasChrome: true,
  drop: {
    '#related-topics, .crawler-nav, .navigation, .topic-list-container': 'navigation',
    '.crawler-linkback-list, .post-likes, .position, [itemprop=position], [itemprop=interactionStatistic]': 'control',
    '.topic-category, .discourse-tags': 'breadcrumbs',
    '.quote .quote-controls, a.anchor': 'control',
  },
}
