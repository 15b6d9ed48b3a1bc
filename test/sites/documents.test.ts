import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { findAnchor } from '../../src/core/retrieval/anchored-url.ts'
import type { FetchRequest } from '../../src/crawl/ports.ts'
import { nodeSha256 } from '../../src/ingest/sha256.ts'
import { openTreeReader } from '../../src/ingest/tree-reader.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { fetchUrl } from '../../src/library/crawl/fetch-url.ts'
import { searchLibrary } from '../../src/library/search/search-library.ts'
import { explainUrl } from '../../src/library/sources/explain.ts'
import { openPageReader } from '../../src/processes/page-reader.ts'
import { closeLater } from '../close-later.ts'
import { readSample } from '../documents/convert.ts'
import { openNodeGrammars } from '../node-grammars.ts'
import {
  type CrawlFixture,
  createCrawlFixture,
  openTestLibrary,
  runCrawl,
  shareFixture,
  statesOf,
  UNPACED,
} from './crawl.ts'
import { type Answer, page, text } from './site.ts'

const OPENAPI = `openapi: 3.1.0
info: {title: Tide tables, version: 1.0.0}
paths:
  /tides:
    get: {operationId: listTides, summary: List tides, responses: {'200': {description: The tides}}}
  /lights:
    get: {operationId: listLights, summary: List lights, responses: {'200': {description: The lights}}}
`
const RST = 'Keeping watch\n=============\n\nRead `the notes <notes.adoc>`_ first. Nobody sleeps on watch.\n'
const BINARY_TYPE = 'application/octet-stream'

/** A site with documents that have a correct type, a wrong type, or damaged content. */
const PAGES = {
  'guide.pdf': text(readSample('guide.pdf'), 'application/pdf'),
  'download?id=7': text(readSample('guide.docx'), BINARY_TYPE),
  'book.epub': text(readSample('book.epub'), 'application/epub+zip'),
  'api.yaml': text(OPENAPI, 'application/yaml'),
  'watch.rst': text(RST),
  'rates.csv': text('Port,Fee\nHamburg,12\nRostock,9\n', 'text/csv'),
  'plain.json': text('{"a": 1}', 'application/json'),
  'text.pdf': text('These are words, and no document.', 'application/pdf'),
  'cut.docx': text(readSample('guide.docx').subarray(0, 5000), BINARY_TYPE),
  'locked.pdf': text(readSample('locked.pdf'), 'application/pdf'),
  'scan.pdf': text(readSample('scan.pdf'), 'application/pdf'),
  'unlisted.rtf': {
    headers: { 'content-type': 'application/rtf', 'x-robots-tag': 'noindex' },
    body: readSample('guide.rtf'),
  },
}

function stageDocuments(answers: Readonly<Record<string, Answer>>): Promise<CrawlFixture> {
  const pages = Object.fromEntries(Object.entries(answers).map(([name, answer]) => [`/${name}`, answer]))
  return createCrawlFixture(
    { '/': page('Home', Object.keys(pages)), ...pages },
    { limits: UNPACED, scope: { allowQueryUrls: true } },
  )
}

/** Reads the stored page at a path. */
async function read({ library, source, site }: CrawlFixture, path: string) {
  const stored = await library.store.readPage(source.id, `${site.origin}${path}`)
  if (stored === undefined) throw new Error(`there is no page at ${path}`)
  return stored.page
}

