import { describe, expect, test } from 'vitest'
import { readSentiment } from './sentiment.ts'

const scoreOf = (text: string) => readSentiment(text).score

describe('sentiment', () => {
  test.each([
    ['The food was good.', 'positive'],
    ['The food was not good.', 'negative'],
    ['The food was not a very good idea.', 'negative'],
    ['The food wasn’t good.', 'negative'],
    ['Nobody was happy.', 'negative'],
    ['The weather was terrible.', 'negative'],
    ['It was not bad.', 'positive'],
    ['The table has four legs.', 'neutral'],
    ['', 'neutral'],
  ] as const)('the sentiment of "%s" is %s', (text, label) => {
    expect(readSentiment(text).label).toBe(label)
  })

  test('a negation only affects its own clause', () => {
    expect(scoreOf('No, it was good.')).toBe(scoreOf('Then, it was good.'))
    expect(scoreOf('He did not come. It was good.')).toBeGreaterThan(0)
  })

  test('`very` strengthens and `slightly` weakens the sentiment', () => {
    expect(scoreOf('very good')).toBeGreaterThan(scoreOf('good'))
    expect(scoreOf('slightly good')).toBeLessThan(scoreOf('good'))
    expect(scoreOf('slightly good')).toBeGreaterThan(0)
  })

  test('the part after a `but` outweighs the part before', () => {
    expect(readSentiment('The food was good, but the service was terrible.').label).toBe('negative')
    expect(readSentiment('The service was terrible, but the food was good.').label).toBe('positive')
  })

  test('a negated word counts on the opposite side', () => {
    expect(readSentiment('Good and happy, not nice. Terrible!')).toMatchObject({ positive: 2, negative: 2 })
  })

  test('the score stays within its bounds', () => {
    expect(scoreOf('outstanding '.repeat(5000))).toBeLessThanOrEqual(1)
    expect(scoreOf('catastrophic '.repeat(5000))).toBeGreaterThanOrEqual(-1)
  })

  test('property names of Object are not in the word list', () => {
    expect(readSentiment('constructor prototype toString').positive).toBe(0)
  })
})
