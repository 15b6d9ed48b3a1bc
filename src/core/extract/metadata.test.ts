import { describe, expect, test } from 'vitest'
import { parseHtml } from '../html/parse-html.ts'
import { indexElements } from './element-index.ts'
import { type Metadata, readMetadata } from './metadata.ts'
import { removeHidden } from './remove/hidden.ts'

function read(html: string, headers: Readonly<Record<string, string>> = {}): Metadata {
  return readMetadata(indexElements(parseHtml(html)), 'https://www.example.com/a/', headers)
}

test('a document without metadata has default values', () => {
  expect(read('<p>Hello')).toEqual({
    title: '',
    description: null,
    author: null,
    publishedAt: null,
    modifiedAt: null,
    language: null,
    canonical: null,
    alternates: [],
    robots: { index: true, follow: true },
    types: [],
    section: null,
  })
})

describe('the title', () => {
  test.each([
    ['is the title element', '<title> A\n page </title>', 'A page'],
    ['is the heading when there is no title element', '<h1>Heading</h1>', 'Heading'],
    [
      'does not include the name of the site',
      '<title>Tides | Ocean Lab</title><meta property=og:site_name content="Ocean Lab">',
      'Tides',
    ],
    ['does not include the name of the host', '<title>Tides – Example</title>', 'Tides'],
    [
      'does not begin with the name of the site',
      '<title>Ocean Lab: » Tides</title><meta property=og:site_name content="Ocean Lab:">',
      'Tides',
    ],
    ['keeps other text after a dash', '<title>Tides - a story</title>', 'Tides - a story'],
    ['keeps hyphens', '<title>Low-tide well-known</title>', 'Low-tide well-known'],
    ['is the part that the heading repeats', '<title>Docs | Tides | v2</title><h1>Tides</h1><h1>Moons</h1>', 'Tides'],
    [
      'is og:title if there are several headings',
      '<title>x</title><meta property=og:title content="Tides"><h1>y</h1><h1>z</h1>',
      'Tides',
    ],
    [
      'is the heading if there is only one',
      '<title>Tides: all you need to know</title><h1>All about tides</h1>',
      'All about tides',
    ],
    ['does not include the permalink of a heading', '<h1>Tides<a class="headerlink" href="#tides">¶</a></h1>', 'Tides'],
    ['keeps the sign in C#', '<h1>C#</h1>', 'C#'],
    [
      'is not og:title if that is the name of the site',
      '<title>Tides</title><meta property=og:title content="Lab"><meta property=og:site_name content="Lab">',
      'Tides',
    ],
    ['is not the title of a picture', '<svg><title>Icon</title></svg><h1>Tides</h1>', 'Tides'],
    ['is not a heading that is the name of the site', '<title>Tides | Example</title><h1>Example</h1>', 'Tides'],
  ])('%s', (_, html, expected) => {
    expect(read(html).title).toBe(expected)
  })
})

describe('the author', () => {
  test.each([
    [
      'JSON-LD',
      '<meta name=author content=B><script type="application/ld+json">{"@type":"Article","author":"Ada"}</script>',
      'Ada',
    ],
    ['meta', '<meta name=Author content="By Ada Lovelace">', 'Ada Lovelace'],
    [
      'several meta elements',
      '<meta name=citation_author content="Ada"><meta name=citation_author content="Grace">',
      'Ada, Grace',
    ],
    ['article:author', '<meta property=article:author content="Ada">', 'Ada'],
    ['microdata', '<p itemprop=author itemscope><span itemprop=name>Ada</span> since 1843', 'Ada'],
    ['a link to the author', '<a rel=author href=/ada>Ada</a>', 'Ada'],
    ['a byline', '<p class="byline">By Ada Lovelace | March 3, 2024</p>', 'Ada Lovelace'],
    ['a byline with a date', '<p class="post-author">Ada Lovelace on March 3</p>', 'Ada Lovelace'],
  ])('comes from %s', (_, html, expected) => {
    expect(read(html).author).toBe(expected)
  })

  test.each([
    ['an address', '<meta property=article:author content="https://facebook.com/ada">'],
    ['a comment', '<div class="comment-list"><p class="author">Troll</p></div>'],
    ['a date', '<p class="author">Sun Dec 17, 2023 11:18</p>'],
    ['a whole paragraph', `<div class="author">${'word '.repeat(40)}</div>`],
  ])('does not come from %s', (_, html) => {
    expect(read(html).author).toBeNull()
  })
})

describe('dates', () => {
  test.each([
    ['JSON-LD', '<script type="application/ld+json">{"@type":"Article","datePublished":"2024-03-03"}</script>'],
    ['article:published_time', '<meta property=article:published_time content=2024-03-03>'],
    ['itemprop', '<span itemprop=datePublished content=2024-03-03>'],
    ['a time element with itemprop', '<time itemprop=datePublished datetime=2024-03-03>'],
    ['meta', '<meta name=DC.date content="3 March 2024">'],
    [
      'the next declaration if the first is not a date',
      '<meta name=date content=soon><meta name=pubdate content=2024-03-03>',
    ],
    ['a time beside the heading', '<h1>Tides</h1><p>On <time datetime=2024-03-03>Sunday</time>'],
  ])('come from %s', (_, html) => {
    expect(read(html).publishedAt).toBe('2024-03-03')
  })

  test('do not come from a time far below the heading', () => {
    expect(read(`<h1>Tides</h1><p>${'word '.repeat(300)}<time datetime=2024-03-03>`).publishedAt).toBeNull()
  })

  test('the modification date has its own sources', () => {
    expect(read('<meta property=article:modified_time content="2024-03-04T10:00:00+01:00">')).toMatchObject({
      publishedAt: null,
      modifiedAt: '2024-03-04T10:00:00+01:00',
    })
  })
})

