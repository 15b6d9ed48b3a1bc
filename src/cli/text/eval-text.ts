import { METRICS, type Metric } from '../../core/search/metrics.ts'
import { writeList } from '../../core/text/list.ts'
import type { EvaluatedQuery } from '../../library/search/evaluate-search.ts'
import type { EvalBaseline, EvalChange, EvalRun } from '../eval-run.ts'
import { type Colors, countOf, printableLine, writeNumber } from '../terminal.ts'

/** The parts of the report. */
export interface EvalReport {
  readonly run: EvalRun
  readonly evaluated: readonly EvaluatedQuery[]
  readonly baselines: readonly EvalBaseline[]
  /** Metrics below their required minimum. */
  readonly missed: readonly MissedMinimum[]
  /** Whether every query is listed. */
  readonly isVerbose: boolean
}

/** A metric below its required minimum. */
export interface MissedMinimum {
  readonly metric: Metric
  readonly least: number
  readonly value: number
}

/** Maximum length of each list of queries without `--verbose`. */
const MAX_LISTED = 10

/** Writes the report: the metrics beside those of the baselines, the changes, and the queries that found no expected page. */
export function writeEval(report: EvalReport, colors: Colors): string {
  const { run, evaluated, baselines, missed, isVerbose } = report
  const maxListed = isVerbose ? Number.POSITIVE_INFINITY : MAX_LISTED
  const engines = run.engines.length === 0 ? '' : `, by ${writeList(run.engines)}`
  const blocks = [
    `${colors.bold(countOf(run.queries.length, 'question'))}${engines}, first ${run.k} pages`,
    writeFigures(run, baselines, colors),
    ...baselines.map((baseline) => writeChanges(baseline, maxListed, colors)),
    ...writeMisses(evaluated, maxListed, run.k, colors),
    ...(isVerbose ? [writeQueries(evaluated, colors)] : []),
    ...missed.map(({ metric, least, value }) => {
      // Not rounded further, because a rounded value could look sufficient.
      return `${colors.red('FAIL')}  ${nameOf(metric, run.k)} is ${Number(value.toFixed(6))}, expected at least ${least}`
    }),
  ]
  return blocks.join('\n\n')
}

const TITLES: Readonly<Record<Metric, string>> = {
  'success@1': 'success@1',
  'success@5': 'success@5',
  'success@10': 'success@10',
  mrr: 'MRR',
  ndcg: 'nDCG',
  recall: 'recall',
  precision: 'precision',
}

/** `nDCG@10` */
function nameOf(metric: Metric, k: number): string {
  return metric.includes('@') ? metric : `${TITLES[metric]}@${k}`
}

/** The metrics, and those of each baseline with the difference. */
function writeFigures(run: EvalRun, baselines: readonly EvalBaseline[], colors: Colors): string {
  const names = baselines.map(({ name }) => printableLine(name))
  // Wide enough for the name, and for a metric with its difference.
  const widths = names.map((name) => Math.max(name.length, FIGURE_WIDTH) + GAP)
  const line = (title: string, now: string, others: readonly string[]) =>
    `  ${title.padEnd(14)}${now.padStart(8)}${others.join('')}`
  const figures = METRICS.map((metric) => {
    const now = run.figures[metric]
    const others = baselines.map(({ run: { figures: before } }, i) => {
      const change = writeChange(now - before[metric])
      const paint = change.startsWith('+') ? colors.green : change.startsWith('−') ? colors.red : colors.dim
      return `${before[metric].toFixed(3).padStart((widths[i] ?? 0) - 8)}  ${paint(change)}`
    })
    return line(nameOf(metric, run.k), now.toFixed(3), others)
  })
  const times = (['p50Ms', 'p95Ms'] as const).map((name) => {
    const others = baselines.map(({ run: before }, i) =>
      writeMs(before[name])
        .padStart((widths[i] ?? 0) - 8)
        .padEnd(widths[i] ?? 0),
    )
    return line(`time ${name.slice(0, 3)}`, writeMs(run[name]), others).trimEnd()
  })
  const heads = names.map((name, i) => name.padStart(widths[i] ?? 0))
  return [...(names.length === 0 ? [] : [colors.dim(line('', 'now', heads))]), ...figures, ...times].join('\n')
}

