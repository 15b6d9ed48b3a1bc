import { expect, test } from 'vitest'
import { computePageBonuses, penalizeLinks } from './weigh-hits.ts'

const QUESTION = 'how do I wait for a field'

test('a list of links loses most of its score, a text loses nothing', () => {
  expect(penalizeLinks(10, 1)).toBeCloseTo(3, 10)
  expect(penalizeLinks(10, 0)).toBe(10)
})

test('the best hit of a page gains a share of the score of the page, at any rank', () => {
  const bonuses = computePageBonuses(QUESTION, [
    { score: 5, wordScore: 0, page: 'a', pageScore: 0.5 },
    { score: 10, wordScore: 0, page: 'b', pageScore: 0 },
    { score: 9, wordScore: 0, page: 'a', pageScore: 0.5 },
    { score: 9, wordScore: 0, page: 'a', pageScore: 0.5 },
  ])
  expect(bonuses).toEqual([0, 0, 0.2, 0])
})

test('a page gains less where the query is a name', () => {
  const hits = [{ score: 5, wordScore: 5, page: 'a', pageScore: 0.5 }]
  expect(computePageBonuses('csv.DictReader', hits)).toEqual([0.1])
})

test('the words of the next three hits of a page support its best one, and their meaning does not', () => {
  const bonuses = computePageBonuses(QUESTION, [
    { score: 9, wordScore: 0, page: 'a', pageScore: 0 },
    { score: 5, wordScore: 0, page: 'a', pageScore: 0 },
    { score: 4, wordScore: 4, page: 'a', pageScore: 0 },
    { score: 3, wordScore: 3, page: 'a', pageScore: 0 },
    { score: 2, wordScore: 3, page: 'a', pageScore: 0 },
    { score: 1, wordScore: 1, page: 'a', pageScore: 0 },
  ])
  expect(bonuses[0]).toBeCloseTo(0.6, 10)
  expect(bonuses.slice(1)).toEqual([0, 0, 0, 0, 0])
})

test('a hit without words gains the score that other hits know of its page', () => {
  const bonuses = computePageBonuses(QUESTION, [
    { score: 5, wordScore: 0, page: 'a', pageScore: 0 },
    { score: 3, wordScore: 0, page: 'a', pageScore: 0.5 },
  ])
  expect(bonuses).toEqual([0.2, 0])
})

test('no hits give no bonuses', () => {
  expect(computePageBonuses(QUESTION, [])).toEqual([])
})
