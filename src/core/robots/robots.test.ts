import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clipRobots, parseRobots } from './robots.ts'

const ROBOTS = 'https://example.com/robots.txt'

function isAllowed(body: string, path: string): boolean {
  return parseRobots(body, ROBOTS).judge(`https://example.com${path}`).allowed
}

describe('paths', () => {
  test.each([
    ['/', '/', true],
    ['/fish', '/fish', true],
    ['/fish', '/fish.html', true],
    ['/fish', '/fishheads/yummy.html', true],
    ['/fish', '/Fish', false],
    ['/fish', '/catfish', false],
    ['/fish*', '/fish/salmon', true],
    ['/fish/', '/fish', false],
    ['/fish/', '/fish/?id=1', true],
    ['/*.php', '/folder/any.php.file.html', true],
    ['/*.php', '/windows.PHP', false],
    ['/*.php$', '/folder/file.php', true],
    ['/*.php$', '/file.php?a=b', false],
    ['/*.php$', '/file.php/', false],
    ['/fish*.php', '/fishheads/cat.php?x', true],
    ['/a*b*c$', '/a1b2c', true],
    ['/a*b*c$', '/a1b2cd', false],
    ['/a*b*c$', '/a1b2cdc', true],
    ['/ab*ba$', '/aba', false],
    ['/a$b', '/a$b', true],
    ['/a$b', '/a', false],
    ['/a$', '/a', true],
    ['/a$', '/ab', false],
    ['/***x', '/1x', true],
    ['*/print', '/a/print', true],
    ['/*?', '/a?b', true],
    ['/*?', '/a', false],
    ['fish', '/fish', false],
    ['$', '/', false],
  ])('the pattern %s and the address %s match: %s', (pattern, path, expected) => {
    expect(isAllowed(`User-agent: *\nDisallow: ${pattern}`, path)).toBe(!expected)
  })

  test.each([
    ['/foo/bar?baz=http://foo.bar', '/foo/bar?baz=http://foo.bar', true],
    ['/foo/bar?baz=http%3A%2F%2Ffoo.bar', '/foo/bar?baz=http%3a%2f%2ffoo.bar', true],
    ['/foo/bar?baz=http%3A%2F%2Ffoo.bar', '/foo/bar?baz=http://foo.bar', false],
    ['/foo/bar/U+E38384', '/foo/bar/ツ', false],
    ['/foo/bar/ツ', '/foo/bar/%E3%83%84', true],
    ['/foo/bar/%E3%83%84', '/foo/bar/ツ', true],
    ['/foo/bar/%e3%83%84', '/foo/bar/%E3%83%84', true],
    ['/foo/bar/%62%61%7A', '/foo/bar/baz', true],
    ['/foo/bar/baz', '/foo/bar/%62%61%7a', true],
    ['/a%2Fb', '/a/b', false],
    ['/a|b', '/a%7Cb', true],
    ['/a%7cb', '/a|b', true],
    ['/with-a-%2A.html', '/with-a-*.html', true],
    ['/with-a-%2A.html', '/with-a-x.html', false],
    ['/foo-%24', '/foo-$', true],
    ['/100%', '/100%', true],
    ['/a\ud800', '/a\ud800', true],
  ])('the octets of %s and %s are the same: %s', (pattern, path, expected) => {
    expect(isAllowed(`User-agent: *\nDisallow: ${pattern}`, path)).toBe(!expected)
  })

  test('the longest pattern decides, in any order', () => {
    const body = 'User-agent: *\nAllow: /p\nDisallow: /\nDisallow: /page/private\nAllow: /page/private/shared'
    expect(
      ['/page', '/other', '/page/private/x', '/page/private/shared/x'].map((path) => isAllowed(body, path)),
    ).toEqual([true, false, false, true])
  })

  test('among patterns of one length the allowing one wins', () => {
    expect(isAllowed('User-agent: *\nDisallow: /folder\nAllow: /folder', '/folder/page')).toBe(true)
    expect(isAllowed('User-agent: *\nAllow: /fo*\nDisallow: /foo', '/foo')).toBe(true)
  })

  test('robots.txt itself is always allowed', () => {
    expect(isAllowed('User-agent: *\nDisallow: /', '/robots.txt')).toBe(true)
  })

  test('the decision names the rule as written', () => {
    const robots = parseRobots('User-agent: *\ndisallow:/caf\u00e9/* # no\nAllow: /caf\u00e9/x', ROBOTS)
    expect(robots.judge('https://example.com/caf%C3%A9/a')).toEqual({ allowed: false, rule: 'Disallow: /café/*' })
    expect(robots.judge('https://example.com/tea')).toEqual({ allowed: true, rule: null })
  })

  test('matching agrees with an exhaustive search', () => {
    const pattern = fc.array(fc.constantFrom('a', 'b', '*', 'aab', 'aabaabaabaabaabaab'), { maxLength: 8 })
    const path = fc.array(fc.constantFrom('a', 'b', 'aab', 'aabaabaabaabaabaab'), { maxLength: 8 })
    fc.assert(
      fc.property(pattern, path, fc.boolean(), (steps, parts, isAnchored) => {
        const glob = `/${steps.join('')}`
        const address = `/${parts.join('')}`
        const expected = matchesNaively(`${glob}${isAnchored ? '' : '*'}`, address)
        expect(isAllowed(`User-agent: *\nDisallow: ${glob}${isAnchored ? '$' : ''}`, address)).toBe(!expected)
      }),
    )
  })

  test('hostile patterns take linear time', () => {
    const evil = [
      ...Array.from({ length: 200 }, (_, i) => `Disallow: /${'*a'.repeat(900 - i)}b`),
      ...Array.from({ length: 200 }, (_, i) => `Disallow: /*${'a'.repeat(900 - i)}b`),
    ]
    const robots = parseRobots(`User-agent: *\n${evil.join('\n')}`, ROBOTS)
    // A matcher that backtracks would take seconds for each address.
    for (let i = 0; i < 20; i++) expect(robots.judge(`https://example.com/${'a'.repeat(1900 + i)}`).allowed).toBe(true)
  })
})