describe('documents on a web site', () => {
  const staged = shareFixture(async () => {
    const stage = await stageDocuments(PAGES)
    return { stage, crawled: await stage.crawl() }
  })

  test('become pages whatever their declared type, or are recorded with the reason why not', async () => {
    const { crawled } = await staged()
    expect(statesOf(crawled)).toEqual({
      '/': 'indexed',
      '/guide.pdf': 'indexed',
      '/download?id=7': 'indexed',
      '/book.epub': 'indexed',
      '/api.yaml': 'indexed',
      '/watch.rst': 'indexed',
      '/rates.csv': 'indexed',
      '/plain.json': 'skipped not-text',
      '/text.pdf': 'skipped damaged',
      '/cut.docx': 'skipped damaged',
      '/locked.pdf': 'skipped encrypted',
      '/scan.pdf': 'skipped empty',
      '/unlisted.rtf': 'skipped noindex',
      '/notes.adoc': 'failed not-found',
    })
    const details = ['/guide.pdf', '/text.pdf', '/locked.pdf'].map((path) => crawled.rows.get(path)?.detail)
    expect(details).toEqual(['read as PDF', 'it is not a readable PDF', 'it is encrypted with a password'])
    // Links are followed only in markup formats such as reStructuredText.
    expect(crawled.rows.get('/notes.adoc')?.foundOn).toContain('/watch.rst')
  })

  test('are one page each, whose parts have headings and fragments of their own', async () => {
    const { stage } = await staged()
    const book = await read(stage, '/book.epub')
    expect(book.title).toBe("The Keeper's Year")
    expect(book.sections.map(({ title, anchor }) => [title, anchor])).toEqual([
      ['Winter', 'winter.xhtml'],
      ['Summer', 'summer%20months.xhtml'],
    ])
    const api = await read(stage, '/api.yaml')
    expect(api.title).toBe('Tide tables')
    expect(api.sections.map(({ title, anchor }) => [title, anchor])).toEqual([
      ['Tide tables', 'introduction'],
      ['List tides', 'list-tides'],
      ['List lights', 'list-lights'],
    ])
    expect((await read(stage, '/rates.csv')).title).toBe('rates.csv')
    expect((await read(stage, '/download?id=7')).title).toBe('Lighthouse Guide')
  })

  test('are found by a search and cited with the fragment of the part that matches', async () => {
    const { stage } = await staged()
    const cite = async (query: string) => {
      const { passages } = await searchLibrary(stage.library, { query, limit: 1 })
      return passages[0]?.url.slice(stage.site.origin.length)
    }
    expect(await cite('list lights operation')).toBe('/api.yaml#list-lights')
    const { markdown, sections } = await read(stage, '/guide.pdf')
    expect(findAnchor(sections, markdown.split('\n').indexOf('## The log') + 1)).toBe('page=2')
    expect(await cite('lamp burns sixteen hours winter')).toBe('/book.epub#winter.xhtml')
  })

  test('unchanged documents are requested with their validators and stay unchanged', async () => {
    const { stage } = await staged()
    stage.site.clearRequests()
    const crawled = await stage.crawl({ kind: 'recrawl' })
    const states = statesOf(crawled)
    expect([states['/guide.pdf'], states['/download?id=7'], states['/book.epub']]).toEqual(Array(3).fill('unchanged'))
    const guideRequests = stage.site.requests.filter(({ path }) => path === '/guide.pdf')
    expect(guideRequests.map(({ status }) => status)).toEqual([304])
  })

  test('documents that become damaged or locked keep their stored page', async () => {
    const { 'guide.pdf': pdf, 'download?id=7': docx, 'book.epub': epub } = PAGES
    const stage = await stageDocuments({ 'guide.pdf': pdf, 'download?id=7': docx, 'book.epub': epub })
    await stage.crawl()
    stage.site.pages.set('/guide.pdf', text('%PDF-1.7 and no more', 'application/pdf'))
    stage.site.pages.set('/download?id=7', text(readSample('guide.docx').subarray(0, 9000), BINARY_TYPE))
    stage.site.pages.set('/book.epub', text(readSample('locked.pdf'), 'application/epub+zip'))
    const crawled = await stage.crawl({ kind: 'recrawl' })
    const rows = ['/guide.pdf', '/download?id=7', '/book.epub'].map((path) => crawled.rows.get(path))
    expect(rows.map((row) => [row?.state, row?.reason, row?.hasPage])).toEqual([
      ['failed', 'damaged', true],
      ['skipped', 'not-text', true],
      ['failed', 'encrypted', true],
    ])
    expect((await read(stage, '/guide.pdf')).title).toBe('Lighthouse Guide')
    const explanation = await explainUrl(stage.library, stage.source, `${stage.site.origin}/book.epub`)
    expect(explanation.row).toMatchObject({ reason: 'encrypted', detail: 'it is encrypted with a password' })
  })

  test('can be fetched individually', async () => {
    const { stage } = await staged()
    const fetch = (path: string) =>
      fetchUrl(stage.library, `${stage.site.origin}${path}`, { signal: new AbortController().signal })
    expect((await fetch('/guide.pdf')).sections[0]?.marks?.[0]?.anchor).toMatch(/^page=\d/)
    await expect(fetch('/locked.pdf')).rejects.toMatchObject({ code: 'PAGE_REFUSED', details: { reason: 'encrypted' } })
  })
})

