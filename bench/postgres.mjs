// Cost of a library in PostgreSQL as it grows: of a crawled page by the size of the ledger, of writing a page and of a question by the
// number of chunks, of filters compared with a library in a file, and of a `tsvector` with GIN. Also the cost of each crawl operation on
// the server, which the simulation of docs/scale.md uses (test/scale/costs.ts).
//
//   npm run bench postgres [-- --parts ledger,operations,chunks,filters,tsvector] [--rows 10000,100000,1000000] [--chunks 10000,100000,500000]
//
// Starts its own PostgreSQL, in memory. CPU time is given separately for this process and for all server processes, because wall time
// depends on other load. The plans are read from the log of the server.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startPostgres } from '../test/postgres/server.ts'
import { createChunk, createRandom, createWords } from './corpus.mjs'
import { CHUNKS_PER_PAGE, createAdoption, createQueries, createSource } from './generated-pages.mjs'
import { cpuSeconds, option, printTable, quantile } from './measure.mjs'
import { serverCpu } from './server-cpu.mjs'
import { writeTsquery, writeTsvector } from './tsvector.mjs'

const parts = (option('parts') ?? 'ledger,operations,chunks,filters,tsvector').split(',')
const ledgerSizes = numbers('rows', [10_000, 100_000, 1_000_000])
const chunkSizes = numbers('chunks', [10_000, 100_000])
/** Pages measured at each size, and links per page, half of which are known. */
const VISITS = 250
const LINKS = 20
/** Chunks of each page that a visit stores; with so few, no index maintenance runs during the measurement. */
const CHUNKS_PER_VISIT = 1
const QUESTIONS = 300
/** Ledger rows without a page while operations and chunks are measured. */
const LEDGER_ROWS = 100_000
/** Runs before a measurement, so that statements are planned and data is in memory. */
const WARM_UP_RUNS = 50
/** Number of runs whose plans are examined. */
const EXPLAINED_RUNS = 20
/** Hosts with pending work, and the number of measurements for slow operations and for all others. */
const HOSTS = 500
const ROUNDS = 40
const RUNS = 2000

/** Settings with which the server logs the plan of every statement. */
const EXPLAIN_SETTINGS = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
}

/** A full scan of a table that grows with the library. */
const FULL_SCAN =
  /Seq Scan on (ledger|pages|links|chunks|url_aliases|index_blocks|vectors|open_hosts|host_counts|hosts)\b.*actual rows=(\d+)/
/** Full scans of fewer rows are not reported. */
const MIN_REPORTED_ROWS = 1000

const { openPostgresStore } = await import('../dist/store/postgres/store.js')
const server = startPostgres()
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.stop()
    process.exit(1)
  })
}
const admin = new pg.Client({ connectionString: server.addressOf('postgres') })
await admin.connect()
try {
  if (parts.includes('ledger')) await measureLedger()
  if (parts.includes('operations')) await measureOperations()
  if (parts.includes('chunks')) await measureChunks()
  if (parts.includes('filters')) await measureFilters()
  if (parts.includes('tsvector')) await measureTsvector()
} finally {
  await admin.end()
  server.stop()
}

/** Visits of a crawl with a growing ledger. */
async function measureLedger() {
  const name = 'ledger'
  const address = await createDatabase(name)
  const store = await openPostgresStore(address)
  await store.addSource(createSource())
  await store.offer('docs', 'crawl', [findOf('https://docs.test/start')], 1)
  const client = await connect(address)
  const visit = createVisits()
  const rows = []
  let first = 0
  for (const size of ledgerSizes) {
    first = await fillLedger(client, first, size)
    await visit(store, first, WARM_UP_RUNS)
    const usage = await measure(() => visit(store, first, VISITS), VISITS)
    const plans = await listPlans(name, (explained) => visit(explained, first, EXPLAINED_RUNS), EXPLAINED_RUNS)
    rows.push([size, usage, plans])
  }
  console.log(
    `\na visit that stores a page of ${CHUNKS_PER_VISIT} chunk and finds ${LINKS} links, ${LINKS / 2} of them known, by rows of the ledger`,
  )
  printGrowth(rows, 'visit')
  await client.end()
  await store.close()
}

