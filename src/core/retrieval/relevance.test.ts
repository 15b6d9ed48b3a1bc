import { describe, expect, test } from 'vitest'
import { type JudgedHit, judgeRelevance } from './relevance.ts'

const ORDINARY = new Set(['night', 'pupils', 'picture', 'guess', 'delete', 'retry', 'pretty', 'stop', 'use'])

function hit(missing: Readonly<Record<string, number>> | null, similarity: number | null = 0.5, text = ''): JudgedHit {
  const words = missing && Object.entries(missing).map(([word, share]) => ({ word, share }))
  return { text, missing: words, similarity }
}

describe('judgeRelevance', () => {
  test('an answer with all words of the question is strong', () => {
    expect(judgeRelevance([hit({})], ORDINARY, '')).toEqual({ relevance: 'strong', uncovered: [] })
  })

  test('an answer is weak when no best hit contains a proper name from the question, and the name is reported', () => {
    const hits = [hit({ pgbouncer: 0.3, pupils: 0.1 }), hit({ pgbouncer: 0.3 })]
    expect(judgeRelevance(hits, ORDINARY, '')).toEqual({ relevance: 'weak', uncovered: ['pgbouncer'] })
  })

  test('an answer is strong when the page of one of the best hits contains the proper name', () => {
    const elsewhereOnPage = { ...hit({ pgbouncer: 0.3 }), missingOnPage: [] }
    const { missing } = hit({ pgbouncer: 0.3 })
    const notOnPage = { ...hit({ pgbouncer: 0.3 }), missingOnPage: missing ?? [] }
    expect(judgeRelevance([notOnPage, elsewhereOnPage], ORDINARY, '').relevance).toBe('strong')
    expect(judgeRelevance([notOnPage, notOnPage], ORDINARY, '').relevance).toBe('weak')
  })

  test('an answer is strong when one of the best hits contains the proper name', () => {
    expect(judgeRelevance([hit({ pgbouncer: 0.3 }), hit({})], ORDINARY, '').relevance).toBe('strong')
  })

  test('checks only the five best hits', () => {
    const hits = [...Array.from({ length: 5 }, () => hit({ pgbouncer: 0.3 })), hit({})]
    expect(judgeRelevance(hits, ORDINARY, '').relevance).toBe('weak')
  })

  test('allows a question to use other ordinary words than the page', () => {
    const answer = judgeRelevance([hit({ night: 0.2, picture: 0.2 })], ORDINARY, '')
    expect(answer).toEqual({ relevance: 'strong', uncovered: ['night', 'picture'] })
  })

  test.each(['9120344', 'marks.py', 'shop-123'])('does not treat %j as a name', (word) => {
    expect(judgeRelevance([hit({ [word]: 0.3 })], ORDINARY, '').relevance).toBe('strong')
  })

  test.each(['nights', 'unguessable', 'deleting', 'retries', 'prettier', 'stopping', 'reused'])(
    'treats %j as an ordinary word because of its base form',
    (word) => expect(judgeRelevance([hit({ [word]: 0.3 })], ORDINARY, '').relevance).toBe('strong'),
  )

  test.each(['zstd', 'lfs', 'barman', 'uses3'])('treats %j as a name', (word) => {
    expect(judgeRelevance([hit({ [word]: 0.3 })], ORDINARY, '').relevance).toBe('weak')
  })

  test('an answer that lacks most of the question is weak, even if only ordinary words are missing', () => {
    expect(judgeRelevance([hit({ night: 0.4, picture: 0.4 }, 0.39)], ORDINARY, '').relevance).toBe('weak')
    expect(judgeRelevance([hit({ night: 0.4, picture: 0.4 }, null)], ORDINARY, '').relevance).toBe('weak')
  })

  test('an answer near in meaning is strong although it lacks most ordinary words of the question', () => {
    expect(judgeRelevance([hit({ night: 0.4, picture: 0.4 }, 0.4)], ORDINARY, '').relevance).toBe('strong')
  })

  test('a text with all words of the question is strong even at a low similarity', () => {
    expect(judgeRelevance([hit({}, 0.2)], ORDINARY, '').relevance).toBe('strong')
  })

  test('treats no word as a name if the ordinary words are unknown', () => {
    expect(judgeRelevance([hit({ pgbouncer: 0.3 })], new Set(), '').relevance).toBe('strong')
  })

  test('returns `none` when words are missing and even the highest similarity is low', () => {
    expect(judgeRelevance([hit({ night: 0.2 }, 0.2), hit({ night: 0.2 }, 0.29)], ORDINARY, '').relevance).toBe('none')
  })

  test('judges by words alone if there are no vectors', () => {
    expect(judgeRelevance([hit({}, null)], ORDINARY, '').relevance).toBe('strong')
  })

  test('looks for a missing word in the text of a hit that was found by its meaning alone', () => {
    const hits = [hit({ pgbouncer: 0.3 }), hit(null, 0.6, 'PgBouncer pools connections.')]
    expect(judgeRelevance(hits, ORDINARY, '').relevance).toBe('strong')
  })

  test('returns `none` without hits, and judges by the highest similarity if no hit was found by its words', () => {
    expect(judgeRelevance([], ORDINARY, '')).toEqual({ relevance: 'none', uncovered: [] })
    expect(judgeRelevance([hit(null, 0.5)], ORDINARY, '').relevance).toBe('strong')
    expect(judgeRelevance([hit(null, 0.4)], ORDINARY, '').relevance).toBe('weak')
  })
})
