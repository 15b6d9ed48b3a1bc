import { expect, test } from 'vitest'
import { resolveLinks } from './resolve-links.ts'

const resolve = (href: string) => (href.startsWith('http') ? undefined : `https://h.example/${href}`)

test.each([
  ['see [a](a.md) and ![b](i/b.png "B")', 'see [a](https://h.example/a.md) and ![b](https://h.example/i/b.png "B")'],
  ['[a](<a b.md>)', '[a](https://h.example/a%20b.md)'],
  ['[a](f(x).md)', '[a](https://h.example/f(x).md)'],
  ['[![logo](l.png)](a.md)', '[![logo](https://h.example/l.png)](https://h.example/a.md)'],
  ['[a]\n\n[a]: a.md "A"\n[b]: https://x.example/', '[a]\n\n[a]: https://h.example/a.md "A"\n[b]: https://x.example/'],
  ['[^1]: a.md', '[^1]: a.md'],
  ['`[a](a.md)` [b](b.md)', '`[a](a.md)` [b](https://h.example/b.md)'],
  ['```\n[a](a.md)\n```\n\n[b](b.md)\n', '```\n[a](a.md)\n```\n\n[b](https://h.example/b.md)\n'],
  ['    [a](a.md)\n\ntext [b](b.md)', '    [a](a.md)\n\ntext [b](https://h.example/b.md)'],
  ['[a\\](a.md) and [b](https://x.example/)', '[a\\](a.md) and [b](https://x.example/)'],
  ['call(x)[0](y z)', 'call(x)[0](y z)'],
  ['no link at all', 'no link at all'],
])('%j becomes %j', (markdown, expected) => {
  expect(resolveLinks(markdown, resolve)).toBe(expected)
})

test('unclosed links and definitions stay unchanged and take linear time', () => {
  for (const part of ['](a', '[a](', '[a]: ', '](<', '](a\\', '](x(', '`[a](']) {
    const hostile = part.repeat(20_000)
    expect(resolveLinks(hostile, () => undefined)).toBe(hostile)
  }
})
