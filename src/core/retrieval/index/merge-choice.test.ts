import { expect, test } from 'vitest'
import type { SegmentRecord } from './index-storage.ts'
import { chooseMergeInputs } from './merge-choice.ts'

/** Adds chunks by the thousand, with all merges that are due, and records what happened. */
function addChunks(total: number) {
  let segments: SegmentRecord[] = []
  let nextId = 1
  let mostSegments = 0
  let merged = 0
  const add = (first: number, last: number, count: number): void => {
    segments.push({ id: nextId++, first, last, count })
  }
  const mergeAll = (isAtRest: boolean): void => {
    for (;;) {
      const inputs = chooseMergeInputs(segments, [], isAtRest)
      if (inputs.length === 0) return
      segments = segments.filter((segment) => !inputs.includes(segment))
      const count = inputs.reduce((sum, one) => sum + one.count, 0)
      merged += count
      add(Math.min(...inputs.map(({ first }) => first)), Math.max(...inputs.map(({ last }) => last)), count)
    }
  }
  for (let first = 1; first <= total; first += 1024) {
    add(first, Math.min(total, first + 1023), Math.min(1024, total - first + 1))
    mergeAll(false)
    mostSegments = Math.max(mostSegments, segments.length)
  }
  mergeAll(true)
  return { segments, mostSegments, mergesPerChunk: merged / total }
}

test('a million chunks are in few segments, at rest and while they come in', () => {
  const { segments, mostSegments, mergesPerChunk } = addChunks(1_000_000)
  expect(segments.reduce((sum, { count }) => sum + count, 0)).toBe(1_000_000)
  expect(segments.length).toBeLessThanOrEqual(7)
  expect(mostSegments).toBeLessThanOrEqual(18)
  // A segment that each merge wrote again would be written hundreds of times.
  expect(mergesPerChunk).toBeLessThan(6)
})

test('a hundred thousand chunks are in one segment at rest', () => {
  expect(addChunks(100_000).segments).toHaveLength(1)
})
