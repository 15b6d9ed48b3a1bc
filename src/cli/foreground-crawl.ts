import type { Command } from 'commander'
import { messageOf, PharosError, usageError } from '../core/errors.ts'
import { writePercent } from '../core/text/count.ts'
import { withoutUndefined } from '../core/without-undefined.ts'
import type { CrawlSummary, PauseCause } from '../crawl/events.ts'
import { DEFAULT_CRAWL_LIMITS } from '../crawl/run.ts'
import type { CrawlInput } from '../library/crawl/crawl-source.ts'
import { findStartUrl } from '../library/crawl/find-start.ts'
import { createNoteLogger } from '../library/crawl/log-notes.ts'
import { pauseCauseAfter } from '../library/crawl/pause-cause.ts'
import { embedDuringCrawl } from '../library/embed/embed-during-crawl.ts'
import type { EmbedProgress } from '../library/embed/embed-library.ts'
import type { Library } from '../library/library.ts'
import { isTree } from '../library/ports/tree.ts'
import { hasPlan, labelOf, type Source } from '../library/source.ts'
import { findSource } from '../library/sources/find-source.ts'
import { offerDocumentation } from '../library/sources/offer-documentation.ts'
import { capOf } from '../library/sources/source-status.ts'
import { findFailure } from './crawl-failure.ts'
import { interruptibleAt } from './interrupt.ts'
import {
  createHintFor,
  type Hint,
  openConfiguredLibrary,
  printableLabel,
  registriesOf,
  withLibrary,
} from './library.ts'
import { type CommonFlags, configOf } from './options/options.ts'
import { renderOf } from './options/render-option.ts'
import { type ScopeFlags, scopeWords } from './options/scope-options.ts'
import { isEmbedRequired } from './options/search-settings.ts'
import { printableLine, type Streams, Terminal } from './terminal.ts'
import { type EventView, showEvent } from './text/crawl-events.ts'
import { hasNoPlaces, writeNoPlaces } from './text/no-places.ts'
import { ProblemLines } from './text/problem-lines.ts'
import { RateMeter } from './text/progress.ts'
import { type CrawlResult, MAX_EXAMPLES, summaryRecord, writeShortSummary, writeSummary } from './text/summary.ts'
import { embedInForeground, requireEmbedder, shareOf, writeSkipped } from './verbs/embed.ts'

/** The environment of a command that crawls. */
export interface CrawlContext {
  readonly library: Library
  readonly terminal: Terminal
  readonly hintFor: (source: Source) => Promise<Hint>
  /** The freshness window from the configuration. */
  readonly maxAgeMs: number
  /** Whether the crawler identifies itself to the sites, or does not need to. */
  readonly isIdentified: boolean
  /** The private hosts that only the command line allows, so that no other crawl reaches them. */
  readonly givenPrivate: readonly string[]
  /** Whether a source that cannot be embedded is a failure. */
  readonly isEmbedRequired: boolean
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
  /** Whether the command itself ends with what to do next. @default false */
  readonly hasNextSteps?: boolean
}

/**
 * Opens the environment of a command that crawls, and closes it when the work ends. `project` is the folder whose settings of package
 * managers count too.
 */
export async function withCrawlContext(
  command: Command,
  streams: Streams,
  work: (crawling: CrawlContext) => Promise<void>,
  project?: string,
): Promise<void> {
  const config = configOf(command)
  const terminal = new Terminal(command.opts<CommonFlags>(), streams)
  const { maxAge: maxAgeMs, contactUrl, allowPrivate } = config.values
  // Private hosts are the user's own, so they need no contact address.
  const isIdentified = contactUrl !== '' || allowPrivate.length > 0
  const hintFor = (source: Source) => createHintFor(config, source)
  await interruptibleAt(terminal, (signal) =>
    withLibrary(
      config,
      async (library) => {
        const isRequired = isEmbedRequired(config)
        if (isRequired) await requireEmbedder(library)
        // A user at a terminal sees that the crawl waits, and can free disk space.
        const limits = terminal.isNoticeOnTerminal
          ? { ...library.limits, fullMs: DEFAULT_CRAWL_LIMITS.fullMs }
          : library.limits
        await work({
          library: { ...library, limits },
          terminal,
          hintFor,
          maxAgeMs,
          isIdentified,
          givenPrivate: config.origins.allowPrivate === 'flag' ? allowPrivate : [],
          isEmbedRequired: isRequired,
          signal,
        })
      },
      scopeWords(command.opts<ScopeFlags>()),
      () => openConfiguredLibrary(config, undefined, { registries: registriesOf(config, project) }),
    ),
  )
}

/** Crawls an existing source. */
export async function crawlExisting(crawling: CrawlContext, text: string, input: CrawlInput): Promise<void> {
  const source = await findSource(crawling.library, text)
  if (isTree(source) && Object.keys(input.headers ?? {}).length > 0) {
    throw usageError(`--header is for web sites, and ${labelOf(source)} is not one`)
  }
  await crawlInForeground(crawling, source, input)
}

/**
 * Crawls a source to its end, shows progress, and prints a summary. Failed addresses are part of the summary. A crawl without any page, one
 * that stopped at the loss gate, and an interrupted one are failures, reported after the summary.
 */
