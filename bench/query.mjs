// Queries on a large library in an SQLite file through the real store, compared with FTS5 and its bm25() on the same tokens.
//
//   npm run bench query [--chunks 200000] [--engines pharos,fts5] [--limit 100]
//
// Every engine runs in its own process on the same generated chunks, 25 per page. The whole library is built page by page, as a crawl does.
// Then only the index is built again: the row `index alone` compares both engines.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Sqlite from 'better-sqlite3'
import { createChunk, createRandom, createWords } from './corpus.mjs'
import { CHUNKS_PER_PAGE, createAdoption, createQueries, createSource } from './generated-pages.mjs'
import { connect } from './mcp-client.mjs'
import { cpuSeconds, option, printTable, quantile } from './measure.mjs'

const chunkCount = Number(option('chunks') ?? 200_000)
const engineNames = (option('engines') ?? 'pharos,fts5').split(',')
const limit = Number(option('limit') ?? 100)

const engines = { pharos: openPharos, fts5: openFts5 }

const child = option('child')
if (child) {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
  try {
    console.log(JSON.stringify(await measure(child, join(folder, 'library.db'))))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
} else {
  compare()
}

function compare() {
  const results = engineNames.map((name) => {
    const args = [
      fileURLToPath(import.meta.url),
      '--child',
      name,
      '--chunks',
      String(chunkCount),
      '--limit',
      String(limit),
    ]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 26 })
    if (status !== 0) throw new Error(`${name} failed: ${stderr}`)
    return JSON.parse(stdout)
  })
  console.log(`${chunkCount} chunks, ${results[0].queries} queries of 2 to 6 words, best ${limit}`)
  const rows = [
    ['library and index, page by page, CPU s', 'libraryCpu', 1],
    ['index alone, CPU s', 'indexCpu', 1],
    ['longest transaction, ms', 'longest', 0],
    ['index in the file, MB', 'megabytes', 1],
    ['first query of a process, ms', 'first', 1],
    ['query p50, ms', 'p50', 2],
    ['query p95, ms', 'p95', 2],
    ['query max, ms', 'max', 1],
    ['60 words, ms', 'longQuery', 1],
    ['resident set of the querying process, MB', 'rss', 0],
    ['search_docs over MCP p50, ms', 'serverP50', 2],
    ['search_docs over MCP p95, ms', 'serverP95', 2],
    ['resident set of the MCP server, MB', 'serverRss', 0],
  ]
  printTable(
    ['', ...results.map(({ name }) => name)],
    rows.map(([label, key, digits]) => [label, ...results.map((result) => result[key]?.toFixed(digits) ?? '-')]),
  )
}

async function measure(name, path) {
  if (option('path') !== undefined) return measureQueries(name, option('path'))
  const random = createRandom(7)
  const words = createWords(50_000, random)
  const built = await engines[name](path).build(function* () {
    for (let i = 0; i < chunkCount; i++) yield createChunk(i, words, random)
  })
  // Queries run in another process, so that memory used for building does not count.
  const args = [fileURLToPath(import.meta.url), '--child', name, '--path', path, '--limit', String(limit)]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 26 })
  if (status !== 0) throw new Error(`${name} failed: ${stderr}`)
  const overMcp = name === 'pharos' ? await measureServer(path) : {}
  return { name, ...built, ...JSON.parse(stdout), ...overMcp }
}

/** Sends the same queries to the MCP server, which answers with passages. */
async function measureServer(path) {
  const server = await connect(path)
  const times = []
  for (const query of createQueries()) {
    const sentAt = performance.now()
    await server.call('search_docs', { query })
    times.push(performance.now() - sentAt)
  }
  const serverRss = server.rssMegabytes()
  await server.close()
  return { serverP50: quantile(times, 0.5), serverP95: quantile(times, 0.95), serverRss }
}

async function measureQueries(name, path) {
  const queries = createQueries()
  const begun = performance.now()
  const search = await engines[name](path).openSearch()
  await search('warm up')
  const first = performance.now() - begun
  for (const query of queries.slice(0, 50)) await search(query)
  const times = []
  for (const query of queries) {
    const sentAt = performance.now()
    await search(query)
    times.push(performance.now() - sentAt)
  }
  const [p50, p95, max] = [0.5, 0.95, 1].map((share) => quantile(times, share))
  const sentAt = performance.now()
  await search(queries.slice(0, 15).join(' '))
  const longQuery = performance.now() - sentAt
  return { queries: queries.length, first, p50, p95, max, longQuery, rss: process.memoryUsage.rss() / 1e6 }
}

