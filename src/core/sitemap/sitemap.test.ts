import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type SitemapEntry, SitemapReader } from './sitemap.ts'

const BASE = 'https://example.com/sitemap.xml'

function read(text: string, pieceSize: number = text.length || 1, maxEntries = 50_000) {
  const reader = new SitemapReader(BASE, { maxEntries })
  const entries: SitemapEntry[] = []
  for (let i = 0; i < text.length; i += pieceSize) entries.push(...reader.write(text.slice(i, i + pieceSize)))
  entries.push(...reader.end())
  return { entries, kind: reader.kind, isFull: reader.isFull, ignored: reader.ignored }
}

function page(url: string, lastModified: string | null = null): SitemapEntry {
  return { type: 'page', url, lastModified }
}

const URLSET = `<?xml version="1.0" encoding="UTF-8"?>
<!-- <url><loc>https://example.com/comment</loc></url> -->
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url><loc> https://example.com/a?x=1&amp;y=2 </loc><lastmod>2024-05-01</lastmod></url>
  <url>
    <image:image><image:loc>https://example.com/a.png</image:loc></image:image>
    <xhtml:link rel="alternate" hreflang="de" href="https://example.com/de"/>
    <loc><![CDATA[https://example.com/b]]></loc>
  </url>
  <url><loc>/relative</loc></url>
  <url><loc>mailto:a@example.com</loc></url>
  <url><loc></loc></url>
</urlset>`

test('a urlset lists pages', () => {
  expect(read(URLSET)).toEqual({
    entries: [
      page('https://example.com/a?x=1&y=2', '2024-05-01'),
      page('https://example.com/b'),
      page('https://example.com/relative'),
    ],
    kind: 'urlset',
    isFull: false,
    ignored: 2,
  })
})

test('pieces of any size give the same entries', () => {
  const whole = read(URLSET)
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), (size) => {
      expect(read(URLSET, size)).toEqual(whole)
    }),
  )
  expect(read('https://example.com/a\r\nhttps://example.com/b', 3)).toEqual(
    read('https://example.com/a\r\nhttps://example.com/b'),
  )
})

test('a sitemap index with a namespace prefix lists sitemaps', () => {
  const text =
    '<sm:sitemapindex xmlns:sm="x"><sm:sitemap><sm:loc>https://example.com/1.xml.gz</sm:loc><sm:lastmod>2024</sm:lastmod></sm:sitemap></sm:sitemapindex>'
  expect(read(text)).toMatchObject({
    entries: [{ type: 'sitemap', url: 'https://example.com/1.xml.gz' }],
    kind: 'index',
  })
})

test('RSS, RDF and Atom feeds list the pages of their items', () => {
  const rss = `<rss version="2.0"><channel><link>https://example.com/</link><atom:link href="https://example.com/feed" rel="self"/>
    <image><link>https://example.com/logo</link></image>
    <item><title>A</title><link>https://example.com/1</link><pubDate>Mon, 06 May 2024 10:00:00 GMT</pubDate></item>
    <item><atom:link href="https://example.com/self"/><link>https://example.com/2</link></item></channel></rss>`
  expect(read(rss)).toMatchObject({
    entries: [page('https://example.com/1', 'Mon, 06 May 2024 10:00:00 GMT'), page('https://example.com/2')],
    kind: 'feed',
  })
  const rdf =
    '<rdf:RDF><channel><link>https://example.com/</link></channel><item><link>https://example.com/3</link></item></rdf:RDF>'
  expect(read(rdf).entries).toEqual([page('https://example.com/3')])
  const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://example.com/"/>
    <entry><link rel="self" href="/self"/><link rel="alternate" href="/4"/><link href="/5"/><updated>2024-01-02T03:04:05Z</updated></entry></feed>`
  expect(read(atom).entries).toEqual([page('https://example.com/4', '2024-01-02T03:04:05Z')])
})

test('a plain list has an address on each line', () => {
  expect(
    read('\ufeffhttps://example.com/a\n\n# more\r\n  https://example.com/b  \nsomething else\nhttps://example.com/c'),
  ).toEqual({
    entries: ['a', 'b', 'c'].map((name) => page(`https://example.com/${name}`)),
    kind: 'text',
    isFull: false,
    ignored: 1,
  })
})

test.each([
  ['<!doctype html><html><body><url><loc>https://example.com/x</loc></url></body></html>'],
  ['<other><url><loc>https://example.com/x</loc></url></other>'],
  [''],
  ['  \n '],
])('%j lists nothing', (text) => {
  expect(read(text)).toMatchObject({ entries: [], kind: 'none' })
})

test('entities a file declares are not expanded', () => {
  const text = `<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>
    <urlset><url><loc>https://example.com/?q=&b;&f;&#65;&nbsp;</loc></url></urlset>`
  expect(read(text).entries).toEqual([page('https://example.com/?q=&b;&f;A&nbsp;')])
})

test('a truncated entry is left out', () => {
  expect(read('<urlset><url><loc>https://example.com/a</loc></url><url><loc>https://example.com/wor').entries).toEqual([
    page('https://example.com/a'),
  ])
})

test('returns at most the requested number of entries, and reports that there are more', () => {
  const list = (count: number) => Array.from({ length: count }, (_, i) => `https://example.com/${i}\n`).join('')
  expect(read(list(3), 5, 3)).toMatchObject({ isFull: false, entries: { length: 3 } })
  expect(read(list(4), 5, 3)).toMatchObject({ isFull: true, entries: { length: 3 } })
})

test('an address longer than 2,000 characters is skipped', () => {
  const long = `https://example.com/${'a'.repeat(1981)}`
  expect(read(`<urlset><url><loc>${long}</loc></url></urlset>`)).toMatchObject({ entries: [], ignored: 1 })
  expect(read(`${long}\n${long.slice(0, 2000)}`)).toMatchObject({ entries: [page(long.slice(0, 2000))], ignored: 1 })
  // The whole line is read, but only its beginning is kept.
  expect(read('x'.repeat(5_000_000), 1000)).toMatchObject({ entries: [], ignored: 1 })
})

test('a file that is nested too deeply is given up', () => {
  expect(read(`<urlset>${'<url>'.repeat(200_000)}<loc>https://example.com/a</loc>`)).toMatchObject({
    entries: [],
    kind: 'none',
  })
})

test('any input can be read', () => {
  const part = fc.constantFrom(
    '<urlset>',
    '<url>',
    '</url>',
    '<loc>',
    '</loc>',
    'https://e.com/',
    '&amp;',
    '<![CDATA[',
    ']]>',
    '<',
    '>',
    '"',
    '\n',
  )
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      for (const entry of read(parts.join(''), 7).entries) expect(entry.url).toMatch(/^https?:/)
    }),
  )
})
