import { basename } from 'node:path'
import type { Command } from 'commander'
import { PharosError, usageError } from '../../core/errors.ts'
import { type JudgedQuery, parseQueries } from '../../core/search/judged-queries.ts'
import { METRICS, type Metric } from '../../core/search/metrics.ts'
import { decodeText } from '../../core/text/decode.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { type EvaluatedQuery, type EvaluationOptions, evaluateSearch } from '../../library/search/evaluate-search.ts'
import { FUSIONS, type Fusion } from '../../library/search.ts'
import type { OpenLibrary } from '../../open-library.ts'
import { ChecksFailedError } from '../checks-failed-error.ts'
import {
  checkSavePath,
  createBaseline,
  createRun,
  type EvalBaseline,
  MAX_BYTES,
  readRun,
  runRecord,
  saveRun,
} from '../eval-run.ts'
import { readInput } from '../input.ts'
import { addLibraryOptions, createHint, withLibrary } from '../library.ts'
import { type CommonFlags, collectRepeated, configOf, oneOf, wholeNumber } from '../options/options.ts'
import { SEARCH_SETTINGS } from '../options/search-settings.ts'
import { printableLine, type Streams, Terminal } from '../terminal.ts'
import { type MissedMinimum, writeEval } from '../text/eval-text.ts'

interface EvalFlags extends CommonFlags {
  readonly k: number
  readonly source?: readonly string[]
  readonly version?: string
  readonly save?: string
  readonly baseline?: string
  readonly against?: Fusion
  readonly min?: readonly Minimum[]
}

interface Minimum {
  readonly metric: Metric
  readonly least: number
}

/** `pharos eval <queries.tsv>` */
export function addEval(program: Command, streams: Streams): void {
  const command = program
    .command('eval')
    .description('measure how well search answers your own questions')
    .argument('<queries>', 'file with a query, a tab and what it should find on each line; - for standard input')
    .option('--k <count>', 'evaluate this many pages of each answer', wholeNumber('--k', 1), 10)
    .option('--source <source>', 'only this source; repeatable', collectRepeated)
    .option('--version <version>', 'only this version of the sources: exact, a range, latest, or * for all')
    .option('--save <file>', 'save the run, to compare later ones with')
    .option('--baseline <file>', 'compare with a run that was saved')
    .option('--against <how>', `compare with another way to search: ${FUSIONS.join(', ')}`, oneOf('--against', FUSIONS))
    .option('--min <metric=value>', `fail when a figure is lower: ${METRICS.join(', ')}; repeatable`, collectMinimum)
    .addHelpText(
      'after',
      `
What a query should find is a page, by its address or the end of it (library/json.html), or a chunk, by its id; several
are separated by |. A third column gives the grade that finding it is worth. Lines that begin with # are left out.

Examples:
  $ pharos eval queries.tsv --source guide --save before.json
  $ pharos eval queries.tsv --source guide --baseline before.json
  $ pharos eval queries.tsv --against words
  $ pharos eval queries.tsv --min success@1=0.8 --min mrr=0.85`,
    )
  addLibraryOptions(command, SEARCH_SETTINGS).action(async (path: string, flags: EvalFlags) => {
    const config = configOf(command)
    const terminal = new Terminal(flags, streams)
    const { k, save, against } = flags
    const queries = await readQueries(path)
    const saved = flags.baseline === undefined ? undefined : await readBaseline(flags.baseline, k)
    if (save !== undefined) await checkSavePath(save)
    await withLibrary(config, async (library) => {
      if ((await library.store.stats()).sources === 0) {
        const add = createHint(config)('add', '<url>')
        throw usageError(`${library.store.location} has no sources to search; add one: ${add}`)
      }
      const options = {
        k,
        ...withoutUndefined({ sources: flags.source, version: flags.version }),
      }
      const evaluated = await evaluate(library, queries, options, terminal)
      const run = createRun(evaluated, k, library.clock.now())
      const baselines: EvalBaseline[] = []
      if (against !== undefined) {
        const baselineResults = await evaluate(library, queries, { ...options, fusion: against }, terminal)
        baselines.push(createBaseline(against, createRun(baselineResults, k, library.clock.now()), run))
        if (run.engines.every((engine) => engine === 'words'))
          terminal.notice('no vectors were used, so every way to search matches words only')
      }
      if (saved !== undefined) baselines.push(createBaseline(basename(flags.baseline ?? ''), saved, run))
      const missed = (flags.min ?? []).flatMap(({ metric, least }): MissedMinimum[] => {
        const value = run.figures[metric]
        return value < least ? [{ metric, least, value }] : []
      })
      if (save !== undefined) await saveRun(save, run)
      terminal.answer(
        writeEval({ run, evaluated, baselines, missed, isVerbose: terminal.isVerbose }, terminal.answerColors),
        {
          ...runRecord(run),
          library: library.store.location,
          queries: evaluated.map(queryRecord),
          baselines: baselines.map(baselineRecord),
          missed,
        },
      )
      if (missed.length > 0) throw new ChecksFailedError(missed.map(({ metric }) => metric).join(', '))
    })
  })
}

