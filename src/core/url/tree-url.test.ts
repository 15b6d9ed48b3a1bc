import { expect, test } from 'vitest'
import { isWebPageUrl } from './tree-url.ts'

test.each([
  'https://example.com/',
  'HTTP://example.com/manual.zip',
  'https://example.com/wow!/page',
  'https://example.com/page?of=manual.zip!/a.md',
  'https://example.com/page#manual.zip!/a.md',
])('a browser can open %s', (url) => {
  expect(isWebPageUrl(url)).toBe(true)
})

test.each([
  'https://example.com/manual.zip!/docs/a.md',
  'https://example.com/wow!/manual-1.0.tar.gz!/docs/a!/b.md#part',
  'git+https://example.com/o/lamp.git!/a.md',
  'pkg:npm/react@18!/index.d.ts',
  'file:///srv/lamp.md',
  'javascript:alert(1)',
])('a browser cannot open %s', (url) => {
  expect(isWebPageUrl(url)).toBe(false)
})
