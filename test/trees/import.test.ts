import { expect, test } from 'vitest'
import { writeStatus } from '../../src/cli/text/status-text.ts'
import type { CrawlEvent } from '../../src/crawl/events.ts'
import type { Clock } from '../../src/crawl/ports.ts'
import { copyLibrary } from '../../src/library/copy/copy-library.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { crawlSource } from '../../src/library/crawl/crawl-source.ts'
import { embedLibrary } from '../../src/library/embed/embed-library.ts'
import { chunkSource } from '../../src/library/import/chunk-source.ts'
import { type ImportOptions, importChunks, prepareImport } from '../../src/library/import/import-chunks.ts'
import { importRequest } from '../../src/library/import/import-request.ts'
import { parseImport } from '../../src/library/import/parse-import.ts'
import type { CrawlRequest } from '../../src/library/jobs/dispatcher.ts'
import { recoverImports } from '../../src/library/jobs/recover-imports.ts'
import { findPage } from '../../src/library/search/find-page.ts'
import { searchLibrary } from '../../src/library/search/search-library.ts'
import { describeSource } from '../../src/library/sources/describe-source.ts'
import { explainUrl } from '../../src/library/sources/explain.ts'
import { findSource } from '../../src/library/sources/find-source.ts'
import { removeSource } from '../../src/library/sources/remove-source.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { closeLater } from '../close-later.ts'
import { createEmbedFixture } from '../connectors/embed-fixture.ts'
import { openTeiServer } from '../connectors/servers/tei.ts'
import { openTestLibrary } from '../sites/crawl.ts'
import { createLibraryPath, expectUntouched, readSourceContent } from '../sites/file-fixture.ts'

/* Imports of chunks from other programs. An import stores all given chunks or none. */

const SITE = 'https://docs.example/'

/** A chunk of the page at a path. */
function chunkOf(path: string, text: string, fields: Readonly<Record<string, unknown>> = {}) {
  const common = { section_path: '', content_type: 'prose', last_updated: '2026-02-20T10:30:00Z' }
  return { text, source_url: new URL(path, SITE).href, ...common, ...fields }
}

const CHUNKS = [
  chunkOf('lamp', '# The lamp\n\nLight it at dusk, with whale oil from the cellar.', { language: 'en' }),
  chunkOf('lamp', 'Shorten the wick every four hours.', { section_path: 'the-lamp/trim-wick' }),
  chunkOf('lamp', 'trimWick(hours: 4)', { section_path: 'the-lamp/trim-wick', content_type: 'code' }),
  chunkOf('horn', '# The horn\n\nSound it every minute in thick fog.'),
  chunkOf('horn?page=2', '# Repair\n\nA cracked reed is replaced by a brass one.'),
]

function importInto(library: OpenLibrary, chunks: readonly unknown[], options: ImportOptions = {}) {
  return importChunks(library, parseImport({ source_url: SITE, chunks }), options)
}

async function search(library: OpenLibrary, query: string, heading?: string) {
  const { passages } = await searchLibrary(library, { query, ...(heading === undefined ? {} : { heading }) })
  return passages.map(({ source, url, headingPath, text }) => ({ source, url, headingPath, text }))
}

test('imported chunks are found, cited, read and packed as pages', async () => {
  const library = await openTestLibrary()
  const { source, summary } = await importInto(library, CHUNKS)
  expect(source).toMatchObject({ name: 'docs.example', version: null, url: `import+${SITE}` })
  expect(summary).toMatchObject({ kind: 'add', end: 'completed', indexed: 3, failed: 0, skipped: 0 })

  expect(await search(library, 'shorten the wick', 'trim-wick')).toEqual([
    {
      source: 'docs.example',
      url: `${SITE}lamp#trim-wick`,
      headingPath: ['The lamp', 'trim-wick'],
      text: expect.stringContaining('Shorten the wick every four hours.'),
    },
  ])
  const [code] = (await searchLibrary(library, { query: 'trimWick', contentType: 'code' })).passages
  expect(code?.text).toContain('```\ntrimWick(hours: 4)\n```')
  expect((await search(library, 'brass reed'))[0]?.url).toBe(`${SITE}horn?page=2`)

  const read = await findPage(library, { url: `${SITE}lamp#trim-wick` })
  expect(read).toMatchObject({ url: `${SITE}lamp`, title: 'The lamp', language: 'en', source })
  await expect(findSource(library, SITE)).resolves.toEqual(source)
  const explained = await explainUrl(library, source, `${SITE}horn/`)
  expect(explained.row).toMatchObject({ state: 'indexed', discovery: 'manual', url: `${SITE}horn` })
  const files = await chunkSource(library, source)
  expect(files.map(({ file }) => [file.path, file.kind])).toEqual([
    [`${SITE}horn`, 'markdown'],
    [`${SITE}horn?page=2`, 'markdown'],
    [`${SITE}lamp`, 'markdown'],
  ])
})