/** Parses one `--min`. */
function collectMinimum(text: string, before: readonly Minimum[] = []): readonly Minimum[] {
  const [, name = '', value = ''] = /^\s*([^=]*?)\s*=\s*(\d+(?:\.\d+)?)\s*$/.exec(text) ?? []
  const least = Number(value)
  if (value === '' || least > 1) {
    const problem = `--min: expected a figure and a value from 0 to 1, such as success@1=0.8, got ${JSON.stringify(text)}`
    throw usageError(problem)
  }
  return [...before, { metric: oneOf('--min', METRICS)(name.toLowerCase()), least }]
}

async function readQueries(path: string): Promise<readonly JudgedQuery[]> {
  const { name, bytes } = await readInput(path, MAX_BYTES)
  const decoded = decodeText(bytes)
  const parsed = 'text' in decoded ? parseQueries(decoded.text) : { line: 1, problem: 'it is not UTF-8' }
  if ('problem' in parsed) {
    const problem = 'text' in decoded ? `line ${parsed.line}: ${parsed.problem}` : parsed.problem
    throw new PharosError('INPUT_UNREADABLE', { source: name, problem, advice: '`pharos help eval` shows the format' })
  }
  if (parsed.queries.length > 0) return parsed.queries
  const advice = 'write a query, a tab and what it should find on each line'
  throw new PharosError('INPUT_UNREADABLE', { source: name, problem: 'there is no query in it', advice })
}

/** Reads a saved run and checks that it is comparable with this one. */
async function readBaseline(path: string, k: number): ReturnType<typeof readRun> {
  const run = await readRun(path)
  if (run.k === k) return run
  const problem = `${path} was measured with --k ${run.k}, not ${k}: use the same --k`
  throw usageError(problem)
}

async function evaluate(
  library: OpenLibrary,
  queries: readonly JudgedQuery[],
  options: EvaluationOptions,
  terminal: Terminal,
): Promise<EvaluatedQuery[]> {
  const evaluated: EvaluatedQuery[] = []
  const notices = new Set<string>()
  for await (const result of evaluateSearch(library, queries, options)) {
    evaluated.push(result)
    for (const notice of result.notices) notices.add(notice)
    terminal.live(`${evaluated.length} of ${queries.length}: ${printableLine(result.query)}`)
  }
  terminal.clear()
  for (const notice of [...notices].slice(0, MAX_NOTICES)) terminal.notice(printableLine(notice))
  return evaluated
}

/** Maximum number of different notices that are shown. */
const MAX_NOTICES = 5

function queryRecord({ query, expectations, place, figures, found, ms }: EvaluatedQuery): Record<string, unknown> {
  return { query, expected: expectations, place, figures, found, ms }
}

function baselineRecord({ name, run, comparison, better, worse, unpaired }: EvalBaseline): Record<string, unknown> {
  const { queries: _, ...record } = runRecord(run)
  return { name, ...record, comparison, better, worse, unpaired }
}
