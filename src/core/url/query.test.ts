import { describe, expect, test } from 'vitest'
import { classifyQuery, stripSuperfluousQuery } from './query.ts'

const SUPERFLUOUS_KEYS = [
  'utm_source',
  'utm_anything',
  'UTM_Medium',
  'cmp',
  'CMP',
  'cmpid',
  'CMP_TU',
  'gclid',
  'fbclid',
  'msclkid',
  'dclid',
  'gs_l',
  'spref',
  'ito',
  'gaa_at',
  'guccounter',
  'WT.mc_id',
  'filterKeyEvents',
  'ocid',
  'oc',
]
const ESSENTIAL_KEYS = [
  'q',
  'query',
  'search',
  'keyword',
  'keywords',
  'page',
  'offset',
  'start',
  'section',
  'topic',
  'category',
  'id',
  'ID',
]
const UNCERTAIN_KEYS = [
  'refresh',
  'ref',
  'referrer',
  'variant',
  'output',
  'sort',
  'from',
  'platform',
  'view',
  'lang',
  'utm',
  'utmost',
  'cmpny',
  'compare',
  'gaa',
  'wt',
  'references',
  'sorted',
  'viewer',
  'ids',
  'pages',
  'p',
  '',
]

describe('classifyQuery', () => {
  test.each(SUPERFLUOUS_KEYS)('finds %s superfluous', (key) => {
    expect(classify(`/a?${key}=1`)).toBe('superfluous')
    expect(classify(`/a?${key}`)).toBe('superfluous')
  })

  test.each(ESSENTIAL_KEYS)('finds %s essential', (key) => {
    expect(classify(`/a?${key}=1`)).toBe('essential')
    expect(classify(`/a?utm_source=x&lang=de&${key}=1`)).toBe('essential')
  })

  test.each(UNCERTAIN_KEYS)('is uncertain about "%s"', (key) => {
    expect(classify(`/a?${key}=1`)).toBe('uncertain')
    expect(classify(`/a?utm_source=x&${key}=1`)).toBe('uncertain')
  })

  test.each([
    ['/a', 'none'],
    ['/a?', 'none'],
    ['/a?&', 'none'],
    ['/a#?q=1', 'none'],
    ['/search', 'none'],
    ['/search?utm_source=x', 'essential'],
    ['/site-search/?ref=x', 'essential'],
    ['/find.php?view=x', 'essential'],
    ['/Lookup/a?lang=x', 'essential'],
    ['/research?gclid=x', 'superfluous'],
    ['/findings?gclid=x', 'superfluous'],
    ['/a?page=2', 'essential'],
    ['/a?page=with:block-5f', 'superfluous'],
    ['/a?page=with%3Ablock-5f', 'superfluous'],
    ['/a?lang=cmpid=5', 'superfluous'],
    ['/a?page=not-with:block-5f', 'essential'],
    ['/a?id=with:block-5f', 'essential'],
    ['/a?q=cmpid=5', 'essential'],
    ['/a?%75tm_source=x', 'superfluous'],
    ['/a?x=%ff', 'uncertain'],
  ])('classifies %s as %s', (url, expected) => {
    expect(classify(url)).toBe(expected)
  })
})

describe('stripSuperfluousQuery', () => {
  test.each([
    ['https://example.com/a?utm_source=x', 'https://example.com/a'],
    ['https://example.com/a/?utm_source=x&gclid=y', 'https://example.com/a/'],
    ['https://example.com/a?', 'https://example.com/a'],
    ['https://example.com/a?b=%7e&utm_source=x&a=1', 'https://example.com/a?b=%7e&a=1'],
    ['https://example.com/a?gclid=x#part?gclid=x', 'https://example.com/a#part?gclid=x'],
  ])('turns %s into %s', (url, expected) => {
    expect(stripSuperfluousQuery(url)).toBe(expected)
  })

  test.each([
    'https://example.com/a',
    'https://example.com/a?id=1',
    'https://example.com/a?lang=de&id=1',
    'https://example.com/a?ref=x',
    'https://example.com/a#?gclid=x',
  ])('leaves %s unchanged', (url) => {
    expect(stripSuperfluousQuery(url)).toBe(url)
  })
})

function classify(path: string): string {
  return classifyQuery(new URL(path, 'https://example.com'))
}
