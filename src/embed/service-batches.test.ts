import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mapConcurrently, splitBatches } from './service-batches.ts'

describe('batches', () => {
  test('batches keep all texts in order, within the limits', () => {
    const limits = fc.record({ count: fc.integer({ min: 1, max: 9 }), bytes: fc.integer({ min: 1, max: 99 }) })
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 30 })), limits, (texts, most) => {
        const batches = splitBatches(texts, most)
        expect(batches.flat()).toEqual(texts)
        // The two brackets count as one byte, because one of them replaces the last comma.
        const bytesOf = (batch: readonly string[]) => Buffer.byteLength(JSON.stringify(batch)) - 1
        const isFine = ({ length }: readonly string[]) => length > 0 && length <= most.count
        expect(batches.every((one) => isFine(one) && (one.length === 1 || bytesOf(one) <= most.bytes))).toBe(true)
      }),
    )
  })

  test('batches run a few at a time, and their results keep the order', async () => {
    let atOnce = 0
    let most = 0
    const made = await mapConcurrently([5, 1, 3, 2], 2, undefined, async (turns) => {
      most = Math.max(most, ++atOnce)
      for (let i = 0; i < turns; i++) await Promise.resolve()
      atOnce--
      return turns * 10
    })
    expect({ made, most }).toEqual({ made: [50, 10, 30, 20], most: 2 })
    expect(await mapConcurrently([], 2, undefined, async () => 1)).toEqual([])
  })

  test('the first failure aborts the running batches, and no further batch starts', async () => {
    const begun: number[] = []
    const work = mapConcurrently([1, 2, 3, 4], 2, undefined, async (number, signal) => {
      begun.push(number)
      if (number === 2) throw new Error('two')
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('told'))))
    })
    await expect(work).rejects.toThrow('two')
    expect(begun).toEqual([1, 2])
  })

  test('an abort by the caller ends the work with its reason', async () => {
    const stop = new AbortController()
    const work = mapConcurrently([1, 2, 3], 1, stop.signal, async (number) => {
      if (number === 2) stop.abort(new Error('enough'))
      return number
    })
    await expect(work).rejects.toThrow('enough')
  })
})