export async function crawlInForeground(crawling: CrawlContext, stored: Source, input: CrawlInput): Promise<void> {
  const { library, terminal, maxAgeMs, signal } = crawling
  const source = { ...stored, settings: { ...stored.settings, ...renderOf(input) } }
  // Loaded on demand: the crawler loads the list of public suffixes, which takes longer than most commands run.
  const { crawlSource } = await import('../library/crawl/crawl-source.ts')
  const hint = await crawling.hintFor(source)
  if (isPlanned(source, input) && (await hasNoPlaces(library))) terminal.note(writeNoPlaces(hint))
  terminal.live(`${printableLabel(source)}: starting`)
  const view: EventView = {
    source,
    cap: capOf(source, input.scope),
    isFirst: input.kind === 'add',
    showsPlan: (input.planner?.verbosity ?? 0) > 0,
    problems: new ProblemLines(terminal),
    milestones: new Set(),
    terminal,
    rate: new RateMeter(),
    clock: library.clock,
    fullMs: library.limits.fullMs,
  }
  let summary: CrawlSummary | undefined
  let pausedBy: PauseCause | undefined
  const logNote = createNoteLogger(library, source)
  const embedding = embedDuringCrawl(library, source)
  try {
    for await (const event of crawlSource(library, stored, { maxAgeMs, ...input }, signal)) {
      showEvent(event, view)
      embedding?.note(event)
      await logNote(event)
      pausedBy = pauseCauseAfter(event, pausedBy)
      if (event.type === 'ended') summary = event.summary
    }
  } catch (error) {
    throw isUnknownSource(error) ? removedError(library, source, error) : error
  } finally {
    await embedding?.stop()
  }
  view.problems.printRest(hint)
  if (summary === undefined) throw new Error('the crawl ended without a result')
  const { store } = library
  const content = await store.countContent(source.id)
  const failures = await store.listRows(source.id, { state: 'failed', limit: MAX_EXAMPLES })
  const finalStartUrl = await findStartUrl(library, source)
  const current = await findSource(library, source.id)
  const documentation = await offerDocumentation(library, current, content)
  // A schedule may have been set since the source was read.
  const described = { ...source, ...withoutUndefined({ refresh: current.refresh }) }
  const result: CrawlResult = { source: described, summary, finalStartUrl, failures, ...content, documentation }
  const failure = findFailure(crawling, result, pausedBy, hint)
  // If the start failed and there are no pages, the error alone is the result.
  if (failure?.code !== 'CRAWL_START_FAILED' || content.pages > 0) {
    const text = terminal.isQuiet ? writeShortSummary(result) : writeSummary(result, hint, terminal.answerColors)
    terminal.answer(text, summaryRecord(result))
  }
  if (failure !== undefined) throw failure
  if (terminal.isAnswerOnTerminal && !crawling.isIdentified && !isTree(source)) {
    terminal.note(terminal.noteColors.dim('set contactUrl so that sites can see who crawls them and how to reach you'))
  }
  if (terminal.isAnswerOnTerminal && content.pages > 0 && crawling.hasNextSteps !== true) {
    const command = `${hint('search', '…', '--source', labelOf(source))}`
    terminal.note(terminal.noteColors.dim(`search it: ${command}`))
  }
  await embedAfterCrawl(crawling, source)
}

/**
 * Embeds the chunks that a crawl left without a vector. The crawl counts as completed in any case: Ctrl-C skips the embedding, and a
 * failing model is an error only if `--embed` was given.
 */
export async function embedAfterCrawl(crawling: CrawlContext, source: Source): Promise<void> {
  const { library, terminal, signal, isEmbedRequired: isRequired } = crawling
  if (library.embedsNew !== true) return
  const hint = await crawling.hintFor(source)
  try {
    const live = (progress: EmbedProgress, pace: string) =>
      `${printableLabel(source)}: searchable now; meaning ${writePercent(shareOf(progress))}${pace}`
    const outcome = await embedInForeground({ library, terminal, signal, hint, writeLive: live }, [source])
    const isTold = outcome.made > 0 || (outcome.chunks > 0 && (isRequired || terminal.isAnswerOnTerminal))
    if (isTold) terminal.note(writeSearchable(outcome))
    if (outcome.skipped > 0) terminal.note(writeSkipped(outcome))
  } catch (error) {
    if (isRequired && !signal.aborted) throw error
    const advice = `go on with: ${hint('embed', 'run', labelOf(source))}`
    const why = signal.aborted ? 'embedding stopped' : `could not embed: ${printableLine(messageOf(error))}`
    terminal.note(`${why}; chunks without a vector are found by words only; ${advice}`)
  }
}

/** Says how a source can be searched after its chunks were embedded. */
function writeSearchable(outcome: EmbedProgress): string {
  if (outcome.refused === outcome.chunks)
    return 'searchable by words only: the embedding model does not support the language of these pages'
  return `searchable by words and by meaning (${writePercent(shareOf(outcome))})`
}

/** Whether a crawl uses a plan, which works better with a gazetteer. */
function isPlanned({ settings }: Source, { kind, crawlType = settings.crawlType }: CrawlInput): boolean {
  const findsNewPages = kind === 'add' || kind === 'recrawl'
  return findsNewPages && hasPlan(crawlType)
}

function isUnknownSource(error: unknown): boolean {
  return error instanceof PharosError && error.code === 'SOURCE_UNKNOWN'
}

/** The error for a source that another process removed during the crawl. */
function removedError({ store }: Pick<Library, 'store'>, source: Source, cause: unknown): PharosError {
  const nearest = ': it was removed while it was crawled'
  return new PharosError('SOURCE_UNKNOWN', { source: labelOf(source), library: store.location, nearest }, { cause })
}
