import { describe, expect, test } from 'vitest'
import { colorCode } from './color-code.ts'

const tokens = (code: string, language: string) =>
  colorCode(code, language).flatMap(({ text, token }) => (token === null ? [] : [`${token}:${text}`]))

describe('colorCode', () => {
  test.each([
    ['js', 'const a = "x" // y', ['keyword:const', 'string:"x"', 'comment:// y']],
    [
      'python',
      "def f(a):\n    return 'b' # c",
      ['keyword:def', 'call:f', 'keyword:return', "string:'b'", 'comment:# c'],
    ],
    ['sql', 'SELECT count(*) FROM t -- all', ['keyword:SELECT', 'call:count', 'keyword:FROM', 'comment:-- all']],
    ['rust', "fn f<'a>(c: char) { 'x' }", ['keyword:fn', 'keyword:char', "string:'x'"]],
    ['html', '<a href="x">y</a>', ['tag:<a', 'string:"x"', 'tag:>', 'tag:</a', 'tag:>']],
    ['diff', '@@ 1\n-a\n+b\n c', ['comment:@@ 1', 'removed:-a', 'added:+b']],
    ['yaml', 'a: true # b#c', ['keyword:true', 'comment:# b#c']],
  ])('colors %s', (language, code, expected) => {
    expect(tokens(code, language)).toEqual(expected)
  })

  test('keeps every character, of code that ends in the middle of a string or comment as well', () => {
    for (const language of ['js', 'python', 'rust', 'html', 'sql', 'bash', 'diff', 'go', 'nothing known']) {
      for (const code of [
        '"open',
        "'",
        '/* open',
        '<!-- open',
        '`${',
        '"""',
        "'''",
        '\\',
        '""""',
        'a\n"b\nc',
        'é#"\'`',
      ]) {
        const parts = colorCode(code, language)
        expect(parts.map(({ text }) => text).join('')).toBe(code)
      }
    }
  })

  test('code without a known language has no colors', () => {
    expect(colorCode('if x', '')).toEqual([{ text: 'if x', token: null }])
  })

  test('long runs of quotes, slashes and stars are cut in one pass', () => {
    for (const part of ['"', "'", '/*', '*', '<', '<!--', '\\"', '`', '-', '"""', 'a.', '#']) {
      const code = part.repeat(Math.floor(50_000 / part.length))
      for (const language of ['js', 'python', 'xml', 'sql', 'rust']) {
        expect(
          colorCode(code, language)
            .map(({ text }) => text)
            .join(''),
        ).toBe(code)
      }
    }
  })
})
