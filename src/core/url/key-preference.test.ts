import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareKeyPreference, isSpellingOf } from './key-preference.ts'

describe('compareKeyPreference', () => {
  test.each([
    ['no query', 'https://example.com/a/b/c', 'https://example.com/a?x=1'],
    ['no query before https', 'http://example.com/a', 'https://example.com/a?x=1'],
    ['https', 'https://example.com/a/b', 'http://example.com/a'],
    ['fewer segments', 'https://example.com/long-name', 'https://example.com/a/b'],
    ['the root', 'https://example.com/', 'https://example.com/a'],
    ['the shorter path', 'https://www.example.com/a', 'https://example.com/ab'],
    ['the shorter path before the query', 'https://example.com/a?xx=11', 'https://example.com/ab?x=1'],
    ['the key that sorts first', 'https://example.com/a', 'https://www.example.com/a'],
    ['the query that sorts first', 'https://example.com/a?a=1', 'https://example.com/a?b=1'],
  ])('puts %s first', (_what, better, worse) => {
    expect(compareKeyPreference(better, worse)).toBeLessThan(0)
    expect(compareKeyPreference(worse, better)).toBeGreaterThan(0)
  })

  test('a key equals itself', () => {
    expect(compareKeyPreference('https://example.com/a?b', 'https://example.com/a?b')).toBe(0)
  })

  test('is a total order: keys are sorted the same in any order of discovery', () => {
    const key = fc
      .tuple(
        fc.constantFrom('http', 'https'),
        fc.constantFrom('a.de', 'b.de'),
        fc.constantFrom('', 'a', 'b', 'a/b', 'ab'),
        fc.constantFrom('', '?a', '?b'),
      )
      .map(([scheme, host, path, query]) => `${scheme}://${host}/${path}${query}`)
    fc.assert(
      fc.property(fc.array(key), (keys) => {
        expect(keys.toSorted(compareKeyPreference)).toEqual(keys.toReversed().toSorted(compareKeyPreference))
      }),
    )
  })
})

describe('isSpellingOf', () => {
  const address = 'https://example.com/docs/page'

  test.each([
    address,
    'http://example.com/docs/page',
    'https://www.example.com/docs/page',
    'https://example.com/docs/page/',
    'https://example.com/docs/page?view=x',
    'https://example.com/docs/page?id=1#part',
    'https://example.com/Docs/Page',
    'https://example.com/docs/page.html',
    'https://example.com/docs/page.htm',
    'https://example.com/docs/page.md',
    'https://example.com/docs/page.html.md',
    'https://example.com/docs/page/index.html',
    'https://example.com/docs/page/index.html.md',
    'https://example.com/docs/page/index.php',
    'https://example.com/docs/page/index.md',
    'https://example.com/docs/page/index',
    'https://example.com/docs/%70age',
  ])('holds for %s', (other) => {
    expect(isSpellingOf(address, other)).toBe(true)
    expect(isSpellingOf(other, address)).toBe(true)
  })

  test.each([
    'https://example.com/docs',
    'https://example.com/docs/page2',
    'https://example.com/docs/page/a',
    'https://example.com/docs/page.txt',
    'https://example.com/docs/page.md.html.md',
    'https://example.com/docs/page/index.txt',
    'https://example.com/docs/page/indexes',
    'https://example.com/docs//page',
    'https://docs.example.com/docs/page',
    'https://www2.example.com/docs/page',
    'https://example.com:8080/docs/page',
    'ftp://example.com/docs/page',
    'page',
  ])('does not hold for %s', (other) => {
    expect(isSpellingOf(address, other)).toBe(false)
  })

  test('holds for the root and its index', () => {
    expect(isSpellingOf('https://example.com', 'http://www.example.com/index.html')).toBe(true)
  })

  test('does not hold for an invalid address, not even if both are equal', () => {
    expect(isSpellingOf('page', 'page')).toBe(false)
  })
})