/** A document whose parser takes minutes: for every unclosed reference it scans the rest of the paragraph. */
const ENDLESS = `= Guide\n\n${`${'<<a'.repeat(16_000)}\n\n`.repeat(30)}`

describe('documents that take too long', () => {
  /** A page reader with a short limit of CPU time per document. */
  function openHastyReader() {
    const reader = openPageReader({ sha256: nodeSha256, maxCpuMs: 2500 })
    closeLater(() => reader.close())
    return reader
  }

  test('endless and oversized documents fail, and the crawl goes on', async () => {
    const { library, source, site } = await createCrawlFixture(
      {
        '/': page('Home', ['/a.adoc', '/b.pdf', '/c.rst']),
        '/a.adoc': text(ENDLESS),
        '/b.pdf': text(new Uint8Array(300_000), 'application/pdf'),
        '/c.rst': text(RST),
      },
      { limits: UNPACED },
    )
    const { readPage } = openHastyReader()
    // This fetcher acts like a smaller --max-page-bytes.
    const fetcher = { fetch: (request: FetchRequest) => library.fetcher.fetch({ ...request, maxBytes: 200_000 }) }
    site.pages.set('/a.adoc', text(ENDLESS.slice(0, 190_000)))
    const crawled = await runCrawl({ ...library, readPage, fetcher }, source, { kind: 'add' }, site.origin)
    expect(statesOf(crawled)).toMatchObject({
      '/a.adoc': 'failed page-defect',
      '/b.pdf': 'failed too-large',
      '/c.rst': 'indexed',
    })
    expect(crawled.rows.get('/a.adoc')?.detail).toBe('the page takes longer than 2.5 s to read')
    expect(crawled.rows.get('/b.pdf')?.detail).toBe('more than 200000 bytes')
  })

  test('fail in a folder too, and the other files are indexed', async () => {
    const folder = fs.mkdtempSync(join(tmpdir(), 'pharos-documents-'))
    closeLater(async () => fs.rmSync(folder, { recursive: true }))
    fs.writeFileSync(join(folder, 'a.adoc'), ENDLESS)
    fs.writeFileSync(join(folder, 'b.rst'), RST)
    const library = await openTestLibrary()
    const { readPage, readDocument } = openHastyReader()
    const openGrammars = () => openNodeGrammars([])
    const trees = openTreeReader({ readPage, readDocument, openGrammars, maxFileBytes: 10_000_000 })
    closeLater(() => trees.close())
    const hasty = { ...library, readPage, trees }
    const source = await addSource(hasty, { url: `${pathToFileURL(folder)}/`, isOwnFolder: true })
    const crawled = await runCrawl(hasty, source, { kind: 'add' }, 'file://')
    expect(statesOf(crawled)).toEqual({ 'a.adoc': 'failed page-defect', 'b.rst': 'indexed' })
    expect(crawled.rows.get('a.adoc')?.detail).toBe('the file takes longer than 2.5 s to read')
  })
})
