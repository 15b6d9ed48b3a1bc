import type { Chrome } from './rule.ts'

/** Ways through a site. */
export const NAVIGATION: Chrome = {
  reason: 'navigation',
  says: {
    role: 'navigation menu menubar menuitem tablist toolbar directory',
    itemtype: 'SiteNavigationElement',
  },
  terms: `nav navbar navigation navs subnav topnav sidenav globalnav mainnav navmenu nav-menu nav-links menubar megamenu mega-menu submenu
    sub-menu dropdown-menu main-menu mobile-menu offcanvas off-canvas hamburger menu-item menu-items menu-list
    skiplink skiplinks skip-link skip-links skip-nav skip-to skip-content skip-to-content quicklinks quick-links
    linklist link-list site-map sitemap drawer flyout dropdown-panel dropdown-content`,
  weakTerms:
    'menu sidebar sidemenu sidepanel side-panel rail aside topbar top-bar toolbar subheader utility jump-links dropdown sitelinks',
}

/** Where a page stands in its site. */
export const BREADCRUMBS: Chrome = {
  reason: 'breadcrumbs',
  maxChars: 600,
  says: { itemtype: 'BreadcrumbList', 'aria-label': 'breadcrumb breadcrumbs' },
  terms: 'breadcrumb breadcrumbs crumb crumbs bread-crumb bread-crumbs breadcrumblist nav-path pathway',
}

/** The way to other parts of what is split over pages. */
export const PAGERS: Chrome = {
  reason: 'pager',
  maxChars: 600,
  says: { rel: 'prev', 'aria-label': 'pagination' },
  terms: `pagination paginator pager pagenav page-nav pagenavi page-numbers prev-next prevnext next-prev prev-post next-post
    post-navigation nav-previous nav-next nextpage load-more loadmore show-more view-all see-all`,
}

/** Lists of the headings of the page itself. */
export const CONTENTS: Chrome = {
  reason: 'table of contents',
  says: { role: 'doc-toc' },
  terms: `toc tocs table-of-contents tableofcontents on-this-page onthispage page-toc in-this-article in-this-page
    inpage-nav inpage-navigation page-contents jump-to jumplinks contents-list article-toc local-toc sticky-toc`,
}

/** What a site puts at the head and the foot of every page. */
export const FRAME: Chrome = {
  reason: 'frame of the site',
  says: { role: 'banner contentinfo complementary search', itemtype: 'WPHeader WPFooter WPSideBar' },
  terms: `footer footers sitefooter site-footer page-footer global-footer colophon copyright copyrights masthead siteheader site-header page-header-bar
    global-header topheader top-header header-top header-nav navigation-header site-info site-branding logo site-logo site-title nocontent`,
  weakTerms: 'legal disclaimer bottom-bar credits imprint',
}
