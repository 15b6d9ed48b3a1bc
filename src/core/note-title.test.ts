import { expect, test } from 'vitest'
import { findNoteUrl } from './note-title.ts'

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
