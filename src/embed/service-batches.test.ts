import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mapConcurrently, splitBatches } from './service-batches.ts'

describe('batches', () => {
  test('batches keep all texts in order, within the limits', () => {
    const anyLimits = fc.record({ count: fc.integer({ min: 1, max: 9 }), bytes: fc.integer({ min: 1, max: 99 }) })
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 30 })), anyLimits, (texts, limits) => {
        const batches = splitBatches(texts, limits)
        expect(batches.flat()).toEqual(texts)
        // splitBatches counts a comma for each text; JSON has one comma less and two brackets, which is one byte more.
        const bytesOf = (batch: readonly string[]) => Buffer.byteLength(JSON.stringify(batch)) - 1
        const hasValidCount = ({ length }: readonly string[]) => length > 0 && length <= limits.count
        const hasValidSize = (batch: readonly string[]) => batch.length === 1 || bytesOf(batch) <= limits.bytes
        expect(batches.every((batch) => hasValidCount(batch) && hasValidSize(batch))).toBe(true)
      }),
    )
  })

  test('batches run a few at a time, and their results keep the order', async () => {
    let atOnce = 0
    let maxAtOnce = 0
    const results = await mapConcurrently([5, 1, 3, 2], 2, undefined, async (turns) => {
      maxAtOnce = Math.max(maxAtOnce, ++atOnce)
      for (let i = 0; i < turns; i++) await Promise.resolve()
      atOnce--
      return turns * 10
    })
    expect({ results, maxAtOnce }).toEqual({ results: [50, 10, 30, 20], maxAtOnce: 2 })
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

  test('an abort by the caller rejects with the reason of the abort', async () => {
    const stop = new AbortController()
    const work = mapConcurrently([1, 2, 3], 1, stop.signal, async (number) => {
      if (number === 2) stop.abort(new Error('enough'))
      return number
    })
    await expect(work).rejects.toThrow('enough')
  })
})
