import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { pdf, pdfLines, pdfPages } from '../../test/documents/written.ts'
import { childrenOf } from '../../test/postgres/server.ts'
import { CHUNK_PROFILES, type ChunkProfile } from '../core/chunk/profiles.ts'
import type { Sha256 } from '../core/model.ts'
import { PageDefect } from '../crawl/page-defect.ts'
import { openPageReader, type PageReaderOptions } from './page-reader.ts'

const sha256: Sha256 = (data) => createHash('sha256').update(data).digest('hex')
const PROSE = '<p>The visible paragraph, which has enough words to be the content of this page, comes last of all.</p>'

function snapshotOf(html: string) {
  const text = new TextEncoder().encode(`<!doctype html><title>T</title><body>${html}${PROSE}</body>`)
  return { url: 'https://host.example/page', body: text, headers: { 'content-type': 'text/html' } }
}

/** Reads pages concurrently in the reader process, and returns the result of each. */
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

test('a page that needs too much memory is given up, and the pages beside it are read', async () => {
  const hungry = '<i>'.repeat(300_000)
  expect(await readAll(['<p>One.', hungry, '<p>Two.'], { maxHeapMb: 40 })).toEqual([
    'page',
    'PageDefect: needs more memory than allowed',
    'page',
  ])
})

test('a page that takes too long is given up, and the pages beside it are read', async () => {
  const slow = '<i>'.repeat(1_000_000)
  // A page of this size gets twice the CPU time.
  expect(await readAll(['<p>One.', slow, '<p>Two.'], { maxHeapMb: 4000, maxCpuMs: 500 })).toEqual([
    'page',
    'PageDefect: takes longer than 1 s to read',
    'page',
  ])
})

test('a good page is read, however little CPU time the machine gives it', async () => {
  const reader = openPageReader({ sha256, threadAboveBytes: 0, maxCpuMs: 1500 })
  await reader.readPage(snapshotOf('<p>One.'), 'key')
  const reading = reader.readPage(snapshotOf('<p>word</p>'.repeat(3000)), 'key')
  // Simulates a busy machine that does not schedule the process.
  const [child = 0] = childrenOf(process.pid)
  process.kill(child, 'SIGSTOP')
  await setTimeout(2000)
  process.kill(child, 'SIGCONT')
  expect((await reading).extraction.type).toBe('page')
  await reader.close()
})

test('a page whose result grows without bounds is given up', async () => {
  const links = `<base href="https://host.example/${'a/'.repeat(900)}">${'<a href=x>y</a> '.repeat(17_000)}`
  expect(await readAll(['<h2>H'.repeat(26_000), links], {})).toEqual([
    'PageDefect: has more than 25000 chunks',
    'PageDefect: has more than 30000000 characters',
  ])
})

test('the memory of a large page body is released once it was sent, and that of a small one is kept', async () => {
  const reader = openPageReader({ sha256, threadAboveBytes: 1000 })
  const small = snapshotOf('')
  const large = snapshotOf('<p>word</p>'.repeat(1000))
  await reader.readPage(small, 'key')
  await reader.readPage(large, 'key')
  expect(small.body.length).toBeGreaterThan(0)
  expect(large.body.length).toBe(0)
  await reader.endIdleProcess()
  // The reader can be used again after `endIdleProcess`.
  expect((await reader.readPage(snapshotOf('<p>word</p>'.repeat(1000)), 'key')).extraction.type).toBe('page')
  await reader.close()
})

test('the body of a large page is kept if it is needed afterwards', async () => {
  const reader = openPageReader({ sha256, threadAboveBytes: 1000 })
  const large = snapshotOf('<p>word</p>'.repeat(1000))
  await reader.readPage(large, 'key', { keepsBody: true })
  expect(large.body.length).toBeGreaterThan(1000)
  await reader.close()
})

test('a page is cut by its profile, both in this process and in the reader process', async () => {
  const html = `<h1>Long</h1>${'<p>Some words of a paragraph that is not short at all.</p>'.repeat(200)}`
  const [small, large] = [openPageReader({ sha256 }), openPageReader({ sha256, threadAboveBytes: 0 })]
  const count = async (reader: typeof small, chunks: ChunkProfile) =>
    (await reader.readPage(snapshotOf(html), 'key', { chunks })).record?.chunks.length ?? 0
  for (const profile of CHUNK_PROFILES) expect(await count(large, profile)).toBe(await count(small, profile))
  expect(await count(small, 'library')).toBeGreaterThan(await count(small, 'tokens'))
  await Promise.all([small.close(), large.close()])
})

