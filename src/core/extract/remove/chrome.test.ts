import { describe, expect, test } from 'vitest'
import { parseHtml } from '../../html/parse-html.ts'
import { lineOf } from '../../html/tree.ts'
import { listRemovals } from '../drop.ts'
import { removeChrome } from './chrome.ts'

const PROSE = '<p>The body of the page has a few sentences, so that a part beside it is known to be small.</p>'.repeat(
  8,
)

function removals(part: string): string[] {
  const root = parseHtml(`<body><div>${part}${PROSE}</div></body>`)
  removeChrome(root, undefined)
  return listRemovals(root).map(({ reason }) => reason)
}

describe('removeChrome', () => {
  const dropped: [html: string, reason: string][] = [
    ['<nav><a href="/">Home</a></nav>', 'navigation'],
    ['<div role="navigation">Home</div>', 'navigation'],
    ['<div class="MainNav">Home</div>', 'navigation'],
    ['<ul class="breadcrumbs"><li>Home</li></ul>', 'breadcrumbs'],
    ['<div class="pagination">1 2 3</div>', 'pager'],
    ['<div class="table-of-contents">1. One</div>', 'table of contents'],
    ['<footer>© Example</footer>', 'frame of the site'],
    ['<site-footer>© Example</site-footer>', 'frame of the site'],
    ['<header>Example</header>', 'frame of the site'],
    ['<aside>Weather</aside>', 'aside'],
    ['<div id="cookie-banner">We use cookies</div>', 'notice over the page'],
    ['<div role="dialog">Choose your country</div>', 'dialog'],
    ['<div class="ad-slot">Buy</div>', 'advertisement'],
    ['<div class="newsletter">Your address</div>', 'newsletter'],
    ['<div class="share-buttons">Post it</div>', 'sharing'],
    ['<div class="top-banner">Version 9 is out</div>', 'notice over the page'],
    [
      '<cart-drawer><h2>Your bag</h2><p>Orders above fifty pounds are sent to any address without a charge.</p></cart-drawer>',
      'navigation',
    ],
    ['<div>Your cart is currently empty.</div>', 'form'],
    ['<div class="related-posts"><a href="/b">Another</a></div>', 'other pages'],
    ['<div class="related-things"><a href="/b">Another</a></div>', 'other pages'],
    [
      '<div class="newsletter"><h3>News</h3><p>What happens here and elsewhere, once a week, in your mail.</p><form><input></form></div>',
      'newsletter',
    ],
    ['<iframe src="https://googletagmanager.com/ns" title="x" width="9" height="9">x</iframe>', 'iframe'],
    ['<iframe src="/count" title="x" width="1" height="1">x</iframe>', 'iframe'],
    ['<video>Too old to play it</video>', 'video'],
    ['<form><input> Search</form>', 'form'],
    ['<button>Press</button>', 'form'],
    ['<div class="page-feedback">Was this page helpful?</div>', 'feedback on the page'],
  ]
  test.each(dropped)('drops %s', (html, reason) => {
    expect(removals(html)).toEqual([reason])
  })

  test('drops the dialog of a consent product even if it is most of the page', () => {
    const root = parseHtml(`<body><p>Headlines</p><div id="onetrust-consent-sdk">${PROSE}</div></body>`)
    removeChrome(root, undefined)
    expect(lineOf(root)).toBe('Headlines')
  })

  const kept: [name: string, html: string][] = [
    ['a banner that is a part of the text', `<div class="banner"><h1>Title</h1>${PROSE}</div>`],
    ['a header with the title of the page', `<header><h1>Title</h1>${PROSE}</header>`],
    [
      'a section whose id is a word of chrome',
      '<section id="cookies"><h2>Cookies</h2><p>How to set them.</p></section>',
    ],
    ['an aside that is a footnote', '<aside class="footnote">See there.</aside>'],
    ['an aside that quotes', '<aside><blockquote>Said before.</blockquote></aside>'],
    ['the button that opens an answer', '<h3><button>Why?</button></h3>'],
    [
      'an accordion with the role of a tab list',
      '<div role="tablist"><h3>Why?</h3><p>Because what is opened stands in the list as well.</p></div>',
    ],
    [
      'a product card with the class of a cart button',
      `<div class="cart-button"><h3>Cup</h3><p>${'Of clay. '.repeat(80)}</p></div>`,
    ],
    ['a page inside a form', `<form><input type="hidden">${PROSE}</form>`],
    ['words of chrome in code', '<pre><span class="nav">x</span></pre>'],
    [
      'a long list that has the class of a pager',
      `<div class="pagination">${'<p>An item of the list</p>'.repeat(40)}</div>`,
    ],
    ...[
      'related-work',
      'cookie-recipe',
      'social-security',
      'newsletter-api',
      'pagination-api',
      'login-flow',
      'subscribe-method',
      'toc-example',
      'helpful',
    ].map((name): [string, string] => [
      `a part whose class only contains a word of chrome: ${name}`,
      `<div class="${name}"><p>Of this.</p></div>`,
    ]),
    [
      'a section with a heading and sentences of its own',
      '<div class="related"><h2>Related work</h2><p>Others have tried to do the same before, and with some success.</p></div>',
    ],
    [
      'sentences about pages without a link to one',
      '<p class="pagination">A cursor leads from one page of the results to the next.</p>',
    ],
    ['an embedded video with a title', '<iframe src="/v" title="How it works">x</iframe>'],
    ['a post with a tag that is a word of chrome', '<div class="post tag-sponsored">A post</div>'],
  ]
  test.each(kept)('keeps %s', (_, html) => {
    expect(removals(html)).toEqual([])
  })

  test('keeps a container that holds the page, under any name', () => {
    const root = parseHtml(`<body><div class="menu newsletter">${PROSE}</div></body>`)
    removeChrome(root, undefined)
    expect(lineOf(root)).toContain('The body of the page')
  })

  test.each([
    '<footer>',
    '<div role="dialog" aria-modal="true">',
    '<div class="modal fade"><div class="modal-dialog">',
  ])('drops %s of any length', (start) => {
    const terms = `${start}<h1>Terms</h1>${'<p>Whoever buys from us agrees to what nobody ever reads.</p>'.repeat(40)}`
    const root = parseHtml(`<body><h1>Title</h1>${PROSE}${terms}</body>`)
    removeChrome(root, undefined)
    expect(lineOf(root)).toContain('The body of the page')
    expect(lineOf(root)).not.toContain('Terms')
  })

  test('keeps a footer that holds the page', () => {
    const root = parseHtml(`<body><p>Hello</p><footer><h1>Title</h1>${PROSE}</footer></body>`)
    removeChrome(root, undefined)
    expect(lineOf(root)).toContain('The body of the page')
  })

  test('drops the parts that the generator names, with its reason', () => {
    const root = parseHtml(`<body><i class="edit">edit</i>${PROSE}</body>`)
    removeChrome(root, { name: 'x', meta: [], fingerprints: [], content: [], drop: { 'i.edit': 'control' } })
    expect(listRemovals(root)).toMatchObject([{ reason: 'control', element: 'i.edit' }])
  })
})
