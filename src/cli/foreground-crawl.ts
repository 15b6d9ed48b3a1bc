import type { Command } from 'commander'
import { type ErrorCode, messageOf, PharosError } from '../core/errors.ts'
import { writePercent } from '../core/text/count.ts'
import { writeDuration } from '../core/text/duration.ts'
import { urlKey } from '../core/url/key.ts'
import type { CrawlEvent, CrawlSummary, PauseCause } from '../crawl/events.ts'
import type { Clock } from '../crawl/ports.ts'
import { DEFAULT_CRAWL_LIMITS } from '../crawl/run.ts'
import { describeTime } from '../crawl/store-retry.ts'
import type { CrawlInput } from '../library/crawl/crawl-source.ts'
import { findStartUrl } from '../library/crawl/find-start.ts'
import { createNoteLogger } from '../library/crawl/log-notes.ts'
import { embedDuringCrawl } from '../library/embed/embed-during-crawl.ts'
import type { EmbedProgress } from '../library/embed/embed-library.ts'
import type { Library } from '../library/library.ts'
import { isTree } from '../library/ports/tree.ts'
import { hasPlan, labelOf, type Source } from '../library/source.ts'
import { findSource } from '../library/sources/find-source.ts'
import { REASON_WORDS, type Reason } from '../library/sources/ledger-words.ts'
import { capOf } from '../library/sources/source-status.ts'
import { AdvisedError } from './advised-error.ts'
import { interruptible } from './interrupt.ts'
import { createHintFor, type Hint, printableLabel, withLibrary } from './library.ts'
import { type CommonFlags, configOf } from './options/options.ts'
import { renderOf } from './options/render-option.ts'
import { type ScopeFlags, scopeWords } from './options/scope-options.ts'
import { isEmbedRequired } from './options/search-settings.ts'
import { countOf, printableLine, type Streams, Terminal } from './terminal.ts'
import { startAdvice } from './text/advice.ts'
import { hasNoPlaces, writeNoPlaces } from './text/no-places.ts'
import { ProblemLines } from './text/problem-lines.ts'
import { RateMeter, writeProgress, writeSettled } from './text/progress.ts'
import {
  type CrawlResult,
  MAX_EXAMPLES,
  summaryRecord,
  writeReasons,
  writeResumeCommand,
  writeShortSummary,
  writeSummary,
} from './text/summary.ts'
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
  /** Whether a source that cannot be embedded is a failure. */
  readonly isEmbedRequired: boolean
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
}

/** Opens the environment of a command that crawls, and closes it when the work ends. */
export async function withCrawlContext(
  command: Command,
  streams: Streams,
  work: (crawling: CrawlContext) => Promise<void>,
): Promise<void> {
  const config = configOf(command)
  const terminal = new Terminal(command.opts<CommonFlags>(), streams)
  const { maxAge: maxAgeMs, contactUrl, allowPrivate } = config.values
  // Private hosts are the user's own, so they need no contact address.
  const isIdentified = contactUrl !== '' || allowPrivate.length > 0
  const hintFor = (source: Source) => createHintFor(config, source)
  try {
    await interruptible(
      (signal) =>
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
              isEmbedRequired: isRequired,
              signal,
            })
          },
          scopeWords(command.opts<ScopeFlags>()),
        ),
      () => {
        if (terminal.isLive) terminal.note('stopping … (press Ctrl-C again to stop at once)')
      },
    )
  } finally {
    terminal.clear()
  }
}

