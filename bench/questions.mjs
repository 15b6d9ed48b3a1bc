// How often the right page ranks first for questions in the words of users, compared with a plain SQLite FTS5 query.
//
//   npm run bench questions -- --library <file> [--engines pharos,fts5] [--sets dev|test|<names>] [--before <checkout>]
//   npm run bench questions -- --crawl <file>        crawls the documentation sets into a library first
//
// The questions are in bench/questions, one file per documentation set; bench/questions/README.md explains how they were written. A page
// of grade 2 or 3 is right. `fts5` searches the same chunks: Porter stems, no stop words, words joined by OR, columns weighted title 4,
// headings 2, body 1. `--before` names a checkout of another version of this program, which gets the same questions on a copy of the
// library. Intervals are 95 %, by bootstrap over questions.
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { isStopWord } from '../dist/core/text/stop-words.js'
import { tokenize } from '../dist/core/text/tokenize.js'
import { connect, pharos } from './mcp-client.mjs'
import { option, printTable, quantile } from './measure.mjs'
import { crawlSets } from './questions/crawl-sets.mjs'

/** Weights and rules were tuned on `dev` only. */
const HALVES = {
  dev: ['apache2', 'celery', 'git', 'octave', 'postfix', 'postgresql', 'python', 'rust', 'scrapy', 'sphinx'],
  test: ['cmake', 'django', 'exim', 'glib', 'handbook', 'sqlalchemy', 'sqlite'],
}
const SAMPLES = 2000
const LIMIT = 10

const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
const openHandles = []
try {
  if (option('crawl') !== undefined) await crawlSets(option('crawl'))
  const library = option('crawl') ?? option('library')
  if (library === undefined) throw new Error('give --library <file> or --crawl <file>')
  const questions = readQuestions(chooseSets(option('sets')))
  const engines = await openEngines(library)
  const results = {}
  for (const [name, engine] of Object.entries(engines)) results[name] = await judgeAll(engine, questions)
  printResults(results, questions)
} finally {
  for (const handle of openHandles) await handle.close()
  rmSync(folder, { recursive: true, force: true })
}

function chooseSets(names = 'dev,test') {
  return names.split(',').flatMap((name) => HALVES[name] ?? [name])
}

