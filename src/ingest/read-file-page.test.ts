import { expect, test } from 'vitest'
import { PageDefect } from '../crawl/page-defect.ts'
import { openFilePages, type PageFile } from './read-file-page.ts'

const PDF: PageFile = {
  path: 'a.pdf',
  part: null,
  bytes: Buffer.from('%PDF-1.4'),
  version: 'v1',
  url: 'file:///a.pdf',
  profile: 'library',
  readOther: async () => undefined,
}

/** Opens a reader whose first `failures` attempts fail. `count` returns the number of attempts. */
function openCounted(
  failures: number,
  error: Error = new Error('its process has ended'),
): { readonly pages: ReturnType<typeof openFilePages>; count(): number } {
  let reads = 0
  const nothing = () => Promise.reject(new Error('nothing of this kind is read here'))
  const pages = openFilePages({
    readPage: nothing,
    openGrammars: nothing,
    readDocument: async () => {
      reads++
      if (reads <= failures) throw error
      return { type: 'refused', reason: 'empty', detail: 'no text' }
    },
  })
  return { pages, count: () => reads }
}

test('a document is read once for all its pages, as long as its tree is open', async () => {
  const { pages, count } = openCounted(0)
  await pages.read(PDF)
  await pages.read(PDF)
  expect(count()).toBe(1)
  pages.clearCache()
  await pages.read(PDF)
  expect(count()).toBe(2)
})

test('a document is read again after a failed attempt', async () => {
  const { pages, count } = openCounted(1)
  expect(await pages.read(PDF)).toMatchObject({ type: 'failed' })
  expect(await pages.read(PDF)).toMatchObject({ type: 'no-page', reason: 'empty' })
  expect(count()).toBe(2)
})

test('a document with a defect is not read again for each of its pages', async () => {
  const { pages, count } = openCounted(1, new PageDefect('takes longer than 30 s to read'))
  const detail = 'the file takes longer than 30 s to read'
  expect(await pages.read(PDF)).toMatchObject({ type: 'failed', detail })
  expect(await pages.read({ ...PDF, part: 'a' })).toMatchObject({ type: 'failed', detail })
  expect(count()).toBe(1)
})
