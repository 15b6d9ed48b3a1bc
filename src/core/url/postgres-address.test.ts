import { expect, test } from 'vitest'
import { findLibraryProblem, hidePassword, isPostgres, nameDatabase } from './postgres-address.ts'

test('distinguishes a PostgreSQL address from a file', () => {
  expect(['postgres://h/d', 'postgresql://u@/d?host=/run'].map(isPostgres)).toEqual([true, true])
  expect(['/data/library.db', 'postgres.db', 'C:\\postgres://x'].map(isPostgres)).toEqual([false, false, false])
})

test('recognizes malformed database addresses, and never repeats their passwords', () => {
  const mistaken = [
    'postgres:/u@127.0.0.1/d',
    'postgres:d',
    'POSTGRES://h/d',
    'mysql://u:secret@localhost/d',
    'sqlite:/tmp/x.db',
    'u@127.0.0.1/d',
    'u:secret@db.example:5432/d',
    'localhost:5432/d',
  ]
  for (const text of mistaken)
    expect([text, findLibraryProblem(text)]).toEqual([text, expect.stringContaining('postgres://')])
  expect(mistaken.map(findLibraryProblem).join()).not.toContain('secret')
  const files = ['postgres://h/d', '/data/u@h/d.db', './u@h/d.db', 'u@h.db', 'C:/x.db', 'C:\\x.db', 'a/b:1/c.db']
  for (const text of files) expect([text, findLibraryProblem(text)]).toEqual([text, undefined])
})

test.each([
  ['postgres://u:secret@h:5432/d', 'postgres://u@h:5432/d'],
  ['postgresql://u:secret@/d?host=/run', 'postgresql://u@/d?host=/run'],
  ['postgres://:secret@h/d', 'postgres://@h/d'],
  ['postgres://u:se@cret@h/d', 'postgres://u@h/d'],
  // The next three addresses are invalid.
  ['postgres://u:se/cret@h/d', 'postgres://u@h/d'],
  ['postgres://u:se?cret@h/d', 'postgres://u@h/d'],
  ['postgres://u:secret@h:99999/d', 'postgres://u@h:99999/d'],
  ['postgres://u@h/d?password=secret&sslmode=require', 'postgres://u@h/d?password=…&sslmode=require'],
  ['postgres://h:5432/d?application_name=a@b', 'postgres://h:5432/d?application_name=a@b'],
  ['/data/a?password=b.db', '/data/a?password=b.db'],
])('shows %s without its password', (address, shown) => {
  expect(hidePassword(address)).toBe(shown)
})

test('names a database the same for all users, and differently from other databases', () => {
  const name = nameDatabase('postgres://u:p@h/d')
  expect(nameDatabase('postgresql://other@h:5432/d?sslmode=require')).toBe(name)
  for (const other of ['postgres://h/e', 'postgres://i/d', 'postgres://h:5433/d', 'postgres://h/d?schema=s']) {
    expect(nameDatabase(other)).not.toBe(name)
  }
  expect(nameDatabase('postgres://u@/d?host=/run')).toBe(nameDatabase('postgres:///d?host=/run'))
})
