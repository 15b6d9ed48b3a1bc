import { describe, expect, test } from 'vitest'
import { keyPath } from './key.ts'
import { createReachTest, followRedirect, type ReachPosition } from './reach.ts'
import type { Reach } from './scope.ts'

interface Case {
  readonly reach: Reach
  readonly start: string
  readonly site?: string
  readonly pattern: string
  readonly inside: readonly string[]
  readonly outside?: readonly string[]
  readonly elsewhere: readonly string[]
}

const CASES: readonly Case[] = [
  {
    reach: 'subpages',
    start: 'https://example.com/docs/',
    pattern: 'subpages example.com/docs/',
    inside: [
      'https://example.com/docs',
      'https://example.com/docs/',
      'https://example.com/docs/a/b?x#y',
      'http://example.com/docs/a',
    ],
    outside: [
      'https://example.com/',
      'https://example.com/docsx',
      'https://example.com/docs.html',
      'https://example.com/Docs/a',
      'https://example.com/a/docs/',
    ],
    elsewhere: [
      'https://www.example.com/docs/',
      'https://example.com:8443/docs/',
      'http://example.com:443/docs/',
      'https://example.org/docs/',
    ],
  },
  {
    reach: 'subpages',
    start: 'https://example.com/',
    pattern: 'subpages example.com/',
    inside: ['https://example.com/', 'https://example.com/a'],
    elsewhere: ['https://a.example.com/'],
  },
  {
    reach: 'subpages',
    start: 'https://example.com/docs/index.html',
    pattern: 'subpages example.com/docs/',
    inside: ['https://example.com/docs/index.html', 'https://example.com/docs', 'https://example.com/docs/a'],
    outside: ['https://example.com/index.html'],
    elsewhere: [],
  },
  {
    reach: 'subpages',
    start: 'https://example.com/docs/start',
    pattern: 'subpages example.com/docs/',
    inside: ['https://example.com/docs', 'https://example.com/docs/start/a', 'https://example.com/docs/other'],
    outside: ['https://example.com/', 'https://example.com/start'],
    elsewhere: ['https://www.example.com/docs/'],
  },
  {
    reach: 'subpages',
    start: 'https://example.com/docs/old',
    site: 'https://example.com/docs/new',
    pattern: 'subpages example.com/docs/',
    inside: ['https://example.com/docs/a'],
    outside: ['https://example.com/'],
    elsewhere: [],
  },
  {
    reach: 'subpages',
    start: 'http://example.com/docs/',
    site: 'https://www.example.com/docs/',
    pattern: 'subpages www.example.com/docs/',
    inside: [
      'https://www.example.com/docs/a',
      'http://www.example.com/docs/a',
      'http://example.com/docs/a',
      'https://example.com/docs/a',
    ],
    outside: ['https://www.example.com/a'],
    elsewhere: ['https://api.example.com/docs/a'],
  },
  {
    reach: 'subpages',
    start: 'https://example.com/docs',
    site: 'https://docs.example.com/',
    pattern: 'subpages docs.example.com/',
    inside: ['https://docs.example.com/', 'https://docs.example.com/a', 'https://example.com/docs/a'],
    outside: ['https://example.com/', 'https://example.com/a'],
    elsewhere: ['https://www.example.com/docs/a'],
  },
  {
    reach: 'subpages',
    start: 'https://example.com/docs/',
    site: 'https://example.com/en/docs/index.html',
    pattern: 'subpages example.com/en/docs/',
    inside: ['https://example.com/en/docs/a', 'https://example.com/en/docs', 'https://example.com/docs/a'],
    outside: ['https://example.com/en/', 'https://example.com/'],
    elsewhere: [],
  },
  {
    reach: 'subpages',
    start: 'https://example.com/docs/v1/',
    site: 'https://example.com/docs/',
    pattern: 'subpages example.com/docs/v1/',
    inside: ['https://example.com/docs/v1/a'],
    outside: ['https://example.com/docs/v2', 'https://example.com/'],
    elsewhere: [],
  },
  {
    reach: 'subpages',
    start: 'https://example.com/%7Euser/gr%c3%b6%c3%9fe/',
    pattern: 'subpages example.com/~user/gr%C3%B6%C3%9Fe/',
    inside: ['https://example.com/~user/größe/a'],
    outside: ['https://example.com/~user/'],
    elsewhere: [],
  },
  {
    reach: 'hostname',
    start: 'http://example.com:8080/docs',
    pattern: 'hostname example.com:8080',
    inside: ['http://example.com:8080/', 'http://example.com:8080/a'],
    elsewhere: [
      'http://example.com/',
      'https://example.com:8080/',
      'http://example.com:8081/',
      'http://www.example.com:8080/',
    ],
  },
  {
    reach: 'hostname',
    start: 'https://example.com/docs',
    pattern: 'hostname example.com',
    inside: ['https://example.com/', 'http://example.com/a'],
    elsewhere: ['https://www.example.com/', 'https://example.com.evil.org/', 'https://notexample.com/'],
  },
  {
    reach: 'domain',
    start: 'https://docs.example.co.uk/a',
    pattern: 'domain example.co.uk',
    inside: [
      'https://docs.example.co.uk/',
      'http://www.example.co.uk/',
      'https://example.co.uk/',
      'https://a.b.example.co.uk:8443/',
    ],
    elsewhere: ['https://other.co.uk/', 'https://example.com/', 'https://notexample.co.uk/', 'http://127.0.0.1/'],
  },
  {
    reach: 'domain',
    start: 'https://one.github.io/a',
    pattern: 'domain one.github.io',
    inside: ['https://one.github.io/', 'https://docs.one.github.io/'],
    elsewhere: ['https://two.github.io/', 'https://github.io/'],
  },
  {
    reach: 'domain',
    start: 'http://localhost:3000/',
    pattern: 'domain localhost:3000',
    inside: ['http://localhost:3000/a'],
    elsewhere: [
      'http://localhost:3001/',
      'https://localhost:3000/',
      'http://a.localhost:3000/',
      'http://127.0.0.1:3000/',
    ],
  },
  {
    reach: 'domain',
    start: 'http://10.0.0.1/',
    pattern: 'domain 10.0.0.1',
    inside: ['https://10.0.0.1/a'],
    elsewhere: ['http://10.0.0.2/', 'http://10.0.0.1:8080/', 'http://1.10.0.1/'],
  },
]

