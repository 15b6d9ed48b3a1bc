import { describe, expect, test } from 'vitest'
import { closeFences, FenceReader } from './fences.ts'

/** The lines that a reader takes for code, without the fences. */
function codeOf(markdown: string): string[] {
  const fences = new FenceReader()
  return markdown.split('\n').filter((line) => fences.read(line) === 'code')
}

describe('FenceReader', () => {
  test.each([
    ['a shorter marker in the code', '````md\n```js\na\n```\n````\ntext', ['```js', 'a', '```']],
    ['the other marker in the code', '```\n~~~\na\n```\ntext', ['~~~', 'a']],
    ['a longer closing marker', '~~~\na\n~~~~\ntext', ['a']],
    ['a marker with an info string in the code', '```\n```js\na\n```\ntext', ['```js', 'a']],
    ['an indented marker in the code', '```\na\n    ```\nb\n```\ntext', ['a', '    ```', 'b']],
    ['a list item', '1. ```js\n   a\n   ```\ntext', ['   a']],
    ['a quote', '> ```js\n> a\n> ```\ntext', ['> a']],
    ['a marker in a quote in the code', '```\n> ```\na\n```\ntext', ['> ```', 'a']],
    ['a quote that ends first', '> ```js\n> a\n\ntext\n\n```\nb\n```', ['> a', 'b']],
    ['inline code of three backticks', '```a``` is code\ntext', []],
    ['two backticks', '``\na\n``', []],
    ['Windows line ends', '```js\r\na\r\n```\r\ntext', ['a\r']],
  ])('reads %s', (_, markdown, code) => {
    expect(codeOf(markdown)).toEqual(code)
  })

  test('takes linear time for long lines of list and quote markers', () => {
    for (const start of ['> ', '- ', '1. ', '* > ', ' ', '`', '~']) {
      expect(codeOf(`${start.repeat(200_000)}x\n${start.repeat(200_000)}x`).length).toBeLessThanOrEqual(1)
    }
  })
})

describe('closeFences', () => {
  test.each([
    ['text', 'text'],
    ['```js\na\n```', '```js\na\n```'],
    ['````js\na\n```', '````js\na\n```\n````'],
    ['> - ~~~\n>   a', '> - ~~~\n>   a\n>   ~~~'],
  ])('%j becomes %j', (text, closed) => {
    expect(closeFences(text)).toBe(closed)
  })
})
