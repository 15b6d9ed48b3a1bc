import { expect, test } from 'vitest'
import { weighHits } from './weigh-hits.ts'

test('a list of links gives way to a text with the same words', () => {
  const [list, text] = weighHits([
    { score: 10, page: 'index', linkShare: 1 },
    { score: 9, page: 'a', linkShare: 0 },
  ])
  expect(list).toEqual({ score: 10 * (1 - 0.7), support: 0 })
  expect(text).toEqual({ score: 9, support: 0 })
})

test('the next three hits of a page support its best one, wherever they stand', () => {
  const weighed = weighHits([
    { score: 5, page: 'a', linkShare: 0 },
    { score: 10, page: 'b', linkShare: 0 },
    { score: 9, page: 'a', linkShare: 0 },
    { score: 3, page: 'a', linkShare: 0 },
    { score: 2, page: 'a', linkShare: 0 },
    { score: 1, page: 'a', linkShare: 0 },
  ])
  expect(weighed.map(({ support }) => support)).toEqual([0, 0, 1, 0, 0, 0])
  expect(weighed.map(({ score }) => score)).toEqual([5, 10, 10, 3, 2, 1])
})

test('nothing gives nothing', () => {
  expect(weighHits([])).toEqual([])
})
