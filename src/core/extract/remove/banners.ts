import type { ChromeKind } from './chrome-kind.ts'

/** Notes that lie over a page or above it: consent, announcements, dialogs. */
export const NOTICES: ChromeKind = {
  reason: 'notice over the page',
  attributes: { role: 'alertdialog marquee status tooltip' },
  products: `onetrust cookiebot cookiehub cookieyes cookieconsent usercentrics didomi trustarc truste termly iubenda osano
    klaro borlabs cmplz complianz`,
  terms: `cookie cookies cookiebar consent gdpr ccpa announcement announcements notification-bar
    notification-banner usa-banner banner-message alert-bar site-alert site-notice toast snackbar paywall
    regwall interstitial age-gate welcome-mat outdated-browser browser-warning unsupported unsupported-browser noscript-warning
    loading spinner loader preloader skeleton`,
  weakTerms:
    'banner tooltip popover modal popup pop-up lightbox dialog notice notices notification notifications dismiss overlay',
}

/** Advertisements beside the text. */
export const ADVERTISEMENTS: ChromeKind = {
  reason: 'advertisement',
  isJargon: true,
  attributes: { 'aria-label': 'advertisement' },
  products: 'adsbygoogle outbrain taboola revcontent',
  terms: `ad ads advert adverts advertisement advertisements advertising advertorial adslot adunit adbox
    sponsored sponsor sponsors sponsorship dfp partner-offers affiliate-disclosure`,
  weakTerms: 'promo promos promotion promotions promoted deals offer offers',
}

/** Invitations to subscribe with an email address. */
export const NEWSLETTERS: ChromeKind = {
  reason: 'newsletter',
  terms: `newsletter newsletters news-letter subscribe subscription subscriptions signup sign-up mailing-list
    mailchimp mc-embed opt-in optin email-capture lead-magnet leadform hubspot-form hbspt-form`,
}