/** Rows as in the crawl of a large site: most are read, some skipped or failed, and many are pending. */
async function fillLedger(client, first, size) {
  for (let from = first; from < size; from += 50_000) {
    await client.query(
      `INSERT INTO ledger (source, state, reason, depth, crawl, page_hash, key, url, host, discovery, first_seen_at, checked_at, changed_at)
       SELECT s.id, CASE WHEN i % 10 < 6 THEN 'indexed' WHEN i % 10 < 8 THEN 'skipped' WHEN i % 10 < 9 THEN 'failed' ELSE 'pending' END,
         CASE WHEN i % 10 IN (6, 7) THEN 'blocked' WHEN i % 10 = 8 THEN 'not-found' END, 1 + i % 9, c.id,
         CASE WHEN i % 10 < 6 THEN '\\x01'::bytea || sha256(i::text::bytea) END, key, key, 'h' || i % 50 || '.docs.test', 'link', 1,
         CASE WHEN i % 10 < 9 THEN i END, CASE WHEN i % 10 < 6 THEN i END
       FROM generate_series($1::bigint, $2::bigint - 1) i, sources s, crawl_ids c,
         LATERAL (SELECT 'https://h' || i % 50 || '.docs.test/section-' || i % 977 || '/page-' || i AS key) k`,
      [from, Math.min(size, from + 50_000)],
    )
  }
  await client.query('VACUUM ANALYZE ledger')
  return size
}

/** Cost of each operation on the server, in a crawl of many hosts by a process that holds few of them at once. */
async function measureOperations() {
  const address = await createDatabase('operations')
  const store = await openPostgresStore(address, { runner: 'bench' })
  await store.addSource(createSource())
  await store.beginCrawl(createCrawl(), 1e12)
  const client = await connect(address)
  await store.offer('docs', 'crawl', [findOf('https://docs.test/start')], 1)
  await fillLedger(client, 0, LEDGER_ROWS)
  for (let i = 0; i < 20; i++) await store.offer('docs', 'crawl', listFoundAddresses(HOSTS, i * HOSTS), 1)
  await client.query('VACUUM ANALYZE')
  await client.end()
  const sums = new Map()
  const add = async (name, count, work) => {
    const { server: cpuMs } = await measure(work, 1)
    const before = sums.get(name) ?? { cpuMs: 0, count: 0 }
    sums.set(name, { cpuMs: before.cpuMs + cpuMs, count: before.count + count })
  }
  const host = (i) => `h${i % HOSTS}.open.test`
  const now = (await measureVisits(store, add)) + 2000
  // Leases visits on the maximum number of hosts, so that a liveness signal covers all of them.
  await store.lease(requestAt(now))
  const others = {
    countOpen: () => store.countOpen('docs', now),
    countLedger: () => store.countLedger('docs'),
    listHeldHosts: () => store.listHeldHosts('docs', now, now),
    readClock: (i) => store.readClock(host(i), now),
    changeClock: (i) => store.changeClock(host(i), now, (clock) => ({ ...clock, nextAt: now })),
    robots: (i) => store.readRobots(`https://${host(i)}`),
    touch: () => store.touchCrawl('crawl', now, 'bench'),
  }
  for (const [name, work] of Object.entries(others)) {
    const repeat = (count) => async () => {
      for (let i = 0; i < count; i++) await work(i)
    }
    await repeat(WARM_UP_RUNS)()
    await add(name, RUNS, repeat(RUNS))
  }
  console.log(
    `\nCPU of the server for each operation, ${LEDGER_ROWS} rows in the ledger, ${HOSTS} hosts with pending visits, 24 of them held at once`,
  )
  printTable(
    ['operation', 'times', 'ms each'],
    [...sums].map(([name, { cpuMs, count }]) => [name, count, (cpuMs / count).toFixed(2)]),
  )
  await store.close()
}

