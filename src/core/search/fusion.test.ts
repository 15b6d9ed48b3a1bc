import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFusion, type FusedScore, type FusionCandidate, isIdentifierLike, meaningShareFor } from './fusion.ts'

const of = (wordScore: number, similarity: number | null): FusionCandidate => ({ wordScore, similarity })
const fuseScores = (...[query, candidates, options = {}]: Parameters<typeof createFusion>): FusedScore[] =>
  createFusion(query, candidates, options)(candidates)
const scoresOf = (...args: Parameters<typeof fuseScores>): number[] => fuseScores(...args).map(({ score }) => score)

describe('the weighted sum', () => {
  test('adds 0.6 of the word score and 0.4 of the cosine for a question', () => {
    const [first, second, third] = fuseScores('how to open a file', [of(0.9, 0.2), of(0.4, 0.6), of(0.1, 0.5)])
    expect([first?.score, second?.score, third?.score]).toEqual([
      expect.closeTo(0.62, 10),
      expect.closeTo(0.48, 10),
      expect.closeTo(0.26, 10),
    ])
    expect(second?.fusion).toBe('0.60 × words 0.40 + 0.40 × meaning 0.60')
  })

  test('adds only 0.1 of the cosine for a query that is a name', () => {
    const [fused] = fuseScores('os.path.join', [of(0.4, 0.6)])
    expect(fused?.score).toBeCloseTo(0.42, 10)
    expect(fused?.fusion).toBe('0.90 × words 0.40 + 0.10 × meaning 0.60')
  })

  test('uses the share of the meaning that the caller sets', () => {
    const candidates = [of(0.8, 0.1), of(0.7, 0.9)]
    expect(scoresOf('a question', candidates, { meaningShare: 0 })).toEqual([0.8, 0.7])
    expect(scoresOf('a question', candidates, { meaningShare: 1 })).toEqual([0.1, 0.9])
  })

  test('gives a candidate the same score regardless of other candidates', () => {
    const [alone] = scoresOf('a question', [of(0.2, 0.4)])
    const [, among] = scoresOf('a question', [of(1, 0.9), of(0.2, 0.4), of(0.1, 0.1)])
    expect(among).toBe(alone)
  })

  test('ranks a near meaning without words above weak words and below strong ones', () => {
    const [strong, near, weak, far] = scoresOf('a question', [of(0.7, 0.1), of(0, 0.9), of(0.2, 0.1), of(0, 0.3)])
    expect([strong, near, weak, far]).toEqual([
      expect.closeTo(0.46, 10),
      expect.closeTo(0.36, 10),
      expect.closeTo(0.16, 10),
      expect.closeTo(0.12, 10),
    ])
  })

  test('counts a negative cosine as 0', () => {
    const [opposite, unrelated] = scoresOf('a question', [of(0.5, -0.8), of(0.5, 0)])
    expect(opposite).toBe(unrelated)
  })
})

describe('a candidate without a vector', () => {
  test('gets the cosine that candidates with similar word scores have', () => {
    // The cosines of the candidates with a vector are on a line: the better the words, the nearer the meaning.
    const candidates = [of(0.9, 0.9), of(0.5, null), of(0.1, 0.1), of(0.5, 0.5)]
    const [, unknown, , known] = fuseScores('a question', candidates)
    expect(unknown?.score).toBeCloseTo(known?.score ?? 0, 10)
    expect(unknown?.fusion).toContain('it has no vector')
    expect(known?.fusion).not.toContain('it has no vector')
  })

  test('never gets a cosine below 0 or above 1', () => {
    // A steep line: −0.7 where there are no words, 2.9 where they match best.
    const steep = [of(0.2, 0.1), of(0.4, 0.9)]
    const [, , low, high] = scoresOf('a question', [...steep, of(0, null), of(0.9, null)])
    expect([low, high]).toEqual([0, expect.closeTo(0.6 * 0.9 + 0.4, 10)])
  })

  test('ranks neither up nor down on average', () => {
    // Cosines are independent of words here, so a missing vector must not change the mean score.
    const random = (seed: number) => ((Math.imul(seed, 2654435761) >>> 0) % 1000) / 1000
    const all = Array.from({ length: 200 }, (_, i) => of((200 - i) / 200, random(i + 1)))
    const half = all.map((one, i) => (i % 2 === 0 ? one : of(one.wordScore, null)))
    const fused = scoresOf('a question', half)
    const meanOf = (rest: number) => fused.filter((_, i) => i % 2 === rest).reduce((sum, one) => sum + one, 0) / 100
    expect(Math.abs(meanOf(0) - meanOf(1))).toBeLessThan(0.01)
  })

  test('keeps its word score when no candidate has a vector', () => {
    expect(fuseScores('a question', [of(0.7, null), of(0.3, null)])).toEqual([
      { score: 0.7, fusion: 'words alone' },
      { score: 0.3, fusion: 'words alone' },
    ])
  })
})

