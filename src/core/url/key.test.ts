import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hostOf, looseKey, toggleSlash, urlKey } from './key.ts'

const SAME: readonly (readonly [what: string, a: string, b: string])[] = [
  ['case of scheme and host', 'HTTPS://Example.COM/a', 'https://example.com/a'],
  ['a default port', 'https://example.com:443/a', 'https://example.com/a'],
  ['a default port of http', 'http://example.com:80/a', 'http://example.com/a'],
  ['credentials', 'https://user:secret@example.com/a', 'https://example.com/a'],
  ['a fragment', 'https://example.com/a#part', 'https://example.com/a'],
  ['repeated slashes at the end', 'https://example.com/a///', 'https://example.com/a/'],
  ['a missing path', 'https://example.com', 'https://example.com/'],
  ['an empty query', 'https://example.com/a?', 'https://example.com/a'],
  ['a query of empty pairs', 'https://example.com/a?&&', 'https://example.com/a'],
  ['a superfluous query', 'https://example.com/a?utm_source=x&gclid=y', 'https://example.com/a'],
  [
    'the superfluous part of a mixed query',
    'https://example.com/a?utm_source=x&id=1&gclid=y',
    'https://example.com/a?id=1',
  ],
  ['a superfluous key that is encoded', 'https://example.com/a?utm%5Fsource=x', 'https://example.com/a'],
  ['case of percent-encoding', 'https://example.com/%c3%a9?x=%c3', 'https://example.com/%C3%A9?x=%C3'],
  ['missing encoding of a character that needs it', 'https://example.com/é', 'https://example.com/%C3%A9'],
  ['encoding of characters that do not need it', 'https://example.com/%7Ea%2Db%41', 'https://example.com/~a-bA'],
  ['dot segments', 'https://example.com/b/../a/./', 'https://example.com/a/'],
  ['encoding of the host name', 'https://bücher.example/', 'https://xn--bcher-kva.example/'],
  ['surrounding white space', ' https://example.com/a\n', 'https://example.com/a'],
]

const DIFFERENT: readonly (readonly [what: string, a: string, b: string])[] = [
  ['scheme', 'http://example.com/a', 'https://example.com/a'],
  ['host', 'https://www.example.com/a', 'https://example.com/a'],
  ['port', 'https://example.com:8443/a', 'https://example.com/a'],
  ['the default port of another scheme', 'https://example.com:80/a', 'https://example.com/a'],
  ['case of the path', 'https://example.com/A', 'https://example.com/a'],
  ['an encoded slash', 'https://example.com/a%2Fb', 'https://example.com/a/b'],
  ['a double slash within the path', 'https://example.com/a//b', 'https://example.com/a/b'],
  ['a slash at the end', 'https://example.com/a/', 'https://example.com/a'],
  ['a query that may select content', 'https://example.com/a?ref=x', 'https://example.com/a'],
  ['an index file', 'https://example.com/a/index.html', 'https://example.com/a/'],
  ['an essential query', 'https://example.com/a?id=1', 'https://example.com/a'],
  ['an unknown query', 'https://example.com/a?lang=de', 'https://example.com/a?lang=en'],
  ['the order of keys', 'https://example.com/a?x=1&y=2', 'https://example.com/a?y=2&x=1'],
  ['case of a query', 'https://example.com/a?x=B', 'https://example.com/a?x=b'],
  ['an encoded ampersand', 'https://example.com/a?x=1%26y=2', 'https://example.com/a?x=1&y=2'],
]

describe('urlKey', () => {
  test.each(SAME)('ignores %s', (_what, a, b) => {
    expect(urlKey(a)).toBe(b)
    expect(urlKey(b)).toBe(b)
    expect(urlKey(new URL(a))).toBe(b)
  })

  test.each(DIFFERENT)('distinguishes addresses by %s', (_what, a, b) => {
    expect(urlKey(a)).not.toBe(urlKey(b))
  })

  test.each([
    '',
    '/a',
    'example.com/a',
    'https://',
    'https://exa mple.com',
    'ftp://example.com/',
    'mailto:a@example.com',
    'file:///a',
  ])('gives no key to %j', (text) => {
    expect(urlKey(text)).toBeUndefined()
  })

  test('encodes a literal percent sign', () => {
    expect(urlKey('https://example.com/%4%31%')).toBe('https://example.com/%2541%25')
  })

  test('gives a key in ASCII whose own key is the same', () => {
    const nasty = fc.constantFrom(
      '%',
      '/',
      '.',
      '2',
      'e',
      'E',
      '5',
      '&',
      '=',
      '?',
      '#',
      'utm_x',
      'ref',
      ';jsessionid=1',
      'sid=k3j9d8f7a2',
      '/(S(a))',
      '\u00e9',
      ' ',
      '\\',
      '@',
      ':',
      '\ud800',
    )
    const rest = fc.array(fc.oneof(nasty, fc.string({ unit: 'binary', maxLength: 3 })), { maxLength: 20 })
    const host = fc.constantFrom(
      'example.com',
      'EXAMPLE.com:443',
      'a:b@example.com:80',
      '[::1]:8080',
      '127.1',
      'b\u00fccher.example',
    )
    fc.assert(
      fc.property(fc.constantFrom('http', 'HTTPS'), host, rest, (scheme, authority, parts) => {
        const key = urlKey(`${scheme}://${authority}/${parts.join('')}`)
        if (key === undefined) return
        expect(urlKey(key)).toBe(key)
        expect(urlKey(`${key}#f`)).toBe(key)
        expect(key).toMatch(/^https?:\/\/[!-~]+$/)
      }),
      { numRuns: process.env['TEST_LONG'] === undefined ? 600 : 20_000 },
    )
  })
})

test.each([
  ['https://example.com/a', 'https://example.com/a/'],
  ['https://example.com/a?b=/', 'https://example.com/a/?b=/'],
  ['https://example.com/', undefined],
  ['https://example.com/?a=1/', undefined],
])('toggling the slash at the end of %s gives %s, and vice versa', (bare, slashed) => {
  expect(toggleSlash(bare)).toBe(slashed)
  expect(looseKey(bare)).toBe(bare)
  if (slashed === undefined) return
  expect(toggleSlash(slashed)).toBe(bare)
  expect(looseKey(slashed)).toBe(bare)
})

describe('hostOf', () => {
  test.each([
    ['https://Docs.Example.com/a', 'docs.example.com'],
    ['http://docs.example.com:80/a', 'docs.example.com'],
    ['https://user@docs.example.com:8443/a', 'docs.example.com:8443'],
    ['http://[::1]:3000/', '[::1]:3000'],
    ['mailto:a@example.com', undefined],
    ['docs.example.com', undefined],
  ])('the host of %s is %s', (url, host) => {
    expect(hostOf(url)).toBe(host)
  })
})