/** Leases visits like a process with sixteen concurrent visits, and settles them. Returns the time afterwards. */
async function measureVisits(store, addCost) {
  const words = createWords(5000, createRandom(7))
  const random = createRandom(3)
  let now = Date.now()
  let pageCount = 0
  const settle = (visit, outcome) => store.settle({ visit, crawlId: 'crawl', now, ...outcome })
  const each = (visits, work) => async () => {
    for (const visit of visits) await work(visit)
  }
  const index = (visit) => {
    pageCount++
    const { record } = createAdoption([createChunk(pageCount, words, random)])
    const known = listFoundAddresses(LINKS / 2, pageCount)
    return settle(visit, {
      state: 'indexed',
      record,
      finds: [...known, ...listFoundAddresses(LINKS / 2, 1e6 + pageCount * LINKS)],
    })
  }
  for (let round = -2; round < ROUNDS; round++) {
    // The first rounds are not counted, because statements are still being planned.
    const add = round < 0 ? (_name, _count, work) => work() : addCost
    now += 2000
    let visits = []
    await add('lease', 1, async () => {
      visits = await store.lease(requestAt(now))
    })
    if (visits.length < 24) throw new Error(`only ${visits.length} visits are due`)
    const [indexed, unchanged, released] = [visits.slice(0, 12), visits.slice(12, 20), visits.slice(20)]
    await add('settle, a page and 20 links, half of them known', indexed.length, each(indexed, index))
    const confirm = (visit) => settle(visit, { state: 'unchanged', finds: listFoundAddresses(LINKS, 0) })
    await add('settle, nothing changed, 20 links that are known', unchanged.length, each(unchanged, confirm))
    await add(
      'release',
      released.length,
      each(released, (visit) => store.release([visit])),
    )
  }
  return now
}

function requestAt(now) {
  const [until, hostsUntil, horizon] = [now + 120_000, now + 30_000, now + 1000]
  return {
    sourceId: 'docs',
    crawlId: 'crawl',
    limit: 32,
    now,
    until,
    horizon,
    isBreadthFirst: false,
    maxHosts: 24,
    hostsUntil,
  }
}

function createCrawl() {
  const options = { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} }
  const progress = { state: 'running', runner: 'bench', startedAt: 1, heartbeatAt: 1, endedAt: null, summary: null }
  return { id: 'crawl', sourceId: 'docs', kind: 'add', options, ...progress }
}

/** Addresses on many hosts. */
function listFoundAddresses(count, first) {
  return Array.from({ length: count }, (_, i) => findOf(`https://h${(first + i) % HOSTS}.open.test/${first + i}`))
}

/** Returns a function that makes visits like a crawl. No two pages are the same. */
function createVisits() {
  const random = createRandom(3)
  const words = createWords(5000, createRandom(7))
  let now = Date.now()
  let pageCount = 0
  const visitOne = async (store, known, visit) => {
    const firstChunk = pageCount * CHUNKS_PER_VISIT
    const chunks = Array.from({ length: CHUNKS_PER_VISIT }, (_, i) => createChunk(firstChunk + i, words, random))
    const { record } = createAdoption(chunks)
    const finds = Array.from({ length: LINKS }, (_, i) => {
      const number = i % 2 === 0 ? Math.floor(random() * known) : pageCount * LINKS + i + 1e9
      return findOf(`https://h${number % 50}.docs.test/section-${number % 977}/page-${number}`)
    })
    const settled = await store.settle({ visit, crawlId: 'crawl', now, state: 'indexed', record, finds })
    if (settled.state !== 'indexed') throw new Error(`a visit became ${JSON.stringify(settled)}`)
    pageCount++
  }
  return async (store, known, count) => {
    for (let remaining = count; remaining > 0; ) {
      now += 60_000
      const request = { sourceId: 'docs', crawlId: 'crawl', limit: Math.min(16, remaining), now, until: now + 30_000 }
      const visits = await store.lease({ ...request, horizon: now + 30_000, isBreadthFirst: false })
      if (visits.length === 0) throw new Error('no visit is due')
      for (const visit of visits) await visitOne(store, known, visit)
      remaining -= visits.length
    }
  }
}

function findOf(url) {
  const { host } = new URL(url)
  return { key: url, url, host, depth: 2, foundOn: null, discovery: 'link', refusal: null }
}

