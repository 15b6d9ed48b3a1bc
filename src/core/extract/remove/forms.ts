import type { ChromeKind } from './chrome-kind.ts'

/** Form controls: fields and buttons. */
export const CONTROLS: ChromeKind = {
  reason: 'form',
  maxChars: 600,
  attributes: { role: 'listbox option combobox searchbox slider switch spinbutton' },
  terms: `search-form searchform searchbox search-box search-bar searchbar search-results-form login log-in signin
    sign-in register registration captcha recaptcha form-actions button-group btn-group buttons addtocart
    add-to-bag buy-now wishlist quantity cart minicart checkout filters facet facets sort-by sortby sorting
    refinement refinements filter-bar filter-sort language-switcher lang-switcher language-selector
    country-selector currency-selector store-locator`,
  weakTerms: 'btn cta ctas button sort actions action switcher selector picker',
}

/** Questions about the page itself. */
export const FEEDBACK: ChromeKind = {
  reason: 'feedback on the page',
  maxChars: 1500,
  terms: `feedback was-helpful is-helpful page-helpful rate-this survey qualtrics edit-page edit-this-page editpage edit-link edit-on-github
    improve-page report-issue page-actions print-link print-button printfriendly download-pdf`,
}
