import { expect, test } from 'vitest'
import { parseHtml } from '../../html/parse-html.ts'
import { indexElements } from '../element-index.ts'
import { readMetadata } from '../metadata.ts'
import { countCards } from './cards.ts'
import { findProseElement } from './container.ts'
import { detectPageKind, type PageKind } from './page-kind.ts'
import { countStatistics } from './statistics.ts'

const SENTENCE = '<p>A sentence that is long enough to be one and says a little.</p>'
const ARTICLE = '<meta property="og:type" content="article">'
const PRODUCT =
  '<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"Cup"}</script>'

const cases: [name: string, html: string, kind: PageKind][] = [
  [
    'an article that names its author is an article',
    `${ARTICLE}<meta name="author" content="Ada"><body>${SENTENCE}`,
    'article',
  ],
  [
    'a page that calls itself an article without author and date is a plain page',
    `${ARTICLE}<body>${SENTENCE}`,
    'page',
  ],
  ['a page with sentences and code is a reference', `<body>${SENTENCE}<pre>x = 1</pre>`, 'reference'],
  ['a page that declares a product is a product', `${PRODUCT}<body>${SENTENCE}`, 'product'],
  [
    'an article about a product is an article, not a product',
    `${PRODUCT}${ARTICLE}<meta name="author" content="Ada"><body>${SENTENCE}`,
    'article',
  ],
  ['a page of labels and links is a listing', `<body>${'<li><a href="/x">An item</a> $5</li>'.repeat(9)}`, 'listing'],
  [
    'one text among many links is an article',
    `${ARTICLE}<meta name="author" content="Ada"><body><div>${SENTENCE.repeat(12)}</div>${'<li><a href="/x">A headline of another day</a></li>'.repeat(60)}`,
    'article',
  ],
  [
    'a page of many links with a sentence each is a listing',
    `<body>${`<div><a href="/x">A headline of another day, which is so long that it fills two lines of the page</a>${SENTENCE}</div>`.repeat(12)}`,
    'listing',
  ],
  [
    'the front page of an author with cards of articles is a listing',
    `${ARTICLE}<meta name="author" content="Ada"><body>${`<div class="card"><h2><a href="/x">Tides</a></h2>${SENTENCE}</div>`.repeat(8)}`,
    'listing',
  ],
  ['a page with sentences and no declared type is a plain page', `<body>${SENTENCE}`, 'page'],
]

test.each(cases)('%s', (_, html, kind) => {
  const root = parseHtml(html)
  const statistics = countStatistics(root)
  const text = statistics.get(findProseElement(root, statistics))
  const metadata = readMetadata(indexElements(root), 'https://example.com/')
  expect(detectPageKind(metadata, statistics.get(root), text, countCards(root, statistics))).toBe(kind)
})