/** Writes pages and asks questions with a growing number of chunks. */
async function measureChunks() {
  const name = 'chunks'
  const address = await createDatabase(name)
  const store = await openPostgresStore(address)
  await store.addSource(createSource())
  // Most addresses of a library have no page.
  await store.offer('docs', 'crawl', [findOf('https://docs.test/start')], 1)
  const ledgerClient = await connect(address)
  await fillLedger(ledgerClient, 0, LEDGER_ROWS)
  await ledgerClient.end()
  const { searchHits } = await import('../dist/library/search/hits.js')
  const questions = createQueries()
  const pages = createPages(store)
  const [writeRows, questionRows] = [[], []]
  let before = 0
  for (const size of chunkSizes) {
    const count = (size - before) / CHUNKS_PER_PAGE
    const writing = await measure(async () => {
      await pages.write(count)
      await store.indexMissingChunks()
    }, count)
    before = size
    const client = await connect(address)
    await client.query('VACUUM ANALYZE')
    await client.end()
    const ask = async (queries, searchedStore = store) => {
      for (const query of queries) await searchHits(searchedStore, { query, limit: 50 })
    }
    await ask(questions)
    const asking = await measure(() => ask(questions.slice(0, QUESTIONS)), QUESTIONS)
    const times = await timeEach(questions.slice(0, QUESTIONS), (query) => ask([query]))
    const explainQuestions = (explained) => ask(questions.slice(0, EXPLAINED_RUNS), explained)
    const explainWrites = (explained) => createPages(explained, `at ${size} `).write(EXPLAINED_RUNS)
    const plans = await listPlans(name, explainQuestions, EXPLAINED_RUNS)
    const writePlans = await listPlans(name, explainWrites, EXPLAINED_RUNS)
    writeRows.push([size, writing, writePlans])
    questionRows.push([size, asking, plans, times])
    // Progress output, because the largest size takes many minutes.
    console.error(`${size} chunks: CPU ms a page ${total(writing).toFixed(1)}, a question ${total(asking).toFixed(1)}`)
  }
  console.log(`\na page of ${CHUNKS_PER_PAGE} chunks, written and indexed, by chunks of the library`)
  printGrowth(writeRows, 'page')
  console.log(`\na question of 2 to 6 words, best 50 with their texts, by chunks of the library`)
  printGrowth(questionRows, 'question')
  printTable(
    ['', ...questionRows.map(([size]) => size)],
    [0.5, 0.95].map((share) => [
      `p${share * 100}, ms`,
      ...questionRows.map(([, , , times]) => quantile(times, share).toFixed(1)),
    ]),
  )
  await store.close()
}

function createPages(store, prefix = '') {
  const random = createRandom(7)
  const words = createWords(50_000, random)
  let pageCount = 0
  return {
    async write(count) {
      for (let page = 0; page < count; page++) {
        const chunks = Array.from({ length: CHUNKS_PER_PAGE }, () => createChunk(pageCount++, words, random))
        await store.adopt(createAdoption(chunks.map((chunk) => ({ ...chunk, id: prefix + chunk.id }))))
      }
    },
  }
}

/** Questions with filters, compared with the same library in a file. */
async function measureFilters() {
  const { openSqliteStore } = await import('../dist/store/sqlite/store.js')
  const { searchHits } = await import('../dist/library/search/hits.js')
  const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
  const stores = {
    file: await openSqliteStore(join(folder, 'library.db')),
    postgres: await openPostgresStore(await createDatabase('filters')),
  }
  for (const store of Object.values(stores)) {
    await store.addSource(createSource())
    await createPages(store).write(20_000 / CHUNKS_PER_PAGE)
    await store.indexMissingChunks()
  }
  const filters = {
    none: {},
    source: { sourceIds: ['docs'] },
    kind: { kind: 'markdown' },
    path: { path: '/c000' },
    language: { language: 'en' },
    heading: { heading: 'ea' },
    symbol: { symbol: 'ba' },
    'rare symbol': { symbol: 'chea' },
  }
  const rows = []
  for (const [name, filter] of Object.entries(filters)) {
    const times = { file: [], postgres: [] }
    // Alternately, so that other load affects both.
    for (const query of createQueries().slice(0, 200)) {
      for (const [kind, store] of Object.entries(stores)) {
        const since = performance.now()
        await searchHits(store, { query, limit: 50, filter })
        times[kind].push(performance.now() - since)
      }
    }
    const timeOf = (kind, share) => quantile(times[kind].slice(20), share)
    const both = (share) => ['file', 'postgres'].map((kind) => timeOf(kind, share).toFixed(1)).join(' / ')
    const ratio = (share) => (timeOf('postgres', share) / timeOf('file', share)).toFixed(1)
    rows.push([name, both(0.5), ratio(0.5), both(0.95), ratio(0.95)])
  }
  console.log('\n20,000 chunks, 200 questions in turns, best 50 with their texts, ms in a file / in PostgreSQL')
  printTable(['filter', 'p50', 'ratio', 'p95', 'ratio'], rows)
  for (const store of Object.values(stores)) await store.close()
  rmSync(folder, { recursive: true })
}

