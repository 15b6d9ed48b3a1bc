import { describe, expect, test } from 'vitest'
import { findIgnoringLine, parseIgnoreFile } from './ignore-rules.ts'

const isIgnored = (...[files, path, isDirectory]: Parameters<typeof findIgnoringLine>): boolean =>
  findIgnoringLine(files, path, isDirectory) !== undefined

/** Whether a path, or a folder above it, is ignored. A path that ends in `/` is a folder. */
function ignores(text: string, path: string): boolean {
  const files = [parseIgnoreFile(text, '')]
  const parts = path.replace(/\/$/, '').split('/')
  return parts.some((_, i) => {
    return isIgnored(files, parts.slice(0, i + 1).join('/'), i < parts.length - 1 || path.endsWith('/'))
  })
}

/** Rules, the paths they ignore, and the paths they keep. Every line was compared with `git check-ignore` (2.39). */
const RULES: readonly (readonly [rules: string, ignored: readonly string[], kept: readonly string[]])[] = [
  ['foo', ['foo', 'foo/', 'a/foo', 'foo/x'], ['foobar', 'xfoo', 'Foo']],
  ['/foo', ['foo', 'foo/x'], ['a/foo']],
  ['a/foo', ['a/foo'], ['b/a/foo', 'foo']],
  ['foo/', ['foo/', 'a/foo/', 'foo/x'], ['foo', 'a/foo']],
  ['/foo/', ['foo/'], ['a/foo/', 'foo']],
  ['a/b/', ['a/b/'], ['c/a/b/', 'a/b']],
  ['*.log', ['x.log', 'a/b/x.log', '.log', 'x.log/'], ['x.log1', 'log']],
  ['a/*.log', ['a/x.log'], ['a/b/x.log']],
  ['/*', ['f', 'd/f'], []],
  ['*/', ['d/', 'd/f'], ['f']],
  ['foo*/', ['foox/'], ['foox']],
  ['a/**', ['a/b', 'a/b/c'], ['b/a']],
  ['**/a', ['a', 'x/y/a'], ['xa']],
  ['**/a/b', ['a/b', 'x/a/b'], ['b']],
  ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['a/xb', 'b']],
  ['a/**/**/b', ['a/b'], ['ab']],
  ['**', ['x', 'x/y'], []],
  ['**/', ['x/', 'x/y'], ['x']],
  ['a**b', ['axxb', 'ab'], ['a/b']],
  ['a/**b', ['a/xb'], ['a/x/b']],
  ['?at', ['cat'], ['at', 'chat']],
  ['a?b', ['axb'], ['a/b']],
  ['[abc]x', ['bx'], ['dx']],
  ['[!abc]x', ['dx'], ['bx']],
  ['[^abc]x', ['dx'], ['bx']],
  ['[a-c]x', ['bx'], ['dx', '-x']],
  ['[]-]x', [']x', '-x'], ['ax']],
  ['[a-]x', ['-x'], ['bx']],
  ['[a\\-c]', ['-', 'a'], ['b']],
  ['[\\]]', [']'], ['[]']],
  ['[z-a]', [], ['m']],
  ['[[:digit:]]x', ['5x'], [':x', 'ax']],
  ['[[:alpha:]_]x', ['_x', 'bx'], ['5x']],
  ['*.[oa]', ['x.o'], ['x.c']],
  ['[a', [], ['[a', 'a']],
  ['a\\', [], ['a\\', 'a']],
  ['\\!a', ['!a'], ['a']],
  ['\\#a', ['#a'], ['a']],
  ['#a', [], ['#a', 'a']],
  ['a\\*', ['a*'], ['ab']],
  ['a ', ['a'], ['a ']],
  ['a\\ ', ['a '], ['a']],
  ['a\\  ', ['a '], ['a']],
  ['a\\\\ ', ['a\\'], ['a\\ ']],
  [' a', [' a'], ['a']],
  ['a\t', ['a\t'], ['a']],
  ['a\r\nb\r', ['a', 'b'], ['a\r']],
  ['\ufeffa', ['a'], []],
  ['a\n!a', [], ['a']],
  ['!a\na', ['a'], []],
  ['*\n!*.md', ['x.txt'], ['x.md']],
  ['a/\n!a/b', ['a/b'], []],
  ['a/*\n!a/b', ['a/c'], ['a/b']],
  ['!!a', [], ['!a']],
  ['/', [], ['a', 'a/']],
  ['//a', [], ['a']],
  ['a//b', [], ['a/b']],
  ['./a', [], ['a']],
  ['\n  \n', [], ['a', ' ']],
  ['a\n!*\na/', ['a/'], ['a']],
  ['a\n*\n!a\n', ['b'], ['a']],
  ['!a\n/a\n!a/', ['a'], ['a/', 'b/a']],
  ['a/b\n!b', [], ['a/b']],
  ['!b\na/b', ['a/b'], ['b', 'c/b']],
  ['a\n!a\na', ['a'], []],
  ['*\n!#a\n#a', ['b'], ['#a']],
  ['\\a/b\\*', ['a/b*'], ['a/bc']],
]