test('the next import writes changed pages, removes missing ones, and leaves all others alone', async () => {
  const path = await createLibraryPath()
  const library = await openTestLibrary(path)
  const { source } = await importInto(library, CHUNKS, { name: 'guide' })
  const readContent = () => readSourceContent(path, library, source, '')
  const before = await readContent()
  await expect(importInto(library, CHUNKS)).resolves.toMatchObject({ source, summary: { indexed: 0, unchanged: 3 } })
  expectUntouched(before, await readContent(), [])

  // Only the section of the chunk changes.
  const moved = { ...CHUNKS[4], section_path: 'repair' }
  const again = await importInto(library, [...CHUNKS.slice(0, 3), moved])
  expect(again).toMatchObject({ source, summary: { kind: 'recrawl', indexed: 1, unchanged: 1, removed: 1 } })
  const after = await readContent()
  expectUntouched(before, after, [`${SITE}horn`, `${SITE}horn?page=2`])
  expect([...after.pages.keys()]).toEqual([`${SITE}horn?page=2`, `${SITE}lamp`])
  expect((await search(library, 'brass reed', 'repair'))[0]?.url).toBe(`${SITE}horn?page=2#repair`)
  expect(await search(library, 'thick fog')).toEqual([])

  const other = await importInto(library, CHUNKS.slice(3), { name: 'guide', version: '2' })
  expect(other.source).toMatchObject({ name: 'guide', version: '2' })
  expect((await readContent()).pages).toEqual(after.pages)
})

test('pages with the same text are all kept, and copied', async () => {
  const library = await openTestLibrary(await createLibraryPath())
  const same = ['a', 'b', 'c'].map((path) => chunkOf(path, 'Light the lamp at dusk.'))
  const { source, summary } = await importInto(library, same)
  expect(summary).toMatchObject({ indexed: 3, skipped: 0, ledger: { states: { skipped: 0 } } })
  for (const path of ['a', 'b', 'c']) {
    await expect(findPage(library, { url: `${SITE}${path}` })).resolves.toMatchObject({ url: `${SITE}${path}`, source })
  }
  const to = await openTestLibrary(await createLibraryPath())
  const { verified } = await copyLibrary({ from: library, to })
  expect(verified.find(({ table }) => table.name === 'pages')).toMatchObject({ rows: 3, hashed: 3 })
})

test('one invalid chunk in a thousand makes the import change nothing', async () => {
  const path = await createLibraryPath()
  const library = await openTestLibrary(path)
  const { source } = await importInto(library, CHUNKS)
  const before = await readSourceContent(path, library, source, '')
  const many = Array.from({ length: 1000 }, (_, i) => chunkOf(`page/${i % 50}`, `Text ${i}.`))
  many[500] = { ...chunkOf('page/0', 'Text 500.'), last_updated: 'yesterday' }
  expect(() => importInto(library, many)).toThrow('chunks[500].last_updated: received "yesterday", give an ISO 8601')
  expect(await readSourceContent(path, library, source, '')).toEqual(before)
})

