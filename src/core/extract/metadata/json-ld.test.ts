import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readJsonLd, typeName } from './json-ld.ts'

const NOTHING = {
  types: [],
  headline: '',
  description: '',
  author: '',
  datePublished: '',
  dateModified: '',
  language: '',
  section: '',
}

describe('readJsonLd', () => {
  test('reads an article', () => {
    const article = {
      '@context': 'https://schema.org',
      '@type': 'NewsArticle',
      headline: 'Tides',
      description: 'About <b>tides</b> &amp; moons',
      author: [{ '@type': 'Person', name: 'Ada' }, 'Grace'],
      datePublished: '2024-03-03',
      dateModified: '2024-03-04',
      inLanguage: 'en-GB',
      articleSection: 'Science',
    }
    expect(readJsonLd([JSON.stringify(article)])).toEqual({
      types: ['newsarticle'],
      headline: 'Tides',
      description: 'About tides & moons',
      author: 'Ada, Grace',
      datePublished: '2024-03-03',
      dateModified: '2024-03-04',
      language: 'en-GB',
      section: 'Science',
    })
  })

  test('finds things in a graph, and the author by reference', () => {
    const graph = [
      { '@type': 'Organization', '@id': '#org', name: 'Site', datePublished: '1999-01-01' },
      { '@type': 'WebPage', datePublished: '2020-01-01' },
      { '@type': ['Article', 'schema:TechArticle'], author: { '@id': '#ada' }, datePublished: '2024-03-03' },
      { '@type': 'Person', '@id': '#ada', name: 'Ada' },
    ]
    expect(readJsonLd([JSON.stringify({ '@graph': graph })])).toMatchObject({
      types: ['organization', 'webpage', 'article', 'techarticle', 'person'],
      author: 'Ada',
      datePublished: '2024-03-03',
    })
  })

  test('reads the main entity of a page', () => {
    const page = { '@type': 'QAPage', mainEntity: { '@type': 'Question', author: { name: 'Ada' } } }
    expect(readJsonLd([JSON.stringify(page)])).toMatchObject({ types: ['qapage', 'question'], author: 'Ada' })
  })

  test.each([
    ['an HTML comment around it', '<!-- {"@type":"Article"} -->'],
    ['CDATA around it', '//<![CDATA[\n{"@type":"Article"}\n//]]>'],
    ['a semicolon after it', '{"@type":"Article"};'],
    ['line breaks in strings', '{"@type":"Article","headline":"a\nb"}'],
  ])('reads JSON with %s', (_, text) => {
    expect(readJsonLd([text]).types).toEqual(['article'])
  })

  test.each([
    '',
    '{',
    'null',
    '7',
    '"text"',
    '[[[[[[[[{"@type":"A"}]]]]]]]]',
    '{"@type":7,"author":[null,7]}',
    '['.repeat(100_000),
  ])('ignores %s', (text) => {
    expect(readJsonLd([text.slice(0, 100_000)])).toEqual(NOTHING)
  })

  test('does not use a URL as the name of the author', () => {
    expect(readJsonLd(['{"@type":"Article","author":"https://example.com/ada"}']).author).toBe('')
  })

  test('never fails, whatever the JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(readJsonLd([text, text])).toMatchObject({ types: expect.any(Array) })
      }),
    )
  })
})

test.each([
  ['https://schema.org/NewsArticle', 'newsarticle'],
  ['http://schema.org/Recipe/', 'recipe'],
  ['schema:Product', 'product'],
  ['Thing', 'thing'],
  ['', ''],
])('the type name of %s is %s', (type, expected) => {
  expect(typeName(type)).toBe(expected)
})