describe.each(CASES)('$reach of $start', ({ reach, start, site = start, pattern, inside, outside = [], elsewhere }) => {
  const judge = createReachTest(reach, new URL(start), new URL(site))
  const locate = (text: string): ReachPosition => {
    const url = new URL(text)
    return judge.locate(url, keyPath(url))
  }

  test(`is called ${pattern}`, () => {
    expect(judge.pattern).toBe(pattern)
  })

  test.each([
    ...inside.map((url) => ['inside', url] as const),
    ...outside.map((url) => ['outside', url] as const),
    ...elsewhere.map((url) => ['elsewhere', url] as const),
  ])('gives the position %s for %s', (place, url) => {
    expect(locate(url)).toBe(place)
  })
})

test.each([
  ['/docs/', '/docs/'],
  ['/docs/index', '/docs/'],
  ['/docs/INDEX.php', '/docs/'],
  ['/docs/intro.html', '/docs/'],
  ['/docs/intro.htm', '/docs/'],
  ['/docs/intro.md', '/docs/'],
  ['/intro.html', '/'],
  ['/docs/start', '/docs/'],
  ['/docs', '/'],
  ['/docs/index/', '/docs/index/'],
  ['/docs/intro.html/', '/docs/intro.html/'],
  ['/docs/v1.2', '/docs/'],
  ['/docs/v1.2/', '/docs/v1.2/'],
])('the subpages of %s are the same as those of %s', (path, base) => {
  const start = new URL(path, 'https://example.com')
  expect(createReachTest('subpages', start, start).pattern).toBe(`subpages example.com${base}`)
})

test.each([
  // A page stays a page, also where the server adds a slash.
  ['https://a.test/docs/start', 'https://a.test/docs/start/', 'https://a.test/docs/start'],
  ['http://a.test/docs/start', 'https://a.test/docs/start/', 'https://a.test/docs/start'],
  ['https://a.test/docs/', 'https://a.test/docs/start', 'https://a.test/docs/'],
  ['https://a.test/docs/index.html', 'https://a.test/docs/start', 'https://a.test/docs/index.html'],
  // A start that redirects to a page below it is a folder.
  ['https://a.test/a/docs', 'https://a.test/a/docs/start', 'https://a.test/a/docs/'],
  ['https://a.test/docs', 'https://a.test/docs/', 'https://a.test/docs/'],
  ['http://a.test/docs', 'https://a.test/docs/start', 'https://a.test/docs/'],
  // The site moves.
  ['https://a.test/docs', 'https://docs.a.test/', 'https://docs.a.test/'],
  ['https://a.test/docs/old', 'https://a.test/docs/new', 'https://a.test/docs/new'],
])('a site at %s that redirects to %s is at %s', (site, target, expected) => {
  expect(followRedirect(site, target)).toBe(expected)
})
