import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { keyPath } from './key.ts'
import { findGlobProblem, matchesPathGlob, parsePathGlob } from './path-glob.ts'

/** Patterns, paths they match, and paths they do not. */
const GLOBS: readonly (readonly [pattern: string, matched: readonly string[], others: readonly string[]])[] = [
  ['/docs', ['/docs', '/docs/'], ['/', '/docs/a', '/docsx', '/a/docs', '/Docs']],
  ['/docs/', ['/docs', '/docs/'], ['/docs/a']],
  ['/docs/*', ['/docs/a', '/docs/a/', '/docs/a.html'], ['/docs', '/docs/', '/docs/a/b', '/docsx/a']],
  ['/docs/**', ['/docs', '/docs/', '/docs/a', '/docs/a/b/'], ['/', '/docsx', '/docs.html', '/a/docs/b']],
  ['/docs/**/', ['/docs', '/docs/a/b'], ['/docsx']],
  ['docs/**', ['/docs', '/docs/a'], ['/a/docs/b', '/docsx']],
  ['docs/', ['/docs'], ['/a/docs', '/docs/a']],
  ['!/docs/archive/**', ['/docs/archive', '/docs/archive/2'], ['/docs', '/docs/archived']],
  [' /docs/** ', ['/docs/a'], ['/a']],
  ['/', ['/'], ['/a']],
  ['/*', ['/', '/a', '/a/'], ['/a/b']],
  ['/**', ['/', '/a', '/a/b'], []],
  ['**', ['/', '/a', '/a/b'], []],
  ['*', ['/', '/a', '/a/b'], []],
  ['**/*', ['/', '/a', '/a/b'], []],
  ['**/*.html', ['/a.html', '/a/b.html', '/.html'], ['/a.htm', '/a.html/b', '/html']],
  ['*.html', ['/a.html', '/a/b.html'], ['/a.html/b', '/a.htm']],
  ['changelog', ['/changelog', '/a/changelog/'], ['/changelog/a', '/changelogs']],
  ['/docs/**/a', ['/docs/a', '/docs/b/a', '/docs/b/c/a'], ['/docs', '/docs/ba', '/docs/a/b', '/docsa']],
  ['/docs/**/*', ['/docs/a', '/docs/a/b'], ['/docs']],
  ['/a/**/b/**/c', ['/a/b/c', '/a/x/b/y/z/c'], ['/a/c', '/a/b', '/a/xb/c']],
  ['/docs/**.html', ['/docs/a.html', '/docs/a/b.html'], ['/docs.html', '/docs/a.htm']],
  ['/docs**', ['/docs', '/docsx/a', '/docs/a'], ['/doc', '/a/docs']],
  ['/*/api', ['/v1/api'], ['/api', '/v1/x/api']],
  ['/*/**', ['/', '/a', '/a/b'], []],
  ['/v?/a', ['/v1/a', '/v%C3%A9/a', '/v%F0%9F%98%80/a'], ['/v/a', '/v10/a', '/v//a']],
  ['/v[0-9]/a', ['/v1/a'], ['/vx/a', '/v10/a']],
  ['/v[!0-9]/a', ['/vx/a'], ['/v1/a', '/v//a']],
  ['/a[.-/]b', ['/a.b'], ['/a/b']],
  ['/a\\*b', ['/a*b'], ['/axb']],
  ['/a\\{b\\}', ['/a%7Bb%7D'], ['/ab']],
  ['/größe/*', ['/gr%C3%B6%C3%9Fe/a', '/größe/a'], ['/groesse/a']],
  ['/gr%c3%b6%c3%9fe/*', ['/gr%C3%B6%C3%9Fe/a'], ['/größer/a']],
  ['/%7Euser/**', ['/~user/a', '/%7euser'], ['/user']],
  ['/a b', ['/a%20b'], ['/a+b', '/ab']],
  ['/100%/*', ['/100%25/a', '/100%/a'], ['/100/a']],
  ['/a/*', ['/a/b%2Fc'], ['/a%2Fb', '/a/b/c']],
  ['/%FF*', ['/%ffa'], ['/a']],
  ['/a.c', ['/a.c'], ['/abc']],
  ['/(a|b)+$', ['/(a|b)+$'], ['/a']],
]

describe('a glob on paths', () => {
  for (const [pattern, matched, others] of GLOBS) {
    const glob = parsePathGlob(pattern)
    test.each(matched)(`${pattern} matches %s`, (path) => {
      expect(matchesPathGlob(glob, pathOf(path))).toBe(true)
    })
    test.each(others)(`${pattern} does not match %s`, (path) => {
      expect(matchesPathGlob(glob, pathOf(path))).toBe(false)
    })
  }

  test('agrees with an equivalent regular expression', () => {
    const pattern = fc.array(fc.constantFrom('a', 'b', '/', '*', '**', '?', '[ab]'), { maxLength: 10 })
    const path = fc.array(fc.constantFrom('a', 'b', '/'), { maxLength: 12 })
    fc.assert(
      fc.property(pattern, path, (patternParts, pathParts) => {
        // The leading `/` and the trailing `x` avoid beginnings and ends with special rules, which GLOBS covers.
        const glob = `/${patternParts.join('').replaceAll(/\*{3,}/g, '**')}x`
        const text = `/${pathParts.join('')}x`
        expect(matchesPathGlob(parsePathGlob(glob), text)).toBe(toRegExp(glob).test(text))
      }),
      { numRuns: 3000 },
    )
  })

  // A matcher that backtracks would take exponential time.
  test.each([
    ['*a', 300],
    ['**a', 300],
    ['**/', 300],
    ['*/**/', 150],
    ['?*', 300],
    ['[a]**', 150],
  ])('finishes for a pattern that repeats %s', (part, count) => {
    const pattern = `/${part.repeat(count)}b`
    const glob = parsePathGlob(pattern)
    expect(glob.steps.length).toBeLessThanOrEqual(pattern.length)
    expect(matchesPathGlob(glob, `/${'a'.repeat(1900)}`)).toBe(false)
    expect(matchesPathGlob(glob, `/${'a/'.repeat(950)}c`)).toBe(false)
  })
})

describe('findGlobProblem', () => {
  test.each(GLOBS.map(([pattern]) => pattern))('finds no problem in %s', (pattern) => {
    expect(findGlobProblem(pattern)).toBeUndefined()
  })

  test.each([
    ['', 'it is empty'],
    [' ', 'it is empty'],
    ['!', 'it is empty'],
    ['/a[b', 'a [ is never closed; write \\[ for the character'],
    ['/a\\', 'it ends in a backslash'],
    ['https://example.com/docs/**', 'it names a scheme and a host, but only paths are matched'],
    [
      '/{a,b}/**',
      'alternatives in braces are not supported; give one pattern for each, or write \\{ for the character',
    ],
    [`/${'a'.repeat(1000)}`, 'it is longer than 1000 characters'],
  ])('finds the problem of %j', (pattern, problem) => {
    expect(findGlobProblem(pattern)).toBe(problem)
    expect(() => parsePathGlob(pattern)).toThrow(TypeError)
  })
})

/** A path in the form in which scopes test it. */
function pathOf(path: string): string {
  return keyPath(new URL(`https://example.com${path}`))
}

function toRegExp(glob: string): RegExp {
  const source = glob.replaceAll(/(?<=\/)\*\*\/|\*\*|\*|\?/g, (wildcard) => {
    if (wildcard === '**/') return '(?:.*/)?'
    if (wildcard === '**') return '.*'
    return wildcard === '*' ? '[^/]*' : '[^/]'
  })
  return new RegExp(`^${source}$`)
}