function readQuestions(sets) {
  const here = fileURLToPath(new URL('questions/', import.meta.url))
  const files = readdirSync(here).filter((file) => file.endsWith('.jsonl') && sets.includes(file.slice(0, -6)))
  return files.flatMap((file) =>
    readFileSync(join(here, file), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  )
}

async function openEngines(library) {
  const engineNames = (option('engines') ?? 'pharos,fts5').split(',')
  const engines = {}
  if (option('before') !== undefined) {
    // The library is copied first: this program migrates its index, and the other version may not know the new format.
    const copy = join(folder, 'before.db')
    copyFileSync(library, copy)
    engines.before = await openPharos(copy, join(option('before'), 'pharos'))
  }
  if (engineNames.includes('pharos')) engines.pharos = await openPharos(library, pharos)
  if (engineNames.includes('fts5')) engines.fts5 = openFts5(library)
  return engines
}

async function openPharos(library, program) {
  const client = await connect(library, program)
  openHandles.push(client)
  return async ({ query, source }) => {
    const began = performance.now()
    const { content, structuredContent } = await client.ask('tools/call', {
      name: 'search_docs',
      arguments: { query: query.slice(0, option('before') === undefined ? query.length : 2000), source, limit: LIMIT },
    })
    const ms = performance.now() - began
    const { passages = [], more = [], relevance } = structuredContent ?? {}
    const text = content.map((block) => block.text).join('\n')
    const urls = [...passages, ...more].map(({ url }) => url.replace(/[?#].*$/, ''))
    return { urls: [...new Set(urls)], relevance, bytes: Buffer.byteLength(text), ms }
  }
}

function openFts5(library) {
  const db = new Database(library, { readonly: true })
  const index = new Database(':memory:')
  openHandles.push({ close: () => db.close() })
  index.exec(
    `CREATE VIRTUAL TABLE chunks USING fts5(title, headings, body, source UNINDEXED, url UNINDEXED, tokenize = 'porter unicode61')`,
  )
  const insert = index.prepare('INSERT INTO chunks VALUES (?, ?, ?, ?, ?)')
  const rows = db
    .prepare(
      `SELECT p.title, c.heading_path AS headings, c.content, s.name AS source, l.url
       FROM chunks c JOIN pages p ON p.id = c.page JOIN ledger l ON l.id = c.page JOIN sources s ON s.id = c.source ORDER BY c.id`,
    )
    .iterate()
  index.transaction(() => {
    for (const { title, headings, content, source, url } of rows) {
      insert.run(title, JSON.parse(headings).join(' '), content, source, url)
    }
  })()
  // Each set is searched alone, as with the other engines, but bm25() computes word rarity over all sets.
  const select = index.prepare(
    'SELECT url FROM chunks WHERE chunks MATCH ? AND source = ? ORDER BY bm25(chunks, 4, 2, 1) LIMIT 200',
  )
  return ({ query, source }) => {
    const words = tokenize(query).filter((word) => /^[\p{L}\p{N}]+$/u.test(word) && !isStopWord(word))
    const began = performance.now()
    const rows = words.length === 0 ? [] : select.all(words.map((word) => `"${word}"`).join(' OR '), source)
    return { urls: [...new Set(rows.map(({ url }) => url))].slice(0, LIMIT), ms: performance.now() - began }
  }
}

async function judgeAll(engine, questions) {
  const judged = []
  for (const question of questions) {
    const answer = await engine(question)
    const rightIndex = answer.urls.findIndex((url) => gradeOf(question, url) >= 2)
    judged.push({
      ...answer,
      question,
      rr: rightIndex < 0 ? 0 : 1 / (rightIndex + 1),
      isFirst: rightIndex === 0,
      isInFirstFive: rightIndex >= 0 && rightIndex < 5,
    })
  }
  return judged
}

function gradeOf({ judged = {} }, url) {
  return Math.max(0, ...Object.entries(judged).map(([end, grade]) => (url.endsWith(`/${end}`) ? grade : 0)))
}

function printResults(results, questions) {
  const isAnswerable = ({ question }) => question.unanswerable !== true
  const groups = [
    ...[...new Set(questions.map(({ source }) => source))]
      .toSorted((a, b) => (a < b ? -1 : 1))
      .map((set) => [set, ({ question }) => question.source === set]),
    ...Object.entries(HALVES).map(([half, sets]) => [
      `all of ${half}`,
      ({ question }) => sets.includes(question.source),
    ]),
  ]
  const rows = []
  for (const [group, isIn] of groups) {
    for (const [engine, all] of Object.entries(results)) {
      const members = all.filter((result) => isIn(result) && isAnswerable(result))
      if (members.length > 0) rows.push([group, engine, members.length, ...describe(members)])
    }
  }
  printTable(['set', 'engine', 'questions', 'MRR', '95 %', 'Hit@1', 'Hit@5'], rows)
  const { pharos: ours, ...others } = results
  if (ours === undefined) return
  for (const [half, sets] of Object.entries(HALVES)) {
    const ofHalf = ours.filter(({ question }) => sets.includes(question.source))
    if (ofHalf.length === 0) continue
    for (const [name, theirs] of Object.entries(others)) {
      const differences = ofHalf.filter(isAnswerable).map((result) => {
        return result.rr - theirs.find(({ question }) => question.id === result.question.id).rr
      })
      console.log(`${half}: MRR minus that of ${name} ${formatScore(mean(differences))} ${interval(differences)}`)
    }
    console.log(`${half}: ${describeRelevance(ofHalf)}`)
  }
  const times = ours.map(({ ms }) => ms)
  const bytes = mean(ours.filter(isAnswerable).map((result) => result.bytes))
  console.log(
    `answers: ${(bytes / 1000).toFixed(1)} kB of text; p50 ${quantile(times, 0.5).toFixed(1)} ms, p95 ${quantile(times, 0.95).toFixed(1)} ms`,
  )
}

function describe(judged) {
  const values = judged.map(({ rr }) => rr)
  const share = (key) => formatScore(mean(judged.map((result) => (result[key] ? 1 : 0))))
  return [formatScore(mean(values)), interval(values), share('isFirst'), share('isInFirstFive')]
}

function describeRelevance(judged) {
  const isDoubtful = ({ relevance }) => relevance === 'weak' || relevance === 'none'
  const count = (list) => `${list.filter(isDoubtful).length} of ${list.length}`
  const unanswerable = judged.filter(({ question }) => question.unanswerable)
  const rightFirst = judged.filter(({ isFirst }) => isFirst)
  return `relevance weak or none: ${count(unanswerable)} unanswerable questions, ${count(rightFirst)} with the right page first`
}

/** Bootstrap interval of 95 % of a mean. */
function interval(values) {
  let state = 1
  const random = () => {
    state = (Math.imul(state, 48271) >>> 0) % 0x7fffffff
    return state / 0x7fffffff
  }
  const means = Array.from({ length: SAMPLES }, () =>
    mean(values.map(() => values[Math.floor(random() * values.length)] ?? 0)),
  )
  return `${formatScore(quantile(means, 0.025))} to ${formatScore(quantile(means, 0.975))}`
}

function mean(values) {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

function formatScore(value) {
  return value.toFixed(3)
}
