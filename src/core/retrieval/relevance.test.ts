import { describe, expect, test } from 'vitest'
import { type JudgedHit, judgeRelevance } from './relevance.ts'

const ORDINARY = new Set(['night', 'pupils', 'picture', 'guess', 'delete', 'retry', 'pretty', 'stop', 'use'])

function hit(missing: Readonly<Record<string, number>> | null, similarity: number | null = 0.5, text = ''): JudgedHit {
  const words = missing && Object.entries(missing).map(([word, share]) => ({ word, share }))
  return { text, missing: words, similarity }
}

describe('judgeRelevance', () => {
  test('calls an answer strong that has all words of the question', () => {
    expect(judgeRelevance([hit({})], ORDINARY)).toEqual({ relevance: 'strong', uncovered: [] })
  })

  test('calls an answer weak when none of the best hits has a name of the question, and tells the name', () => {
    const hits = [hit({ pgbouncer: 0.3, pupils: 0.1 }), hit({ pgbouncer: 0.3 })]
    expect(judgeRelevance(hits, ORDINARY)).toEqual({ relevance: 'weak', uncovered: ['pgbouncer'] })
  })

  test('calls an answer strong when one of the best hits has the name', () => {
    expect(judgeRelevance([hit({ pgbouncer: 0.3 }), hit({})], ORDINARY).relevance).toBe('strong')
  })

  test('looks at the five best hits only', () => {
    const hits = [...Array.from({ length: 5 }, () => hit({ pgbouncer: 0.3 })), hit({})]
    expect(judgeRelevance(hits, ORDINARY).relevance).toBe('weak')
  })

  test('lets a question use other ordinary words than the page', () => {
    const answer = judgeRelevance([hit({ night: 0.2, picture: 0.2 })], ORDINARY)
    expect(answer).toEqual({ relevance: 'strong', uncovered: ['night', 'picture'] })
  })

  test.each(['9120344', 'marks.py', 'shop-123'])('does not take %j for a name', (word) => {
    expect(judgeRelevance([hit({ [word]: 0.3 })], ORDINARY).relevance).toBe('strong')
  })

  test.each(['nights', 'unguessable', 'deleting', 'retries', 'prettier', 'stopping', 'reused'])(
    'treats %j as an ordinary word because of its parts',
    (word) => expect(judgeRelevance([hit({ [word]: 0.3 })], ORDINARY).relevance).toBe('strong'),
  )

  test.each(['zstd', 'lfs', 'barman', 'uses3'])('takes %j for a name', (word) => {
    expect(judgeRelevance([hit({ [word]: 0.3 })], ORDINARY).relevance).toBe('weak')
  })

  test('calls an answer weak that lacks most of the question, whatever the words are', () => {
    expect(judgeRelevance([hit({ night: 0.4, picture: 0.4 })], ORDINARY).relevance).toBe('weak')
  })

  test('does not doubt a text that has all words for being far in meaning', () => {
    expect(judgeRelevance([hit({}, 0.2)], ORDINARY).relevance).toBe('strong')
  })

  test('takes no word for a name where the ordinary ones are not known', () => {
    expect(judgeRelevance([hit({ pgbouncer: 0.3 })], new Set()).relevance).toBe('strong')
  })

  test('says none when the nearest meaning is far away', () => {
    expect(judgeRelevance([hit({ night: 0.2 }, 0.2), hit({ night: 0.2 }, 0.29)], ORDINARY).relevance).toBe('none')
  })

  test('judges words alone where there are no meanings', () => {
    expect(judgeRelevance([hit({}, null)], ORDINARY).relevance).toBe('strong')
  })

  test('reads the text of a hit that was found by its meaning alone', () => {
    const hits = [hit({ pgbouncer: 0.3 }), hit(null, 0.6, 'PgBouncer pools connections.')]
    expect(judgeRelevance(hits, ORDINARY).relevance).toBe('strong')
  })

  test('says none without hits, and goes by the nearest meaning where no word was found', () => {
    expect(judgeRelevance([], ORDINARY)).toEqual({ relevance: 'none', uncovered: [] })
    expect(judgeRelevance([hit(null, 0.5)], ORDINARY).relevance).toBe('strong')
    expect(judgeRelevance([hit(null, 0.4)], ORDINARY).relevance).toBe('weak')
  })
})