/**
 * PostgreSQL's own index for comparison: the same stems in a `tsvector`, candidates by GIN. Ranking them as our index does would need the
 * vectors of all candidates; the built-in `ts_rank` considers neither the rarity of a word nor the length of a text.
 */
async function measureTsvector() {
  const { textAnalyzer } = await import('../dist/core/text/analyzer.js')
  const { searchHits } = await import('../dist/library/search/hits.js')
  const address = await createDatabase('vectors')
  const store = await openPostgresStore(address)
  await store.addSource(createSource())
  const count = chunkSizes[0]
  const ours = await measure(async () => {
    await createPages(store).write(count / CHUNKS_PER_PAGE)
    await store.indexMissingChunks()
  }, count)
  const client = await connect(address)
  await client.query('CREATE TABLE texts (id bigint PRIMARY KEY, words tsvector NOT NULL)')
  await client.query('CREATE INDEX texts_by_word ON texts USING gin (words)')
  const { rows: chunks } = await client.query('SELECT id, heading_path || content AS text FROM chunks')
  const theirs = await measure(async () => {
    for (let at = 0; at < chunks.length; at += CHUNKS_PER_PAGE) {
      const batch = chunks.slice(at, at + CHUNKS_PER_PAGE)
      const words = batch.map(({ text }) => writeTsvector(textAnalyzer, text))
      const values = [batch.map(({ id }) => id), words]
      await client.query(
        'INSERT INTO texts SELECT id, words::tsvector FROM unnest($1::bigint[], $2::text[]) t (id, words)',
        values,
      )
    }
  }, count)
  await client.query('VACUUM ANALYZE')
  const methods = {
    'our blocks, best 50 with their texts': (query) => searchHits(store, { query, limit: 50 }),
    'GIN, number of candidates only': (query) =>
      client.query(`SELECT count(*) FROM texts WHERE words @@ $1::tsquery`, [query]),
    'GIN, candidates with their vectors': (query) =>
      client.query('SELECT id, words FROM texts WHERE words @@ $1::tsquery', [query]),
    'GIN, best 50 by ts_rank': (query) =>
      client.query(
        'SELECT id FROM texts, (SELECT $1::tsquery AS q) asked WHERE words @@ q ORDER BY ts_rank(words, q) DESC LIMIT 50',
        [query],
      ),
  }
  const rows = []
  let candidates = 0
  for (const [name, ask] of Object.entries(methods)) {
    const isOurs = name.startsWith('our')
    const questions = createQueries()
      .slice(0, QUESTIONS)
      .map((query) => (isOurs ? query : writeTsquery(textAnalyzer, query)))
    for (const query of questions) await ask(query)
    const times = []
    const usage = await measure(async () => {
      times.push(...(await timeEach(questions, ask)))
    }, QUESTIONS)
    if (name.includes('number')) {
      for (const query of questions) candidates += Number((await ask(query)).rows[0].count) / QUESTIONS
    }
    rows.push([
      name,
      usage.client.toFixed(1),
      usage.server.toFixed(1),
      ...[0.5, 0.95].map((share) => quantile(times, share).toFixed(1)),
    ])
  }
  const { rows: sizes } = await client.query(`SELECT (pg_total_relation_size('texts') / 1e6)::float AS theirs,
    ((pg_total_relation_size('index_blocks') + pg_total_relation_size('index_segments')) / 1e6)::float AS ours`)
  console.log(
    `\n${count} chunks, ${QUESTIONS} questions; ${candidates.toFixed(0)} chunks on average have at least one word of a question`,
  )
  printTable(['', 'CPU of the client, ms', 'of the server', 'p50, ms', 'p95'], rows)
  console.log(`vectors and GIN take ${sizes[0].theirs.toFixed(0)} MB, our index ${sizes[0].ours.toFixed(0)}`)
  console.log(
    `CPU ms a chunk: vectors and GIN alone ${(theirs.client + theirs.server).toFixed(2)}, our whole store with its index ${(ours.client + ours.server).toFixed(2)}`,
  )
  await client.end()
  await store.close()
}

