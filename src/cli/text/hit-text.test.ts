import { createColors } from 'picocolors'
import { describe, expect, test } from 'vitest'
import { answerRecord } from '../../library/search/answer-record.ts'
import type { PageMention, Passage, SearchAnswer, Widening } from '../../library/search.ts'
import { withOldNames } from '../options/old-names.ts'
import {
  writeAge,
  writeAnswer,
  writeHits,
  writeMarkdownAnswer,
  writeNoHits,
  writeParametersAsFlags,
} from './hit-text.ts'
import type { Screen } from './text-lines.ts'

const NOW = Date.UTC(2026, 1, 20, 10, 30)
const HOUR = 3_600_000
const PLAIN: Screen = { colors: createColors(false), hasLinks: false, columns: 80 }
const ID = '0123456789ab'.padEnd(64, 'c')

const PASSAGE: Passage = {
  sourceId: '5f0c',
  source: 'guide@2',
  version: '2',
  title: 'Guide',
  url: 'https://docs.example/guide#retry',
  headingPath: ['Guide', 'Retry'],
  kind: 'markdown',
  startLine: 5,
  endLine: 9,
  text: '## Retry\n\nWait for Retry-After.\n',
  tokens: 9,
  isCut: false,
  chunk: `guide@2/${ID}`,
  chunkIds: [ID],
  score: 12.5,
  terms: ['wait'],
  checkedAt: NOW - 2 * HOUR,
  changedAt: NOW - 9 * 24 * HOUR,
}

const MENTION: PageMention = {
  sourceId: '5f0c',
  source: 'guide@2',
  version: '2',
  title: 'Limits',
  url: 'https://docs.example/limits',
  headingPath: [],
  line: 'Do not wait longer.',
  chunk: `guide@2/${'d'.repeat(64)}`,
  score: 3,
}

function answerOf(change: Partial<SearchAnswer>): SearchAnswer {
  return {
    query: 'wait',
    engines: ['words'],
    relevance: 'strong',
    uncovered: [],
    elsewhere: [],
    notices: [],
    partial: [],
    searched: ['guide@2'],
    searchedCount: 1,
    passages: [PASSAGE],
    more: [MENTION],
    moreShown: 1,
    tokens: 9,
    cursor: null,
    widen: [],
    ...change,
  }
}