describe('candidates that come after the first ones', () => {
  const first = [of(0.9, 0.2), of(0.7, 0.6), of(0.4, 0.4)]

  test('get the same scores as among the first ones', () => {
    const later = [of(0.2, 0.2), of(0.3, 0.9), of(0.1, null), of(0.4, 0.4)]
    const fused = createFusion('a question', first)(later)
    expect(fused.slice(0, 2).map(({ score }) => score)).toEqual([expect.closeTo(0.2, 10), expect.closeTo(0.54, 10)])
    expect(fused[2]).toEqual(fuseScores('a question', [...first, of(0.1, null)])[3])
    expect(fused[3]).toEqual(fuseScores('a question', first)[2])
  })

  test('do not change the expected cosine of candidates without a vector', () => {
    const fuse = createFusion('a question', first)
    const [alone] = fuse([of(0.1, null)])
    const [among] = fuse([of(0.1, null), of(0.1, 1), of(0.2, 1)])
    expect(alone?.fusion).toContain('it has no vector')
    expect(among).toEqual(alone)
  })

  test('keep their word scores when none of the first ones has a vector', () => {
    const fuse = createFusion('a question', [of(0.7, null)])
    expect(fuse([of(0.3, 0.5)])).toEqual([{ score: 0.3, fusion: 'words alone' }])
  })
})

test('the method "words" keeps word scores for any cosines', () => {
  expect(scoresOf('a question', [of(0.7, 0.1), of(0.3, 0.9)], { method: 'words' })).toEqual([0.7, 0.3])
})

test('the cosine adds between 0 and its share to the weighted word score of any candidate', () => {
  const candidate = fc.record({
    // A quoted phrase can score more than 1.
    wordScore: fc.double({ min: 0, max: 3, noNaN: true }),
    similarity: fc.option(fc.double({ min: -1, max: 1, noNaN: true })),
  })
  fc.assert(
    fc.property(fc.array(candidate, { minLength: 1, maxLength: 30 }), (candidates) => {
      fc.pre(candidates.some(({ similarity }) => similarity !== null))
      scoresOf('a question', candidates).forEach((score, i) => {
        const added = score - 0.6 * (candidates[i]?.wordScore ?? 0)
        expect(added >= -1e-9 && added <= 0.4 + 1e-9).toBe(true)
      })
    }),
  )
})

describe('the share of the meaning', () => {
  const NAMES = [
    'os.path.join',
    'max_pages',
    '__getattr__',
    'PyArg_ParseTuple',
    'print()',
    'open(file)',
    '--max-pages',
    '-v option',
    'std::vector',
    'useState',
    'HTTPServer',
    'a->b',
    '@app.route',
    '$HOME',
    'src/main.c',
    '(?<= in regular expressions',
    '? (question mark)',
    '`yield`',
    'x == y',
    'RFC 2060',
    'PEP 8 and PEP 257',
    'option -I',
    'TLS',
    'B2',
  ]
  const QUESTIONS = [
    'how do I open a file',
    'What is a decorator?',
    'difference between list and tuple',
    'Python installation on Windows',
    'heat transfer in a slip flow .',
    'état de surface, s’il vous plaît',
    'the U.S. economy',
    'what TLS is',
    'top 5 mistakes',
    '東京の天気',
    'well-known text format',
    'why does os.path.join() drop what stands before a leading slash',
  ]

  test.each(NAMES)('is 0.1 for a query that is a name: %s', (name) => {
    expect(isIdentifierLike(name)).toBe(true)
    expect(meaningShareFor(name)).toBe(0.1)
  })

  test.each(QUESTIONS)('is 0.4 for a question or a topic: %s', (question) => {
    expect(isIdentifierLike(question)).toBe(false)
    expect(meaningShareFor(question)).toBe(0.4)
  })
})
