import { expect, test } from 'vitest'
import { chunkFields } from './chunk-fields.ts'

const chunk = { title: 'JSON', path: 'x', kind: 'markdown', headingPath: ['json', 'Usage'], symbol: null } as const

test('a chunk is found by title and headings, by the names it defines, and by its text', () => {
  const content = '`json.dump(obj)`\n\nWrites *obj* with [the encoder](https://site.example/json.html#encoder).'
  expect(chunkFields({ ...chunk, content })).toEqual({
    head: ['JSON', 'Usage'],
    definitions: ['json.dump'],
    body: ['`json.dump(obj)`\n\nWrites *obj* with [the encoder].'],
  })
})

test('the symbol of code is a name it defines, and its text stays unchanged', () => {
  const content = 'def parse(text): return a[0](1)'
  expect(chunkFields({ ...chunk, kind: 'python', symbol: 'Parser.parse', content })).toMatchObject({
    definitions: ['Parser.parse'],
    body: [content],
  })
})

test('the targets of links and images are dropped, even with parentheses or a title', () => {
  const content = '[a](/w/C_(language)) ![b](/i.png "A picture") [c] (d)'
  expect(chunkFields({ ...chunk, content }).body).toEqual(['[a] ![b] [c] (d)'])
})
