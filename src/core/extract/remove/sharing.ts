import type { ChromeKind } from './chrome-kind.ts'

/** Buttons for sharing a page, and links to the site's own channels. */
export const SHARING: ChromeKind = {
  reason: 'sharing',
  isLinkList: true,
  terms: `share shares sharing sharebar sharethis addthis addtoany sharedaddy socialshare social socials follow-us
    follow-button like-button likes bookmark-button whatsapp facebook twitter pinterest linkedin instagram
    tiktok`,
}
