import { describe, expect, test } from 'vitest'
import { DEFAULT_SCOPE, type Scope } from '../../core/url/scope.ts'
import { type AddressFilter, createAddressFilter } from './address-filter.ts'

describe('the address filter', () => {
  const filter = createFilter({ block: ['!/docs/old/**', '*.pdf'], allow: ['/docs/**', '/docs'], maxDepth: 3 })

  test.each([
    ['https://example.com/docs/a', 'https://example.com/docs/a', 'https://example.com/docs/a'],
    ['https://EXAMPLE.com:443/docs/a/#part', 'https://example.com/docs/a/', 'https://example.com/docs/a/'],
    ['https://user:secret@example.com/docs/a', 'https://example.com/docs/a', 'https://example.com/docs/a'],
    ['https://example.com/docs/a?lang=de', 'https://example.com/docs/a?lang=de', 'https://example.com/docs/a?lang=de'],
    ['http://example.com/docs/a.json', 'http://example.com/docs/a.json', 'http://example.com/docs/a.json'],
    ['https://example.com/docs/next.js/', 'https://example.com/docs/next.js/', 'https://example.com/docs/next.js/'],
  ])('admits %s', (text, url, key) => {
    expect(filter.judge(text, 3)).toEqual({ url, key, host: 'example.com', refusal: null, stripped: null })
  })

  test.each([
    ['docs/a', 'bad-url', null],
    ['https://exa mple.com/docs/', 'bad-url', null],
    [`https://example.com/docs/${'a'.repeat(2000)}`, 'bad-url', 'longer than 2000 characters'],
    [`https://example.com/docs/${'é'.repeat(500)}`, 'bad-url', 'longer than 2000 characters'],
    ['mailto:a@example.com', 'scheme', 'mailto:'],
    ['javascript:void(0)', 'scheme', 'javascript:'],
    ['ftp://example.com/docs/a.zip', 'scheme', 'ftp:'],
    ['https://example.com/docs/a.zip', 'excluded', '*.zip'],
    ['https://example.com/docs/LLMS.txt?x#y', 'excluded', 'llms.txt'],
    ['https://example.com/docs/a%2Epng', 'excluded', '*.png'],
    ['https://example.org/a.css', 'excluded', '*.css'],
    ['https://example.org/docs/old/a', 'off-site', 'subpages example.com/docs/'],
    ['https://example.com/old/', 'out-of-scope', 'subpages example.com/docs/'],
    ['https://example.com/docs/old/a?ref=x', 'blocked', '!/docs/old/**'],
    ['https://example.com/docs/a/b.pdf', 'blocked', '*.pdf'],
  ])('refuses %.80s as %s', (text, reason, pattern) => {
    const { refusal, stripped } = filter.judge(text, 9)
    expect({ refusal, stripped }).toEqual({ refusal: { reason, pattern, target: null }, stripped: null })
  })

  test('refuses an address that no allow pattern matches and names all patterns', () => {
    const narrow = createFilter({ allow: ['/docs/a/**', '/docs/b/**'], block: ['/docs/a/old/**'] })
    expect(narrow.judge('https://example.com/docs/a/x', 0).refusal).toBeNull()
    expect(reasonOf(narrow, 'https://example.com/docs/a/old/x')).toBe('blocked')
    expect(narrow.judge('https://example.com/docs/c?ref=x', 0).refusal).toEqual({
      reason: 'not-allowed',
      pattern: '/docs/a/**, /docs/b/**',
      target: null,
    })
  })

  test('replaces an address that has a superfluous query with the address without the query', () => {
    const verdict = filter.judge('https://example.com/docs/a/?utm_source=x&Gclid=%7e#part', 9)
    expect(verdict).toEqual({
      url: 'https://example.com/docs/a/?utm_source=x&Gclid=%7e',
      key: 'https://example.com/docs/a/',
      host: 'example.com',
      refusal: { reason: 'query-skip', pattern: '?utm_source=x&Gclid=%7e', target: 'https://example.com/docs/a/' },
      stripped: 'https://example.com/docs/a/',
    })
    expect(filter.judge(verdict.stripped ?? '', 1)).toMatchObject({ key: verdict.key, refusal: null })
  })

  test('replaces an address that has superfluous parameters beside others with the address without them', () => {
    const url = 'https://example.com/docs/a?utm_source=x&id=%7e&mc_cid=2&_ga=3&lang=de'
    expect(filter.judge(url, 9)).toMatchObject({
      key: 'https://example.com/docs/a?id=~&lang=de',
      refusal: { reason: 'query-skip' },
      stripped: 'https://example.com/docs/a?id=%7e&lang=de',
    })
  })

  test('keeps a superfluous query with allowQueryUrls', () => {
    expect(createFilter({ allowQueryUrls: true }).judge('https://example.com/docs/a?utm_source=x', 0)).toEqual({
      url: 'https://example.com/docs/a?utm_source=x',
      key: 'https://example.com/docs/a?utm_source=x',
      host: 'example.com',
      refusal: null,
      stripped: null,
    })
  })

  test('replaces an address that has a session id with the address without the id', () => {
    const verdict = filter.judge('https://example.com/docs/a/;jsessionid=1F?utm_source=x&lang=de&PHPSESSID=2#part', 9)
    expect(verdict).toEqual({
      url: 'https://example.com/docs/a/;jsessionid=1F?utm_source=x&lang=de&PHPSESSID=2',
      key: 'https://example.com/docs/a/?lang=de',
      host: 'example.com',
      refusal: { reason: 'session-id', pattern: 'jsessionid', target: 'https://example.com/docs/a/?lang=de' },
      stripped: 'https://example.com/docs/a/?utm_source=x&lang=de',
    })
    const next = filter.judge(verdict.stripped ?? '', 1)
    expect(next).toMatchObject({ key: verdict.key, refusal: { reason: 'query-skip' } })
    expect(filter.judge(next.stripped ?? '', 1)).toMatchObject({ key: verdict.key, refusal: null })
  })

  test('judges an address that has a session id by the address without it', () => {
    expect(filter.judge('https://example.com/(S(x1))/docs/a', 0)).toMatchObject({
      refusal: { reason: 'session-id', pattern: 'session' },
      stripped: 'https://example.com/docs/a',
    })
    expect(reasonOf(filter, 'https://example.com/(S(x1))/docs/old/a')).toBe('blocked')
    expect(reasonOf(filter, 'https://example.com/docs/a.png;jsessionid=1')).toBe('excluded')
    expect(filter.judge('https://example.org/a?PHPSESSID=1', 0)).toMatchObject({
      key: 'https://example.org/a',
      refusal: { reason: 'off-site' },
      stripped: null,
    })
  })

  test('removes session ids even with allowQueryUrls, unless trap guards are off', () => {
    const url = 'https://example.com/docs/a?view=1&PHPSESSID=2'
    expect(createFilter({ allowQueryUrls: true }).judge(url, 0)).toMatchObject({
      key: 'https://example.com/docs/a?view=1',
      refusal: { reason: 'session-id' },
    })
    const bare = createFilter({ allowQueryUrls: true, trapGuards: false })
    expect(bare.judge(url, 0)).toMatchObject({ key: url, refusal: null, stripped: null })
    expect(bare.keyOf(url)).toBe(url)
  })

  test('refuses repeating paths and endless calendars, but not addresses given by the user', () => {
    const now = Date.UTC(2026, 0, 1)
    const guarded = createFilter({ maxDepth: 3 }, now)
    const nested = 'https://example.com/docs/a/b/a/b/a/b'
    const future = 'https://example.com/docs/calendar/2030/05?view=x&lang=de'
    expect(guarded.judge(nested, 9).refusal).toEqual({
      reason: 'path-trap',
      pattern: 'a/b/ 3 times in a row',
      target: null,
    })
    expect(guarded.judge(future, 9).refusal).toEqual({
      reason: 'calendar-trap',
      pattern: '2030-05 is more than a year ahead',
      target: null,
    })
    for (const url of [nested, future]) {
      expect(guarded.judge(url, 0, true)).toMatchObject({ refusal: null, stripped: null })
      expect(guarded.judge(url, 0)).not.toMatchObject({ refusal: null })
      expect(reasonOf(createFilter({ trapGuards: false }, now), url)).toBeUndefined()
    }
    expect(reasonOf(createFilter({}), future)).toBeUndefined()
    expect(reasonOf(guarded, 'https://example.org/a/a/a/a')).toBe('off-site')
    const session = 'https://example.com/docs/a;jsessionid=1'
    expect(guarded.judge(session, 0, true)).toMatchObject({ url: session, refusal: null, stripped: null })
    expect(guarded.judge('https://example.org/docs/', 0, true).refusal).toMatchObject({ reason: 'off-site' })
  })

  test('never refuses the start as a trap', () => {
    const startUrl = 'https://example.com/a/a/a/a/2050/05/'
    const filter = createAddressFilter({ startUrl, siteUrl: startUrl, scope: DEFAULT_SCOPE, now: 0 })
    expect(reasonOf(filter, startUrl)).toBeUndefined()
    expect(reasonOf(filter, `${startUrl}b`)).toBe('path-trap')
  })

  test('returns the key of an address', () => {
    const url = 'https://EXAMPLE.com/docs/a/?id=1&view=%7e&gclid=2#x'
    expect(filter.keyOf(url)).toBe('https://example.com/docs/a/?id=1&view=~')
    expect(createFilter({ allowQueryUrls: true }).keyOf(url)).toBe('https://example.com/docs/a/?id=1&view=~&gclid=2')
    expect(filter.keyOf('mailto:a@example.com')).toBeUndefined()
  })

  test('applies the depth limit on each call, after all other checks', () => {
    const url = 'https://example.com/docs/deep'
    expect(filter.judge(url, 3).refusal).toBeNull()
    expect(filter.judge(url, 4).refusal).toEqual({ reason: 'max-depth', pattern: '3', target: null })
    expect(filter.judge(url, 3).refusal).toBeNull()
    expect(reasonOf(filter, 'https://example.com/docs/old/', 4)).toBe('blocked')
    expect(createFilter({}).judge(url, 1_000_000).refusal).toBeNull()
    expect(reasonOf(createFilter({ maxDepth: 0 }), url, 1)).toBe('max-depth')
  })

  test('admits images but no archives or llms.txt without the default excludes', () => {
    const bare = createFilter({ useDefaultExcludes: false })
    expect(reasonOf(bare, 'https://example.com/docs/a.png')).toBeUndefined()
    expect(reasonOf(bare, 'https://example.com/docs/a.zip')).toBe('excluded')
    expect(reasonOf(bare, 'https://example.com/docs/llms.txt')).toBe('excluded')
  })

  test('exempts the start from excludes, scope and globs, but not from the query check', () => {
    const startUrl = 'http://example.com/docs/all.zip'
    const siteUrl = 'https://www.example.com/docs/all.zip'
    const scope = { ...DEFAULT_SCOPE, allow: ['/none'], block: ['/docs/**'] }
    const strict = createAddressFilter({ startUrl, siteUrl, scope })
    expect(reasonOf(strict, startUrl)).toBeUndefined()
    expect(reasonOf(strict, siteUrl)).toBeUndefined()
    expect(reasonOf(strict, `${siteUrl}?gclid=x`)).toBe('query-skip')
    expect(reasonOf(strict, 'https://www.example.com/docs/other.zip')).toBe('excluded')
    expect(reasonOf(strict, 'https://api.example.com/docs/all.zip')).toBe('excluded')
  })

  test('uses the text of a non-web address as its key, without credentials and cut to the length limit', () => {
    expect(filter.judge('mailto:a@example.com', 0)).toMatchObject({
      url: 'mailto:a@example.com',
      key: 'mailto:a@example.com',
      host: '',
    })
    expect(filter.judge('ftp://user:secret@example.com/a@b', 0).key).toBe('ftp://example.com/a@b')
    expect(filter.judge('https://user:secret@exa mple.com/a', 0).key).toBe('https://exa mple.com/a')
    const long = filter.judge(`data:text/plain,${'\u{1f600}'.repeat(5000)}`, 0)
    expect(long.key).toHaveLength(2000)
    expect(long).toMatchObject({ url: long.key, refusal: { reason: 'bad-url' } })
  })

  test('does not count the fragment towards the length of an address', () => {
    expect(reasonOf(filter, `https://example.com/docs/a#${'x'.repeat(5000)}`)).toBeUndefined()
  })

  test('caches decisions and clears the cache when it is full', () => {
    const busy = createFilter({})
    const url = 'https://example.com/docs/a'
    const first = busy.judge(url, 0)
    expect(busy.judge(url, 1)).toBe(first)
    for (let i = 0; i < 50_000; i++) busy.judge(`https://example.com/docs/${i}`, 0)
    expect(busy.judge(url, 0)).not.toBe(first)
    expect(busy.judge(url, 0)).toEqual(first)
  })

  test.each(['', 'example.com', 'ftp://example.com/'])('createAddressFilter throws for the start %j', (startUrl) => {
    expect(() => createAddressFilter({ startUrl, siteUrl: startUrl, scope: DEFAULT_SCOPE })).toThrow(
      `got "${startUrl}"`,
    )
  })

  test('createAddressFilter throws for an invalid glob', () => {
    expect(() => createFilter({ block: ['/a[b'] })).toThrow('got "/a[b"')
  })
})

function createFilter(scope: Partial<Scope>, now?: number): AddressFilter {
  const startUrl = 'https://example.com/docs/'
  const when = now === undefined ? {} : { now }
  return createAddressFilter({ startUrl, siteUrl: startUrl, scope: { ...DEFAULT_SCOPE, ...scope }, ...when })
}

function reasonOf(filter: AddressFilter, url: string, depth = 0): string | undefined {
  return filter.judge(url, depth).refusal?.reason
}
