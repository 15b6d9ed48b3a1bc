import type { Command } from 'commander'
import { PharosError } from '../core/errors.ts'
import type { CrawlEvent, CrawlSummary } from '../crawl/events.ts'
import type { Library } from '../library/library.ts'
import type { CrawlInput } from '../library/operations/crawl-source.ts'
import { findSource, labelOf } from '../library/operations/find-source.ts'
import type { Source } from '../library/source.ts'
import { interruptible } from './interrupt.ts'
import { createHint, type Hint, nameOf, withLibrary } from './library.ts'
import { type CommonFlags, configOf } from './options.ts'
import { PageRate, writeProgress, writeSettled } from './progress.ts'
import { startAdvice } from './reasons.ts'
import { type CrawlResult, MAX_EXAMPLES, summaryRecord, writeSummary } from './summary.ts'
import { countOf, printableLine, type Streams, Terminal } from './terminal.ts'

/** What a verb that crawls works with. */
export interface Crawling {
  readonly library: Library
  readonly terminal: Terminal
  readonly hint: Hint
  /** From the configuration. */
  readonly maxAgeMs: number
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
}

/** Opens what a verb that crawls works with, for as long as the work takes. */
export async function withCrawling(
  command: Command,
  streams: Streams,
  work: (crawling: Crawling) => Promise<void>,
): Promise<void> {
  const config = configOf(command)
  const terminal = new Terminal(command.opts<CommonFlags>(), streams)
  const hint = createHint(config)
  try {
    await interruptible((signal) =>
      withLibrary(config, (library) => work({ library, terminal, hint, maxAgeMs: config.values.maxAge, signal })),
    )
  } finally {
    terminal.clear()
  }
}

/** Crawls a source that is there. */
export async function crawlKnown(crawling: Crawling, text: string, input: CrawlInput): Promise<void> {
  await crawlInForeground(crawling, await findSource(crawling.library, text), input)
}

/**
 * Crawls a source to its end, showing how far it is, and prints what it came to. Failed addresses are part of an answer; a
 * crawl without any page, one that stopped at the loss gate and an interrupted one are failures, told after the answer.
 */
export async function crawlInForeground(crawling: Crawling, source: Source, input: CrawlInput): Promise<void> {
  const { library, terminal, hint, maxAgeMs, signal } = crawling
  // Loaded when it is needed: the engine knows every public suffix, which takes longer to read than most verbs run.
  const { crawlSource } = await import('../library/operations/crawl-source.ts')
  terminal.live(`${nameOf(source)}: starting`)
  const rate = new PageRate()
  let summary: CrawlSummary | undefined
  try {
    for await (const event of crawlSource(library, source, { maxAgeMs, ...input }, signal)) {
      show(event, source, terminal, rate)
      if (event.type === 'ended') summary = event.summary
    }
  } catch (error) {
    throw isUnknown(error) ? removedError(library, source, error) : error
  }
  if (summary === undefined) throw new Error('the crawl ended without saying so')
  const content = await library.store.countContent(source.id)
  const failures = await library.store.listRows(source.id, { state: 'failed', limit: MAX_EXAMPLES })
  const result: CrawlResult = { source, summary, failures, ...content }
  const failure = await findFailure(crawling, result)
  // Where there is nothing, the failure says it all.
  if (failure?.code !== 'CRAWL_START_FAILED' || content.pages > 0) {
    terminal.answer(writeSummary(result, hint, terminal.answerColors), summaryRecord(result))
  }
  if (failure !== undefined) throw failure
  if (terminal.isRead && content.pages > 0) {
    const command = `${hint('search', '…', '--source', labelOf(source))}`
    terminal.note(terminal.noteColors.dim(`search it: ${command}`))
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof PharosError && error.code === 'SOURCE_UNKNOWN'
}

/** Somebody else removed the source meanwhile. */
function removedError({ store }: Library, source: Source, cause: unknown): PharosError {
  const nearest = ': it was removed while it was crawled'
  return new PharosError('SOURCE_UNKNOWN', { source: labelOf(source), library: store.location, nearest }, { cause })
}

function show(event: CrawlEvent, source: Source, terminal: Terminal, rate: PageRate): void {
  switch (event.type) {
    case 'started':
      if (event.isResumed) terminal.note(`going on with the interrupted crawl of ${nameOf(source)}`)
      return
    case 'discovery':
      terminal.detail(
        printableLine(`${event.discovery} ${event.url}: ${event.detail}, ${countOf(event.found, 'address')} found`),
      )
      return
    case 'settled':
      terminal.detail(writeSettled(event))
      return
    case 'progress': {
      const pagesPerSecond = rate.add(event.elapsedMs, event.indexed + event.unchanged)
      terminal.live(writeProgress(nameOf(source), event, pagesPerSecond))
    }
  }
}

/** What makes the end of a crawl a failure of the command. */
async function findFailure({ library, signal }: Crawling, result: CrawlResult): Promise<PharosError | undefined> {
  const { source, summary, pages } = result
  switch (summary.end) {
    case 'completed':
      return undefined
    case 'cancelled':
      return signal.aborted
        ? new PharosError('INTERRUPTED')
        : new PharosError('CRAWL_RUNNING', { source: labelOf(source) })
    case 'gate':
      return new PharosError('CRAWL_LOSS', { removable: summary.withheld, pages })
    case 'failed': {
      const { states } = summary.ledger
      const problem = summary.problem ?? 'no reason was given'
      // Pages were found, so it is not the start: something is not accounted for.
      if (states.indexed + states.unchanged > 0) return new PharosError('INTERNAL', { problem })
      const { explainUrl } = await import('../library/operations/explain.ts')
      const { row, target } = await explainUrl(library, source, source.url)
      const advice = startAdvice((target ?? row)?.reason ?? null)
      return new PharosError('CRAWL_START_FAILED', { problem, advice })
    }
  }
}
