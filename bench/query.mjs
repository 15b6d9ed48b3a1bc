// Questions to libraries of several sizes through the real stores, an SQLite file and PostgreSQL, compared with FTS5 and its bm25() and with
// a `tsvector` with GIN and its ts_rank(), on the same tokens.
//
//   npm run bench query [-- --chunks 10000,100000,1000000] [--engines sqlite,fts5,postgres,tsvector] [--limit 10] [--folder <folder>] [--check 1000]
//
// Every engine runs in its own process on the same generated chunks, 25 per page. A library is built page by page, as a crawl does. With
// `--folder`, libraries and the databases of the server are kept there, and used again by the next run. `--check` compares this many answers with those of the
// in-memory index, which scores every chunk.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { startPostgres } from '../test/postgres/server.ts'
import { createChunk, createRandom, createWords } from './corpus.mjs'
import { CHUNKS_PER_PAGE, createAdoption, createQueries, createSource } from './generated-pages.mjs'
import { connect } from './mcp-client.mjs'
import { cpuSeconds, option, printTable, quantile } from './measure.mjs'
import { serverCpu } from './server-cpu.mjs'
import { writeTsquery, writeTsvector } from './tsvector.mjs'

const sizes = (option('chunks') ?? '10000,100000').split(',').map(Number)
const engineNames = (option('engines') ?? 'sqlite,fts5,postgres,tsvector').split(',')
const limit = Number(option('limit') ?? 10)
const checkCount = Number(option('check') ?? 0)
const SERVER_ENGINES = ['postgres', 'tsvector']
/** Questions that are asked before the measurement. */
const WARM_UP = 50
/** An engine that takes longer gets fewer questions: a rank that reads all candidates takes minutes for some. */
const MAX_SECONDS = 200

const engines = { sqlite: openSqlite, fts5: openFts5, postgres: openPostgres, tsvector: openTsvector }

const child = option('child')
if (child) console.log(JSON.stringify(await runChild(child)))
else await compare()

