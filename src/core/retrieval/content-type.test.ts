import { expect, test } from 'vitest'
import { KINDS } from '../model.ts'
import { contentTypeOf, readTraits, writeTraits } from './content-type.ts'

const markdown = (...lines: string[]) => contentTypeOf({ kind: 'markdown', content: lines.join('\n') })

test('text with two lines of code is prose', () => {
  const paragraph =
    'The client waits for the time that the server names, and at most for a minute, before it asks again.'
  expect(markdown('## Waiting', '', paragraph, '', '```ts', 'wait(60)', 'ask()', '```')).toBe('prose')
  expect(markdown('> 1. Text of a list in a quotation:', '>    ```', '>    ls', '>    ```')).toBe('prose')
})

test('the content type of a chunk is that of most of its text', () => {
  expect(markdown('One line.', 'Another one.')).toBe('prose')
  expect(markdown('See:', '```', 'a()', 'b()', '```')).toBe('code')
  expect(markdown('See:', '', '~~~~js', 'a()', '~~~', 'b()', '~~~~')).toBe('code')
  expect(markdown('One.', 'Two.', 'Three.', 'Four.', '```', 'a()', '```')).toBe('prose')
  expect(markdown('- ```sh', '  ls', '  ```')).toBe('code')
  expect(markdown('Some `code` in a line, ``` too.')).toBe('prose')
  // A fence that is never closed.
  expect(markdown('See:', '```', 'a()', 'b()')).toBe('code')
})

test('a file in a programming language is code, regardless of its comments', () => {
  expect(contentTypeOf({ kind: 'python', content: '# Only words here.' })).toBe('code')
  expect(contentTypeOf({ kind: 'json', content: '{}' })).toBe('code')
  expect(contentTypeOf({ kind: 'text', content: 'Words.' })).toBe('prose')
})

test('the content type is stored with the other traits in a small number', () => {
  for (const kind of KINDS) {
    for (const content of ['words', '```\na\n```', '[a](/b)']) {
      for (const hasSymbols of [false, true]) {
        const linkShare = content.startsWith('[') && (kind === 'markdown' || kind === 'html') ? 1 : 0
        const expected = { kind, contentType: contentTypeOf({ kind, content }), hasSymbols, linkShare }
        expect(readTraits(writeTraits({ kind, content }, hasSymbols))).toEqual(expected)
      }
    }
  }
})
