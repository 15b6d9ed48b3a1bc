import { describe, expect, test } from 'vitest'
import { createChunkTests, type FilteredChunk } from './chunk-filter.ts'
import { writeTraits } from './content-type.ts'

const chunk = (more: Partial<FilteredChunk> = {}): FilteredChunk => ({
  kind: 'markdown',
  headingPath: ['Guide', 'First steps', 'C++ & Rust'],
  symbol: null,
  content: 'Text.',
  ...more,
})

test('a filter without conditions has no tests', () => {
  expect(createChunkTests({})).toEqual({ traits: undefined, page: undefined, chunk: undefined })
})

describe('a path', () => {
  const passes = (path: string, url: string) =>
    createChunkTests({ path }).page?.({ url, key: url.replace('file:///home/', ''), language: null })

  test.each([
    ['/docs', 'https://a.test/docs/x', true],
    ['docs/', 'https://a.test/docs/x', true],
    ['/docs/x', 'https://a.test/docs', false],
    ['/docs/*.html', 'https://a.test/docs/x.html', true],
    ['/docs/*.html', 'https://a.test/docs/x/y.html', false],
    ['**/y.html', 'https://a.test/docs/x/y.html', true],
    ['*.html', 'https://a.test/docs/x/y.html', true],
    ['/größe', 'https://a.test/gr%C3%B6%C3%9Fe/1', true],
    ['/gr%c3%b6%c3%9fe/*', 'https://a.test/gr%C3%B6%C3%9Fe/1', true],
    // A pattern that is not a glob is a path prefix.
    ['/a{b', 'https://a.test/a%7Bb/c', true],
    ['/[x', 'https://a.test/y', false],
    ['/broken', 'no address', false],
    ['/caf', 'https://a.test/caf%E9/x', true],
    // A file is matched by its path in its folder.
    ['/docs', 'file:///home/docs/readme.md', true],
    ['/home', 'file:///home/docs/readme.md', false],
    ['docs/*.md', 'file:///home/docs/readme.md', true],
    // An exclamation mark selects all other pages.
    ['!/docs/*.html', 'https://a.test/docs/x.html', false],
    ['!/docs', 'https://a.test/docs/x', false],
    ['!/docs', 'https://a.test/blog', true],
  ])('%s matches %s: %s', (path, url, expected) => {
    expect(passes(path, url)).toBe(expected)
  })
})

test('a language matches its regions', () => {
  const { page } = createChunkTests({ language: 'pt' })
  const passes = (language: string | null) => page?.({ url: 'https://a.test/', key: 'https://a.test/', language })
  expect(['pt', 'PT', 'pt-BR', 'ptx', 'en', '', null].map(passes)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ])
})

test('a path and a language must both match', () => {
  const { page } = createChunkTests({ language: 'en', path: '/a' })
  expect(page?.({ url: 'https://a.test/a', key: 'a', language: 'en' })).toBe(true)
  expect(page?.({ url: 'https://a.test/b', key: 'b', language: 'en' })).toBe(false)
  expect(page?.({ url: 'https://a.test/a', key: 'a', language: 'de' })).toBe(false)
})

test('a heading matches any part of the heading path, compared as slugs', () => {
  const passes = (heading: string) => createChunkTests({ heading }).chunk?.(chunk())
  const parts = [
    'guide',
    'first-steps',
    'First steps',
    'guide/first-steps',
    'Guide > First steps',
    '"Guide" > "First',
    '/c-rust/',
    'first',
    'step',
    'steps/c',
  ]
  expect(parts.map(passes)).toEqual(parts.map(() => true))
  const others = ['guides', 'guide/c-rust', 'guide-first', 'first-steps/guide', 'steps-first', 'other']
  expect(others.map(passes)).toEqual(others.map(() => false))
  expect(createChunkTests({ heading: 'guide' }).chunk?.(chunk({ headingPath: [] }))).toBe(false)
})

test('a symbol matches the beginning of a defined name, qualified or not', () => {
  const dump = chunk({ content: 'Some text.\n\n`json.dump(obj, fp)`\n\nWrites.' })
  const passes = (symbol: string, tested = dump) => createChunkTests({ symbol }).chunk?.(tested)
  expect(['json', 'json.dump', 'dump', 'Dum'].map((symbol) => passes(symbol))).toEqual(Array(4).fill(true))
  expect(['son', 'obj', 'json.load', 'ump'].map((symbol) => passes(symbol))).toEqual(Array(4).fill(false))
  expect(passes('parse', chunk({ kind: 'rust', symbol: 'Parser::parse' }))).toBe(true)
  expect(passes('parse', chunk())).toBe(false)
})

test('a kind and a content type are tested by the traits in the index', () => {
  const { traits } = createChunkTests({ kind: 'markdown', contentType: 'code' })
  expect(traits?.(writeTraits({ kind: 'markdown', content: '```\na\n```' }, false))).toBe(true)
  expect(traits?.(writeTraits({ kind: 'markdown', content: 'a' }, false))).toBe(false)
  expect(traits?.(writeTraits({ kind: 'python', content: 'a' }, true))).toBe(false)
})
