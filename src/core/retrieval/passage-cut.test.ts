import { expect, test } from 'vitest'
import { scanBlocks } from './passage-blocks.ts'
import { cutBlock } from './passage-cut.ts'

/** The first block of a text, cut from a line on. */
function cut(markdown: string, line: number, limit: number, content = ''): ReturnType<typeof cutBlock> {
  const lines = markdown.split('\n')
  const [block] = scanBlocks(lines)
  if (block === undefined) throw new Error('expected a block, got none')
  return cutBlock(lines, block, { line, content }, limit)
}

test('a fence keeps the lines that open and close it', () => {
  const fence = '~~~~js\none\ntwo\nthree\nfour\n~~~~'
  expect(cut(fence, 0, 20)).toEqual({ text: '~~~~js\none\ntwo\n~~~~', start: 0, end: 3 })
  expect(cut(fence, 3, 22)).toEqual({ text: '~~~~js\nthree\nfour\n~~~~', start: 3, end: 5 })
  expect(cut('```\nan endless line of words\n```', 0, 20)?.text).toBe('```\nan endless\n```')
  expect(cut(fence, 0, 8)).toBeUndefined()
})

test('a fence in a list item is closed inside the item', () => {
  expect(cut('- ```\n  one\n  two\n  ```', 0, 18)?.text).toBe('- ```\n  one\n  ```')
})

test('a table keeps its header, and its rows are whole', () => {
  const table = '| a |\n| - |\n| one |\n| two |\n| three |'
  expect(cut(table, 0, 20)).toEqual({ text: '| a |\n| - |\n| one |', start: 0, end: 3 })
  expect(cut(table, 3, 20)).toEqual({ text: '| a |\n| - |\n| two |', start: 3, end: 4 })
  expect(cut(table, 4, 20)).toBeUndefined()
})

test('a fence in a quote is closed', () => {
  const quote = `> Look:\n> \`\`\`js\n${'> code()\n'.repeat(9)}> \`\`\``
  const { text = '' } = cut(quote, 0, 60) ?? {}
  expect(text).toMatch(/^> Look:\n> ```js\n(?:> code\(\)\n)+> ```$/)
  expect(text.length).toBeLessThanOrEqual(60)
})

test('text ends after a line, or after a word where a line is too long', () => {
  expect(cut('one two\nthree four\nfive', 0, 20)).toEqual({ text: 'one two\nthree four', start: 0, end: 2 })
  expect(cut('one two three four', 0, 10)).toEqual({ text: 'one two', start: 0, end: 1 })
  expect(cut('x'.repeat(30), 0, 10)?.text).toBe('x'.repeat(10))
})

test('a long line begins where the matching chunk begins', () => {
  const line = 'one two three four five six seven'
  expect(cut(line, 0, 14, 'four five six seven')?.text).toBe('four five six')
  expect(cut(line, 0, 14, 'our five six seven')?.text).toBe('five six seven')
})
