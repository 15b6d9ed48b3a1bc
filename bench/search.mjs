// Index build time, memory and query time of our search index compared with named peers, in one run.
//
//   npm run bench search [--chunks 20000] [--engines pharos,minisearch,lunr]
//
// Every engine runs in its own process, so that its memory can be measured, on the same generated chunks: a fixed seed and Zipf's law give
// every process the same library of about 1.2 KB per chunk without stored texts.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createChunk, createRandom, createWords, pickContent } from './corpus.mjs'
import { cpuSeconds, option } from './measure.mjs'

const chunkCount = Number(option('chunks') ?? 20_000)
const engineNames = (option('engines') ?? 'pharos,minisearch').split(',')
const fields = ['title', 'heading', 'symbol', 'path', 'body']
const limit = 10

const engines = {
  async pharos() {
    const { SearchIndex } = await import('../dist/core/search/search-index.js')
    const { textAnalyzer } = await import('../dist/core/text/analyzer.js')
    const index = new SearchIndex({
      fields: Object.fromEntries(fields.map((field) => [field, 1])),
      analyzer: textAnalyzer,
    })
    return {
      add: ({ id, ...texts }) => index.add(id, texts),
      // The first search builds the inverted lists, which belong to the cost of building.
      finish: () => index.search('warm up'),
      search: (query) => index.search(query, { limit }).map(({ key }) => key),
    }
  },
  async minisearch() {
    const { default: MiniSearch } = await import('minisearch')
    const index = new MiniSearch({ fields })
    return {
      add: (chunk) => index.add(chunk),
      finish: () => index.search('warm up'),
      search: (query) =>
        index
          .search(query)
          .slice(0, limit)
          .map(({ id }) => id),
    }
  },
  async lunr() {
    const { default: lunr } = await import('lunr')
    const builder = new lunr.Builder()
    builder.pipeline.add(lunr.trimmer, lunr.stopWordFilter, lunr.stemmer)
    builder.searchPipeline.add(lunr.stemmer)
    builder.ref('id')
    for (const field of fields) builder.field(field)
    let index
    return {
      add: (chunk) => builder.add(chunk),
      finish: () => {
        index = builder.build()
      },
      search: (query) =>
        index
          .search(query)
          .slice(0, limit)
          .map(({ ref }) => ref),
    }
  },
}

const child = option('child')
if (child) console.log(JSON.stringify(await measure(child)))
else compare()

function compare() {
  const results = engineNames.map((name) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--expose-gc', fileURLToPath(import.meta.url), '--child', name, '--chunks', String(chunkCount)],
      { encoding: 'utf8', maxBuffer: 1 << 26 },
    )
    if (status !== 0) throw new Error(`${name} failed: ${stderr}`)
    return JSON.parse(stdout)
  })
  const [ours] = results
  const rows = [
    ['index build, CPU s', 'buildCpu', 2],
    ['text indexed, MB a CPU s', 'throughput', 1],
    ['index memory, MB', 'memory', 1],
    ['resident set, MB', 'rss', 0],
    ['query mean, ms', 'mean', 3],
    ['query p50, ms', 'p50', 3],
    ['query p95, ms', 'p95', 3],
  ]
  console.log(
    `${chunkCount} chunks, ${ours.megabytes.toFixed(1)} MB of text, ${ours.queries} queries of 2 to 4 words, best ${limit}`,
  )
  console.log(['', ...results.flatMap(({ name }, i) => (i === 0 ? [name] : [name, '×']))].map(pad).join(''))
  for (const [label, key, digits] of rows) {
    const cells = results.flatMap((result, i) => {
      const value = result[key].toFixed(digits)
      return i === 0 ? [value] : [value, (result[key] / ours[key]).toFixed(2)]
    })
    console.log([label, ...cells].map(pad).join(''))
  }
}

function pad(cell, column) {
  return column === 0 ? cell.padEnd(28) : cell.padStart(12)
}

async function measure(name) {
  const random = createRandom(7)
  const words = createWords(50_000, random)
  const chunks = Array.from({ length: chunkCount }, (_, i) => createChunk(i, words, random))
  const queries = Array.from({ length: 2000 }, () => createQuery(words, random))
  const megabytes =
    chunks.reduce((sum, chunk) => sum + fields.reduce((n, field) => n + chunk[field].length, 0), 0) / 1e6

  const engine = await engines[name]()
  const before = usedMemory()
  const start = process.cpuUsage()
  for (const chunk of chunks) engine.add(chunk)
  engine.finish()
  const buildCpu = cpuSeconds(start)
  const memory = (usedMemory() - before) / 1e6
  const rss = process.memoryUsage().rss / 1e6

  for (const query of queries.slice(0, 200)) engine.search(query)
  const times = queries.map((query) => {
    const sentAt = performance.now()
    engine.search(query)
    return performance.now() - sentAt
  })
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length
  times.sort((a, b) => a - b)
  const [p50, p95] = [0.5, 0.95].map((share) => times[Math.floor(times.length * share)])
  const throughput = megabytes / buildCpu
  return { name, megabytes, queries: queries.length, buildCpu, throughput, memory, rss, mean, p50, p95 }
}

function usedMemory() {
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage() // `external` includes array buffers
  return heapUsed + external
}

/** Two to four words as users type them: content words, frequent ones more often. */
function createQuery(words, random) {
  return Array.from({ length: 2 + Math.floor(random() * 3) }, () => pickContent(words, random)).join(' ')
}