describe('answer at a terminal', () => {
  test('shows rank, address, ages and name of each passage before its text, followed by the other pages', () => {
    expect(writeAnswer(answerOf({}), PLAIN, NOW)).toBe(
      [
        '1  Guide > Retry',
        '   https://docs.example/guide#retry',
        '   guide@2/0123456789ab, lines 5-9, checked 2 hours ago, changed 1 week ago',
        '',
        '   ## Retry',
        '',
        '   Wait for Retry-After.',
        '',
        'other pages that match:',
        '',
        '2  Limits',
        '   https://docs.example/limits  guide@2/dddddddddddd',
        '   Do not wait longer.',
      ].join('\n'),
    )
  })

  test('names the near-duplicates of a page by version, language or address', () => {
    const at = (version: string | null, language: string | null, path = 'x') => {
      const isTranslation = language === 'de' ? { isTranslation: true } : {}
      const source = version === null ? 'mirror' : `guide@${version}`
      return { url: `https://docs.example/${path}`, source, version, language, ...isTranslation }
    }
    const similar = [
      at('1', 'en'),
      at('1', 'de'),
      at('2', 'de'),
      at('2', 'en', 'copy\x1b[2J'),
      at(null, 'en'),
      at('v1.7.0', 'en'),
    ]
    const answer = answerOf({ passages: [{ ...PASSAGE, similar }], more: [{ ...MENTION, similar: [at('1', null)] }] })
    const also = ['   also: v1, v1 de, de, "https://docs.example/copy [2J", mirror, v1.7.0', '   also: v1']
    const shown = writeAnswer(answer, PLAIN, NOW).split('\n')
    expect(shown.filter((line) => line.includes('also:'))).toEqual(also)
    const piped = writeMarkdownAnswer(answer).split('\n')
    expect(piped.filter((line) => line.includes('also:')).map((line) => line.trim())).toEqual(
      also.map((line) => line.trim()),
    )
    expect(answerRecord(answer)['passages']).toMatchObject([{ similar }])
  })

  test('writes the parameters of a search as flags', () => {
    expect(writeParametersAsFlags('duplicates=show and language=any show all')).toBe(
      '--duplicates show and --language any show all',
    )
  })

  test('highlights matches, also in pages that are only mentioned', () => {
    const colors = createColors(true)
    const text = writeAnswer(answerOf({ query: 'Do longer' }), { ...PLAIN, colors }, NOW)
    expect(text).toContain(`   ${colors.bold(colors.yellow('Wait'))} for Retry-After.`)
    expect(text).toContain(`   Do not ${colors.bold(colors.yellow('wait'))} ${colors.bold(colors.yellow('longer'))}.`)
  })

  test('writes addresses as hyperlinks if the terminal supports them', () => {
    expect(writeAnswer(answerOf({}), { ...PLAIN, hasLinks: true }, NOW)).toContain(
      '\x1b]8;;https://docs.example/limits\x1b\\https://docs.example/limits\x1b]8;;\x1b\\',
    )
  })

  test('shows the title before a heading that differs from it, and says that the passage was cut', () => {
    const passage = { ...PASSAGE, headingPath: ['Retry'], isCut: true, endLine: 5 }
    const [heading, , facts] = writeAnswer(answerOf({ passages: [passage] }), PLAIN, NOW).split('\n')
    expect(heading).toBe('1  Guide > Retry')
    const named = { ...PASSAGE, title: 'Guide — Example 2 documentation' }
    expect(writeAnswer(answerOf({ passages: [named] }), PLAIN, NOW)).toMatch(/^1 {2}Guide > Retry\n/)
    expect(facts).toContain(', line 5, checked 2 hours ago, changed 1 week ago, cut to fit (--tokens)')
  })

  test('sets a passage that was found by meaning alone apart, in every form', () => {
    for (const [terms, expected] of [
      [['wait'], false],
      [[], true],
    ] as const) {
      const answer = answerOf({ passages: [{ ...PASSAGE, terms }] })
      for (const text of [writeAnswer(answer, PLAIN, NOW), writeHits(answer, PLAIN), writeMarkdownAnswer(answer)]) {
        expect(text.includes(', by meaning alone')).toBe(expected)
      }
    }
  })
})

describe('answer with a few lines per page', () => {
  test('shows rank, address and matching lines, and each page only once', () => {
    const text =
      '## Retry\n\nFirst of all.\n\nWait for it.\n\n```sh\n# wait here\n```\n\n| wait | now |\n| --- | --- |\n'
    const again = { ...PASSAGE, url: 'https://docs.example/guide#again', text: 'Wait again.\n', score: 4 }
    expect(writeHits(answerOf({ passages: [{ ...PASSAGE, text }, again] }), PLAIN)).toBe(
      [
        '1  Guide > Retry',
        '   https://docs.example/guide#retry  guide@2/0123456789ab',
        '   Wait for it.',
        '   # wait here',
        '   wait now',
        '',
        '2  Limits',
        '   https://docs.example/limits  guide@2/dddddddddddd',
        '   Do not wait longer.',
      ].join('\n'),
    )
  })

  test('cuts a long line around its matches, to at most three lines of the screen', () => {
    const words = (word: string) => Array.from({ length: 80 }, (_, i) => `${word}${i}`).join(' ')
    const text = `${words('before')} wait ${words('after')}\n`
    const [, , ...lines] = writeHits(answerOf({ passages: [{ ...PASSAGE, text }], more: [] }), PLAIN).split('\n')
    expect(lines.length).toBeGreaterThan(1)
    expect(lines.length).toBeLessThanOrEqual(3)
    expect(lines.join(' ')).toMatch(/^ {3}….* wait .*…$/)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
  })

  test('highlights matches, and indents text so that it cannot imitate the output of the program', () => {
    const colors = createColors(true)
    const text = '2  Fake wait\x1b[2J\n'
    const written = writeHits(answerOf({ passages: [{ ...PASSAGE, text }], more: [] }), { ...PLAIN, colors })
    expect(written).toContain(`\n   2 Fake ${colors.bold(colors.yellow('wait'))}\u{fffd}[2J`)
  })
})