test('an import of half the pages removes the other half only with acceptLoss', async () => {
  const path = await createLibraryPath()
  const library = await openTestLibrary(path)
  const many = Array.from({ length: 60 }, (_, i) => chunkOf(`page/${i}`, `The lamp number ${i} burns.`))
  const { source } = await importInto(library, many)
  const before = await readSourceContent(path, library, source, '')
  const half = [chunkOf('page/0', 'Another text.'), ...many.slice(1, 30)]
  await expect(importInto(library, half)).rejects.toMatchObject({
    code: 'CRAWL_LOSS',
    details: { removable: 30, pages: 60 },
  })
  const otherPages = importInto(library, [chunkOf('other', 'Nothing of it.')])
  await expect(otherPages).rejects.toMatchObject({ code: 'CRAWL_LOSS', details: { removable: 60, pages: 60 } })
  expect(await readSourceContent(path, library, source, '')).toEqual(before)
  const accepted = await importInto(library, half, { acceptLoss: true })
  expect(accepted.summary).toMatchObject({ indexed: 1, unchanged: 29, removed: 30 })
})

test('an interrupted import is completed by the next import', async () => {
  const path = await createLibraryPath()
  const library = await openTestLibrary(path)
  const many = Array.from({ length: 40 }, (_, i) => chunkOf(`page/${i}`, `The lamp number ${i} burns.`))
  await importInto(
    library,
    many.map((one) => ({ ...one, text: `${one.text} Dimly.` })),
  )
  const parsed = parseImport({ source_url: SITE, chunks: many })
  const { source, input } = await prepareImport(library, parsed)
  const stop = new AbortController()
  const events: CrawlEvent[] = []
  for await (const event of crawlSource(library, source, input, stop.signal)) {
    events.push(event)
    if (event.type === 'settled') stop.abort()
  }
  expect(events.at(-1)).toMatchObject({ type: 'ended', summary: { end: 'cancelled' } })
  const { summary } = await importInto(library, many)
  expect(summary).toMatchObject({ end: 'completed', failed: 0, ledger: { states: { pending: 0, leased: 0 } } })
  expect(summary.indexed + summary.unchanged).toBe(40)
  const { pages } = await readSourceContent(path, library, source, '')
  expect([...pages.values()].filter(({ markdown }) => markdown.includes('Dimly'))).toEqual([])
})

test('an interrupted import resumes by itself, until it is done or removed', async () => {
  const path = await createLibraryPath()
  const library = await openTestLibrary(path)
  const before = Array.from({ length: 40 }, (_, i) => chunkOf(`page/${i}`, `The lamp number ${i} burns. Dimly.`))
  const after = before.slice(0, 30).map((one, i) => ({ ...one, text: `The horn number ${i} sounds.` }))
  await importInto(library, before)
  const interruptImport = async () => {
    const parsed = parseImport({ source_url: SITE, chunks: after })
    const { source, input } = await prepareImport(library, parsed, { acceptLoss: true })
    const stop = new AbortController()
    for await (const event of crawlSource(library, source, input, stop.signal)) {
      if (event.type === 'settled' && event.state === 'indexed') stop.abort()
    }
    return source
  }
  const source = await interruptImport()
  expect(writeStatus(await describeSource(library, source, 0), (...words) => words.join(' '), Date.now())).toMatch(
    /^PARTIAL: import interrupted: \d+ address(?:es)? not read; complete it with: recrawl docs\.example$/m,
  )
  const { notices } = await searchLibrary(library, { query: 'lamp' })
  expect(notices).toContainEqual(expect.stringContaining('the import of docs.example was interrupted'))
  const refresh = crawlSource(library, source, { kind: 'refresh' }, new AbortController().signal)
  await expect(refresh.next()).rejects.toMatchObject({ code: 'CRAWL_UNFINISHED' })

  // This library stands for another process, which has nothing but the stored data.
  const other = await openTestLibrary(path)
  const events: CrawlEvent[] = []
  for await (const event of crawlSource(other, source, { kind: 'recrawl' }, new AbortController().signal))
    events.push(event)
  expect(events.at(-1)).toMatchObject({ type: 'ended', summary: { end: 'completed', removed: 10 } })
  const { pages } = await readSourceContent(path, library, source, '')
  expect([...pages.values()].map(({ markdown }) => markdown.includes('horn'))).toEqual(Array(30).fill(true))
  expect((await searchLibrary(library, { query: 'horn' })).notices).toEqual([])
  const again = crawlSource(other, source, { kind: 'recrawl' }, new AbortController().signal)
  await expect(again.next()).rejects.toMatchObject({ code: 'SOURCE_IMPORTED' })

  await importInto(library, before)
  await interruptImport()
  expect(await library.imports?.list()).toEqual([source.id])
  const requests: CrawlRequest[] = []
  const enqueue = async (request: CrawlRequest) => requests.push(request)
  await recoverImports(library, { list: () => [], enqueue })
  await recoverImports(library, { list: () => [{ sourceId: source.id, endedAt: null }], enqueue })
  expect(requests).toMatchObject([{ sourceId: source.id, args: expect.arrayContaining(['--kind=recrawl']) }])
  await removeSource(library, source.id)
  expect(await library.imports?.list()).toEqual([])
})

