import { expect, test } from 'vitest'
import { maskNonProse } from './mask-non-prose.ts'

test.each([
  ['targets of links', 'In [Paris](https://example.org/rome) today', 'In  Paris  today'],
  ['targets with parentheses', '[Paris](https://example.org/a_(rome)) today', ' Paris today'],
  ['targets of pictures', '![Seine in Paris](/rome.jpg) now', '! Seine in Paris now'],
  ['links around pictures', '[![Paris](/rome.jpg)](/oslo) now', ' !  Paris now'],
  ['addresses', 'see https://example.org/rome, Paris', 'see Paris'],
  ['spans of code', 'a `Rome` b ``Oslo ` x`` c', 'a b c'],
  ['blocks of code', 'a\n\n```\nRome\n```\n\nParis', 'a\n\n\n\n\n\nParis'],
  ['blocks of code in lists', '- a\n  ~~~~\n  Rome\n  ~~~\n  Oslo\n  ~~~~\nParis', '- a\n\n\n\n\n\nParis'],
])('masking blanks out %s and keeps all offsets', (_, markdown, expected) => {
  const text = maskNonProse(markdown)
  expect(text).toHaveLength(markdown.length)
  expect(text.replace(/ +/g, ' ').replace(/ *\n */g, '\n')).toBe(expected.replace(/ +/g, ' '))
  expect(text.indexOf('Paris')).toBe(markdown.indexOf('Paris'))
})

test('masking leaves plain text unchanged', () => {
  const plain = 'A time: 10:30. A ratio 3:4 and a `lonely sign.'
  expect(maskNonProse(plain)).toBe(plain)
})

test('masking takes linear time on unclosed markup', () => {
  for (const sign of ['](', '[', '` ', 'http://', '```']) {
    const markdown = sign.repeat(100_000)
    expect(maskNonProse(markdown)).toHaveLength(markdown.length)
  }
})
