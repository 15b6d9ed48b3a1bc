import type { Generator } from './generator.ts'

/**
 * WordPress. Its markup differs from theme to theme, so only the content selectors of single posts and pages are known; lists of posts are
 * read like any other page.
 */
export const wordpress: Generator = {
  name: 'wordpress',
  meta: ['wordpress'],
  fingerprints: ['body.wp-singular', 'body.wp-custom-logo', '.wp-block-post-content', '.wp-site-blocks'],
  content: [
    'body.single .entry-content',
    'body.page .entry-content',
    'body.single .wp-block-post-content',
    'body.page .wp-block-post-content',
  ],
  hasChrome: true,
  drop: {
    '.sharedaddy, .jp-relatedposts, .addtoany_share_save_container, .heateor_sss_sharing_container': 'sharing',
    '.post-navigation, .nav-links, .page-links': 'navigation',
    '.wp-block-code .copy-button': 'control',
  },
}
