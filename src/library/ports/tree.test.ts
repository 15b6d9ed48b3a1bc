import { expect, test } from 'vitest'
import { DEFAULT_SCOPE } from '../../core/url/scope.ts'
import type { Source } from '../source.ts'
import { DEFAULT_SETTINGS } from '../source.ts'
import { isSamePath, keysOf, writeFileUrl } from './tree.ts'

function sourceAt(url: string): Source {
  const facts = { id: '1', name: 'docs', version: null, createdAt: 0, scope: DEFAULT_SCOPE, settings: DEFAULT_SETTINGS }
  return { ...facts, url, siteUrl: url }
}

const NO_TREES = {}

test.each([
  ['a.md', 'file:///home/me/docs/a.md'],
  ['a b/ü.md', 'file:///home/me/docs/a%20b/%C3%BC.md'],
  ['what?#1 100%.md', 'file:///home/me/docs/what%3F%231%20100%25.md'],
  ['@scope/x+y=z;(1),[2].md', 'file:///home/me/docs/@scope/x+y=z;(1),%5B2%5D.md'],
  ['back\\slash\n.md', 'file:///home/me/docs/back%5Cslash%0A.md'],
])('the address of the file %j resolves back to its path', (path, url) => {
  const source = sourceAt('file:///home/me/docs/')
  expect(writeFileUrl(source.url, path)).toBe(url)
  expect(new URL(url).href).toBe(url)
  expect(keysOf(NO_TREES, source, url)).toEqual([path])
  expect(keysOf(NO_TREES, source, `/home/me/docs/${path}`)).toEqual([path])
})

test.each([
  ['a/../b.md', ['b.md']],
  ['./a.md', ['a.md']],
  ['../other/a.md', []],
  ['/home/me/docs2/a.md', []],
  ['file:///home/me/docs/', []],
  ['file:///etc/passwd', []],
  ['https://example.com/a.md', []],
])('keysOf resolves %s in a folder to %j', (text, keys) => {
  expect(keysOf(NO_TREES, sourceAt('file:///home/me/docs/'), text)).toEqual(keys)
})

test('keysOf lists a path relative to the source folder before one relative to the current directory', () => {
  const trees = {
    addressOf: (text: string) => `file:///home/me/${text}`,
    open: () => Promise.reject(new Error('nothing is opened')),
    describe: () => Promise.reject(new Error('nothing is opened')),
    listRegistries: () => Promise.resolve([]),
    keepsLines: () => false,
    chunkText: () => Promise.reject(new Error('nothing is cut')),
  }
  expect(keysOf({ trees }, sourceAt('file:///home/me/docs/'), 'docs/a.md')).toEqual(['docs/a.md', 'a.md'])
  expect(keysOf({ trees }, sourceAt('https://example.com/'), 'docs/a.md')).toEqual([
    'https://example.com/docs/a.md',
    'https://example.com/docs/a.md/',
  ])
})

test.each([
  ['https://example.com/m.zip?v=1', 'https://example.com/m.zip!/manual-1.0/a.md', ['manual-1.0/a.md', 'a.md']],
  ['https://example.com/m.zip', 'https://example.com/m.zip!/manual/a.md', ['manual/a.md']],
  ['https://example.com/m.zip', 'manual-1.0/a.md', ['manual-1.0/a.md']],
])('keysOf resolves, in the archive %s, %s to %j', (url, text, keys) => {
  expect(keysOf(NO_TREES, sourceAt(url), text)).toEqual(keys)
})

test('writeFileUrl drops the query of an archive', () => {
  expect(writeFileUrl('https://example.com/m.zip?v=1', 'a.md')).toBe('https://example.com/m.zip!/a.md')
})

test('a single file has only its own address', () => {
  const source = sourceAt('file:///home/me/a%20b.md')
  expect(writeFileUrl(source.url, 'a b.md')).toBe(source.url)
  for (const text of [source.url, '/home/me/a b.md', 'a b.md'])
    expect(keysOf(NO_TREES, source, text)).toEqual(['a b.md'])
  for (const text of ['/home/me/c.md', 'c.md', 'docs/c.md', 'docs/a b.md', '../a b.md', 'file:///home/me/docs/c.md'])
    expect(keysOf(NO_TREES, source, text)).toEqual([])
})

test('keysOf finds a page of a single file by name or by address', () => {
  const source = sourceAt('file:///home/me/book.xlsx')
  for (const text of [`${source.url}#Prices`, 'book.xlsx#Prices', '/home/me/book.xlsx#Prices'])
    expect(keysOf(NO_TREES, source, text)[0]).toBe('book.xlsx#Prices')
})

test.each([
  ['file:///a/b/', 'file:///a/b', true],
  ['file:///a/%62/', '/a/b', true],
  ['file:///', 'file:///', true],
  ['file:///a/b', 'file:///a/b/c', false],
  ['https://a.example/', 'https://a.example/', false],
  ['file:///100%/', 'file:///100%', true],
])('isSamePath(%s, %s) is %s', (a, b, isSame) => {
  expect(isSamePath(a, b)).toBe(isSame)
})