test('an imported source cannot be crawled, and coexists with a crawl of the same site', async () => {
  const library = await openTestLibrary()
  const crawled = await addSource(library, { url: SITE })
  await expect(importInto(library, CHUNKS)).rejects.toMatchObject({ code: 'SOURCE_EXISTS' })
  const { source } = await importInto(library, CHUNKS, { name: 'guide', version: '1' })
  await expect(findSource(library, SITE)).resolves.toEqual(crawled)
  for (const kind of ['recrawl', 'refresh', 'retry'] as const) {
    const events = crawlSource(library, source, { kind }, new AbortController().signal)
    await expect(events.next()).rejects.toMatchObject({ code: 'SOURCE_IMPORTED', details: { source: 'guide@1' } })
  }
  await importInto(library, CHUNKS, { name: 'other', version: '1' })
  const unclear = importInto(library, CHUNKS, { version: '1' })
  await expect(unclear).rejects.toThrow('guide@1, other@1 were imported for https://docs.example/: choose one by name')
})

test('an import with embedding makes the vectors first, and a failure loses no stored data', async () => {
  const path = await createLibraryPath()
  const server = await openTeiServer()
  const { later, open, end } = createEmbedFixture()
  later(server)
  closeLater(end)
  const embedder = await open('tei', server)
  const library = { ...(await openTestLibrary(path)), openEmbedder: async () => embedder }
  const count = async () => library.vectors?.count()
  const { source } = await importInto(library, CHUNKS, { embed: true })
  expect(await count()).toMatchObject({ embedded: 5, chunks: 5 })
  const before = await readSourceContent(path, library, source, '')

  const changed = [{ ...CHUNKS[0], text: '# The lamp\n\nLight it at noon.' }, ...CHUNKS.slice(1)]
  server.setFault('POST /embed', { type: 'answer', status: 500, json: { error: 'down' } })
  await expect(importInto(library, changed, { embed: true })).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE' })
  await expect(importInto(library, CHUNKS, { name: 'new', embed: true })).rejects.toMatchObject({
    code: 'SERVICE_UNUSABLE',
  })
  expect(await readSourceContent(path, library, source, '')).toEqual(before)
  expect(await count()).toMatchObject({ embedded: 5, chunks: 5 })
  expect(await library.store.listSources()).toEqual([source])

  server.clearFaults()
  server.clearRequests()
  await importInto(library, changed, { embed: true })
  expect(await count()).toMatchObject({ embedded: 5, chunks: 5 })
  // Only the chunks of the changed page are embedded.
  expect(server.bodies('POST /embed').flatMap((body) => (body as { inputs: string[] }).inputs)).toHaveLength(3)

  // Without the option `embed`, vectors are made later, like those of a crawl.
  await importInto(library, CHUNKS)
  expect(await count()).toMatchObject({ embedded: 2, chunks: 5 })
  for await (const _ of embedLibrary(library));
  expect(await count()).toMatchObject({ embedded: 5, chunks: 5 })
})

test('a server stays responsive while it validates an import, and runs one import at a time', async () => {
  const library = await openTestLibrary()
  const chunks = Array.from({ length: 2000 }, (_, i) => chunkOf(`page/${i % 5}`, `Text ${i}.`))
  const sent = { source_url: SITE, chunks }
  const stop = new AbortController()
  let pauses = 0
  const clock: Clock = {
    now: () => library.clock.now(),
    sleep: (ms, signal) => {
      pauses++
      if (pauses === 8) stop.abort()
      return library.clock.sleep(ms, signal)
    },
  }
  // The import is aborted during validation.
  await expect(importRequest({ ...library, clock }, sent, { signal: stop.signal })).rejects.toThrow('aborted')
  expect(await library.store.listSources()).toEqual([])
  pauses = 10
  const importing = importRequest({ ...library, clock }, sent)
  await expect(importRequest(library, sent)).rejects.toMatchObject({ code: 'IMPORT_RUNNING' })
  await expect(importing).resolves.toMatchObject({ summary: { indexed: 5 }, isEmbedded: false, notice: null })
  // The count started at 10. About ten pauses are for validation, ten for building pages, and one for each of the five pages.
  expect(pauses).toBeGreaterThan(30)
})

