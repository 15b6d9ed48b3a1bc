import { describe, expect, test } from 'vitest'
import { FailedFiles } from './failed-files.ts'

describe('FailedFiles', () => {
  test('retries a file a few times with growing delays, then only after a change', () => {
    const files = new FailedFiles([10, 100])
    const stamp = 'first'
    expect(files.fail('a.pdf', 0, stamp)).toEqual({ retries: 0, retryAt: 10, stamp })
    expect([files.nextAt(), files.listDue(9), files.listDue(10)]).toEqual([10, [], ['a.pdf']])
    expect(files.fail('a.pdf', 10, stamp)).toEqual({ retries: 1, retryAt: 110, stamp })
    // A read of the whole folder fails before the retry time of this file.
    expect(files.fail('a.pdf', 50, stamp)).toEqual({ retries: 1, retryAt: 110, stamp })
    expect(files.fail('a.pdf', 110, stamp)).toEqual({ retries: 2, retryAt: null, stamp })
    expect([files.nextAt(), files.listDue(1e9)]).toEqual([null, []])
    expect(files.fail('a.pdf', 500, stamp)).toEqual({ retries: 2, retryAt: null, stamp })
    expect(files.fail('a.pdf', 500, 'second')).toEqual({ retries: 0, retryAt: 510, stamp: 'second' })
  })

  test('remove returns the entry of a failed file once', () => {
    const files = new FailedFiles([10])
    files.fail('a.pdf', 0, null)
    files.fail('b.pdf', 5, null)
    expect(files.remove('a.pdf')).toEqual({ retries: 0, retryAt: 10, stamp: null })
    expect(files.remove('a.pdf')).toBeUndefined()
    expect([files.paths, files.nextAt()]).toEqual([['b.pdf'], 15])
  })
})
