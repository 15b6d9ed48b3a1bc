import { expect, test } from 'vitest'
import { FileCutter } from './cut-files.ts'

test('chunks that were cut while the parser failed are returned, but not for reuse', () => {
  const cutter = new FileCutter({})
  const found = { type: 'bytes', bytes: new TextEncoder().encode('fire()\n'), isStable: true } as const
  const { chunked, reusable } = cutter.cut('a.py', found)
  expect(reusable).toEqual(chunked)
  const warning = { path: 'a.py', code: 'parser', message: 'cut as text: the parser failed' } as const
  const failed = { ...chunked, warnings: [warning] }
  expect(cutter.cut('a.py', { type: 'known', chunked: failed })).toEqual({ chunked: failed, reusable: undefined })
})