describe('the groups of a robots.txt', () => {
  test.each([
    [
      'a group for this program besides the one for all',
      'User-agent: *\nDisallow: /\n\nUser-agent: pharos\nDisallow: /x',
      true,
    ],
    [
      'the group for all without one for this program',
      'User-agent: other\nAllow: /\n\nUser-agent: *\nDisallow: /',
      false,
    ],
    ['only a group for another program', 'User-agent: other\nDisallow: /', true],
    ['a name in any case', 'User-Agent: PHAROS\nDisallow: /', false],
    ['a name with a version', 'User-agent: Pharos/1.0 (+https://x)\nDisallow: /', false],
    ['a longer name that begins with that of this program', 'User-agent: pharos-image\nDisallow: /', true],
    ['several names for one group', 'User-agent: a\nUser-agent: pharos\nUser-agent: b\nDisallow: /', false],
    ['names after rules as a new group', 'User-agent: pharos\nAllow: /\nUser-agent: b\nDisallow: /', true],
    ['two groups for this program', 'User-agent: pharos\nDisallow: /a\n\nUser-agent: pharos\nDisallow: /page', false],
    ['an empty group for this program', 'User-agent: *\nDisallow: /\n\nUser-agent: pharos\nDisallow:', true],
    ['a rule before the first name', 'Disallow: /\nUser-agent: b\nAllow: /', true],
    ['names on both sides of a sitemap', 'User-agent: pharos\nSitemap: /s.xml\nUser-agent: b\nDisallow: /', false],
    ['names on both sides of an unknown line', 'User-agent: pharos\nNoindex: /s\nUser-agent: b\nDisallow: /', false],
    ['a delay as the rule of a group', 'User-agent: pharos\nCrawl-delay: 1\n\nUser-agent: b\nDisallow: /', true],
    ['a byte order mark', '\ufeffUser-agent: *\nDisallow: /', false],
    ['lines that end in CR', 'User-agent: *\rDisallow: /a\rDisallow: /page\r', false],
    ['lines that end in CRLF', 'User-agent: *\r\nDisallow: /\r\n', false],
    ['comments', '# x\nUser-agent: * # all\nDisallow: /page # not this', false],
    ['odd spaces', '  user-agent  :\tpharos  \n\tDISALLOW\t:  /  ', false],
    ['names of object properties', 'User-agent: __proto__\nDisallow: /\nUser-agent: constructor\nDisallow: /', true],
    ['an empty file', '', true],
    ['a page in HTML', '<!doctype html><title>Not found</title><p>User-agent: none', true],
  ])('are parsed correctly: %s', (_what, body, expected) => {
    expect(isAllowed(body, '/page')).toBe(expected)
  })
})

describe('other lines', () => {
  test.each([
    ['User-agent: *\nCrawl-delay: 2.5', 2500],
    ['User-agent: *\nCrawl-delay: 2\nUser-agent: pharos\nCrawl-delay: 7', 7000],
    ['User-agent: *\nCrawl-delay: 2\nUser-agent: pharos\nDisallow: /x', null],
    ['User-agent: *\nCrawl-delay: 2\nCrawl-delay: 4', 4000],
    ['User-agent: *\nCrawl-delay: -2', null],
    ['User-agent: *\nCrawl-delay: soon', null],
    ['User-agent: *\nCrawl-delay:', null],
    ['User-agent: *\nCrawl-delay: 1e999', null],
    ['Crawl-delay: 9', null],
  ])('%j requests a pause of %s ms', (body, expected) => {
    expect(parseRobots(body, ROBOTS).crawlDelayMs).toBe(expected)
  })

  test('sitemaps apply to all user agents, are absolute, and are listed once', () => {
    const body =
      'Sitemap: https://cdn.example.net/a.xml\nUser-agent: x\nsitemap: /b.xml\nSitemap: ftp://e/c\nSitemap:\nSitemap: /b.xml'
    expect(parseRobots(body, ROBOTS).sitemaps).toEqual(['https://cdn.example.net/a.xml', 'https://example.com/b.xml'])
  })

  test('only whole lines within the first 500 KiB count', () => {
    const filler = `#${'é'.repeat(99)}\n`.repeat(2000)
    const body = `User-agent: *\nDisallow: /a\n${filler}Disallow: /bcd\n${'#\n'.repeat(100_000)}`
    const cut = body.indexOf('/bcd') + 2
    expect(isAllowed(body, '/a')).toBe(false)
    const bytes = new TextEncoder().encode(body.slice(0, cut)).length
    const padded = `${'#'.repeat(500 * 1024 - bytes - 1)}\n${body}`
    expect(isAllowed(padded, '/bcd')).toBe(true)
    expect(isAllowed(padded, '/b')).toBe(true)
    expect(isAllowed(padded, '/a')).toBe(false)
    expect(clipRobots(clipRobots(padded))).toBe(clipRobots(padded))
    expect(clipRobots(`#${'x'.repeat(600_000)}`)).toBe('')
  })
})

function matchesNaively(glob: string, path: string): boolean {
  if (glob === '') return path === ''
  if (glob.startsWith('*')) {
    const rest = glob.replace(/^\*+/, '')
    for (let i = 0; i <= path.length; i++) if (matchesNaively(rest, path.slice(i))) return true
    return false
  }
  return glob[0] === path[0] && path !== '' && matchesNaively(glob.slice(1), path.slice(1))
}
