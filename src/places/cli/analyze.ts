import type { Command } from 'commander'
import { AdvisedError } from '../../cli/advised-error.ts'
import { interruptible, interruptibleAt } from '../../cli/interrupt.ts'
import { addLibraryOptions, createHint, type Hint, withLibrary } from '../../cli/library.ts'
import { type CommonFlags, configOf, wholeNumber } from '../../cli/options/options.ts'
import { countOf, printableLine, type Streams, Terminal, writeNumber } from '../../cli/terminal.ts'
import { hasNoPlaces, writeNoPlaces } from '../../cli/text/no-places.ts'
import { RateMeter, writeRate } from '../../cli/text/progress.ts'
import { PharosError, usageError } from '../../core/errors.ts'
import { writeDuration } from '../../core/text/duration.ts'
import { isoOrNull } from '../../core/text/iso-time.ts'
import { ANALYSIS_VERSION } from '../analysis/page-analysis.ts'
import type { AnalysisRun, RunOptions, RunProgress } from '../ports/analyses.ts'
import type { PlacesLibrary } from '../ports/places-library.ts'

interface AnalyzeFlags extends CommonFlags, Partial<Omit<RunOptions, 'verbose'>> {
  readonly runId?: string
  readonly frames?: boolean
}

/** `pharos analyze` */
export function addAnalyze(program: Command, streams: Streams): void {
  const count = (flag: string) => wholeNumber(flag, 1)
  const command = program
    .command('analyze')
    .description(
      'analyze stored pages (article or hub, places, key phrases, language) and hosts (news or not, milestones)',
    )
    .option(
      '--analysis-version <version>',
      `skip pages that this version has already analyzed (default: ${ANALYSIS_VERSION})`,
      count('--analysis-version'),
    )
    .option('--page-limit <count>', 'analyze at most this many pages (default: all)', count('--page-limit'))
    .option('--domain-limit <count>', 'analyze at most this many hosts (default: all)', count('--domain-limit'))
    .option('--skip-pages', 'do not analyze pages')
    .option('--skip-domains', 'do not analyze hosts')
    .option('--dry-run', 'show what would be found without storing it')
    .addHelpText(
      'after',
      '\nRun the command again to resume an interrupted run.\n\nExamples:\n  $ pharos analyze\n  $ pharos analyze --page-limit 1000 --dry-run\n  $ pharos analyze --json',
    )
  command.addOption(command.createOption('--run-id <uuid>', 'the run that a server recorded').hideHelp())
  command.addOption(command.createOption('--frames', 'print frames for a server').hideHelp())
  addLibraryOptions(command)
  command.action((flags: AnalyzeFlags) => {
    if ((flags.runId === undefined) !== (flags.frames !== true)) {
      throw usageError('--run-id and --frames are for servers, and go together')
    }
    return flags.runId === undefined ? analyze(command, flags, streams) : runForServer(command, flags.runId)
  })
}

/** Runs an analysis for a server: prints frames, and leaves unfinished work to the next process. */
async function runForServer(command: Command, runId: string): Promise<void> {
  const { runAnalysisProcess } = await import('./analysis-process.ts')
  const { stdin, stdout } = process
  await interruptible((signal) =>
    withLibrary(configOf(command), async (library) => {
      await runAnalysisProcess({ library, runId, stdin, stdout, signal })
      signal.throwIfAborted()
    }),
  )
}

async function analyze(command: Command, flags: AnalyzeFlags, streams: Streams): Promise<void> {
  const config = configOf(command)
  const terminal = new Terminal(flags, streams)
  await interruptibleAt(terminal, (signal) =>
    withLibrary(config, async (library) => {
      if (await hasNoPlaces(library)) terminal.note(writeNoPlaces(createHint(config)))
      const began = performance.now()
      const run = await analyzeInForeground({ library, terminal, signal }, optionsOf(flags)).catch(adviseToWait)
      if (run.status === 'cancelled') throw interruptedError(createHint(config), flags)
      terminal.answer(writeRun(run, performance.now() - began), runRecord(run))
    }),
  )
}

