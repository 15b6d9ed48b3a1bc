import { expect, test } from 'vitest'
import { withScheme } from './with-scheme.ts'

test.each([
  ['docs.python.org', 'https://docs.python.org'],
  ['docs.python.org:8080/3/?a=b#c', 'https://docs.python.org:8080/3/?a=b#c'],
  ['bücher.example/x', 'https://bücher.example/x'],
  ['docs.rs', 'https://docs.rs'],
  ['docs.example/notes.md', 'https://docs.example/notes.md'],
  ['www.example.md', 'https://www.example.md'],
  ['localhost:8080/docs/', 'http://localhost:8080/docs/'],
  ['app.localhost', 'http://app.localhost'],
  ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
  ['[::1]:3000/a', 'http://[::1]:3000/a'],
  ['10.0.0.7/a', 'https://10.0.0.7/a'],
])('completes %s', (text, expected) => {
  expect(withScheme(text)).toBe(expected)
})

test.each([
  'https://docs.python.org/',
  'npm:react@18',
  'maven:com.example:lamp',
  'git@github.com:owner/name.git',
  'ftp.example:x',
  'mailto:me@example.org',
  'guide',
  'guide/start',
  'notes.md',
  'Manual.PDF',
  '1.2.3',
  '../docs.example',
  '',
])('leaves %j unchanged', (text) => {
  expect(withScheme(text)).toBe(text)
})
