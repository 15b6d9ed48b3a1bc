import { describe, expect, test } from 'vitest'
import type { NoPageReason, Snapshot } from '../model.ts'
import { extractPage } from './extract-page.ts'

const PAGE = 'https://example.com/a'

function reasonOf(body: string, more: Partial<Snapshot> = {}): NoPageReason | 'page' {
  const extraction = extractPage({ url: PAGE, body, ...more })
  return extraction.type === 'page' ? 'page' : extraction.reason
}

/** A text of whole sentences, at most `length` characters long. */
function prose(length: number): string {
  return 'The tide comes in twice a day and nobody can stop it. '.repeat(length / 54)
}

describe('a challenge', () => {
  test.each([
    [
      'Cloudflare',
      '<title>Just a moment...</title><script>window._cf_chl_opt={}</script><p>Enable JavaScript and cookies to continue',
    ],
    ['Cloudflare (blocked)', '<title>Attention Required! | Cloudflare</title><h1>Sorry, you have been blocked</h1>'],
    [
      'Turnstile',
      '<h1>Verify you are human</h1><script src="https://challenges.cloudflare.com/turnstile/v0/api.js"></script>',
    ],
    [
      'HUMAN',
      '<h1>Before we continue...</h1><p>Press & Hold to confirm you are a human (and not a bot).</p><div id="px-captcha"></div>',
    ],
    [
      'DataDome',
      "<p>Please enable JS and disable any ad blocker</p><script>var dd={'rt':'c'}</script><script src='https://ct.captcha-delivery.com/c.js'></script>",
    ],
    [
      'Akamai',
      "<title>Access Denied</title><h1>Access Denied</h1>You don't have permission to access this. Reference #18.2d351ab8.1557333295.a4e16ab",
    ],
    [
      'Imperva',
      '<iframe src="/_Incapsula_Resource?CWUDNSAI=9">Request unsuccessful. Incapsula incident ID: 1-2</iframe>',
    ],
    [
      'AWS WAF',
      '<script src="https://x.token.awswaf.com/x/challenge.js"></script><div id="challenge-container"></div><noscript>verify that you are not a robot</noscript>',
    ],
    ['Anubis', "<title>Making sure you're not a bot!</title><p>Loading...</p>"],
    ['hCaptcha alone', '<p>Are you a robot?</p><script src="https://hcaptcha.com/1/api.js"></script>'],
    ['reCAPTCHA alone', '<title>Robot Check</title><script src="https://www.google.com/recaptcha/api.js"></script>'],
    [
      'Anubis with a long explanation',
      `<title>Making sure you're not a bot!</title><p>${prose(900)}<script id=anubis_challenge>{}</script>`,
    ],
    ['Reddit', '<title>Reddit - Prove your humanity</title><p>Complete the challenge below.</p>'],
    ['SiteGround', '<title>Robot Challenge Screen</title><h1>Checking the site connection security</h1>'],
    ['an unknown product', '<title>Human Verification</title><p>Please solve the puzzle.'],
  ])('recognizes the challenge page of %s', (_, html) => {
    expect(reasonOf(html)).toBe('challenge')
  })

  test('is recognized by its response headers', () => {
    expect(reasonOf(`<p>${prose(3000)}`, { status: 403, headers: { 'cf-mitigated': 'challenge' } })).toBe('challenge')
  })

  test('is assumed more readily for a response with an error status', () => {
    const html = `<h1>Something went wrong</h1><p>${prose(900)}<p>Access is denied.<script src="https://www.google.com/recaptcha/api.js"></script>`
    expect(reasonOf(html, { status: 403 })).toBe('challenge')
    expect(reasonOf(html)).toBe('page')
  })

  test.each([
    [
      'an article about captchas',
      `<title>Are you a robot? How captchas work</title><h1>Are you a robot?</h1><p>${prose(1500)}`,
    ],
    [
      'a page with a protected form',
      `<h1>Contact us</h1><p>${prose(700)}</p><form><input name=a></form><script src="https://challenges.cloudflare.com/turnstile/v0/api.js"></script>`,
    ],
    [
      'a page behind Cloudflare',
      `<h1>Tides</h1><p>${prose(300)}</p><script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>`,
    ],
    [
      'an article that quotes one',
      `<h1>How reCAPTCHA works</h1><p>${prose(300)} Are you a robot? it asks.</p><script src="https://www.google.com/recaptcha/api.js"></script>`,
    ],
    [
      'a legal notice',
      '<h1>Imprint</h1><p>Acme Ltd, 1 Main St.</p><script src="https://hcaptcha.com/1/api.js"></script>',
    ],
    [
      'a manual about limits',
      '<h1>429 Too Many Requests</h1><p>The client has sent too many requests in a given amount of time.</p>',
    ],
    [
      'a manual about access permissions',
      '<h1>Access denied</h1><p>The user has no right. Grant it with <code>GRANT</code>.</p>',
    ],
    ['a manual about origins', '<h1>Request blocked by CORS</h1><p>The server did not allow the origin.</p>'],
    [
      'a short page with a protected form',
      '<h1>Call us</h1><p>We answer every question within two days, also on Sundays. Write to the harbour, to the lighthouse or to the school; all letters are read.</p><script src="https://www.google.com/recaptcha/api.js"></script>',
    ],
  ])('is not %s', (_, html) => {
    expect(reasonOf(html)).toBe('page')
  })
})

