import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compactJson, compactLength, JsonSyntaxError, scanElements, scanJson, scanMembers } from './scan.ts'

function isJson(text: string): boolean {
  try {
    scanJson(text)
    return true
  } catch (error) {
    if (error instanceof JsonSyntaxError) return false
    throw error
  }
}

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    // The scanner must refuse the same texts as JSON.parse.
    return false
  }
}

test('scanJson accepts the same texts as JSON.parse', () => {
  const token = fc.constantFrom(
    ...'{}[],:"0123.-+eE \n\\u'.split(''),
    'true',
    'null',
    '"a"',
    '"a":',
    '1e5',
    '-0',
    '\\n',
    '\t',
  )
  const broken = fc.tuple(fc.json(), fc.nat(), token).map(([text, at, added]) => {
    const index = at % (text.length + 1)
    return text.slice(0, index) + added + text.slice(index + 1)
  })
  const soup = fc.array(token, { maxLength: 12 }).map((tokens) => tokens.join(''))
  fc.assert(
    fc.property(fc.oneof(fc.json(), broken, soup), (text) => {
      expect(isJson(text)).toBe(parses(text))
    }),
    { numRuns: 1000 },
  )
})

test('compact text equals the output of JSON.stringify for any white space', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 1, '\t', '\n\r '), (value, indent) => {
      const text = ` ${JSON.stringify(value, null, indent)}\n`
      expect(compactJson(text, scanJson(text))).toBe(JSON.stringify(value))
    }),
  )
})

describe('scanning', () => {
  test('returns the members of an object with the span of each member and of its value', () => {
    expect([...scanMembers('{ "a" : 1, "b\\n": [2] }', 0)]).toEqual([
      { key: 'a', start: 2, end: 9, value: { start: 8, end: 9 } },
      { key: 'b\n', start: 11, end: 21, value: { start: 18, end: 21 } },
    ])
  })

  test('returns the elements of an array', () => {
    expect([...scanElements('[1, {"a": [2]}]', 0)]).toEqual([
      { start: 1, end: 2 },
      { start: 4, end: 14 },
    ])
  })

  test.each([
    ['{"a":}', 5],
    ['[1,]', 3],
    ['{} x', 3],
    ['"abc', 4],
    ['', 0],
  ])('reports the position of the error in %j', (text, offset) => {
    expect(() => scanJson(text)).toThrow(new JsonSyntaxError(offset))
  })
})

test('compactLength equals the length of the compact text', () => {
  const text = ' { "a b" : [ 1 , "\\" x" ] } '
  const span = scanJson(text)
  expect(compactLength(text, span)).toBe(compactJson(text, span).length)
})
