import { describe, expect, test } from 'vitest'
import { countRefused } from './byte-budget.ts'
import { FileCutter } from './cut-files.ts'

describe('countRefused and FileCutter', () => {
  const limits = { maxFileBytes: 10, maxTotalBytes: 24 }

  test.each([
    [[], 0, 0],
    [[10, 10, 4], 0, 0],
    [[11, 12, 1], 2, 0],
    [[10, 10, 5, 4, 1], 0, 2],
    // A file that is left out uses no budget, so a smaller one after it may still fit.
    [[10, 10, 9, 3, 1, 0, 99], 1, 1],
  ])('given sizes %j, refuse %i by the file limit and %i by the total limit', (sizes, tooLarge, tooMuch) => {
    expect(countRefused(sizes, limits)).toEqual({ tooLarge, tooMuch })
    expect(countRefused(Float64Array.from(sizes), limits)).toEqual({ tooLarge, tooMuch })
    expect(countCut(sizes)).toEqual({ tooLarge, tooMuch })
  })

  /** Counts the warnings of the cutter for files of these sizes. */
  function countCut(sizes: readonly number[]) {
    const cutter = new FileCutter(limits)
    const codes = sizes.flatMap((size, i) => {
      const found = { type: 'bytes', bytes: new TextEncoder().encode('a'.repeat(size)), isStable: true } as const
      return cutter.cut(`${i}.txt`, found).chunked.warnings.map(({ code }) => code)
    })
    return {
      tooLarge: codes.filter((code) => code === 'max_file_bytes').length,
      tooMuch: codes.filter((code) => code === 'max_total_bytes').length,
    }
  }
})