describe('the language', () => {
  test.each([
    ['comes from the html element', '<html lang="de-CH">', {}, 'de-CH'],
    ['comes from meta', '<meta http-equiv=content-language content="fr, en">', {}, 'fr'],
    ['comes from og:locale', '<meta property=og:locale content=en_US>', {}, 'en-US'],
    ['comes from a response header', '<p>', { 'content-language': 'it' }, 'it'],
    ['is null if the declared language is invalid', '<html lang="{{ lang }}">', {}, null],
  ])('%s', (_, html, headers, expected) => {
    expect(read(html, headers).language).toBe(expected)
  })
})

describe('addresses', () => {
  test.each([
    ['<link rel=canonical href="/b#c">', 'https://www.example.com/b'],
    ['<meta property=og:url content="https://example.com/c">', 'https://example.com/c'],
    ['<link rel=canonical href="javascript:x()"><meta property=og:url content="/c">', 'https://www.example.com/c'],
    ['<link rel=canonical href="">', null],
    ['<p>text</p><link rel=canonical href="/b">', null],
    ['<head><script></script></head><body><link rel=canonical href="/b">', null],
  ])('the canonical address of %s is %s', (html, expected) => {
    expect(read(html).canonical).toBe(expected)
  })

  test('alternates are links with a language or a media type, each listed once', () => {
    const html = `<link rel=alternate hreflang=de href=/de><link rel=alternate hreflang=de href=/de>
      <link rel=alternate type=text/markdown href=page.md><link rel=alternate type="application/rss+xml" href=/feed>
      <link rel="alternate stylesheet" type=text/css href=x><link rel=alternate type=application/json+oembed href=y>
      <link rel=alternate href=/z>`
    expect(read(html).alternates).toEqual([
      { url: 'https://www.example.com/de', language: 'de', type: null },
      { url: 'https://www.example.com/a/page.md', language: null, type: 'text/markdown' },
      { url: 'https://www.example.com/feed', language: null, type: 'application/rss+xml' },
    ])
  })
})

describe('robots', () => {
  test.each([
    ['<meta name=ROBOTS content="NOINDEX, follow">', '', { index: false, follow: true }],
    ['<meta name=robots content=none>', '', { index: false, follow: false }],
    ['<meta name=googlebot content=noindex>', '', { index: true, follow: true }],
    ['', 'nofollow', { index: true, follow: false }],
    ['', 'googlebot: noindex, nofollow', { index: true, follow: true }],
    ['', 'unavailable_after: 25 Jun 2030 15:00:00 PST, noindex', { index: false, follow: true }],
  ])('the directives of %j with the header %j are %j', (html, header, expected) => {
    expect(read(html, { 'x-robots-tag': header }).robots).toEqual(expected)
  })
})

test('types come from JSON-LD, microdata and og:type', () => {
  const html = `<script type="application/ld+json">{"@graph":[{"@type":"Article"},{"@type":["Product","Thing"]}]}</script>
    <div itemscope itemtype="https://schema.org/Recipe"></div><meta property=og:type content=Website>`
  expect(read(html).types).toEqual(['article', 'product', 'thing', 'recipe', 'og:website'])
})

describe('the section', () => {
  test.each([
    ['comes from article:section', '<meta property="article:section" content=" World  news ">', 'World news'],
    [
      'comes from articleSection',
      '<script type="application/ld+json">{"@type":"Article","articleSection":["Sport"]}</script>',
      'Sport',
    ],
    ['comes from microdata', '<div itemscope><span itemprop="articleSection">Arts</span></div>', 'Arts'],
    ['is null if the page declares none', '<p>World</p>', null],
  ])('%s', (_, html, expected) => {
    expect(read(html).section).toBe(expected)
  })
})

test('the description is on one line and bounded', () => {
  expect(read('<meta name=description content=" a\n b ">').description).toBe('a b')
  expect(read(`<meta property=og:description content="${'x'.repeat(5000)}">`).description).toHaveLength(2000)
})

test('invisible characters are removed from metadata', () => {
  const { title, description, author, alternates } = read(
    `<title>A\u202eB\u{e0041}\u200b\nC</title><meta name=description content="x\u{e0049}\u202e\ny">
     <meta name=author content="Ja\u200bne"><link rel=alternate hreflang="de\u200b" href=/de>`,
  )
  expect({ title, description, author, language: alternates[0]?.language }).toEqual({
    title: 'AB C',
    description: 'x y',
    author: 'Jane',
    language: 'de',
  })
})

test('a title and the name of an author are bounded', () => {
  const { title, author } = read(`<title>${'x'.repeat(900)}</title><meta name=author content="${'x'.repeat(900)}">`)
  expect([title.length, author?.length]).toEqual([500, 300])
})

test('a hidden heading is not the title', () => {
  const root = parseHtml('<h1 hidden>Secret</h1><h1>Tides <span style="display:none">secret</span></h1>')
  const index = indexElements(root)
  removeHidden(index, undefined)
  expect(readMetadata(index, 'https://example.com/').title).toBe('Tides')
})

test('links in a response header give the canonical address and alternates, unless the document declares them', () => {
  const link =
    '<https://www.example.com/c>; rel="canonical", <x.md>; rel="alternate"; type="text/markdown"; hreflang=en'
  expect(read('<p>text', { link })).toMatchObject({
    canonical: 'https://www.example.com/c',
    alternates: [{ url: 'https://www.example.com/a/x.md', language: 'en', type: 'text/markdown' }],
  })
  expect(read('<link rel=canonical href=/b>', { link }).canonical).toBe('https://www.example.com/b')
})
