import { expect, test } from 'vitest'
import { parseTreeUrl } from './parse-tree-url.ts'

test.each([
  ['npm:react@18', 'pkg:npm/react@18'],
  [' pypi:Flask_Login ', 'pkg:pypi/flask-login'],
  ['pkg:cargo/serde@1.0.200', 'pkg:cargo/serde@1.0.200'],
  ['git@github.com:o/lamp.git', 'git+ssh://git@github.com/o/lamp.git'],
  ['https://github.com/o/lamp.git', 'git+https://github.com/o/lamp.git'],
  ['git+file:///srv/lamp', 'git+file:///srv/lamp'],
  ['https://example.com/v1/lamp.tar.gz?raw=1#x', 'https://example.com/v1/lamp.tar.gz?raw=1'],
])('the address of a tree is parsed from %s', (text, url) => {
  expect(parseTreeUrl(text)).toBe(url)
})

test.each([
  'https://example.com/docs/',
  'https://github.com/o/lamp',
  './lamp.zip',
  'file:///srv/lamp.zip',
  'docs@2.0',
  '',
])('%s is not a tree', (text) => {
  expect(parseTreeUrl(text)).toBeUndefined()
})