/** Width of `0.850  +0.020`. */
const FIGURE_WIDTH = 13

/** Width of the gap between two runs. */
const GAP = 4

/** `+0.020`; a difference that rounds to zero has no sign. */
function writeChange(change: number): string {
  const written = Math.abs(change).toFixed(3)
  return `${Number(written) === 0 ? '±' : change > 0 ? '+' : '−'}${written}`
}

function writeMs(ms: number): string {
  return `${ms < 10 ? ms.toFixed(1) : writeNumber(Math.round(ms))} ms`
}

/** Differences with a p-value below this are significant. */
const SIGNIFICANCE_LEVEL = 0.05

function writeChanges(
  { name, comparison, better, worse, unpaired }: EvalBaseline,
  maxListed: number,
  colors: Colors,
): string {
  const { wins, losses, ties, chance } = comparison
  const verdict = chance < SIGNIFICANCE_LEVEL ? 'unlikely to be chance' : 'may be chance'
  const significance =
    wins + losses === 0
      ? ''
      : ` (sign test p = ${chance < 0.001 ? chance.toExponential(0) : chance.toFixed(3)}: ${verdict})`
  const others = unpaired === 0 ? [] : [`  left out: ${countOf(unpaired, 'question')} missing in one of the runs`]
  return [
    `against ${printableLine(name)}: ${wins} better, ${losses} worse, ${ties} the same${significance}`,
    ...others,
    ...listChanges('worse', worse, maxListed, colors.red),
    ...listChanges('better', better, maxListed, colors.green),
  ].join('\n')
}

function listChanges(
  word: string,
  changes: readonly EvalChange[],
  maxListed: number,
  paint: (text: string) => string,
): string[] {
  const listed = changes.slice(0, maxListed).map(({ query, before, after }) => {
    return `  ${paint(word.padEnd(6))}  ${writeRank(before).padStart(3)} → ${writeRank(after).padEnd(3)}  ${printableLine(query)}`
  })
  return [...listed, ...writeRest(changes.length - listed.length, ` ${word}`)]
}

function writeRest(count: number, word: string): string[] {
  return count > 0 ? [`  … and ${count} more${word} (--verbose)`] : []
}

/** A rank, or a dash. */
function writeRank(place: number | null): string {
  return place === null ? '–' : String(place)
}

/** Lists the queries whose answer has no expected page, each with its first hit. */
function writeMisses(evaluated: readonly EvaluatedQuery[], maxListed: number, k: number, colors: Colors): string[] {
  const misses = evaluated.filter(({ figures }) => figures.recall === 0)
  if (misses.length === 0) return []
  const listed = misses.slice(0, maxListed).map(({ query, expectations, found }) => {
    const expected = expectations.map((expectation) => expectation.expected).join(' or ')
    const first = found[0] === undefined ? 'nothing was found' : `first: ${shortAddress(found[0])}`
    return `  ${printableLine(query)}\n    ${colors.dim(printableLine(`expected: ${expected}; ${first}`))}`
  })
  return [
    [
      `no expected page among the first ${k}: ${countOf(misses.length, 'question')}`,
      ...listed,
      ...writeRest(misses.length - listed.length, ''),
    ].join('\n'),
  ]
}

/** An address without its origin. */
function shortAddress(url: string): string {
  return url.replace(/^[a-z]+:\/\/[^/]*\//i, '')
}

/** Lists every query with its rank: `    1  1.000    3.2 ms  retry after`. */
function writeQueries(evaluated: readonly EvaluatedQuery[], colors: Colors): string {
  const lines = evaluated.map(({ query, place, figures, ms }) => {
    const figure = `${writeRank(place).padStart(5)}  ${figures.ndcg.toFixed(3)}`
    return `${figure}  ${colors.dim(writeMs(ms).padStart(8))}  ${printableLine(query)}`
  })
  return [colors.dim('place   nDCG      time  question'), ...lines].join('\n')
}