test('closing the reader rejects pending pages', async () => {
  const reader = openPageReader({ sha256, threadAboveBytes: 0 })
  const readings = [snapshotOf('<p>One.'), snapshotOf('<p>Two.')].map((one) => reader.readPage(one, 'key'))
  const settled = Promise.allSettled(readings)
  await reader.close()
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('a small page with very many elements is read in the reader process', async () => {
  // With this limit the reader process gives up every page, so a page that is read was read in this process.
  const [plain, dense] = await readAll([`<p>${'word '.repeat(20_000)}`, '<dt><dd>'.repeat(12_000)], {
    threadAboveBytes: 500_000,
    maxCpuMs: 1,
  })
  expect(plain).toBe('page')
  expect(dense).toContain('PageDefect')
})

test('the reader process ends with its parent, even if that is killed', async () => {
  const reader = new URL('page-reader.ts', import.meta.url).href
  // The parent is killed after it has read a page and waits for more.
  const code = `const { openPageReader } = await import(${JSON.stringify(reader)})
    const body = new TextEncoder().encode('<p>One.')
    await openPageReader({ sha256: String, threadAboveBytes: 0 }).readPage({ url: 'https://host.example/', body }, 'key')
    console.log('read')
    setInterval(() => undefined, 1000)`
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(parent.stdout, 'data')
  const [child = 0, ...others] = childrenOf(parent.pid ?? 0)
  expect([isRunning(child), others]).toEqual([true, []])
  parent.kill('SIGKILL')
  await expect.poll(() => isRunning(child)).toBe(false)
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A document that takes its parser minutes, because it scans the rest of a paragraph for every unclosed reference. */
const ENDLESS = `= Guide\n\n${`${'<<a'.repeat(16_000)}\n\n`.repeat(30)}`
/** Very many objects of a few bytes each. */
const HUNGRY = `{"nbformat": 4, "cells": [{}${', {}'.repeat(2_000_000)}]}`

test('documents that take too long or too much memory are given up, and the documents beside them are read', async () => {
  const reader = openPageReader({ sha256, maxHeapMb: 60, maxCpuMs: 4000 })
  const documents = { 'a.rst': 'One\n===\n\nText.\n', 'b.adoc': ENDLESS, 'c.ipynb': HUNGRY, 'd.csv': 'a,b\n1,2\n' }
  const readings = await Promise.allSettled(
    Object.entries(documents).map(([name, text]) => {
      const body = new TextEncoder().encode(text)
      return reader.readPage({ url: `https://host.example/${name}`, body }, name)
    }),
  )
  expect(readings.map((one) => (one.status === 'fulfilled' ? one.value.format : String(one.reason)))).toEqual([
    'reStructuredText',
    'Error: takes longer than 4 s to read',
    'Error: needs more memory than allowed',
    'CSV',
  ])
  await reader.close()
})

/** A PDF whose only page shows a stream of 15 MB as often as given. All of it is in memory at once, outside the heap. */
function pdfOfBuffers(count: number) {
  const packed = deflateSync(Buffer.alloc(15_000_000, ' '), { level: 9 }).toString('hex')
  const [catalogue = '', tree = '', font = '', page = '', content = ''] = pdfPages(pdfLines('Quiet text.'))
  const padded = page.replace('5 0 R', `[5 0 R ${'6 0 R '.repeat(count)}]`)
  const padding = `<</Length ${packed.length + 1}/Filter[/ASCIIHexDecode/FlateDecode]>>stream\n${packed}>\nendstream`
  return { url: 'https://host.example/a.pdf', body: pdf([catalogue, tree, font, padded, content, padding]) }
}

test('a document that needs too much memory outside the heap is given up, and the one after it is read', async () => {
  const outcomeOf = async (reader: ReturnType<typeof openPageReader>, count: number) =>
    reader.readPage(pdfOfBuffers(count), 'a.pdf').then(
      ({ extraction }) => extraction.type,
      (error) => String(error),
    )
  const [small, large] = [openPageReader({ sha256, maxBufferMb: 0 }), openPageReader({ sha256 })]
  expect([await outcomeOf(small, 12), await outcomeOf(small, 1)]).toEqual([
    'Error: needs more memory than allowed',
    'page',
  ])
  expect([await outcomeOf(large, 12), await outcomeOf(large, 12)]).toEqual(['page', 'page'])
  await Promise.all([small.close(), large.close()])
})

test('the system limits the memory of the reader process where it can', async () => {
  const reader = openPageReader({ sha256, threadAboveBytes: 0, maxHeapMb: 300, maxBufferMb: 604 })
  expect((await reader.readPage(snapshotOf('<p>One.'), 'key')).extraction.type).toBe('page')
  const limits = readFileSync(`/proc/${childrenOf(process.pid)[0]}/limits`, 'utf8')
  expect(limits).toMatch(/^Max data size +5242880000 +5242880000 /m)
  await reader.close()
})

test('an extraction of HTML or Markdown has the same limits as documents', async () => {
  const reader = openPageReader({ sha256, maxHeapMb: 40 })
  const table = `| a | b |\n| --- | --- |\n${'| one | [two](/b) |\n'.repeat(60_000)}`
  const markdown = { url: 'https://host.example/table.md', body: table, headers: { 'content-type': 'text/markdown' } }
  const defect = new PageDefect('needs more memory than allowed')
  await expect(reader.extract(markdown, 'table.md', false)).rejects.toEqual(defect)
  await expect(reader.extract(snapshotOf('<div>'.repeat(300_000)), 'nested.html', false)).rejects.toEqual(defect)
  await reader.close()
})

test('small Markdown with very many brackets or cells is extracted within the limits too', async () => {
  const reader = openPageReader({ sha256, maxCpuMs: 1 })
  for (const body of [`${'['.repeat(100_000)}](/a)`, `[a](/b)\n${'|a'.repeat(50_000)}`]) {
    const markdown = { url: 'https://host.example/dense.md', body, headers: { 'content-type': 'text/markdown' } }
    await expect(reader.extract(markdown, 'dense.md', false)).rejects.toThrow('takes longer than')
  }
  await reader.close()
})

test('an extraction reports the same removals in this process and in the reader process', async () => {
  const hidden = '<p hidden>secret</p>'
  const removalsOf = async (threadAboveBytes: number) => {
    const reader = openPageReader({ sha256, threadAboveBytes })
    const { removals } = await reader.extract(snapshotOf(hidden), 'page.html', true)
    await reader.close()
    return removals
  }
  const removals = await removalsOf(1_000_000)
  expect(removals).not.toEqual([])
  expect(await removalsOf(0)).toEqual(removals)
})
