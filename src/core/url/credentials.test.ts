import { expect, test } from 'vitest'
import { hasCredentials, hideCredentials } from './credentials.ts'

test.each([
  ['http://me:s3cret@docs.example/a', 'http://…@docs.example/a'],
  ['ftp://me:s3cret@docs.example/', 'ftp://…@docs.example/'],
  ['http://me:s3/cret@[docs', 'http://…@[docs'],
  ['me:s3cret@docs.example', '…@docs.example'],
  ['socks5://me:s3cret@docs.example', '…@docs.example'],
])('%s is shown as %s', (text, expected) => {
  expect(hideCredentials(text)).toBe(expected)
})

test.each([
  'https://docs.example/@scope/name',
  'docs.example',
  'http://[',
  'ftp://docs.example/',
  'py@3',
  'guide@>=3 <4',
])('%s is shown unchanged', (text) => {
  expect(hideCredentials(text)).toBe(text)
})

test.each([
  ['http://me:s3cret@docs.example/', true],
  ['http://me@docs.example/', true],
  ['http://:s3cret@docs.example/', true],
  ['http://docs.example/@me', false],
  ['docs.example', false],
])('the check whether %s holds credentials returns %s', (text, expected) => {
  expect(hasCredentials(text)).toBe(expected)
})
