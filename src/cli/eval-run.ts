import { existsSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { codeOf, PharosError, usageError } from '../core/errors.ts'
import { isJsonObject } from '../core/json/is-json-object.ts'
import { tryParseJson } from '../core/json/try-parse-json.ts'
import {
  averageMetrics,
  type Comparison,
  comparePairs,
  EPSILON,
  METRICS,
  type MetricValues,
  percentile,
} from '../core/search/metrics.ts'
import { decodeText } from '../core/text/decode.ts'
import type { EvaluatedQuery } from '../library/search/evaluate-search.ts'
import { VERSION } from '../version.ts'
import { AdvisedError } from './advised-error.ts'
import { readInput } from './input.ts'

/** The results of an evaluation. */
export interface EvalRun {
  readonly k: number
  readonly measuredAt: string
  readonly engines: readonly string[]
  readonly figures: MetricValues
  readonly p50Ms: number
  readonly p95Ms: number
  readonly queries: readonly EvalRunQuery[]
}

/** The result of one query. */
export type EvalRunQuery = Pick<EvaluatedQuery, 'query' | 'place' | 'figures'>

/** Summarises evaluated queries. */
export function createRun(evaluated: readonly EvaluatedQuery[], k: number, now: number): EvalRun {
  const times = evaluated.map(({ ms }) => ms)
  return {
    k,
    measuredAt: new Date(now).toISOString(),
    engines: [...new Set(evaluated.flatMap(({ engines }) => engines))],
    figures: averageMetrics(evaluated.map(({ figures }) => figures)),
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
    queries: evaluated,
  }
}

/** A run that the current run is compared with: an earlier run, or a run that searches in another way. */
export interface EvalBaseline {
  /** The name shown in the report. */
  readonly name: string
  readonly run: EvalRun
  /** Compared by nDCG, query by query. */
  readonly comparison: Comparison
  readonly better: readonly EvalChange[]
  readonly worse: readonly EvalChange[]
  /** The number of queries that only one of the two runs has. */
  readonly unpaired: number
}

/** A query whose result changed: the rank of the first expected page before and after. */
export interface EvalChange {
  readonly query: string
  readonly before: number | null
  readonly after: number | null
}

/** Compares the current run with another one, query by query. The largest changes come first. */
export function createBaseline(name: string, run: EvalRun, current: EvalRun): EvalBaseline {
  const resultsBefore = new Map(run.queries.map((result) => [result.query, result]))
  const pairs = current.queries.flatMap((after) => {
    const before = resultsBefore.get(after.query)
    return before === undefined ? [] : [{ before, after, gain: after.figures.ndcg - before.figures.ndcg }]
  })
  const changes = (sign: 1 | -1) =>
    pairs
      .filter(({ gain }) => gain * sign > EPSILON)
      .sort((a, b) => (b.gain - a.gain) * sign)
      .map(({ before, after }) => ({ query: after.query, before: before.place, after: after.place }))
  return {
    name,
    run,
    comparison: comparePairs(pairs.map(({ before, after }) => [before.figures.ndcg, after.figures.ndcg])),
    better: changes(1),
    worse: changes(-1),
    unpaired: run.queries.length + current.queries.length - 2 * pairs.length,
  }
}

/** A run in the format that is saved and printed as JSON. */
export function runRecord({
  k,
  measuredAt,
  engines,
  figures,
  p50Ms,
  p95Ms,
  queries,
}: EvalRun): Record<string, unknown> {
  return {
    format: FORMAT,
    pharos: VERSION,
    measured_at: measuredAt,
    k,
    engines,
    figures,
    p50_ms: p50Ms,
    p95_ms: p95Ms,
    queries: queries.map((result) => ({ query: result.query, place: result.place, figures: result.figures })),
  }
}

/** Must be increased when the format of a saved run changes. */
const FORMAT = 1

/** Reads a saved run. */
export async function readRun(path: string): Promise<EvalRun> {
  const { name, bytes } = await readInput(path, MAX_BYTES)
  const run = parseRun(bytes)
  if (run !== undefined) return run
  const advice = 'give a file that `pharos eval … --save <file>` has written'
  throw new PharosError('INPUT_UNREADABLE', { source: name, problem: 'it is not a run saved by eval', advice })
}

/** Size limit for query lists and saved runs. */
export const MAX_BYTES: number = 64 * 1024 * 1024

function parseRun(bytes: Uint8Array): EvalRun | undefined {
  const decoded = decodeText(bytes)
  const value = 'text' in decoded ? tryParseJson(decoded.text) : undefined
  if (!isJsonObject(value) || value['format'] !== FORMAT || !Array.isArray(value['queries'])) return undefined
  const { measured_at: measuredAt, k, engines, figures, p50_ms: p50Ms, p95_ms: p95Ms, queries } = value
  const isValid =
    typeof k === 'number' &&
    typeof measuredAt === 'string' &&
    Array.isArray(engines) &&
    engines.every((engine) => typeof engine === 'string') &&
    typeof p50Ms === 'number' &&
    typeof p95Ms === 'number' &&
    isFigures(figures) &&
    queries.every(isRunQuery)
  return isValid ? { measuredAt, k, engines, figures, p50Ms, p95Ms, queries } : undefined
}

function isRunQuery(value: unknown): value is EvalRunQuery {
  if (!isJsonObject(value) || typeof value['query'] !== 'string' || !isFigures(value['figures'])) return false
  return value['place'] === null || typeof value['place'] === 'number'
}

function isFigures(value: unknown): value is MetricValues {
  return isJsonObject(value) && METRICS.every((metric) => Number.isFinite(value[metric]))
}

/** Refuses to overwrite anything but a saved run, because a query list is easily named by mistake. */
export async function checkSavePath(path: string): Promise<void> {
  if (path === '') throw usageError('--save: expected the name of a file, got an empty one')
  if (!existsSync(path)) return
  const { bytes } = await readInput(path, MAX_BYTES)
  if (bytes.length > 0 && parseRun(bytes) === undefined) throw saveError(path, 'the file exists and is not a saved run')
}

/** Writes a temporary file and renames it, so that the file is always complete. */
export async function saveRun(path: string, run: EvalRun): Promise<void> {
  const temporary = `${path}.pharos-${process.pid}`
  try {
    await writeFile(temporary, `${JSON.stringify(runRecord(run))}\n`)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw saveError(path, codeOf(error) || String(error), error)
  }
}

function saveError(path: string, problem: string, cause?: unknown): AdvisedError {
  const refused = new PharosError('OUTPUT_REFUSED', { path, problem }, { cause })
  return new AdvisedError(refused, 'choose another file with --save')
}
