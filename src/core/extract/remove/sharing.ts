import type { Chrome } from './rule.ts'

/** Buttons that spread a page, and the site's own channels. */
export const SHARING: Chrome = {
  reason: 'sharing',
  terms: `share shares sharing sharebar share-bar sharethis addthis addtoany sharedaddy jetpack-likes share-buttons social-share socialshare social
    socials social-links social-media social-icons follow-us follow-button like-button likes bookmark-button whatsapp facebook twitter pinterest
    linkedin instagram tiktok`,
}

/** What else a site would have its reader look at. */
export const RELATED: Chrome = {
  reason: 'other pages',
  terms: `related related-posts related-articles related-content related-products related-topics relatedposts yarpp jp-relatedposts
    recommended recommendation recommendations recommend also-like you-may-also may-also-like more-from more-in more-on more-stories more-articles
    read-next up-next next-up read-more-list further-reading-list recirc recirculation recently-viewed trending most-read mostread
    most-popular popular-posts popularposts recent-posts recentposts recent-articles latest-posts latest-news similar similar-products
    upsell upsells crosssell cross-sell crosssells cross-sells suggested suggestions explore-more discover-more keep-reading
    other-posts other-articles featured-posts see-also-box teaser-list`,
  weakTerms: 'widget-area textwidget popular recent teaser teasers more-links',
}

/** Who wrote a page, when, and how it is filed. Metadata tells it already. */
export const BYLINES: Chrome = {
  reason: 'byline',
  says: { rel: 'author tag', itemprop: 'author publisher datePublished dateModified' },
  terms: `byline bylines author-bio author-box authorbox author-info author-card author-profile author-details author-meta author-block about-author
    about-the-author post-author article-author entry-author author-name author-avatar authorship contributor contributors bio
    post-meta entry-meta article-meta postmeta entrymeta meta-info article-info post-info entry-footer post-footer article-footer
    posted-on posted-by post-date entry-date article-date publish-date published-date pubdate publication-date date-published last-updated last-modified updated-on timestamp
    dateline read-time reading-time readtime readingtime min-read time-to-read
    tag-list tags-list post-tags entry-tags article-tags tagcloud tags-links cat-links post-categories entry-categories entry-category post-category
    taxonomy eyebrow kicker credit photo-credit image-credit`,
  weakTerms: 'author authors tags tag meta categories date byline-block vcard',
}