/** Returns only the options that were given, so that an interrupted run with the same options is recognised and resumed. */
function optionsOf(flags: AnalyzeFlags): Partial<RunOptions> {
  const { analysisVersion, pageLimit, domainLimit, skipPages, skipDomains, dryRun, verbose } = flags
  const options = { analysisVersion, pageLimit, domainLimit, skipPages, skipDomains, dryRun, verbose }
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

function interruptedError(hint: Hint, flags: AnalyzeFlags): AdvisedError {
  const words = Object.entries(optionsOf(flags)).flatMap(([name, value]) => {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    return value === true ? [flag] : [flag, String(value)]
  })
  return new AdvisedError(new PharosError('INTERRUPTED'), `nothing is lost; go on with: ${hint('analyze', ...words)}`)
}

/** Replaces the advice about the server API, because a user of the command line has no server to ask. */
function adviseToWait(error: unknown): never {
  if (!(error instanceof PharosError) || error.code !== 'ANALYSIS_RUNNING') throw error
  throw new AdvisedError(error, 'wait for it to end, then run the same command again')
}

/** The environment of a run in the foreground. */
interface AnalysisContext {
  readonly library: PlacesLibrary
  readonly terminal: Terminal
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
}

async function analyzeInForeground(
  { library, terminal, signal }: AnalysisContext,
  options: Partial<RunOptions>,
): Promise<AnalysisRun> {
  // Loaded on demand, because its word lists take a while to load.
  const { analyseLibrary } = await import('../runs/analyse-library.ts')
  const began = performance.now()
  const rate = new RateMeter()
  let pagesAtStart: number | undefined
  let ended: AnalysisRun | undefined
  for await (const event of analyseLibrary(library, { options }, signal)) {
    if (event.type === 'started' && event.isResumed) terminal.note(`resuming the run ${event.run.id}`)
    if (event.type === 'stage') terminal.detail(printableLine(`${event.stage}: ${event.message}`))
    if (event.type === 'progress') {
      pagesAtStart ??= event.progress.pages
      const perSecond = rate.add(performance.now() - began, event.progress.pages - pagesAtStart)
      terminal.live(writeAnalysisProgress(event.stage, event.progress, perSecond))
    }
    if (event.type === 'ended') ended = event.run
  }
  if (ended === undefined) throw new Error('the run ended without a result')
  return ended
}

/** `analyzing: 1,200 of 13,441 pages, 8 %, 320/s` */
export function writeAnalysisProgress(
  stage: string,
  { pages, totalPages, domains }: RunProgress,
  perSecond: number,
): string {
  if (stage !== 'pages') return `analyzing: ${countOf(pages, 'page')}, ${countOf(domains, 'host')}`
  const share = totalPages === 0 ? 100 : Math.min(100, Math.floor((100 * pages) / totalPages))
  const leftMs = perSecond > 0 ? Math.ceil((totalPages - pages) / perSecond) * 1000 : 0
  const facts = [
    `analyzing: ${writeNumber(pages)} of ${countOf(totalPages, 'page')}`,
    `${share} %`,
    `${writeRate(perSecond)}/s`,
    ...(leftMs <= 0 ? [] : [`${writeDuration(leftMs)} left`]),
  ]
  return facts.join(', ')
}

/** Summarises a run in a few lines. `ms` is the time since the run was started or resumed. */
function writeRun({ options, progress }: AnalysisRun, ms: number): string {
  const { pages, articles, navs, others, places, hubs, failed, domains, news, milestones } = progress
  const took = writeDuration(Math.ceil(ms / 1000) * 1000)
  const kinds = `${countOf(articles, 'article')}, ${countOf(navs, 'navigation page')}, ${countOf(others, 'other')}`
  const problems = failed === 0 ? [] : [`${countOf(failed, 'page')} could not be analyzed`]
  return [
    `${options.dryRun ? 'would analyze' : 'analyzed'} ${countOf(pages, 'page')} in ${took}: ${kinds}`,
    `${countOf(places, 'mention')} of places, ${countOf(hubs, 'place hub')}`,
    `${countOf(domains, 'host')}, ${writeNumber(news)} of them news; ${countOf(milestones, 'new milestone')}`,
    ...problems,
  ].join('\n')
}

function runRecord({ id, status, startedAt, endedAt, options, progress }: AnalysisRun): Record<string, unknown> {
  const { lastPage, totalPages, gazetteerRevision, ...counts } = progress
  return {
    ...{ run_id: id, status, started_at: isoOrNull(startedAt), ended_at: isoOrNull(endedAt) },
    analysis_version: options.analysisVersion,
    gazetteer_revision: gazetteerRevision,
    dry_run: options.dryRun,
    total_pages: totalPages,
    ...counts,
  }
}