describe('a login', () => {
  test.each([
    '<title>Sign in</title><h1>Sign in to Example</h1><form><label>Email<input></label><input type=password><button>Sign in</button></form>',
    '<h1>Willkommen</h1><form><input name=user><input type="PASSWORD"></form>',
    `<title>Log in</title><p>${prose(300)}</p><form><input type=password></form>`,
    '<h1>Sign in</h1><p>Use your account</p><form><input type=email><button>Next</button></form>',
    '<h1>Log in to Acme</h1><p>You must log in to view this page.</p><a href=/sso>Continue with SSO</a>',
    '<h1>Login required</h1><p>Please <a href=/login>log in</a> to view other pages.</p>',
  ])('is %s', (html) => {
    expect(reasonOf(html)).toBe('login')
  })

  test.each([
    [
      'a page with a login form beside its content',
      `<form><input type=password></form><main><h1>Tides</h1><p>${prose(900)}</main>`,
    ],
    [
      'a page with a hidden form',
      '<div hidden><form><input type=password></form></div><main><h1>Tides</h1><p>Short.</main>',
    ],
    ['a page about logins', `<title>How to log in</title><h1>Log in</h1><p>${prose(1000)}`],
    [
      'posts in a form',
      `<title>Topic</title><form><article>${prose(1000)}</article></form><form><input type=password></form>`,
    ],
  ])('is not %s', (_, html) => {
    expect(reasonOf(html)).toBe('page')
  })
})

test('a response with status 401 is a login', () => {
  expect(reasonOf('<h1>401 Authorization Required</h1><hr>nginx', { status: 401 })).toBe('login')
})

describe('a missing page', () => {
  test.each([
    '<title>404 Not Found</title><h1>Oops</h1><p>Go home.',
    '<title>Page not found | Example</title><p>Sorry, we looked everywhere.',
    '<h1>The page you are looking for could not be found</h1>',
    "<h1>We can't find that page</h1><p>Try the search.",
    '<title>Not Found - Acme</title><p>Try the search.',
    '<h1>Nothing found</h1><p>Try the search.',
    '<h1>No results found</h1>',
    '<h1>Sorry, this page isn’t available</h1><p>The link may be broken.',
    '<h1>Seite nicht gefunden</h1><p>Leider.',
    '<h1>Page introuvable</h1>',
    '<h1>Página no encontrada</h1>',
    '<h1>Страница не найдена</h1>',
    '<h1>ページが見つかりません</h1>',
    '<h1>找不到页面</h1>',
  ])('is %s', (html) => {
    expect(reasonOf(html)).toBe('soft_404')
  })

  test('is recognized by its status alone', () => {
    expect(reasonOf('<h1>Hmm</h1><p>We looked everywhere.', { status: 410 })).toBe('soft_404')
  })

  test('may have more text if its status is 404', () => {
    const html = `<title>Page not found</title><p>${prose(900)}`
    expect(reasonOf(html, { status: 404 })).toBe('soft_404')
    expect(reasonOf(html)).toBe('page')
  })

  test.each([
    ['documentation about one', `<title>404 Not Found - HTTP</title><h1>404 Not Found</h1><p>${prose(2000)}`],
    [
      'a short manual about one',
      '<h1>404 Not Found</h1><p>The status indicates that the server cannot find the requested resource. Links that lead to such a page are often called dead links.</p>',
    ],
    ['a manual with code', '<h1>File not found</h1><p>Check the path in <code>include</code>.</p>'],
    [
      'a name that contains 404',
      '<title>404 Media</title><h1>404 Media</h1><p>Independent journalism about technology.</p>',
    ],
    ['an article that mentions one', '<h1>Our pages</h1><p>If a page is not found, tell us.'],
  ])('is not %s', (_, html) => {
    expect(reasonOf(html)).toBe('page')
  })
})

