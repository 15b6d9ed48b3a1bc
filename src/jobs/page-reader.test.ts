import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { CHUNK_PROFILES, type ChunkProfile } from '../core/chunk/profiles.ts'
import type { Sha256 } from '../core/model.ts'
import { openPageReader, type PageReaderOptions } from './page-reader.ts'

const sha256: Sha256 = (data) => createHash('sha256').update(data).digest('hex')
const PROSE = '<p>The visible paragraph, which has enough words to be the content of this page, comes last of all.</p>'

function snapshotOf(html: string) {
  const text = new TextEncoder().encode(`<!doctype html><title>T</title><body>${html}${PROSE}</body>`)
  return { url: 'https://host.example/page', body: text, headers: { 'content-type': 'text/html' } }
}

/** Reads pages side by side in a thread, and says what became of each. */
async function readAll(pages: readonly string[], options: Partial<PageReaderOptions>): Promise<string[]> {
  const reader = openPageReader({ sha256, threadAboveBytes: 0, ...options })
  try {
    const readings = await Promise.allSettled(pages.map((html) => reader.readPage(snapshotOf(html), 'key')))
    return readings.map((one) =>
      one.status === 'fulfilled' ? one.value.extraction.type : `${one.reason.constructor.name}: ${one.reason.message}`,
    )
  } finally {
    await reader.close()
  }
}

test('a page that needs too much memory is given up, and those beside it are read', async () => {
  const hungry = '<i>'.repeat(300_000)
  expect(await readAll(['<p>One.', hungry, '<p>Two.'], { threadMb: 40 })).toEqual([
    'page',
    'PageDefect: needs more memory than it may have',
    'page',
  ])
})

test('a page that takes too long is given up, and those beside it are read', async () => {
  const slow = '<i>'.repeat(4_000_000)
  expect(await readAll(['<p>One.', slow, '<p>Two.'], { threadMb: 4000, pageMs: 3000 })).toEqual([
    'page',
    'PageDefect: takes longer than 3 s to read',
    'page',
  ])
})

test('a page that would grow without bounds is given up', async () => {
  const links = `<base href="https://host.example/${'a/'.repeat(900)}">${'<a href=x>y</a> '.repeat(17_000)}`
  expect(await readAll(['<h2>H'.repeat(26_000), links], {})).toEqual([
    'PageDefect: is cut into more than 25000 chunks',
    'PageDefect: becomes more than 30000000 characters',
  ])
})

test('the body of a large page is handed over, that of a small one stays', async () => {
  const reader = openPageReader({ sha256, threadAboveBytes: 1000 })
  const small = snapshotOf('')
  const large = snapshotOf('<p>word</p>'.repeat(1000))
  await reader.readPage(small, 'key')
  await reader.readPage(large, 'key')
  expect(small.body.length).toBeGreaterThan(0)
  expect(large.body.length).toBe(0)
  await reader.rest()
  // It can be used again.
  expect((await reader.readPage(snapshotOf('<p>word</p>'.repeat(1000)), 'key')).extraction.type).toBe('page')
  await reader.close()
})

test('the body of a large page stays where it is needed afterwards', async () => {
  const reader = openPageReader({ sha256, threadAboveBytes: 1000 })
  const large = snapshotOf('<p>word</p>'.repeat(1000))
  await reader.readPage(large, 'key', { keepsBody: true })
  expect(large.body.length).toBeGreaterThan(1000)
  await reader.close()
})

test('a page is cut as its profile says, in the thread as beside everything else', async () => {
  const html = `<h1>Long</h1>${'<p>Some words of a paragraph that is not short at all.</p>'.repeat(200)}`
  const [small, large] = [openPageReader({ sha256 }), openPageReader({ sha256, threadAboveBytes: 0 })]
  const count = async (reader: typeof small, chunks: ChunkProfile) =>
    (await reader.readPage(snapshotOf(html), 'key', { chunks })).record?.chunks.length ?? 0
  for (const profile of CHUNK_PROFILES) expect(await count(large, profile)).toBe(await count(small, profile))
  expect(await count(small, 'library')).toBeGreaterThan(await count(small, 'tokens'))
  await Promise.all([small.close(), large.close()])
})

test('whoever waits for a page when the reader is closed is told so', async () => {
  const reader = openPageReader({ sha256, threadAboveBytes: 0 })
  const readings = [snapshotOf('<p>One.'), snapshotOf('<p>Two.')].map((one) => reader.readPage(one, 'key'))
  const settled = Promise.allSettled(readings)
  await reader.close()
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('a small page with very many elements is read in the thread', async () => {
  // A thread that may take no time at all reads nothing: what is read was read elsewhere.
  const [plain, dense] = await readAll([`<p>${'word '.repeat(20_000)}`, '<dt><dd>'.repeat(12_000)], {
    threadAboveBytes: 500_000,
    pageMs: 1,
  })
  expect(plain).toBe('page')
  expect(dense).toContain('PageDefect')
})
