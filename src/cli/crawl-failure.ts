import { PharosError } from '../core/errors.ts'
import type { PauseCause } from '../crawl/events.ts'
import { PAUSE_CODES } from '../library/crawl/pause-cause.ts'
import { isTree } from '../library/ports/tree.ts'
import { labelOf } from '../library/source.ts'
import type { Reason } from '../library/sources/ledger-words.ts'
import { RETRYABLE_REASONS } from '../library/sources/shortfall.ts'
import { AdvisedError } from './advised-error.ts'
import type { CrawlContext } from './foreground-crawl.ts'
import type { Hint } from './library.ts'
import { startAdvice } from './text/advice.ts'
import { type CrawlResult, shortfallOf, writeReasons, writeResumeCommand } from './text/summary.ts'

/** The error for a crawl that ended, but left out most of the site, or the parts whose hosts stayed unavailable. */
function parkedError({ source, summary }: EndedCrawl, count: number, hint: Hint): PharosError {
  const hosts = summary.parked.map(({ host }) => host).join(', ') || new URL(source.siteUrl).host
  const error = new PharosError('CRAWL_PARKED', { hosts, count })
  return new AdvisedError(error, `try again later: ${hint('retry', labelOf(source))}`)
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
  const fileAdvice = summary.uselessReason === null ? undefined : FILE_ADVICE[summary.uselessReason]
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
  // Pages that an earlier crawl has read say that the site existed: then a host that fails is worth another attempt.
  const isDown = pages > 0 && summary.uselessReason !== null && RETRYABLE_REASONS.includes(summary.uselessReason)
  const failed = shortfallOf(result)?.failed ?? 0
  const hasMostlyFailed = summary.kind !== 'retry' && failed > summary.indexed + summary.unchanged
  switch (summary.end) {
    case 'completed':
      return summary.parked.length > 0 || hasMostlyFailed ? parkedError(result, failed, hint) : undefined
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
      const { uselessReason } = summary
      if (isDown) return parkedError(result, failed, hint)
      const problem = summary.problem ?? 'no reason was given'
      // A bug: the crawl failed without a reason.
      if (uselessReason === null) return new PharosError('INTERNAL', { problem })
      const advice = isTree(source) ? treeAdvice(result, hint) : startAdvice(uselessReason, result, hint)
      return new PharosError('CRAWL_START_FAILED', { problem, advice })
    }
  }
}
