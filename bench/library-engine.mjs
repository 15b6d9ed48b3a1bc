// Ranks documents with a whole library: each document becomes a page that is written and searched as in the product. Other benchmarks can
// load this module. They pass `[{ id, title, text }]` and call `search(query, k)`, which returns ids:
//
//   FUSION=convex|words LIBRARY=<address> node <benchmark> --module bench/library-engine.mjs
//
// Documents are embedded first, unless FUSION is `words`. The library is a new file unless LIBRARY names an empty database, such as
// postgres://user@host/database.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const DEPTH = 100

export default async function openEngine(docs, options = {}) {
  const { fusion = process.env.FUSION } = options
  const { path = process.env.LIBRARY } = options
  const { openLibrary } = await import('../dist/open-library.js')
  const { addSource } = await import('../dist/library/crawl/add-source.js')
  const { embedLibrary } = await import('../dist/library/embed/embed-library.js')
  const { searchLibrary } = await import('../dist/library/search/search-library.js')
  const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
  const library = await openLibrary({ path: path ?? join(folder, 'library.db'), version: '0.0.0' })
  const source = await addSource(library, { url: 'https://bench.example/', name: 'bench' })
  const crawlId = library.newId()
  await library.store.beginCrawl(createCrawl(crawlId, source.id), 60_000)
  for (const { id, title, text } of docs) await writeDocument(library, source.id, crawlId, `${id}`, title, text)
  await library.store.endCrawl(crawlId, null, Date.now())
  const begun = performance.now()
  if (fusion !== 'words') for await (const _ of embedLibrary(library));
  if (fusion !== 'words') console.error(`embedded in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  return {
    async search(query, k = DEPTH) {
      const input = { query, limit: k, tokens: 1, ...(fusion === undefined ? {} : { fusion }) }
      const { passages, more } = await searchLibrary(library, input)
      return [...passages, ...more].map(({ url }) => decodeURIComponent(new URL(url).pathname.slice(1)))
    },
    async close() {
      await library.close()
      rmSync(folder, { recursive: true })
    },
  }
}

async function writeDocument(library, sourceId, crawlId, id, title, text) {
  const url = `https://bench.example/${encodeURIComponent(id)}`
  const html = `<!doctype html><title>${escapeHtml(title)}</title><main><p>${escapeHtml(text)}</p></main>`
  const body = new TextEncoder().encode(html)
  const snapshot = { url, body, headers: { 'content-type': 'text/html; charset=utf-8' } }
  const { record } = await library.readPage(snapshot, url)
  // A document without text has no page.
  if (record === null) return
  const find = { key: url, url, host: 'bench.example', depth: 1, foundOn: null, discovery: 'manual', refusal: null }
  await library.store.adopt({ sourceId, crawlId, now: Date.now(), find, record, finds: [] })
}

function escapeHtml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

function createCrawl(id, sourceId) {
  const options = { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} }
  const now = Date.now()
  const times = { startedAt: now, heartbeatAt: now, endedAt: null }
  return { id, sourceId, kind: 'add', state: 'running', options, runner: null, ...times, summary: null }
}
