import { expect, test } from 'vitest'
import { openLibrary } from '../../src/open-library.ts'

const open = () => openLibrary({ path: ':memory:', version: '0.0.0' })

test('a model that is still being opened is closed with its library, and none is opened afterwards', async () => {
  const library = await open()
  const opening = library.openEmbedder?.()
  await library.close()
  await expect((await opening)?.embed(['nine'])).rejects.toThrow('it was closed')
  await expect(library.openEmbedder?.()).rejects.toMatchObject({ code: 'INTERRUPTED' })
})

test('the built-in model is opened once for all concurrent callers', async () => {
  const library = await open()
  const [one, two] = await Promise.all([library.openEmbedder?.(), library.openEmbedder?.()])
  expect(one?.space.model).toBe('pharos-embed-1')
  expect(two).toBe(one)
  expect(await library.openEmbedder?.()).toBe(one)
  await library.close()
})

test('a closed library refuses to fetch', async () => {
  const library = await open()
  await library.close()
  await expect(library.fetcher.fetch({ url: 'http://127.0.0.1/' })).rejects.toMatchObject({ code: 'INTERRUPTED' })
})
