import { describe, expect, test } from 'vitest'
import { hasSuperfluous, stripSuperfluousQuery } from './query.ts'

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
  'mc_cid',
  '_ga',
]
const OTHER_KEYS = [
  ...[
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
  ],
  ...['refresh', 'ref', 'referrer', 'variant', 'output', 'sort', 'from', 'platform', 'view', 'lang', 'utm', 'utmost'],
  ...['cmpny', 'compare', 'gaa', 'wt', 'references', 'sorted', 'viewer', 'ids', 'pages', 'p', 'ga', '_gas', ''],
]

describe('hasSuperfluous', () => {
  test.each(SUPERFLUOUS_KEYS)('finds %s superfluous', (key) => {
    expect([`?${key}=1`, `?${key}`, `?id=1&${key}=1&q=2`].map(hasSuperfluous)).toEqual([true, true, true])
  })

  test.each(OTHER_KEYS)('keeps "%s"', (key) => {
    expect([`?${key}=1`, `?lang=de&${key}`].map(hasSuperfluous)).toEqual([false, false])
  })

  test.each([
    ['', false],
    ['?&', false],
    ['?page=with:block-5f', true],
    ['?page=with%3Ablock-5f', true],
    ['?lang=cmpid=5', true],
    ['?page=not-with:block-5f', false],
    ['?id=with:block-5f', false],
    ['?q=cmpid=5', false],
    ['?%75tm_source=x', true],
    ['?x=%ff', false],
  ])('gives for %s the result %s', (search, expected) => {
    expect(hasSuperfluous(search)).toBe(expected)
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
