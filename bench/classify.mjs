// Measures how well articles are distinguished from other pages, compared with two baselines.
//
//   npm run bench classify -- --pages folder
//
// The folder holds `html/<id>.html.gz` and `truth.jsonl.gz` with id, type and url of each page, as the WCXB dataset provides them. Articles
// are compared with forums, listings and documentation. The rules were written with these pages in view, so two further rows use
// cross-validation with five folds. One row chooses the threshold of the score on the other folds. The other row fits all weights on
// them with plain logistic regression. All pages of a host are in the same fold.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { classifyPage, observePage, scoreArticle } from '../src/core/classify/classify-page.ts'
import { extractPage } from '../src/core/extract/extract-page.ts'
import { cpuSeconds, option, printTable } from './measure.mjs'

const TYPES = ['article', 'forum', 'listing', 'documentation']
const CLASSES = ['article', 'nav', 'other']
const FOLDS = 5

const folder = option('pages')
if (folder === undefined) {
  console.error('bench: give the folder of the pages: --pages folder')
  process.exit(2)
}
const pages = readPages(folder)
const truth = pages.map(({ type }) => type === 'article')

console.log(`${pages.length} pages`)
const start = process.cpuUsage()
const classes = pages.map(({ page }) => (page === null ? 'other' : classifyPage(page).kind))
console.log(`${((cpuSeconds(start) / pages.length) * 1000).toFixed(2)} ms of CPU a page, cold\n`)
printTable(
  ['type, and classified as', ...CLASSES],
  TYPES.map((type) => [
    type,
    ...CLASSES.map((kind) => String(pages.filter((page, i) => page.type === type && classes[i] === kind).length)),
  ]),
)

const signsByPage = pages.map(({ page }) => (page === null ? null : observePage(page).signs))
const scores = signsByPage.map((signs) => (signs === null ? Number.NEGATIVE_INFINITY : scoreArticle(signs)))
const wordCounts = pages.map(({ page }) => page?.wordCount ?? 0)
console.log('\nArticle against the rest')
printTable(
  ['', 'precision', 'recall', 'F1', 'accuracy'],
  [
    ['pharos', ...figures(classes.map((kind) => kind === 'article'))],
    ['pharos, threshold chosen on other folds', ...figures(acrossFolds(scores, bestThreshold))],
    ['the same signs, weights fitted on other folds', ...figures(classifyWithFittedWeights())],
    ['majority: no page is an article', ...figures(truth.map(() => false))],
    ['every page is an article', ...figures(truth.map(() => true))],
    ['word count, best threshold', ...figures(atLeast(wordCounts, bestThreshold(wordCounts, truth)))],
    ['word count, threshold chosen on other folds', ...figures(acrossFolds(wordCounts, bestThreshold))],
  ],
)

function readPages(from) {
  const lines = gunzipSync(readFileSync(join(from, 'truth.jsonl.gz')))
    .toString()
    .trim()
    .split('\n')
  return lines
    .map((line) => JSON.parse(line))
    .filter(({ type }) => TYPES.includes(type))
    .map(({ id, type, url }) => {
      const extraction = extractPage({ url, body: gunzipSync(readFileSync(join(from, 'html', `${id}.html.gz`))) })
      return {
        type,
        page: extraction.type === 'page' ? extraction.page : null,
        fold: foldOf(URL.parse(url)?.hostname ?? ''),
      }
    })
}

function foldOf(host) {
  return createHash('sha256').update(host).digest().readUInt32BE() % FOLDS
}

/** Precision, recall, F1 and accuracy of a prediction. */
function figures(predicted) {
  const count = (prediction, isArticle) =>
    predicted.filter((value, i) => value === prediction && truth[i] === isArticle).length
  const [hits, wrong, missed] = [count(true, true), count(true, false), count(false, true)]
  const share = (part, whole) => (whole === 0 ? 0 : part / whole).toFixed(3)
  return [
    share(hits, hits + wrong),
    share(hits, hits + missed),
    share(2 * hits, 2 * hits + wrong + missed),
    share(predicted.length - wrong - missed, predicted.length),
  ]
}

function atLeast(values, threshold) {
  return values.map((value) => value >= threshold)
}

/** The threshold with the best F1. */
function bestThreshold(values, isArticle) {
  let best = { threshold: 0, f1: -1 }
  for (const threshold of new Set(values)) {
    let hits = 0
    let wrong = 0
    for (const [i, value] of values.entries()) {
      if (value < threshold) continue
      if (isArticle[i]) hits++
      else wrong++
    }
    const f1 = (2 * hits) / (hits + wrong + isArticle.filter(Boolean).length)
    if (f1 > best.f1) best = { threshold, f1 }
  }
  return best.threshold
}

/** Classifies each page with the threshold chosen on the other folds. */
function acrossFolds(values, choose) {
  const thresholds = Array.from({ length: FOLDS }, (_, fold) => {
    const others = pages.flatMap((page, i) => (page.fold === fold ? [] : [i]))
    return choose(
      others.map((i) => values[i]),
      others.map((i) => truth[i]),
    )
  })
  return values.map((value, i) => value >= thresholds[pages[i].fold])
}

function classifyWithFittedWeights() {
  const names = Object.keys(signsByPage.find((signs) => signs !== null))
  const rows = signsByPage.map((signs) => (signs === null ? names.map(() => 0) : names.map((name) => signs[name])))
  const models = Array.from({ length: FOLDS }, (_, fold) =>
    fit(
      rows.filter((_, i) => pages[i].fold !== fold),
      truth.filter((_, i) => pages[i].fold !== fold),
    ),
  )
  return rows.map((row, i) => models[pages[i].fold](row) > 0)
}

/** Logistic regression by gradient descent, with weight decay. */
function fit(rows, isArticle, rounds = 1500, rate = 0.5, decay = 0.003) {
  const weights = rows[0].map(() => 0)
  let bias = 0
  const score = (row) => row.reduce((sum, value, k) => sum + value * weights[k], bias)
  for (let round = 0; round < rounds; round++) {
    const slopes = weights.map(() => 0)
    let slope = 0
    for (const [i, row] of rows.entries()) {
      const error = 1 / (1 + Math.exp(-score(row))) - Number(isArticle[i])
      slope += error
      for (const [k, value] of row.entries()) slopes[k] += error * value
    }
    bias -= (rate * slope) / rows.length
    for (const [k, value] of slopes.entries()) weights[k] -= rate * (value / rows.length + decay * weights[k])
  }
  return score
}
