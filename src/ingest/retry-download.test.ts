import { expect, test } from 'vitest'
import { DownloadError } from '../library/ports/download.ts'
import { retryDownload } from './retry-download.ts'

function busy(retryAfterMs: number): DownloadError {
  return new DownloadError('busy', 'busy', { retryAfterMs })
}

test('tries a busy download up to four times', async () => {
  let tries = 0
  const step = (successfulTry: number, error: Error) => async () => {
    if (++tries < successfulTry) throw error
    return tries
  }
  expect(await retryDownload(step(4, busy(0)), undefined)).toBe(4)
  tries = 0
  await expect(retryDownload(step(5, busy(0)), undefined)).rejects.toThrow('busy')
  expect(tries).toBe(4)
})

test.each([
  ['the file does not exist', new DownloadError('missing', 'gone')],
  ['the wait would be longer than 30 s', busy(31_000)],
  ['the error is not a DownloadError', new TypeError('x')],
])('does not retry when %s', async (_, error) => {
  let tries = 0
  const failing = retryDownload(async () => {
    tries++
    throw error
  }, undefined)
  await expect(failing).rejects.toBe(error)
  expect(tries).toBe(1)
})

test('an abort ends the wait for a retry', async () => {
  const stop = new AbortController()
  const waiting = retryDownload(async () => {
    throw busy(20_000)
  }, stop.signal)
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
})