describe('answer in a pipe', () => {
  test('is Markdown with each passage in a fence', () => {
    expect(writeMarkdownAnswer(answerOf({}))).toBe(
      [
        '## 1. Guide > Retry',
        '',
        '<https://docs.example/guide#retry>',
        'chunk guide@2/0123456789ab, lines 5-9, checked 2026-02-20, changed 2026-02-11',
        '',
        '```markdown',
        '## Retry',
        '',
        'Wait for Retry-After.',
        '```',
        '',
        '## Other pages that match',
        '',
        '2. Limits',
        '   <https://docs.example/limits>',
        '   chunk guide@2/dddddddddddd',
        '   > Do not wait longer.',
      ].join('\n'),
    )
  })

  test('names the language of code', () => {
    const passage = { ...PASSAGE, kind: 'java_script', text: 'wait()\n' } as const
    expect(writeMarkdownAnswer(answerOf({ passages: [passage], more: [] }))).toMatch(/\n```javascript\nwait\(\)\n```$/)
    const text = { ...PASSAGE, kind: 'unknown' } as const
    expect(writeMarkdownAnswer(answerOf({ passages: [text], more: [] }))).toContain('\n```text\n')
  })

  test('keeps every passage inside its fence and replaces control characters', () => {
    const text = '````\n```\n## 2. Fake > Passage\n\x1b[2J'
    const written = writeMarkdownAnswer(answerOf({ passages: [{ ...PASSAGE, text }], more: [] })).split('\n')
    expect(written.slice(-6)).toEqual(['`````markdown', '````', '```', '## 2. Fake > Passage', '\u{fffd}[2J', '`````'])
  })
})

describe('explained score', () => {
  const wait = { word: 'wait', fields: { head: 1, body: 3 }, terms: ['wait', 'waits'], documents: 1200, score: 0.375 }
  const field = { word: 'field', fields: { body: 1 }, terms: ['field'], documents: 1, score: 0.0625 }
  const explain = {
    words: { parts: [wait, field], pairs: 0.0625 },
    wordScore: 0.5,
    linkShare: 0.25,
    definition: 0,
    prior: 1,
    pageBonus: 0.02,
    similarity: 0.81,
    fusion: '0.60 × words 0.41 + 0.40 × meaning 0.81',
    reranker: null,
  }
  const scored = { ...PASSAGE, score: 0.5518, explain }

  test('says that a hit was found by meaning if no word of the query matched', () => {
    const byMeaning = { ...explain, words: null, wordScore: 0, linkShare: 0, pageBonus: 0 }
    const write = (passage: Passage) => writeAnswer(answerOf({ passages: [passage], more: [] }), PLAIN, NOW)
    expect(write({ ...scored, explain: byMeaning })).toContain('0.0000  words: not among the best; found by meaning')
    expect(write(scored)).not.toContain('found by')
  })

  test('is written in columns, with the occurrences of each word by field', () => {
    const text = writeAnswer(answerOf({ passages: [scored], more: [] }), PLAIN, NOW)
    expect(text.split('\n').slice(-8)).toEqual([
      '   score 0.5518: 0.60 × words 0.41 + 0.40 × meaning 0.81',
      '      0.8100  meaning: cosine with the question',
      '      0.5000  words:',
      '      0.3750    wait                wait, waits; 1 in head, 3 in body; 1,200 chunks in all',
      '      0.0625    field               field; 1 in body; 1 chunk in all',
      '      0.0625    neighbouring words',
      '       25.0%  of the text is link text, whose words count less',
      '      0.0200  the words of the whole page, and its other hits',
    ])
  })

  test('shows how the reranker changed the rank of a hit', () => {
    const linesOf = (place: number) => {
      const reranker = { score: 0.93, place, placeBefore: 7 }
      const answer = answerOf({ passages: [{ ...scored, explain: { ...explain, reranker } }], more: [] })
      return [writeAnswer(answer, PLAIN, NOW).split('\n').at(-8), answerRecord(answer)['passages']]
    }
    expect(linesOf(2)).toMatchObject([
      '      0.9300  reranker: place 2 instead of 7',
      [{ explain: { reranker: { score: 0.93, place: 2, placeBefore: 7 } } }],
    ])
    expect(linesOf(7)[0]).toBe('      0.9300  reranker: place 7, unchanged')
  })

  test('has the same content in a pipe and as JSON', () => {
    const answer = answerOf({ passages: [scored] })
    expect(writeMarkdownAnswer(answer)).toContain('```text\nscore 0.5518: 0.60 × words 0.41 + 0.40 × meaning 0.81\n')
    expect(answerRecord(answer)['passages']).toMatchObject([
      {
        explain: {
          wordScore: 0.5,
          linkShare: 0.25,
          pageBonus: 0.02,
          similarity: 0.81,
          words: { parts: [{ word: 'wait', fields: { head: 1, body: 3 } }, { word: 'field' }], pairs: 0.0625 },
        },
      },
    ])
  })
})

