import { expect, test } from 'vitest'
import { foldKey, listDifferences } from './spelling.ts'

test.each([
  ['https://e.com/a/', 'https://e.com/a', ['slash at the end']],
  ['https://e.com/a/index.html', 'https://e.com/a/', ['index file']],
  ['https://e.com/a/index.html', 'https://e.com/a', ['slash at the end', 'index file']],
  ['https://e.com/Default.aspx', 'https://e.com/', ['index file']],
  ['https://e.com/a?ref=x', 'https://e.com/a', ['ref']],
  ['https://e.com/a?sort=y&ref=x', 'https://e.com/a', ['ref', 'sort']],
  ['https://e.com/a?ref=x&id=1', 'https://e.com/a?id=1&Ref=y&sort=z', ['ref', 'sort']],
  ['https://e.com/a?ref=x&sort=y', 'https://e.com/a?sort=y&ref=x', ['order of the query']],
  ['https://e.com/a/?ref=x&sort=y', 'https://e.com/a?ref=x&sort=y', ['slash at the end']],
])('%s and %s differ only in %j', (a, b, differences) => {
  expect(foldKey(a)).toBe(foldKey(b))
  expect(listDifferences(a, b)).toEqual(differences)
  expect(listDifferences(b, a)).toEqual(differences)
})

test.each([
  ['https://e.com/a', 'https://e.com/b'],
  ['https://e.com/a', 'https://e.org/a'],
  ['https://e.com/a?id=1', 'https://e.com/a?id=2'],
  ['https://e.com/a', 'https://e.com/a.html'],
  ['https://e.com/my', 'https://e.com/myindex.html'],
])('%s and %s have further differences', (a, b) => {
  expect(foldKey(a)).not.toBe(foldKey(b))
})
