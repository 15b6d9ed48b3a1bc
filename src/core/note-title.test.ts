import { expect, test } from 'vitest'
import { findNoteUrl, withoutCodes, writeNoteTitle } from './note-title.ts'

test.each([
  ['https://a.example/docs/x could not be read (timeout)', 'https://a.example/', 0, 'https://a.example/docs/x'],
  ['left out: https://a.example/b.', 'https://a.example/', 10, 'https://a.example/b'],
  ['(https://a.example/b) is closed', 'https://a.example/', 1, 'https://a.example/b'],
  ['https://a.example/', 'https://a.example/', 0, 'https://a.example/'],
  ['https://a.example/w/Foo_(bar) could not be read', 'https://a.example/', 0, 'https://a.example/w/Foo_(bar)'],
  ['nothing was found', 'https://a.example/', -1, 'https://a.example/'],
])('finds the address that a message is about: %s', (message, target, at, url) => {
  expect(findNoteUrl(message, target)).toEqual({ at, url })
})

test.each([
  ['failed (http-server-error, the server answered 500)', 'failed (server error, the server answered 500)'],
  ['failed (needs-rendering, render http, asks for JavaScript)', 'failed (needs a browser, asks for JavaScript)'],
  ['could not be read (http-server-error: answered 500)', 'could not be read (server error: answered 500)'],
  ['https://a.example/well-known (see a-b)', 'https://a.example/well-known (see a-b)'],
])('writes words instead of codes: %s', (message, words) => {
  expect(withoutCodes(message)).toBe(words)
})

test('titles of unknown kinds are their names', () => {
  expect(['depth2-coverage', 'missing-hub', 'new-kind'].map(writeNoteTitle)).toEqual([
    'Second level read',
    'Missing hub',
    'New kind',
  ])
})
