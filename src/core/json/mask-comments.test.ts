import { describe, expect, test } from 'vitest'
import { maskComments } from './mask-comments.ts'

describe('maskComments', () => {
  test('leaves plain JSON as it is', () => {
    const text = '{"a": [1, "// no comment, /* nor this */"], "b": "\\", ]"}'
    expect(maskComments(text)).toBe(text)
  })

  test('keeps every offset and line', () => {
    const text = '\uFEFF// one\n{ /* two\n */ "a": 1, // three\n}\n'
    const masked = maskComments(text)
    expect(masked).toBe(`${' '.repeat(7)}\n{${' '.repeat(7)}\n    "a": 1${' '.repeat(10)}\n}\n`)
    expect(JSON.parse(masked)).toEqual({ a: 1 })
  })

  test.each([
    ['[1,]', [1]],
    ['[1 , /* , */ ]', [1]],
    ['{"a": {"b": 1, }, // ]\n}', { a: { b: 1 } }],
    ['[[],]', [[]]],
  ])('drops the trailing comma of %s', (text, value) => {
    expect(JSON.parse(maskComments(text))).toEqual(value)
  })

  test.each(['[,]x', '{} /* open', '[1,,]', '"open'])('does not make JSON of %s', (text) => {
    expect(() => JSON.parse(maskComments(text))).toThrow(SyntaxError)
  })

  test.each(['/* ', ',/* ', '"\\"', ', ', '//'])('ends when %s is repeated 200,000 times', (part) => {
    expect(maskComments(part.repeat(200_000)).length).toBe(part.length * 200_000)
  })
})
