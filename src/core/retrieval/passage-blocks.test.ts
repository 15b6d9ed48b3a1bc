import { expect, test } from 'vitest'
import { cpuMsOf } from '../../../test/cpu-time.ts'
import { scanBlocks } from './passage-blocks.ts'

/** Blocks as `type start-end`, with `<n` for those that continue block n, `!` for signatures and `…` for lead-ins. */
function scan(markdown: string): string[] {
  return scanBlocks(markdown.split('\n')).map(({ type, start, end, parent, isSignature, isLeadIn }) => {
    const marks = `${parent < 0 ? '' : ` <${parent}`}${isSignature ? ' !' : ''}${isLeadIn ? ' …' : ''}`
    return `${type} ${start}-${end}${marks}`
  })
}

test('headings and paragraphs are blocks, and blank lines are not', () => {
  expect(scan('# One\nText\ngoes on.\n\n\n## Two\n\nFor example:\n')).toEqual([
    'heading 0-1 …',
    'text 1-3',
    'heading 5-6 …',
    'text 7-8 …',
  ])
})

test('a fence continues to the line that closes it, whatever it contains', () => {
  expect(scan('```js\n# no\n\n```js\n~~~\n````\nText')).toEqual(['fence 0-6', 'text 6-7'])
  expect(scan('~~~\n```\n~~~ x\n~~~')).toEqual(['fence 0-4'])
  expect(scan('``` not ` a fence\nText')).toEqual(['text 0-2'])
})

test('an unclosed fence continues to the end', () => {
  expect(scan('Text\n```\na\n\nb\n\n')).toEqual(['text 0-1', 'fence 1-5'])
})

test('a table begins with its header', () => {
  expect(scan('Text\n| a | b |\n|---|:-:|\n| 1 | 2 |\nlast\n\nText')).toEqual(['text 0-1', 'table 1-5', 'text 6-7'])
  expect(scan('a | b\n- | -\n1 | 2\n# End')).toEqual(['table 0-3', 'heading 3-4 …'])
  expect(scan('a | b\n---\nText')).toEqual(['text 0-3'])
})

test('blocks inside a list item continue it', () => {
  const list =
    '- one\n  goes on\n\n  ```\n  code\n  ```\n- two\n  - three\n\n    deep\n\n1. four\n\n   | a | b |\n   |---|---|\n   | 1 | 2 |\n\nText'
  expect(scan(list)).toEqual([
    'text 0-2',
    'fence 3-6 <0',
    'text 6-7',
    'text 7-8 <2',
    'text 9-10 <3',
    'text 11-12',
    'table 13-16 <5',
    'text 17-18',
  ])
})

test('a fence in a list item ends with the item, closed or not', () => {
  expect(scan('- ```\n  code\n  ```\n\n- a\n\n  ```\n  open\n\nText')).toEqual([
    'fence 0-3',
    'text 4-5',
    'fence 6-8 <1',
    'text 9-10',
  ])
})

test('a quote is one block, including the fences in it', () => {
  expect(scan('> [!NOTE]\n> ```\n> code\n>\n> ```\n> end\nText')).toEqual(['text 0-6', 'text 6-7'])
})

test('signatures are lead-ins to their descriptions', () => {
  expect(scan('`json.dump(obj, fp)`\n\nWrites *obj*.\n\n### `load(fp)`')).toEqual([
    'text 0-1 ! …',
    'text 2-3',
    'heading 4-5 ! …',
  ])
})

test.each([
  ['spaces before a bar', (count: number) => `name | value\n${' '.repeat(count)}x|`],
  ['spaces between bars', (count: number) => `name | value\n|${' '.repeat(count)}x`],
  ['dashes', (count: number) => `name | value\n|${'-'.repeat(count)}x`],
  ['cells', (count: number) => `name | value\n${'|-'.repeat(count / 2)}x`],
  ['marks of lists', (count: number) => `${'- '.repeat(count / 2)}x`],
  ['quotes', (count: number) => `${'> '.repeat(count / 2)}x`],
  ['marks of fences', (count: number) => `${'`'.repeat(count)} x \``],
])('a long line is scanned in linear time: %s', (_what, write) => {
  const time = (count: number) => {
    const lines = write(count).split('\n')
    return cpuMsOf(() => scanBlocks(lines))
  }
  time(1000)
  // Restarting at each of 400,000 positions takes minutes.
  expect(time(400_000)).toBeLessThan(2000)
})