/** Crawls an existing source. */
export async function crawlExisting(crawling: CrawlContext, text: string, input: CrawlInput): Promise<void> {
  const source = await findSource(crawling.library, text)
  if (isTree(source) && Object.keys(input.headers ?? {}).length > 0) {
    throw new PharosError('USAGE', { problem: `--header is for web sites, and ${labelOf(source)} is not one` })
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
  const result: CrawlResult = { source, summary, finalStartUrl, failures, ...content }
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
  if (terminal.isAnswerOnTerminal && content.pages > 0) {
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
    if (outcome.chunks > 0 && (isRequired || terminal.isAnswerOnTerminal)) terminal.note(writeSearchable(outcome))
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
function removedError({ store }: Library, source: Source, cause: unknown): PharosError {
  const nearest = ': it was removed while it was crawled'
  return new PharosError('SOURCE_UNKNOWN', { source: labelOf(source), library: store.location, nearest }, { cause })
}

/** The state needed to display the events of a crawl. */
interface EventView {
  readonly source: Source
  /** The page limit; null for no limit. */
  readonly cap: number | null
  /** Whether this is the first crawl of the source. */
  readonly isFirst: boolean
  /** Whether the user asked for the messages of the plan. */
  readonly showsPlan: boolean
  readonly problems: ProblemLines
  /** The messages of the milestones shown so far. */
  readonly milestones: Set<string>
  readonly terminal: Terminal
  readonly rate: RateMeter
  readonly clock: Clock
  /** How long the crawl waits while the disk is full. */
  readonly fullMs: number
}

function showEvent(event: CrawlEvent, view: EventView): void {
  const { source, cap, isFirst, terminal, rate } = view
  switch (event.type) {
    case 'started':
      if (event.isResumed) terminal.note(`resuming the interrupted crawl of ${printableLabel(source)}`)
      return
    case 'discovery':
      terminal.detail(
        printableLine(`${event.discovery} ${event.url}: ${event.detail}, ${countOf(event.found, 'address')} found`),
      )
      return
    case 'dropped': {
      // The user named this address with `--seed`, so a refusal must be reported.
      const isStripped = event.reason === 'query-skip' || event.reason === 'session-id'
      const isSeed = isFirst && !isStripped && isSeedOf(source, event.url)
      const note = `--seed ${event.url} will not be fetched: ${event.reason}, ${REASON_WORDS[event.reason]}`
      if (isSeed) terminal.note(printableLine(note))
      return
    }
    case 'settled':
      terminal.detail(writeSettled(event))
      return
    case 'paced':
      terminal.detail(
        printableLine(
          `${event.host} asks for ${event.askedMs / 1000} s between requests and gets ${event.intervalMs / 1000} s`,
        ),
      )
      return
    case 'held':
      showHold(event, view)
      return
    case 'parked':
      terminal.notice(printableLine(`${event.host} is skipped for the rest of this crawl: ${event.detail}`))
      return
    case 'paused':
      terminal.notice(
        printableLine(
          `paused: ${event.detail}; the crawl resumes ${RESUME_WORDS[event.cause]}${writeWaitLimit(event.cause, view)}`,
        ),
      )
      return
    case 'resumed':
      terminal.notice(`resumed after ${writeDuration(event.pausedMs)}`)
      return
    case 'milestone':
      view.milestones.add(event.message)
      terminal.note(printableLine(`milestone ${event.kind}: ${event.message}`))
      return
    case 'problem':
      view.problems.print(event)
      return
    case 'plan': {
      // The plan repeats milestones in its own messages.
      if (view.milestones.has(event.message)) return
      const line = printableLine(`[plan] ${event.message}`)
      if (view.showsPlan) terminal.note(terminal.noteColors.dim(line))
      else terminal.detail(line)
      return
    }
    case 'progress': {
      const pagesPerSecond = rate.add(event.elapsedMs, event.indexed + event.unchanged)
      terminal.live(writeProgress(printableLabel(source), event, pagesPerSecond, cap))
    }
  }
}

/** Says when a wait for disk space ends in failure. */
function writeWaitLimit(cause: PauseCause, { fullMs }: EventView): string {
  return cause === 'disk-full' ? `, and stops after ${describeTime(fullMs)}` : ''
}

/** Minimum wait that is always printed as a line. Shorter waits are printed with `--verbose` only. */
const MIN_REPORTED_WAIT_MS = 10_000

function showHold(event: Extract<CrawlEvent, { type: 'held' }>, { terminal, clock }: EventView): void {
  const { host, untilMs, reason, strikes } = event
  const waitMs = untilMs - clock.now()
  const why = reason === null ? 'it is still paused since an earlier crawl' : REASON_WORDS[reason]
  const times = strikes > 1 ? `, ${strikes} times in a row` : ''
  const line = printableLine(
    `${host}: ${why}${times}; next request in ${writeDuration(Math.ceil(waitMs / 1000) * 1000)}`,
  )
  if (waitMs >= MIN_REPORTED_WAIT_MS) terminal.notice(line)
  else terminal.detail(line)
}

/** Returns the cause that keeps the crawl paused after an event, if any. */
export function pauseCauseAfter(event: CrawlEvent, before: PauseCause | undefined): PauseCause | undefined {
  // A crawl that is short of memory continues with one visit at a time, and a requested pause needs no report, so neither counts.
  if (event.type === 'paused') return event.cause === 'memory' || event.cause === 'requested' ? before : event.cause
  return event.type === 'resumed' && event.cause === before ? undefined : before
}

/** The error if the crawl gave up waiting, by cause. */
const PAUSE_CODES: Readonly<Record<PauseCause, ErrorCode>> = {
  'disk-full': 'LIBRARY_FULL',
  locked: 'LIBRARY_LOCKED',
  unreachable: 'LIBRARY_UNREACHABLE',
  'read-only': 'LIBRARY_READ_ONLY',
  memory: 'INTERNAL',
  requested: 'INTERNAL',
}

/** When a paused crawl resumes, by cause. */
const RESUME_WORDS: Readonly<Record<PauseCause, string>> = {
  'disk-full': 'when there is free disk space',
  locked: 'when the library is unlocked',
  unreachable: 'when the library answers again',
  'read-only': 'when the library is writable again',
  memory: 'when enough memory is free',
  requested: 'when it is told to resume',
}

/** The error for a crawl that ended, but left out parts of the site because their hosts stayed unavailable. */
function parkedError({ source, summary }: EndedCrawl, hint: Hint): PharosError {
  const hosts = summary.parked.map(({ host }) => host).join(', ')
  const count = summary.ledger.reasons['failed/host-parked'] ?? 0
  const error = new PharosError('CRAWL_PARKED', { hosts, count })
  return new AdvisedError(error, `try again later: ${hint('retry', labelOf(source))}`)
}

function isSeedOf({ settings }: Source, url: string): boolean {
  return settings.seeds.length > 0 && settings.seeds.some((seed) => urlKey(seed) === urlKey(url))
}

/** Advice for a source that is a single file. */
const FILE_ADVICE: Readonly<Partial<Record<Reason, string>>> = {
  encrypted: 'save a copy without a password and add that copy',
  damaged: 'open it in the program that made it, and save it again',
  'too-large': 'allow more with maxFileBytes, or split it',
  'not-text': 'add a text, or a document such as a PDF',
  secret: 'files with credentials are never added, because agents search the library',
}

/** Advice for a source of files that gave no pages. */
function treeAdvice({ source, pages, summary }: EndedCrawl, hint: Hint): string {
  const fileAdvice = summary.vainReason === null ? undefined : FILE_ADVICE[summary.vainReason]
  if (pages > 0) {
    const advice = fileAdvice ?? `\`${hint('status', labelOf(source))}\` shows what was left out, and why`
    return `${advice}; its pages in the library are kept`
  }
  const { reasons } = summary.ledger
  const left = [writeReasons(reasons, 'skipped'), writeReasons(reasons, 'failed')].filter((part) => part !== '')
  return (
    fileAdvice ??
    (left.length === 0 ? 'binary and ignored files are not read: check the path' : `left out: ${left.join(', ')}`)
  )
}

/** The parts of a result that decide about failure. */
type EndedCrawl = Pick<CrawlResult, 'source' | 'summary' | 'pages'>

/** The error that a crawl ends the command with; undefined if the crawl has succeeded. */
export function findFailure(
  { signal, library }: Pick<CrawlContext, 'signal' | 'library'>,
  result: EndedCrawl,
  pausedBy: PauseCause | undefined,
  hint: Hint,
): PharosError | undefined {
  const { source, summary, pages } = result
  switch (summary.end) {
    case 'completed':
      return summary.parked.length === 0 ? undefined : parkedError(result, hint)
    case 'cancelled': {
      const advice = `nothing is lost; go on with: ${writeResumeCommand(source, summary.kind, hint)}`
      if (signal.aborted) return new AdvisedError(new PharosError('INTERRUPTED'), advice)
      if (pausedBy === undefined) return new PharosError('CRAWL_RUNNING', { source: labelOf(source) })
      const details = { library: library.store.location, problem: summary.problem ?? pausedBy }
      return new AdvisedError(new PharosError(PAUSE_CODES[pausedBy], details), advice)
    }
    case 'gate':
      return new PharosError('CRAWL_LOSS', { removable: summary.withheld, pages })
    case 'failed': {
      const { vainReason } = summary
      const problem = summary.problem ?? 'no reason was given'
      // A bug: the crawl failed without a reason.
      if (vainReason === null) return new PharosError('INTERNAL', { problem })
      const advice = isTree(source) ? treeAdvice(result, hint) : startAdvice(vainReason, result, hint)
      return new PharosError('CRAWL_START_FAILED', { problem, advice })
    }
  }
}
