import { describe, expect, test } from 'vitest'
import { sanitizeText } from './sanitize-text.ts'

describe('sanitizeText', () => {
  test.each([
    ['plain text, Ünïcode, العربية and 🎏', 'plain text, Ünïcode, العربية and 🎏'],
    ['lines\n\tstay', 'lines\n\tstay'],
    ['https://docs.example/\u202egpj.exe', 'https://docs.example/\ufffdgpj.exe'],
    ['\0\x07\x1b[31m\x7f\x9b', '\ufffd\ufffd\ufffd[31m\ufffd\ufffd'],
    ['\u061c\u200e\u200f\u2028\u2029\u202a\u2066\u2069', '\ufffd'.repeat(8)],
    // Emoji of families and words in many scripts are written with joiners.
    ['👩\u200d👧', '👩\u200d👧'],
  ])('writes %j as %j', (text, sanitized) => {
    expect(sanitizeText(text)).toBe(sanitized)
  })
})