describe.each(RULES)('%j', (rules, ignored, kept) => {
  test('ignores the same paths as git', () => {
    expect(ignored.filter((path) => !ignores(rules, path))).toEqual([])
    expect(kept.filter((path) => ignores(rules, path))).toEqual([])
  })
})

describe('several files', () => {
  const files = [parseIgnoreFile('*.log\n/build', ''), parseIgnoreFile('!keep.log\n/only\n', 'sub/')]

  test('the innermost file with a matching rule decides', () => {
    expect(isIgnored(files, 'keep.log', false)).toBe(true)
    expect(isIgnored(files, 'sub/keep.log', false)).toBe(false)
    expect(isIgnored(files, 'sub/deep/keep.log', false)).toBe(false)
    expect(isIgnored(files, 'sub/other.log', false)).toBe(true)
  })

  test('an anchored rule is relative to the folder of its file', () => {
    expect(isIgnored(files, 'sub/only', false)).toBe(true)
    expect(isIgnored(files, 'sub/deep/only', false)).toBe(false)
    expect(isIgnored(files, 'only', false)).toBe(false)
    expect(isIgnored(files, 'sub/build', true)).toBe(false)
  })

  test('the rules of a folder do not apply to a folder whose name only has the same beginning', () => {
    expect(isIgnored(files, 'subway/only', false)).toBe(false)
  })
})

describe('hostile rules', () => {
  test('are matched quickly: `**/a/` fifteen times, on a deep path', () => {
    expect(ignores(`${'**/a/'.repeat(15)}b`, `${'a/'.repeat(200)}c`)).toBe(false)
    expect(ignores(`${'**/a/'.repeat(15)}b`, `${'a/'.repeat(200)}b`)).toBe(true)
  })

  test('are matched quickly: `*a` twenty times, on a long name', () => {
    expect(ignores(`${'*a'.repeat(20)}b`, 'a'.repeat(2000))).toBe(false)
    expect(ignores('*a'.repeat(20), 'a'.repeat(2000))).toBe(true)
  })

  test('are matched quickly: tens of thousands of rules, against thousands of paths', () => {
    const lines = Array.from({ length: 40_000 }, (_, i) => `n${i}\n/d${i}/same\n?\n`)
    const files = [parseIgnoreFile(lines.join(''), ''), parseIgnoreFile(lines.join(''), 'sub/')]
    const paths = Array.from({ length: 20_000 }, (_, i) => `sub/x${i}/same`)
    expect(paths.filter((path) => isIgnored(files, path, false))).toEqual([])
    expect(isIgnored(files, 'sub/deep/n39999', false)).toBe(true)
    expect(isIgnored(files, 'd39999/same', false)).toBe(true)
    expect(isIgnored(files, 'd39999/other', false)).toBe(false)
  })
})
