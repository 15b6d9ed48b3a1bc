import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { writeZip } from '../../../test/trees/archive-bytes.ts'
import { type Download, DownloadError } from '../../library/ports/download.ts'
import { openDownloadedArchive } from './source.ts'

test('openDownloadedArchive starts anew after a transfer that broke off when part of the archive was already on disk', async () => {
  const text = randomBytes(2_500_000).toString('hex')
  const archive = writeZip([{ name: 'data.txt', content: text }])
  let attempts = 0
  const download: Download = async () => {
    const isBroken = attempts++ === 0
    return (async function* () {
      yield archive.subarray(0, 2_000_000)
      if (isBroken) throw new DownloadError('busy', 'the connection broke', { retryAfterMs: 0 })
      yield archive.subarray(2_000_000)
    })()
  }
  const address = 'https://files.test/data.zip'
  const { content } = await openDownloadedArchive(
    download,
    address,
    { address, format: 'zip' },
    { maxFileBytes: 10_000_000 },
  )
  try {
    expect(attempts).toBe(2)
    expect(Buffer.from(await content.read('data.txt')).toString() === text).toBe(true)
  } finally {
    await content.close()
  }
})
