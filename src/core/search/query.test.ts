import { describe, expect, test } from 'vitest'
import { textAnalyzer } from '../text/analyzer.ts'
import { parseQuery } from './query.ts'

/** The words of a query in their order; inside a phrase each with its distance from the previous word. */
function gapsOf(query: string): (string | [string, number])[] {
  return parseQuery(query, textAnalyzer).map(({ word, phraseGap }) =>
    phraseGap === undefined ? word : [word, phraseGap],
  )
}

describe('a quoted phrase', () => {
  test('links its words and counts stop words between them', () => {
    expect(gapsOf('open "file or directory" error')).toEqual(['open', 'file', ['directory', 2], 'error'])
  })

  test('keeps a word that occurs earlier in the question', () => {
    expect(gapsOf('directory missing "file directory"')).toEqual(['missing', 'file', ['directory', 1]])
    expect(gapsOf('file missing "file directory"')).toEqual(['missing', 'file', ['directory', 1]])
    expect(gapsOf('directories missing "file directory open"')).toEqual([
      'missing',
      'file',
      ['directories', 1],
      ['open', 1],
    ])
  })

  test('leaves a word to the earlier phrase that has it', () => {
    expect(gapsOf('"file directory" "open file now"')).toEqual(['file', ['directory', 1], 'open', 'now'])
    expect(gapsOf('"file directory" "directory open"')).toEqual(['file', ['directory', 1], ['open', 1]])
  })

  test('counts a repeated word once', () => {
    expect(gapsOf('"file by file copy"')).toEqual(['file', ['copy', 1]])
  })
})
