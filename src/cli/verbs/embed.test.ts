import { expect, test } from 'vitest'
import { writeEmbedProgress, writeSkipped } from './embed.ts'

test('the live line shows progress, rate and remaining time', () => {
  expect(writeEmbedProgress({ embedded: 1200, chunks: 13_441 }, 52)).toBe(
    'embedding: 1,200 of 13,441 chunks, 8 %, 52/s, 3m 56s left',
  )
})

test('the live line shows no remaining time before there is a rate, and 100 % when nothing is left', () => {
  expect(writeEmbedProgress({ embedded: 0, chunks: 10 }, 0)).toBe('embedding: 0 of 10 chunks, 0 %, 0.0/s')
  expect(writeEmbedProgress({ embedded: 1, chunks: 1 }, 4)).toBe('embedding: 1 of 1 chunk, 100 %, 4.0/s')
  expect(writeEmbedProgress({ embedded: 0, chunks: 0 }, 0)).toBe('embedding: 0 of 0 chunks, 100 %, 0.0/s')
})

test('the note on skipped chunks has their number and the problem of the first', () => {
  const problem = 'the vector of chunk ab12 cannot be kept: it holds NaN'
  expect(writeSkipped({ embedded: 18, chunks: 20, refused: 2, skipped: 2, problem })).toBe(
    '2 chunks could not be embedded (searchable by words only); the first: the vector of chunk ab12 cannot be kept: it holds NaN',
  )
})
