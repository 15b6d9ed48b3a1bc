import { expect, test } from 'vitest'
import { readConfig } from '../config.ts'
import { copyLibrary } from '../library/copy/copy-library.ts'
import { addSource } from '../library/crawl/add-source.ts'
import { openLibrary } from '../open-library.ts'
import { listIncompleteCopies, writeIncompleteCopies } from './incomplete-copies.ts'

test('an interrupted copy is listed with the command that resumes it', async () => {
  const from = await openLibrary({ path: ':memory:', version: '0' })
  const to = await openLibrary({ path: ':memory:', version: '0' })
  try {
    await addSource(from, { url: 'https://a.example/' })
    expect(await listIncompleteCopies(to)).toEqual([])
    const stop = new AbortController()
    const copying = copyLibrary({ from, to, add: false, onProgress: () => stop.abort(), signal: stop.signal })
    await expect(copying).rejects.toThrow()
    const places = await listIncompleteCopies(to)
    const config = readConfig({ environment: {}, file: 'none', flags: { library: '/data/b.db' } })
    expect(writeIncompleteCopies(places, config)).toEqual([
      expect.stringContaining(`resume it with: pharos copy ${from.store.location} /data/b.db; or remove it`),
    ])
  } finally {
    await from.close()
    await to.close()
  }
})
