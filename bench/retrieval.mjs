// Ranking quality of our search index compared with named peers, on a collection with relevance judgements.
//
//   npm run bench retrieval -- --collection <folder> [--engines pharos,minisearch,lunr] [--without stemming,title,…]
//   npm run bench retrieval -- --collection <folder> --engines library,library-model
//
// The folder holds docs.jsonl or docs.jsonl.gz (`{ "id", "title", "text" }` per line), queries.jsonl (`{ "id", "text" }` per line) and
// qrels.tsv (query, document and, if graded, relevance, separated by tabs): a form that Cranfield and BEIR convert to easily. `pharos` uses
// the fields and weights of the product. `--without` turns off parts of our ranking, several at once if joined by commas; `--title-weight
// 1` tries another weight. `library` is a whole library, searched by words as users do; `library-model` searches by words and meaning.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { option, printTable } from './measure.mjs'

const DEPTH = 100
const rankingParts = ['stemming', 'title', 'stop-words', 'pairs', 'joiners']
const collection = option('collection')
const engineNames = (option('engines') ?? 'pharos,minisearch,lunr').split(',')
const without = (option('without') ?? '').split(',').filter(Boolean)

const engines = {
  async pharos(docs) {
    const { SearchIndex } = await import('../dist/core/search/search-index.js')
    const { textAnalyzer } = await import('../dist/core/text/analyzer.js')
    const { stem } = await import('../dist/core/text/stem.js')
    const { FIELDS } = await import('../dist/core/pack/pack-index.js')
    const disabled = new Set(without)
    const analyzer = { ...textAnalyzer }
    if (disabled.has('joiners')) analyzer.stem = stem
    if (disabled.has('stemming')) analyzer.stem = (token) => token
    if (disabled.has('stop-words')) analyzer.isStopWord = () => false
    const fields = { ...FIELDS, title: Number(option('title-weight') ?? FIELDS.title) }
    const index = new SearchIndex({ fields, analyzer, ranking: disabled.has('pairs') ? { pairBonus: 0 } : {} })
    for (const { id, title, text } of docs) {
      index.add(id, disabled.has('title') ? { body: `${title}\n${text}` } : { title, body: text })
    }
    return (query) => index.search(query, { limit: DEPTH }).map(({ key }) => key)
  },
  library: (docs) => openLibraryEngine(docs, { fusion: 'words' }),
  'library-model': (docs) => openLibraryEngine(docs, { fusion: 'convex' }),
  async minisearch(docs) {
    const { default: MiniSearch } = await import('minisearch')
    const index = new MiniSearch({ fields: ['title', 'text'] })
    index.addAll(docs)
    return (query) => index.search(query).map(({ id }) => id)
  },
  async lunr(docs) {
    const { default: lunr } = await import('lunr')
    const index = lunr(function build() {
      this.ref('id')
      this.field('title')
      this.field('text')
      for (const doc of docs) this.add(doc)
    })
    // The query is plain words, but a colon or a hyphen is an operator in lunr's query language.
    return (query) => index.search(query.replace(/[^\p{L}\p{N}]+/gu, ' ')).map(({ ref }) => ref)
  },
}

if (collection === undefined) {
  fail('give --collection <folder> with docs.jsonl or docs.jsonl.gz, queries.jsonl and qrels.tsv')
}
for (const part of without) {
  if (!rankingParts.includes(part)) fail(`unknown part ${part}: --without takes ${rankingParts.join(', ')}`)
}
for (const name of engineNames) if (!(name in engines)) fail(`unknown engine ${name}`)

const docs = readLines('docs.jsonl').map((line) => JSON.parse(line))
const judged = readJudgements()
const queries = readLines('queries.jsonl')
  .map((line) => JSON.parse(line))
  .filter(({ id }) => judged.has(String(id)))

console.log(`${docs.length} documents, ${queries.length} queries with judged answers, best ${DEPTH}`)
const rows = []
for (const name of engineNames) {
  const search = await engines[name](docs)
  const scores = []
  for (const { id, text } of queries) {
    scores.push(judge((await search(text)).slice(0, DEPTH).map(String), judged.get(String(id))))
  }
  await search.close?.()
  const label = name === 'pharos' && without.length > 0 ? `${name} without ${without.join(', ')}` : name
  const means = ['ndcg', 'map', 'recall'].map((measure) => mean(scores.map((score) => score[measure])).toFixed(4))
  rows.push([label, ...means])
}
printTable(['', 'nDCG@10', 'MAP', 'recall'], rows)

/** Wraps a library like the other engines: a search function with `close`. */
async function openLibraryEngine(docs, options) {
  const { default: openEngine } = await import('./library-engine.mjs')
  const { search, close } = await openEngine(docs, options)
  return Object.assign((query) => search(query), { close })
}

/** The lines of a file of the collection, which may be compressed. */
function readLines(name) {
  const path = join(collection, name)
  if (existsSync(path)) return splitLines(readFileSync(path))
  if (existsSync(`${path}.gz`)) return splitLines(gunzipSync(readFileSync(`${path}.gz`)))
  return fail(`${collection} has neither ${name} nor ${name}.gz`)
}

function splitLines(bytes) {
  return bytes.toString('utf8').split('\n').filter(Boolean)
}

/** The relevant documents of each query, with their gains. */
function readJudgements() {
  const gains = new Map()
  for (const line of readLines('qrels.tsv')) {
    const [query, document, relevance] = line.trim().split('\t')
    const gain = relevance === undefined ? 1 : Number(relevance)
    if (!(gain > 0)) continue // also skips a header line
    if (!gains.has(query)) gains.set(query, new Map())
    gains.get(query).set(document, gain)
  }
  return gains
}

/** nDCG of the first ten, and average precision and recall of all results. */
function judge(ids, gains) {
  const ideal = discount([...gains.values()].sort((a, b) => b - a))
  let hits = 0
  let precisions = 0
  ids.forEach((id, i) => {
    if (gains.has(id)) precisions += ++hits / (i + 1)
  })
  const ndcg = discount(ids.map((id) => gains.get(id) ?? 0)) / ideal
  return { ndcg, map: precisions / gains.size, recall: hits / gains.size }
}

function discount(gains) {
  return gains.slice(0, 10).reduce((sum, gain, i) => sum + gain / Math.log2(i + 2), 0)
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function fail(message) {
  console.error(`bench retrieval: ${message}`)
  process.exit(2)
}
