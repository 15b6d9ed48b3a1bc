import type { ChromeKind } from './chrome-kind.ts'

/** Menus and other navigation of a site. */
export const NAVIGATION: ChromeKind = {
  reason: 'navigation',
  isJargon: true,
  attributes: {
    role: 'navigation menu menubar menuitem tablist toolbar directory',
    itemtype: 'SiteNavigationElement',
  },
  terms: `nav navbar navigation navs subnav topnav sidenav globalnav mainnav navmenu menubar megamenu mega-menu
    submenu sub-menu dropdown-menu main-menu mobile-menu offcanvas off-canvas hamburger menu-item menu-items
    menu-list skiplink skiplinks skip-link skip-links skip-to skip-content quicklinks quick-links linklist
    link-list site-map sitemap drawer flyout dropdown-panel dropdown-content`,
  weakTerms:
    'menu sidebar sidemenu sidepanel side-panel rail aside topbar top-bar toolbar subheader utility jump-links dropdown sitelinks',
}

/** Breadcrumb paths. */
export const BREADCRUMBS: ChromeKind = {
  reason: 'breadcrumbs',
  isLinkList: true,
  maxChars: 600,
  attributes: { itemtype: 'BreadcrumbList', 'aria-label': 'breadcrumb breadcrumbs' },
  terms: 'breadcrumb breadcrumbs crumb crumbs breadcrumblist nav-path pathway',
}

/** Links to the other parts of a text that is split over pages. */
export const PAGERS: ChromeKind = {
  reason: 'pager',
  isLinkList: true,
  maxChars: 600,
  attributes: { rel: 'prev', 'aria-label': 'pagination' },
  terms: `pagination paginator pager pagenav page-nav pagenavi page-numbers prev-next prevnext next-prev prev-post
    next-post post-navigation nav-previous nav-next nextpage load-more loadmore show-more view-all see-all`,
}

/** Lists of the headings of the page itself. */
export const TABLE_OF_CONTENTS: ChromeKind = {
  reason: 'table of contents',
  isLinkList: true,
  attributes: { role: 'doc-toc' },
  terms: `toc tocs table-of-contents tableofcontents on-this-page onthispage in-this-article in-this-page inpage-nav
    inpage-navigation page-contents jump-to jumplinks contents-list`,
}
