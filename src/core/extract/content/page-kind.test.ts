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
  ['an article with its writer', `${ARTICLE}<meta name="author" content="Ada"><body>${SENTENCE}`, 'article'],
  ['what is called an article without writer and date', `${ARTICLE}<body>${SENTENCE}`, 'page'],
  ['what explains code', `<body>${SENTENCE}<pre>x = 1</pre>`, 'reference'],
  ['a product', `${PRODUCT}<body>${SENTENCE}`, 'product'],
  [
    'one who writes about a product',
    `${PRODUCT}${ARTICLE}<meta name="author" content="Ada"><body>${SENTENCE}`,
    'article',
  ],
  ['labels and links', `<body>${'<li><a href="/x">An item</a> $5</li>'.repeat(9)}`, 'listing'],
  [
    'one text among many links',
    `${ARTICLE}<meta name="author" content="Ada"><body><div>${SENTENCE.repeat(12)}</div>${'<li><a href="/x">A headline of another day</a></li>'.repeat(60)}`,
    'article',
  ],
  [
    'many links with a few sentences each',
    `<body>${`<div><a href="/x">A headline of another day, which is so long that it fills two lines of the page</a>${SENTENCE}</div>`.repeat(12)}`,
    'listing',
  ],
  [
    'cards of articles on the front page of a writer',
    `${ARTICLE}<meta name="author" content="Ada"><body>${`<div class="card"><h2><a href="/x">Tides</a></h2>${SENTENCE}</div>`.repeat(8)}`,
    'listing',
  ],
  ['anything else', `<body>${SENTENCE}`, 'page'],
]

test.each(cases)('recognises %s', (_, html, kind) => {
  const root = parseHtml(html)
  const statistics = countStatistics(root)
  const text = statistics.get(findProseElement(root, statistics))
  const metadata = readMetadata(indexElements(root), 'https://example.com/')
  expect(detectPageKind(metadata, statistics.get(root), text, countCards(root, statistics))).toBe(kind)
})