test('a server makes vectors first if the library has some, and reports if it cannot', async () => {
  const server = await openTeiServer()
  const { later, open, end } = createEmbedFixture()
  later(server)
  closeLater(end)
  const embedder = await open('tei', server)
  const baseLibrary = await openTestLibrary(await createLibraryPath())
  const library = { ...baseLibrary, openEmbedder: async () => embedder }
  const sent = { source_url: SITE, chunks: CHUNKS }
  expect(await importRequest(library, sent)).toMatchObject({ isEmbedded: false, notice: null })
  for await (const _ of embedLibrary(library));
  const changed = { ...sent, chunks: [{ ...CHUNKS[0], text: '# The lamp\n\nLight it at noon.' }, ...CHUNKS.slice(1)] }
  server.setFault('POST /embed', { type: 'answer', status: 500, json: { error: 'down' } })
  await expect(importRequest(library, changed)).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE' })
  expect((await search(library, 'whale oil'))[0]?.url).toBe(`${SITE}lamp`)
  server.clearFaults()
  expect(await importRequest(library, changed)).toMatchObject({ isEmbedded: true, notice: null })
  expect(await library.vectors?.count()).toMatchObject({ embedded: 5, chunks: 5 })

  const modelless = { ...baseLibrary, openEmbedder: async () => undefined }
  expect(await importRequest(modelless, sent)).toMatchObject({
    isEmbedded: false,
    notice: expect.stringContaining('there is no model'),
  })
  await expect(importRequest(modelless, changed, { embed: true })).rejects.toMatchObject({ code: 'EMBEDDER_MISSING' })
  expect(await importRequest(modelless, changed, { embed: false })).toMatchObject({ isEmbedded: false, notice: null })
})

test('an import replaces the vectors of an earlier model, also for unchanged pages', async () => {
  const earlier = { model: 'earlier', fingerprint: 'e'.repeat(64), dimensions: 4 }
  const space = { ...earlier, model: 'present', fingerprint: 'p'.repeat(64) }
  let embeddedCount = 0
  const vectorAt = (number: number) => Float32Array.of(Math.cos(number), Math.sin(number), 0, 0)
  const embedder = {
    space,
    earlierSpaces: [earlier.fingerprint],
    embed: async (texts: readonly string[]) => texts.map(() => vectorAt(embeddedCount++)),
    close: async () => undefined,
  }
  const library = {
    ...(await openTestLibrary(await createLibraryPath())),
    openEmbedder: async () => embedder,
    embedsNew: true,
  }
  const { vectors } = library
  const old = { ...library, openEmbedder: async () => ({ ...embedder, space: earlier, earlierSpaces: [] }) }
  const sent = { source_url: SITE, chunks: CHUNKS }
  await importRequest(old, sent)
  for await (const _ of embedLibrary(old));
  expect(await vectors?.readSpace()).toMatchObject(earlier)
  embeddedCount = 0

  expect(await importRequest({ ...library, embedsNew: false }, sent)).toMatchObject({ isEmbedded: false })
  expect(await vectors?.readSpace()).toMatchObject(earlier)
  const changed = { ...sent, chunks: [{ ...CHUNKS[0], text: '# The lamp\n\nLight it at noon.' }, ...CHUNKS.slice(1)] }
  expect(await importRequest(library, changed)).toMatchObject({ isEmbedded: true, notice: null })
  expect(await vectors?.readSpace()).toMatchObject(space)
  for await (const _ of embedLibrary(library));
  expect(await vectors?.count()).toMatchObject({ embedded: 5, chunks: 5 })
  expect(embeddedCount).toBe(5)
})
