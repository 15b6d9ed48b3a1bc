import { describe, expect, test } from 'vitest'
import { findNoteUrl } from './note-title.ts'

describe('the address in a message', () => {
  test.each([
    ['https://a.example/docs/x could not be read (timeout)', 'https://a.example/', 0, 'https://a.example/docs/x'],
    ['left out: https://a.example/b.', 'https://a.example/', 10, 'https://a.example/b'],
    ['(https://a.example/b) is closed', 'https://a.example/', 1, 'https://a.example/b'],
    ['https://a.example/', 'https://a.example/', 0, 'https://a.example/'],
    ['nothing was found', 'https://a.example/', -1, 'https://a.example/'],
  ])('%s', (message, target, at, url) => {
    expect(findNoteUrl(message, target)).toEqual({ at, url })
  })
})
