import type { ChromeKind } from '../chrome-kind.ts'

/** Links to other pages that a site recommends. */
export const RELATED: ChromeKind = {
  reason: 'other pages',
  isLinkList: true,
  terms: `related relatedposts yarpp recommended recommendation recommendations recommend also-like you-may-also
    more-from more-in more-on more-stories more-articles read-next up-next next-up read-more-list
    further-reading-list recirc recirculation recently-viewed trending most-read mostread most-popular
    popular-posts popularposts recent-posts recentposts recent-articles latest-posts latest-news similar upsell
    upsells crosssell cross-sell crosssells cross-sells suggested suggestions explore-more discover-more
    keep-reading other-posts other-articles featured-posts see-also-box teaser-list`,
  weakTerms: 'widget-area textwidget popular recent teaser teasers more-links',
}
