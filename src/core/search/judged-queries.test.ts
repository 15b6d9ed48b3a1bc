import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isExpected, parseQueries } from './judged-queries.ts'

describe('a file of queries', () => {
  test('has a query and its expected results on each line', () => {
    const text =
      '\n# asked by people\r\nretry after\t/guide/retry.html\r\n  json.dump \t library/json.html | json#dump||\t2\nlast\tz'
    expect(parseQueries(text)).toEqual({
      queries: [
        { query: 'retry after', expectations: [{ expected: '/guide/retry.html', grade: 1 }] },
        {
          query: 'json.dump',
          expectations: [
            { expected: 'library/json.html', grade: 2 },
            { expected: 'json', grade: 2 },
          ],
        },
        { query: 'last', expectations: [{ expected: 'z', grade: 1 }] },
      ],
    })
  })

  test('may list one query on several lines, each with a grade', () => {
    expect(parseQueries('q\ta\t3\nq\tb|a\t0.5')).toEqual({
      queries: [
        {
          query: 'q',
          expectations: [
            { expected: 'a', grade: 3 },
            { expected: 'b', grade: 0.5 },
          ],
        },
      ],
    })
  })

  test('may be empty', () => {
    expect(parseQueries('')).toEqual({ queries: [] })
    expect(parseQueries('# nothing\n\n \t ')).toEqual({ queries: [] })
  })

  const broken: Record<string, readonly [text: string, line: number, problem: string]> = {
    'a line without a tab': ['a\tb\nc d', 2, 'expected a query, a tab and what it should find, got no tab in "c d"'],
    'a line without a query': ['\tb', 1, 'expected a query before the first tab, got none'],
    'a line that expects nothing': [
      '# x\n\na\t |#top',
      3,
      'expected the address of a page or a chunk id for "a", got "|#top"',
    ],
    'a grade that is a word': ['a\tb\thigh', 1, 'expected a grade above 0 and up to 1000, got "high"'],
    'a grade of 0': ['a\tb\t0', 1, 'expected a grade above 0 and up to 1000, got "0"'],
    'a grade above 1000': ['a\tb\t1e9', 1, 'expected a grade above 0 and up to 1000, got "1e9"'],
    'a fourth column': ['a\tb\t1\tc', 1, 'expected at most three columns, got 4'],
  }

  test.each(Object.entries(broken))('is refused for %s', (_what, [text, line, problem]) => {
    expect(parseQueries(text)).toEqual({ line, problem })
  })

  test('is either parsed or refused, whatever its text', () => {
    const piece = fc.constantFrom('\t', '\n', '|', '#', 'a', ' ', '1', '\r', '\u0000', 'é')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const parsed = parseQueries(pieces.join(''))
        if ('problem' in parsed) expect(parsed.line).toBeGreaterThan(0)
        else
          for (const { query, expectations } of parsed.queries) {
            expect(query).not.toBe('')
            expect(expectations.length).toBeGreaterThan(0)
          }
      }),
    )
  })
})

describe('a page', () => {
  const id = 'abcdef0123456789'.repeat(4)
  const page = { url: 'https://docs.example/3/library/js%C3%B6n.html?x=1#dump', chunks: [`python@3/${id}`] }

  test.each([
    'library/jsön.html',
    '/library/jsön.html',
    'jsön.html',
    'js%C3%B6n.html',
    'https://docs.example/3/library/jsön.html',
    id,
    id.slice(0, 12),
    `python@3/${id.slice(0, 20)}`,
  ])('is found by %s', (expected) => {
    expect(isExpected(page, expected)).toBe(true)
  })

  test.each([
    'ön.html',
    'son.html',
    'library/json.html',
    'library',
    'https://other.example/3/library/jsön.html',
    id.slice(0, 11),
    `python@2/${id}`,
    `${'0'.repeat(64)}`,
    '/',
  ])('is not found by %s', (expected) => {
    expect(isExpected(page, expected)).toBe(false)
  })

  test('may have an address that ends in a slash or contains a literal percent sign', () => {
    expect(isExpected({ url: 'https://docs.example/guide/', chunks: [] }, 'guide')).toBe(true)
    expect(isExpected({ url: 'https://docs.example/guide', chunks: [] }, 'guide/')).toBe(true)
    expect(isExpected({ url: 'https://docs.example/100%', chunks: [] }, '100%')).toBe(true)
  })
})
