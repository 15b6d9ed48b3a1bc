import { expect, test } from 'vitest'
import { measureContent } from './measure-content.ts'

function measure(...lines: string[]) {
  return measureContent({ markdown: lines.join('\n'), sections: [] })
}

const LONG = 'word '.repeat(30).trim()

test('only visible text counts, without link targets and images', () => {
  expect(measure('see [the map](https://example.org/a/long/address) ![alt](p.png)')).toMatchObject({
    text: 'see the map  '.length - 1,
    linkText: 'the map'.length,
    links: 1,
  })
})

test('paragraphs are prose when they are long and not mostly links', () => {
  expect(measure(LONG, '', 'short', '', `[${LONG}](x)`)).toMatchObject({
    paragraphs: 3,
    proseParagraphs: 1,
    prose: LONG.length,
  })
})

test('the lines of a paragraph count as one paragraph, and each list item counts as one', () => {
  expect(measure('one', 'and the same', '', '- a', '- b').paragraphs).toBe(3)
})

test('a line that starts with a link is a teaser, and a short paragraph after it is not prose', () => {
  expect(measure('## [A](a)', '', LONG, '', '- [B](b)', '- text [C](c)')).toMatchObject({
    teasers: 2,
    proseParagraphs: 0,
  })
})

test('code does not count as text', () => {
  expect(measure('text', '```js', '[a](b)', '', '```', '~~~', 'x', '~~~')).toMatchObject({ text: 4, code: 7, links: 0 })
})

test('measuring takes linear time on text that resembles links', () => {
  expect(measure(']('.repeat(300_000)).links).toBe(0)
  expect(measure('['.repeat(300_000)).links).toBe(0)
  expect(measure('[a]('.repeat(100_000)).links).toBe(1)
})
