import { expect, test } from 'vitest'
import { writePostgresJson } from './postgres-json.ts'

test.each([
  [
    { a: 'NUL \0', b: ['\ud83d', '\ude00'] },
    { a: 'NUL \uFFFD', b: ['\uFFFD', '\uFFFD'] },
  ],
  [
    { a: '😀', b: '\u0007\n"\\' },
    { a: '😀', b: '\u0007\n"\\' },
  ],
  [{ 'a\0': '\\u0000 \\\\ud800 \\\0' }, { 'a\uFFFD': '\\u0000 \\\\ud800 \\\uFFFD' }],
])('%j is stored in a form that PostgreSQL can read', (value, expected) => {
  expect(JSON.parse(writePostgresJson(value))).toEqual(expected)
})