function printGrowth(rows, unit) {
  const [[, first]] = rows
  printTable(
    ['', ...rows.map(([size]) => size)],
    [
      ['CPU of the client, ms', ...rows.map(([, usage]) => usage.client.toFixed(2))],
      ['CPU of the server, ms', ...rows.map(([, usage]) => usage.server.toFixed(2))],
      ['both ÷ those at the first size', ...rows.map(([, usage]) => (total(usage) / total(first)).toFixed(2))],
      [`ms a ${unit}`, ...rows.map(([, usage]) => usage.wall.toFixed(2))],
      [`plans a ${unit}, including triggers`, ...rows.map(([, , plans]) => plans.statements)],
      ['full scans of growing tables', ...rows.map(([, , plans]) => plans.fullScans.length)],
    ],
  )
  const [, , { indexes, fullScans }] = rows.at(-1)
  console.log(`indexes used at ${rows.at(-1)[0]}: ${indexes.join(', ')}`)
  for (const scan of fullScans) console.log(`FULL SCAN ${scan}`)
}

function total(usage) {
  return usage.client + usage.server
}

/** Cost per item of work on `count` items. */
async function measure(work, count) {
  const [clientBefore, serverBefore, since] = [process.cpuUsage(), serverCpu(server), performance.now()]
  await work()
  return {
    client: (cpuSeconds(clientBefore) * 1000) / count,
    server: ((serverCpu(server) - serverBefore) * 1000) / count,
    wall: (performance.now() - since) / count,
  }
}

async function timeEach(queries, work) {
  const times = []
  for (const query of queries) {
    const since = performance.now()
    await work(query)
    times.push(performance.now() - since)
  }
  return times
}

/** Summary of the plans that the server logs for the statements of a store, including those in triggers. */
async function listPlans(name, work, count) {
  for (const [setting, value] of Object.entries(EXPLAIN_SETTINGS)) {
    await admin.query(`ALTER DATABASE ${name} SET ${setting} TO '${value}'`)
  }
  const from = statSync(join(server.folder, 'log')).size
  const store = await openPostgresStore(server.addressOf(name))
  try {
    await work(store)
  } finally {
    await store.close()
    await admin.query(`ALTER DATABASE ${name} RESET ALL`)
  }
  const { statements, ...plans } = readPlans(readFileSync(join(server.folder, 'log')).subarray(from).toString())
  return { ...plans, statements: Math.round(statements / count) }
}

/** Summarises the plans of a log: their number, the indexes used, and full table scans. */
function readPlans(log) {
  const indexes = new Set()
  const fullScans = new Set()
  let statements = 0
  let text = ''
  for (const line of log.split('\n')) {
    if (line.includes('plan:')) statements++
    if (line.includes('Query Text:')) text = line.trim().slice(0, 200)
    const index = /Index (?:Only )?Scan (?:Backward )?using (\w+)|Bitmap Index Scan on (\w+)/.exec(line)
    if (index) indexes.add(index[1] ?? index[2])
    const scan = FULL_SCAN.exec(line)
    if (scan && Number(scan[2]) >= MIN_REPORTED_ROWS) fullScans.add(`${scan[1]}: ${text}`)
  }
  return { statements, indexes: [...indexes].sort((a, b) => (a < b ? -1 : 1)), fullScans: [...fullScans] }
}

async function createDatabase(name) {
  await admin.query(`CREATE DATABASE ${name}`)
  return server.addressOf(name)
}

/** A separate connection to the same tables. */
async function connect(address) {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  await client.query('SET search_path TO pharos')
  return client
}

function numbers(name, fallback) {
  return option(name)?.split(',').map(Number) ?? fallback
}
