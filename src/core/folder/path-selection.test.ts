import { expect, test } from 'vitest'
import { PathSelection } from './path-selection.ts'

test('a selection contains its paths and everything in them, and knows the folders that lead to them', () => {
  const selection = new PathSelection(['a/b', 'c.md', 'a/b/d.md'])
  expect(selection.paths).toEqual(['a/b', 'c.md'])
  expect(['a/b', 'a/b/x/y.md', 'c.md'].every((path) => selection.contains(path))).toBe(true)
  expect(['a', 'a/bc', 'a/c', 'c.md2', ''].some((path) => selection.contains(path))).toBe(false)
  expect(['', 'a', 'a/b', 'c.md', 'd'].map((path) => selection.hasPathBelow(path))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
})

test('an empty path means the whole tree, and no paths mean nothing', () => {
  expect(new PathSelection(['', 'a']).paths).toEqual([''])
  expect(new PathSelection(['']).contains('any/path')).toBe(true)
  expect(new PathSelection([]).contains('a')).toBe(false)
})

test('a selection that is not deep contains its paths only', () => {
  const selection = new PathSelection(['a', 'a/b/c.md'], { isDeep: false })
  expect(selection.paths).toEqual(['a', 'a/b/c.md'])
  expect(['a', 'a/b', 'a/b/c.md', 'a/d.md'].map((path) => selection.contains(path))).toEqual([true, false, true, false])
  expect(['a', 'a/b', 'd'].map((path) => selection.hasPathBelow(path))).toEqual([true, true, false])
})