describe('an app shell that needs rendering', () => {
  test.each([
    '<div id="root"></div><script src="main.js"></script>',
    '<div id="__next"><div></div></div><script src="main.js"></script>',
    '<noscript>You need to enable JavaScript to run this app.</noscript><div id="x"></div><script src="main.js"></script>',
    '<p>Please enable JavaScript to continue.</p><script src="main.js"></script>',
    '<p>Loading…</p><script src="main.js"></script>',
    `<nav>${'<a href="/a">Somewhere else</a> '.repeat(20)}</nav><main><p>...</p></main><script src="main.js"></script>`,
    `<script>${'x();'.repeat(5000)}</script><p>Shop</p>`,
    `<nav>${'<a href="/a">Somewhere else</a> '.repeat(20)}</nav><main id="app"></main><script src="main.js"></script>`,
  ])('is %s', (html) => {
    expect(reasonOf(html)).toBe('needs_rendering')
  })

  test.each([
    ['a page with scripts', `<div id="root"><h1>Tides</h1><p>${prose(300)}</p></div><script src="main.js"></script>`],
    [
      'a page with its text in noscript',
      `<div id="root"></div><script src="main.js"></script><noscript><h1>Tides</h1><p>${prose(900)}</p></noscript>`,
    ],
    [
      'a page with text that also asks for JavaScript',
      '<noscript>Please enable JavaScript</noscript><h1>Tides</h1><p>The tide comes in twice a day.</p><script src="main.js"></script>',
    ],
    [
      'a page about scripts',
      '<h1>Enable JavaScript</h1><p>In Settings, turn on JavaScript.</p><script src="main.js"></script>',
    ],
    ['a short page without scripts', '<h1>Tides</h1><p>High at six.'],
    ['a short page with a script', '<h1>Tides</h1><p>High at six.</p><script>count()</script>'],
  ])('is not %s', (_, html) => {
    expect(reasonOf(html)).toBe('page')
  })
})

describe('a redirect', () => {
  test.each([
    ['<meta http-equiv="refresh" content="0; url=/b">', 'https://example.com/b'],
    [
      '<meta http-equiv=Refresh content="3;URL=\'https://example.org/\'"><p>Click <a href=x>here</a>',
      'https://example.org/',
    ],
    ['<base href="/docs/"><meta http-equiv=refresh content="0;url=b">', 'https://example.com/docs/b'],
    ['<script>window.location = "/b"</script>', 'https://example.com/b'],
    ["<script>location.replace('/b?x=1')</script><p>Redirecting…", 'https://example.com/b?x=1'],
    ['<script>var u="/b";window.location=u</script><p>Redirecting', 'https://example.com/b'],
    [
      '<title>301 Moved Permanently</title><p>The document has moved <a href="https://example.org/b">here</a>.',
      'https://example.org/b',
    ],
    ['<frameset><frame src="/real.html"></frameset>', 'https://example.com/real.html'],
    [
      '<link rel=canonical href=/b><title>Redirecting</title><p>This page has moved to <a href=/b>b</a>.',
      'https://example.com/b',
    ],
  ])('%s leads to %s', (html, target) => {
    expect(extractPage({ url: PAGE, body: html })).toMatchObject({ type: 'no-page', reason: 'redirect', target })
  })

  test('is recognized by the Refresh header', () => {
    expect(reasonOf('<p>Wait', { headers: { refresh: '0; url=/b' } })).toBe('redirect')
  })

  test.each([
    ['a page that reloads itself', '<meta http-equiv=refresh content="5;url=/a"><h1>Score</h1><p>1:0'],
    ['a page that waits long', '<meta http-equiv=refresh content="300;url=/b"><h1>Score</h1><p>1:0'],
    ['a page with text', `<meta http-equiv=refresh content="0;url=/b"><p>${prose(900)}`],
    [
      'a page with text and a script that may redirect',
      `<h1>Tides</h1><p>${prose(300)}</p><script>if (x) location.href = "/b"</script>`,
    ],
    [
      'a manual about redirects',
      '<link rel=canonical href=/b><title>Redirects</title><h1>Redirects</h1><p>Set <code>redirect: true</code>.',
    ],
    ['a page with a canonical address', '<link rel=canonical href=/b><h1>Tides</h1><p>High at six.'],
  ])('is not %s', (_, html) => {
    expect(reasonOf(html)).toBe('page')
  })
})

describe('an empty document', () => {
  test.each(['<p></p>', '<html><body> \n </body></html>', '<p hidden>secret</p><p></p>', '<!-- -->'])(
    'is %s',
    (html) => {
      expect(reasonOf(html)).toBe('empty')
    },
  )

  test('is not a document with only a picture', () => {
    expect(reasonOf('<img src=a.png alt="">')).toBe('page')
  })
})
