import { expect, test } from 'vitest'
import { Focus } from './focus.ts'

test('a focus holds its paths and everything in them, and is below the folders that lead to them', () => {
  const focus = new Focus(['a/b', 'c.md', 'a/b/d.md'])
  expect(focus.paths).toEqual(['a/b', 'c.md'])
  expect(['a/b', 'a/b/x/y.md', 'c.md'].every((path) => focus.holds(path))).toBe(true)
  expect(['a', 'a/bc', 'a/c', 'c.md2', ''].some((path) => focus.holds(path))).toBe(false)
  expect(['', 'a', 'a/b', 'c.md', 'd'].map((path) => focus.isBelow(path))).toEqual([true, true, true, false, false])
})

test('an empty path means the whole tree, and no paths mean nothing', () => {
  expect(new Focus(['', 'a']).paths).toEqual([''])
  expect(new Focus(['']).holds('any/path')).toBe(true)
  expect(new Focus([]).holds('a')).toBe(false)
})
