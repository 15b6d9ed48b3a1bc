import type { ChromeKind } from './chrome-kind.ts'

/** The header and footer that a site puts on every page. */
export const FRAME: ChromeKind = {
  reason: 'frame of the site',
  isJargon: true,
  attributes: { role: 'banner contentinfo complementary search', itemtype: 'WPHeader WPFooter WPSideBar' },
  terms: `footer footers sitefooter colophon copyright copyrights masthead siteheader site-header page-header-bar
    global-header topheader top-header header-top header-nav navigation-header site-info site-branding logo
    site-title nocontent`,
  weakTerms: 'legal disclaimer bottom-bar credits imprint',
}