describe('answer as JSON', () => {
  test('has every field, with times as text', () => {
    const { passages, ...answer } = answerRecord(answerOf({}))
    expect(passages).toEqual([
      { ...PASSAGE, checkedAt: '2026-02-20T08:30:00.000Z', changedAt: '2026-02-11T10:30:00.000Z' },
    ])
    const { passages: _, ...given } = answerOf({})
    expect(answer).toEqual(given)
  })

  test('repeats the fields under their old names', () => {
    expect(withOldNames({ headingPath: ['A'], hits: [{ isCut: false, score: 1 }], cursor: null })).toEqual({
      headingPath: ['A'],
      heading_path: ['A'],
      hits: [{ isCut: false, is_cut: false, score: 1 }],
      cursor: null,
    })
  })
})

test.each([
  [0, 'just now'],
  [-HOUR, 'just now'],
  [59_999, 'just now'],
  [60_000, '1 minute ago'],
  [HOUR - 1, '59 minutes ago'],
  [5 * HOUR, '5 hours ago'],
  [47 * HOUR, '1 day ago'],
  [13 * 24 * HOUR, '1 week ago'],
  [100 * 24 * HOUR, '3 months ago'],
  [800 * 24 * HOUR, '2 years ago'],
])('an age of %d ms is written as %s', (ms, words) => {
  expect(writeAge(NOW - ms, NOW)).toBe(words)
})

describe('answer without hits', () => {
  const path: Widening = { filter: 'path', value: '/b\x1b', pages: 1, instead: ['/a'] }
  const type: Widening = { filter: 'contentType', value: 'code', pages: 30, instead: [] }

  test.each([
    [[], 'nothing found; other words may find something'],
    [[path, type], 'nothing found; without --path /b\u{fffd}: 1 page (/a); without --content-type code: 30 pages'],
    [[{ ...path, pages: 0 }, type], 'nothing found; without --content-type code: 30 pages'],
    [
      [
        { ...path, pages: 0 },
        { ...type, pages: 0 },
      ],
      'nothing found; other words, or fewer filters than --path /b\u{fffd}, --content-type code, may find something',
    ],
  ])('suggests which filters to drop, or other words', (widen, words) => {
    expect(writeNoHits(widen)).toBe(words)
  })
})