async function compare() {
  const folder = option('folder') ?? mkdtempSync(join(tmpdir(), 'pharos-bench-'))
  mkdirSync(folder, { recursive: true })
  const kept = option('folder') && join(folder, 'postgres')
  const server = engineNames.some((name) => SERVER_ENGINES.includes(name)) ? startPostgres([], kept) : undefined
  try {
    for (const size of sizes) await compareAt(size, folder, server)
  } finally {
    server?.stop()
    if (option('folder') === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

async function compareAt(size, folder, server) {
  const results = []
  for (const name of engineNames) {
    const isOnServer = SERVER_ENGINES.includes(name)
    const place = isOnServer ? server.addressOf(`${name}${size}`) : join(folder, `${name}-${size}.db`)
    const isBuilt = isOnServer ? await hasDatabase(server, `${name}${size}`) : existsSync(place)
    const built = isBuilt ? {} : startChild('build', name, place, size, server)
    results.push({ name, ...built, ...startChild('ask', name, place, size, server) })
  }
  console.log(`\n${size} chunks, questions of 3 to 12 words, best ${limit}`)
  const rows = [
    ['library and index, page by page, CPU s', 'libraryCpu', 1],
    ['index alone, CPU s', 'indexCpu', 1],
    ['longest transaction, ms', 'longest', 0],
    ['index, MB', 'megabytes', 1],
    ['questions', 'queries', 0],
    ['first question of a process, ms', 'first', 1],
    ['question p50, ms', 'p50', 2],
    ['question p95, ms', 'p95', 2],
    ['question max, ms', 'max', 1],
    ['question, CPU ms', 'cpu', 2],
    ['question p95, CPU ms of the asking process', 'cpuP95', 2],
    ['60 words, ms', 'longQuery', 1],
    ['resident set of the asking process, MB', 'rss', 0],
    ['answers that differ from those of all scores', 'differing', 0],
    ['search_docs over MCP p50, ms', 'serverP50', 2],
    ['search_docs over MCP p95, ms', 'serverP95', 2],
    ['resident set of the MCP server, MB', 'serverRss', 0],
  ]
  printTable(
    ['', ...results.map(({ name }) => name)],
    rows.map(([label, key, digits]) => [label, ...results.map((result) => result[key]?.toFixed(digits) ?? '-')]),
  )
}

function startChild(task, name, place, size, server) {
  const options = { child: task, engine: name, place, chunks: size, limit, check: checkCount, server: server?.folder }
  const args = Object.entries(options).flatMap(([key, value]) => (value === undefined ? [] : [`--${key}`, `${value}`]))
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--max-old-space-size=8000', fileURLToPath(import.meta.url), ...args],
    { encoding: 'utf8', maxBuffer: 1 << 26 },
  )
  if (status !== 0) throw new Error(`${name} failed: ${stderr}`)
  return JSON.parse(stdout)
}

async function hasDatabase(server, name) {
  const admin = await connectTo(server.addressOf('postgres'))
  const { rowCount } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [name])
  await admin.end()
  return rowCount > 0
}

async function runChild(task) {
  const place = option('place')
  const engine = engines[option('engine')]
  if (task === 'ask') return { ...(await measureQuestions(engine(place), place)), ...(await measureServer(place)) }
  // A library that is not complete must not be used again.
  if (SERVER_ENGINES.includes(option('engine'))) {
    const admin = await connectTo(place.replace(/\w+(?=\?)/, 'postgres'))
    const name = option('engine') + sizes[0]
    await admin.query(`DROP DATABASE IF EXISTS ${name}_part`)
    await admin.query(`CREATE DATABASE ${name}_part`)
    const built = await engine(place.replace(name, `${name}_part`)).build(createChunks)
    await admin.query(`ALTER DATABASE ${name}_part RENAME TO ${name}`)
    await admin.end()
    return built
  }
  const built = await engine(`${place}.part`).build(createChunks)
  for (const suffix of ['-wal', '-shm']) rmSync(`${place}.part${suffix}`, { force: true })
  renameSync(`${place}.part`, place)
  return built
}

function* createChunks() {
  const random = createRandom(7)
  const words = createWords(50_000, random)
  for (let i = 0; i < sizes[0]; i++) yield createChunk(i, words, random)
}

function* createPages() {
  let page = []
  for (const chunk of createChunks()) {
    page.push(chunk)
    if (page.length < CHUNKS_PER_PAGE) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

/** Sends the same questions to the MCP server of a library in a file, which answers with passages. */
async function measureServer(path) {
  if (option('engine') !== 'sqlite') return {}
  const server = await connect(path)
  const times = []
  for (const query of createQueries(3, 12).slice(0, 300)) {
    const sentAt = performance.now()
    await server.call('search_docs', { query })
    times.push(performance.now() - sentAt)
  }
  const serverRss = server.rssMegabytes()
  await server.close()
  return { serverP50: quantile(times, 0.5), serverP95: quantile(times, 0.95), serverRss }
}

async function measureQuestions(engine) {
  const queries = createQueries(3, 12)
  const begun = performance.now()
  const { ask, find, close } = await engine.open()
  await ask('warm up')
  const first = performance.now() - begun
  const isLate = (since) => performance.now() - since > MAX_SECONDS * 1000
  for (const query of queries.slice(0, WARM_UP)) if (!isLate(begun)) await ask(query)
  const times = []
  const cpuTimes = []
  const cpuBefore = [process.cpuUsage(), readServerCpu()]
  const since = performance.now()
  for (const query of queries) {
    if (isLate(since)) break
    const sentAt = performance.now()
    const cpuSince = process.cpuUsage()
    await ask(query)
    times.push(performance.now() - sentAt)
    cpuTimes.push(cpuSeconds(cpuSince) * 1000)
  }
  const cpu = ((cpuSeconds(cpuBefore[0]) + readServerCpu() - cpuBefore[1]) * 1000) / times.length
  const [p50, p95, max] = [0.5, 0.95, 1].map((share) => quantile(times, share))
  const cpuP95 = quantile(cpuTimes, 0.95)
  const sentAt = performance.now()
  await ask(queries.slice(0, 8).join(' '))
  const longQuery = performance.now() - sentAt
  const rss = process.memoryUsage.rss() / 1e6
  const checked = find && checkCount > 0 ? { differing: await countDiffering(find, queries.slice(0, checkCount)) } : {}
  await close()
  return { queries: times.length, first, p50, p95, max, cpu, cpuP95, longQuery, rss, ...checked }
}

function readServerCpu() {
  return SERVER_ENGINES.includes(option('engine')) ? serverCpu({ folder: option('server') }) : 0
}

/** The number of answers that differ from those of the in-memory index in a chunk or in any bit of a score. */
async function countDiffering(find, queries) {
  const { SearchIndex } = await import('../dist/core/search/search-index.js')
  const { CHUNK_FIELDS, chunkFields } = await import('../dist/core/retrieval/chunk-fields.js')
  const { textAnalyzer } = await import('../dist/core/text/analyzer.js')
  const orders = []
  const pageOf = (key) => String(Math.floor((Number(key) - 1) / CHUNKS_PER_PAGE))
  const rankOf = (key) => orders[Number(key)]
  const index = new SearchIndex({ fields: CHUNK_FIELDS, analyzer: textAnalyzer, pageOf, rankOf })
  let number = 0
  for (const page of createPages()) {
    const { record } = createAdoption(page)
    for (const chunk of record.chunks) {
      orders[++number] = Number.parseInt(chunk.id.slice(0, 12), 16)
      index.add(String(number), chunkFields({ ...chunk, title: record.page.title }))
    }
  }
  let differing = 0
  for (const query of queries) {
    const found = (await find(query)).map((hit) => [hit.number, hit.score, hit.pageScore])
    const expected = index.search(query, { limit }).map(({ key, score, pageScore }) => [Number(key), score, pageScore])
    if (JSON.stringify(found) !== JSON.stringify(expected)) differing++
  }
  return differing
}

/** Writes all pages into a store, indexes them, and measures both. */
async function buildLibrary(store) {
  await store.addSource(createSource())
  const start = process.cpuUsage()
  const serverStart = readServerCpu()
  let longest = 0
  for (const page of createPages()) {
    const begun = performance.now()
    await store.adopt(createAdoption(page))
    longest = Math.max(longest, performance.now() - begun)
  }
  await store.indexMissingChunks()
  return { libraryCpu: cpuSeconds(start) + readServerCpu() - serverStart, longest }
}

/** How a store answers: with the texts of the hits, and as found. */
async function openStore(store) {
  const { searchHits } = await import('../dist/library/search/hits.js')
  return {
    ask: (query) => searchHits(store, { query, limit }),
    find: (query) => store.search({ query, limit }),
    close: () => store.close(),
  }
}

function openSqlite(path) {
  const open = async () => {
    const { openSqliteStore } = await import('../dist/store/sqlite/store.js')
    return openSqliteStore(path)
  }
  return {
    async build() {
      const store = await open()
      const built = await buildLibrary(store)
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
      return { ...built, indexCpu, megabytes }
    },
    open: async () => openStore(await open()),
  }
}

function openPostgres(address) {
  const open = async () => {
    const { openPostgresStore } = await import('../dist/store/postgres/store.js')
    return openPostgresStore(address)
  }
  return {
    async build() {
      const store = await open()
      const built = await buildLibrary(store)
      await store.close()
      const client = await connectTo(address)
      await client.query('VACUUM ANALYZE')
      const { rows } = await client.query(
        `SELECT ((pg_total_relation_size('index_blocks') + pg_total_relation_size('index_segments')) / 1e6)::float AS megabytes`,
      )
      await client.end()
      return { ...built, megabytes: rows[0].megabytes }
    },
    open: async () => openStore(await open()),
  }
}

/** PostgreSQL's own index: the same stems in a `tsvector`, candidates by GIN, and a rank that knows neither rare words nor long texts. */
function openTsvector(address) {
  return {
    async build(chunks) {
      const { textAnalyzer } = await import('../dist/core/text/analyzer.js')
      const client = await connectTo(address)
      await client.query('CREATE TABLE texts (id bigint PRIMARY KEY, words tsvector NOT NULL)')
      const [start, serverStart] = [process.cpuUsage(), readServerCpu()]
      let id = 0
      let batch = []
      const flush = async () => {
        await client.query(
          'INSERT INTO texts SELECT id, words::tsvector FROM unnest($1::bigint[], $2::text[]) t (id, words)',
          [batch.map((_, i) => id - batch.length + i + 1), batch],
        )
        batch = []
      }
      for (const { title, heading, symbol, body } of chunks()) {
        id++
        batch.push(writeTsvector(textAnalyzer, `${title} ${heading} ${symbol} ${body}`))
        if (batch.length === 512) await flush()
      }
      if (batch.length > 0) await flush()
      await client.query('CREATE INDEX texts_by_word ON texts USING gin (words)')
      const indexCpu = cpuSeconds(start) + readServerCpu() - serverStart
      await client.query('VACUUM ANALYZE')
      const { rows } = await client.query(`SELECT (pg_total_relation_size('texts') / 1e6)::float AS megabytes`)
      await client.end()
      return { indexCpu, megabytes: rows[0].megabytes }
    },
    async open() {
      const { textAnalyzer } = await import('../dist/core/text/analyzer.js')
      const client = await connectTo(address)
      const ask = (query) =>
        client.query(
          `SELECT id FROM texts, (SELECT $1::tsquery AS q) asked WHERE words @@ q ORDER BY ts_rank(words, q) DESC LIMIT ${limit}`,
          [writeTsquery(textAnalyzer, query)],
        )
      return { ask, close: () => client.end() }
    },
  }
}

async function connectTo(address) {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  await client.query('SET search_path TO pharos, public')
  return client
}

/** The former index of the store, an FTS5 table: stems joined by spaces, with positions, and one score over all columns. */
function openFts5(path) {
  const openFile = async () => {
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
      const { db, stemOf, visit } = await openFile()
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
    async open() {
      const { db, stemOf, visit, isStopWord } = await openFile()
      const select = db.prepare(
        `SELECT rowid, -bm25(chunk_index, 2.0, 1.5, 1.0) AS score FROM chunk_index WHERE chunk_index MATCH ?
         ORDER BY score DESC LIMIT ?`,
      )
      const ask = async (query) => {
        const words = new Set()
        visit(query, (token) => {
          if (!isStopWord(token)) words.add(`"${stemOf(token)}"`)
        })
        return words.size === 0 ? [] : select.all([...words].join(' OR '), limit)
      }
      return { ask, close: () => db.close() }
    },
  }
}

function sizeOf(db, tables) {
  return db.prepare('SELECT sum(pgsize) / 1e6 FROM dbstat WHERE name LIKE ?').pluck().get(tables)
}
