import { expect, test } from 'vitest'
import { parseHtml } from '../../html/parse-html.ts'
import { readMetadata } from '../metadata.ts'
import { surveyDocument } from '../survey.ts'
import { type Kind, kindOf } from './kind.ts'
import { countStatistics } from './statistics.ts'

const SENTENCE = '<p>A sentence that is long enough to be one and says a little.</p>'
const ARTICLE = '<meta property="og:type" content="article">'
const PRODUCT =
  '<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"Cup"}</script>'

const cases: [name: string, html: string, kind: Kind][] = [
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
  ['anything else', `<body>${SENTENCE}`, 'page'],
]

test.each(cases)('knows %s', (_, html, kind) => {
  const root = parseHtml(html)
  expect(kindOf(readMetadata(surveyDocument(root), 'https://example.com/'), countStatistics(root).get(root))).toBe(kind)
})
