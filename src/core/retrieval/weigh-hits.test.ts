import { expect, test } from 'vitest'
import { weighHits } from './weigh-hits.ts'

const plain = 'Plain text without links.'

test('a list of links gives way to a text with the same words', () => {
  const [list, text] = weighHits([
    { score: 10, page: 'index', content: '- [connect](/a)\n- [close](/b)' },
    { score: 9, page: 'a', content: plain },
  ])
  expect(list).toEqual({ score: 10 * (1 - 0.7), linkShare: 1, support: 0 })
  expect(text).toEqual({ score: 9, linkShare: 0, support: 0 })
})

test('the best hit of a page is supported by its next best one, wherever that stands', () => {
  const weighed = weighHits([
    { score: 5, page: 'a', content: plain },
    { score: 10, page: 'b', content: plain },
    { score: 9, page: 'a', content: plain },
    { score: 1, page: 'a', content: plain },
  ])
  expect(weighed.map(({ support }) => support)).toEqual([0, 0, 1, 0])
  expect(weighed.map(({ score }) => score)).toEqual([5, 10, 10, 1])
})

test('nothing gives nothing', () => {
  expect(weighHits([])).toEqual([])
})
