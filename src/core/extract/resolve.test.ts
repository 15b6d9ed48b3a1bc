import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createResolver, resolveHttp } from './resolve.ts'

const BASE = 'https://user:secret@example.com/a/b.html?c#d'

describe('resolveHttp', () => {
  test.each([
    ['x.html#y', 'https://example.com/a/x.html#y'],
    ['//host.example/', 'https://host.example/'],
    ['', 'https://example.com/a/b.html?c'],
    ['mailto:somebody@example.com', undefined],
    ['http://[', undefined],
  ])('%j resolves to %s', (href, expected) => {
    expect(resolveHttp(href, BASE)).toBe(expected)
  })
})

test('resolving the addresses of a document one by one or together gives the same result, except for fragments', () => {
  const part = fc.constantFrom('x', '/', '..', '?', '#', ' ', '\t', '\n', ':', 'http:', '//h', '@', '%20', 'é', '\\')
  const href = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(fc.array(href, { maxLength: 8 }), (hrefs) => {
      const resolve = createResolver(BASE)
      for (const one of hrefs) expect(resolve(one)).toBe((resolveHttp(one, BASE) ?? '').replace(/#.*$/, ''))
    }),
  )
})
