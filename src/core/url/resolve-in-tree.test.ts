import { describe, expect, test } from 'vitest'
import { resolveInTree } from './resolve-in-tree.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const GITHUB = `https://github.com/o/lamp/blob/${COMMIT}/`

describe('a link in a file of a repository', () => {
  const file = {
    source: 'git+https://github.com/o/lamp.git',
    url: `${GITHUB}docs/guide/start.md`,
    key: 'guide/start.md',
  }

  test.each([
    ['next.md', `${GITHUB}docs/guide/next.md`],
    ['./next.md#usage', `${GITHUB}docs/guide/next.md#usage`],
    ['../a%20b.md', `${GITHUB}docs/a%20b.md`],
    ['../../src/lamp.ts?raw=true', `${GITHUB}src/lamp.ts`],
    ['/README.md', `${GITHUB}README.md`],
    ['../', `${GITHUB}docs/`],
    ['#usage', `${GITHUB}docs/guide/start.md#usage`],
  ])('%s leads to the same commit', (href, expected) => {
    expect(resolveInTree(file, href)).toBe(expected)
  })

  test.each(['https://example.com/', 'mailto:a@b.c', '//host/x', '../../../other', '', 'javascript:alert(1)'])(
    '%s stays as written',
    (href) => {
      expect(resolveInTree(file, href)).toBeUndefined()
    },
  )
})

test.each([
  ['git+file:///srv/lamp', `git+file:///srv/lamp@${COMMIT}!/docs/a.md`, `git+file:///srv/lamp@${COMMIT}!/docs/b.md`],
  ['https://git.sr.ht/~o/lamp', `https://git.sr.ht/~o/lamp/docs/a.md`, undefined],
  [
    'git+https://git.sr.ht/~o/lamp',
    `https://git.sr.ht/~o/lamp/tree/${COMMIT}/item/docs/a.md`,
    `https://git.sr.ht/~o/lamp/tree/${COMMIT}/item/docs/b.md`,
  ],
  ['file:///srv/lamp/', 'file:///srv/lamp/docs/a.md', 'file:///srv/lamp/docs/b.md'],
  [
    'https://host.example/lamp.zip',
    'https://host.example/lamp.zip!/docs/a.md',
    'https://host.example/lamp.zip!/docs/b.md',
  ],
  ['pkg:npm/lamp', 'pkg:npm/lamp!/docs/a.md', 'pkg:npm/lamp!/docs/b.md'],
  [
    'pkg:cargo/lamp',
    'https://docs.rs/crate/lamp/latest/source/docs/a.md',
    'https://docs.rs/crate/lamp/latest/source/docs/b.md',
  ],
])('in the source %s, a link to `b.md` in %s leads to %s', (source, url, expected) => {
  expect(resolveInTree({ source, url, key: 'docs/a.md' }, 'b.md')).toBe(expected)
})

test('a link never leads out of the tree, and a fragment is not resolved in a page that is a part of a file', () => {
  const file = { source: 'file:///srv/lamp/', url: 'file:///srv/lamp/docs/a.md', key: 'docs/a.md' }
  expect(resolveInTree(file, '../../etc/passwd')).toBeUndefined()
  expect(resolveInTree(file, '/etc/passwd')).toBeUndefined()
  expect(resolveInTree({ ...file, url: `${file.url}#part`, key: 'docs/a.md#part' }, '#x')).toBeUndefined()
})