function openPharos(path) {
  const open = async () => {
    const { openSqliteStore } = await import('../dist/store/sqlite/store.js')
    return openSqliteStore(path)
  }
  return {
    async build(chunks) {
      const store = await open()
      await store.addSource(createSource())
      const start = process.cpuUsage()
      let longest = 0
      let page = []
      const flush = async () => {
        if (page.length === 0) return
        const begun = performance.now()
        await store.adopt(createAdoption(page))
        longest = Math.max(longest, performance.now() - begun)
        page = []
      }
      for (const chunk of chunks()) {
        page.push(chunk)
        if (page.length === CHUNKS_PER_PAGE) await flush()
      }
      await flush()
      await store.indexMissingChunks()
      const libraryCpu = cpuSeconds(start)
      await store.close()
      const db = new Sqlite(path)
      const megabytes = sizeOf(db, 'index_%')
      db.exec(`UPDATE index_state SET format = 'outdated'`)
      db.close()
      const reopened = await open()
      const indexStart = process.cpuUsage()
      await reopened.indexMissingChunks()
      const indexCpu = cpuSeconds(indexStart)
      const { chunks: all, indexed } = await reopened.readIndexState()
      if (indexed < all) throw new Error(`the index has ${indexed} of ${all} chunks`)
      await reopened.close()
      return { libraryCpu, indexCpu, longest, megabytes }
    },
    async openSearch() {
      const { searchHits } = await import('../dist/library/search/hits.js')
      const store = await open()
      return (query) => searchHits(store, { query, limit })
    },
  }
}

/** The former index of the store, an FTS5 table: stems joined by spaces, with positions, and one score over all columns. */
function openFts5(path) {
  const open = async () => {
    const { textAnalyzer } = await import('../dist/core/text/analyzer.js')
    const db = new Sqlite(path)
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = NORMAL')
    db.pragma('cache_size = -16000')
    db.pragma('mmap_size = 268435456')
    const stems = new Map()
    const stemOf = (token) => {
      const stem = stems.get(token) ?? textAnalyzer.stem(token)
      stems.set(token, stem)
      return stem
    }
    const visit = (text, onToken) =>
      textAnalyzer.visitTokens(text, (source, start, end) => onToken(source.slice(start, end)))
    return { db, stemOf, visit, isStopWord: textAnalyzer.isStopWord }
  }
  return {
    async build(chunks) {
      const { db, stemOf, visit } = await open()
      db.exec(`CREATE VIRTUAL TABLE chunk_index USING fts5 (title, headings, body, content = '', contentless_delete = 1,
        tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\\]^_\`{|}~'")`)
      const insert = db.prepare('INSERT INTO chunk_index (rowid, title, headings, body) VALUES (?, ?, ?, ?)')
      const write = (text) => {
        let tokens = ''
        visit(text, (token) => {
          tokens += `${stemOf(token)} `
        })
        return tokens
      }
      let longest = 0
      let id = 0
      let cpu = 0
      const insertBatch = db.transaction((batch) => {
        for (const { title, heading, symbol, body } of batch) {
          insert.run(++id, write(title), write(`${heading}\n${symbol}`), write(body))
        }
      })
      let batch = []
      const flush = () => {
        const start = process.cpuUsage()
        const begun = performance.now()
        insertBatch(batch)
        longest = Math.max(longest, performance.now() - begun)
        cpu += cpuSeconds(start)
        batch = []
      }
      for (const chunk of chunks()) {
        batch.push(chunk)
        if (batch.length === 512) flush()
      }
      flush()
      const megabytes = sizeOf(db, 'chunk_index%')
      db.close()
      return { indexCpu: cpu, longest, megabytes }
    },
    async openSearch() {
      const { db, stemOf, visit, isStopWord } = await open()
      const select = db.prepare(
        `SELECT rowid, -bm25(chunk_index, 2.0, 1.5, 1.0) AS score FROM chunk_index WHERE chunk_index MATCH ?
         ORDER BY score DESC LIMIT ?`,
      )
      return async (query) => {
        const words = new Set()
        visit(query, (token) => {
          if (!isStopWord(token)) words.add(`"${stemOf(token)}"`)
        })
        return words.size === 0 ? [] : select.all([...words].join(' OR '), limit)
      }
    },
  }
}

function sizeOf(db, tables) {
  return db.prepare('SELECT sum(pgsize) / 1e6 FROM dbstat WHERE name LIKE ?').pluck().get(tables)
}
