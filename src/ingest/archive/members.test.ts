import { expect, test } from 'vitest'
import { ArchiveError } from '../../core/archive/archive-error.ts'
import { DEFAULT_ARCHIVE_LIMITS, judgeName, MemberList } from './members.ts'

const LIMITS = { ...DEFAULT_ARCHIVE_LIMITS, maxDepth: 3, maxNameBytes: 40, maxEntries: 5 }

test.each([
  ['a.md', 'a.md'],
  ['./a//b/./c.md', 'a/b/c.md'],
  ['docs/', 'docs'],
  ['./', ''],
  ['ü/ø.md', 'ü/ø.md'],
  ['...md', '...md'],
  ['a..b/c', 'a..b/c'],
  ['1/2/3/4', '1/2/3/4'],
])('the name %j becomes the path %j', (name, path) => {
  expect(judgeName(Buffer.from(name), LIMITS)).toEqual({ type: 'path', path })
})

test.each([
  ['../etc/passwd', 'its path leads out of the archive'],
  ['a/../../b', 'its path leads out of the archive'],
  ['a/..', 'its path leads out of the archive'],
  ['/etc/passwd', 'its path is absolute'],
  ['C:/windows/win.ini', 'its path is absolute'],
  ['a\\..\\b', 'its name holds a backslash'],
  ['a\0.md', 'its name holds a zero byte'],
  ['1/2/3/4/5', 'more than 3 folders deep'],
  ['x'.repeat(41), 'a path of more than 40 bytes'],
])('refuses the name %j', (name, pattern) => {
  expect(judgeName(Buffer.from(name), LIMITS)).toMatchObject({ refusal: { reason: 'bad-url', pattern } })
})

test('refuses a name that is not UTF-8', () => {
  const judged = judgeName(Buffer.from('bad\xff.md', 'latin1'), LIMITS)
  expect(judged).toMatchObject({ path: 'bad\u{fffd}.md', refusal: { pattern: 'its name is not valid UTF-8' } })
})

test('refuses both members with the same path, however the path is written', () => {
  const list = new MemberList<number>(LIMITS)
  const add = (name: string, place: number) => list.add(Buffer.from(name), { type: 'file', size: 1, position: place })
  add('a/b.md', 1)
  add('a//./b.md', 2)
  add('c.md', 3)
  expect([...list.files.keys()]).toEqual(['c.md'])
  expect([...list.refused]).toEqual([['a/b.md', expect.objectContaining({ pattern: 'several members of one name' })]])
  list.add(Buffer.from('c.md'), { type: 'link' })
  expect([...list.files.keys(), ...list.links]).toEqual([])
})

test('refuses the whole archive when it has too many members', () => {
  const list = new MemberList<number>(LIMITS)
  for (let i = 0; i < 5; i++) list.add(Buffer.from(`${i}`), { type: 'folder' })
  expect(() => list.add(Buffer.from('6'), { type: 'folder' })).toThrow(ArchiveError)
})

test('implied folders and the bytes of all names count towards the limits', () => {
  const add = (list: MemberList<number>, name: string) =>
    list.add(Buffer.from(name), { type: 'file', size: 1, position: 1 })
  const deep = new MemberList<number>(LIMITS)
  add(deep, '1/2/3/a.md')
  add(deep, '1/2/4/a.md')
  add(deep, '1/2/3/b.md')
  expect(() => add(deep, '5/6/a.md')).toThrow('it has more than 5 folders')
  const long = new MemberList<number>({ ...LIMITS, maxNameBytes: 1000 })
  add(long, 'a'.repeat(700))
  expect(() => add(long, 'b'.repeat(700))).toThrow('the names of its members are too long in total')
})
