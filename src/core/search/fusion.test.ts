import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFusion, type FusionCandidate, fuseScores, isIdentifierLike, meaningShareFor } from './fusion.ts'

const of = (wordScore: number, similarity: number | null): FusionCandidate => ({ wordScore, similarity })
const scoresOf = (...args: Parameters<typeof fuseScores>): number[] => fuseScores(...args).map(({ score }) => score)

describe('the weighted sum', () => {
  test('adds the share of the best word score and the place of the cosine between the least and the greatest', () => {
    const candidates = [of(10, 0.2), of(5, 0.6), of(2, 0.4)]
    const [first, second, third] = fuseScores('how to open a file', candidates)
    expect([first?.score, second?.score, third?.score]).toEqual([
      expect.closeTo(0.7, 10),
      expect.closeTo(0.7 * 0.5 + 0.3, 10),
      expect.closeTo(0.7 * 0.2 + 0.3 * 0.5, 10),
    ])
    expect(second?.fusion).toBe('0.70 × words 0.50 + 0.30 × meaning 1.00')
  })

  test('is told by its weight, and follows it', () => {
    const candidates = [of(10, 0), of(9, 1)]
    expect(scoresOf('a question', candidates, { meaningShare: 0 })).toEqual([1, 0.9])
    expect(scoresOf('a question', candidates, { meaningShare: 1 })).toEqual([0, 1])
  })

  test('ranks what was found by its meaning alone by that', () => {
    const [word, near, far] = scoresOf('a question', [of(3, 0.1), of(0, 0.9), of(0, 0.5)])
    expect(near).toBeGreaterThan(far ?? 0)
    expect(word).toBeGreaterThan(near ?? 0)
  })

  test('takes equal cosines for equal', () => {
    expect(scoresOf('a question', [of(4, 0.5), of(2, 0.5)])).toEqual([1, expect.closeTo(0.65, 10)])
  })
})

describe('a candidate without a vector', () => {
  test('is taken to mean what its words promise', () => {
    // Among those with a vector, the better the words the nearer the meaning: on a line.
    const candidates = [of(10, 0.9), of(6, null), of(2, 0.1), of(6, 0.5)]
    const [, unknown, , known] = fuseScores('a question', candidates)
    expect(unknown?.score).toBeCloseTo(known?.score ?? 0, 10)
    expect(unknown?.fusion).toContain('it has no vector')
    expect(known?.fusion).not.toContain('it has no vector')
  })

  test('is ranked neither up nor down for it, on the whole', () => {
    // Meanings that have nothing to do with words: whether a vector is there must not show in the mean score.
    const random = (seed: number) => ((Math.imul(seed, 2654435761) >>> 0) % 1000) / 1000
    const all = Array.from({ length: 200 }, (_, i) => of(200 - i, random(i + 1)))
    const half = all.map((one, i) => (i % 2 === 0 ? one : of(one.wordScore, null)))
    const fused = scoresOf('a question', half)
    const meanOf = (rest: number) => fused.filter((_, i) => i % 2 === rest).reduce((sum, one) => sum + one, 0) / 100
    expect(Math.abs(meanOf(0) - meanOf(1))).toBeLessThan(0.02)
  })

  test('changes nothing where nobody has one', () => {
    expect(fuseScores('a question', [of(7, null), of(3, null)])).toEqual([
      { score: 7, fusion: 'words alone' },
      { score: 3, fusion: 'words alone' },
    ])
  })
})

describe('reciprocal ranks', () => {
  test('add up, whatever the scores are', () => {
    const scores = scoresOf('a question', [of(100, 0.1), of(2, 0.9), of(1, 0.5)], { method: 'rrf' })
    expect(scores).toEqual([1 / 61 + 1 / 63, 1 / 62 + 1 / 61, 1 / 63 + 1 / 62])
  })

  test('count the rank by words twice where there is no vector, and none where there are no words', () => {
    const scores = scoresOf('a question', [of(9, 0.1), of(5, null), of(0, 0.8)], { method: 'rrf' })
    expect(scores).toEqual([1 / 61 + 1 / 62, 2 / 62, 1 / 61])
  })

  test('are the same for equal scores', () => {
    const [a, b] = scoresOf('a question', [of(5, 0.5), of(5, 0.5)], { method: 'rrf' })
    expect(a).toBe(b)
  })
})

describe('candidates that come after others', () => {
  const first = [of(10, 0.2), of(8, 0.6), of(4, 0.4)]

  test('are measured by the first ones', () => {
    const fuse = createFusion('a question', first)
    const [lower, nearest, unknown, same] = fuse([of(2, 0.2), of(3, 0.9), of(1, null), of(4, 0.4)], 3)
    expect(lower?.score).toBeCloseTo(0.7 * 0.2, 10)
    expect(nearest?.score).toBeCloseTo(0.7 * 0.3 + 0.3, 10)
    expect(unknown?.score).toBeLessThan(0.7 * 0.1 + 0.3)
    expect(same?.score).toBe(fuse(first, 0)[2]?.score)
    // Without any vector among them, too.
    expect(fuse([of(1, null)], 6)[0]?.score).toBe(unknown?.score)
  })

  test('have the ranks after theirs', () => {
    const fuse = createFusion('a question', first, { method: 'rrf' })
    expect(fuse([of(3, 0.9)], 3)).toEqual([{ score: 2 / 64, fusion: 'rank 4 by words, 4 by meaning' }])
  })

  test('go by words alone where those did', () => {
    const fuse = createFusion('a question', [of(7, null)])
    expect(fuse([of(3, 0.5)], 1)).toEqual([{ score: 3, fusion: 'words alone' }])
  })
})

test('words alone are what they are, whatever is known of meanings', () => {
  expect(scoresOf('a question', [of(7, 0.1), of(3, 0.9)], { method: 'words' })).toEqual([7, 3])
})

test('scores are finite and within bounds, whatever comes in', () => {
  const candidate = fc.record({
    wordScore: fc.double({ min: 0, max: 1e6, noNaN: true }),
    similarity: fc.option(fc.double({ min: -1, max: 1, noNaN: true })),
  })
  fc.assert(
    fc.property(fc.array(candidate, { minLength: 1, maxLength: 30 }), (candidates) => {
      fc.pre(candidates.some(({ similarity }) => similarity !== null))
      for (const score of scoresOf('a question', candidates)) expect(score >= 0 && score <= 1 + 1e-9).toBe(true)
    }),
  )
})

describe('a query that names something', () => {
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
  ]

  test.each(NAMES)('%s', (name) => {
    expect(isIdentifierLike(name)).toBe(true)
    expect(meaningShareFor(name)).toBeLessThan(0.3)
  })

  test.each(QUESTIONS)('is told from: %s', (question) => {
    expect(isIdentifierLike(question)).toBe(false)
    expect(meaningShareFor(question)).toBe(0.3)
  })
})
