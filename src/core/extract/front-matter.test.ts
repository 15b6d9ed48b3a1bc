import { expect, test } from 'vitest'
import { cutFrontMatter } from './front-matter.ts'

test.each<[string, Record<string, string>, string]>([
  ['# A\nb', {}, '# A\nb'],
  ['---\ntitle: A\n---\n# B', { title: 'A' }, '# B'],
  ['---\nTitle: "A: \\"b\\""\nauthor: \'It\'\'s\'\n...\nx', { title: 'A: "b"', author: "It's" }, 'x'],
  ['---\ndate: 2024-03-03 # a Sunday\n---\nx', { date: '2024-03-03' }, 'x'],
  ['---\ntags: [a, b]\nmore:\n  title: no\nlist:\n- a\ntext: |\n  a\n---\nx', { text: 'a' }, 'x'],
  ['---\ndescription: >-\n  Folded\n  text.\n\ntitle: A\n---\nx', { description: 'Folded text.', title: 'A' }, 'x'],
  ['+++\ntitle = "A"\ndraft = false\n[params]\n+++\nx', { title: 'A', draft: 'false' }, 'x'],
  ['---\nSome text.\n---\nx', {}, '---\nSome text.\n---\nx'],
  ['---\ntitle: A\nnever closed', {}, '---\ntitle: A\nnever closed'],
  ['x\n---\ntitle: A\n---', {}, 'x\n---\ntitle: A\n---'],
])('the front matter of %j is %j', (text, fields, rest) => {
  const cut = cutFrontMatter(text.split('\n'))
  expect(Object.fromEntries(cut.fields)).toEqual(fields)
  expect(cut.lines.join('\n')).toBe(rest)
})
