import { countOf, writeNumber } from '../core/text/count.ts'
import { writeDuration } from '../core/text/duration.ts'
import { writeTime } from '../core/text/iso-time.ts'
import { writeWidening, writeWiderScope } from '../library/crawl/wider-scope.ts'
import {
  oneLine,
  quoteSpaced,
  writeIncomplete,
  writeLabel,
  writePageCounts,
  writeWaiting,
} from '../library/search/display-text.ts'
import type { Source } from '../library/source.ts'
import type { CrawlEntry, CrawlReport } from '../library/sources/describe-crawl.ts'
import { writeRule } from '../library/sources/ledger-words.ts'
import { writeDocumentationOffer } from '../library/sources/offer-documentation.ts'
import { type Shortfall, writeShortfall, writeToolRemedy } from '../library/sources/shortfall.ts'
import { adviseFetch } from './error-text.ts'
import { writeUnrendered } from './unrendered-pages.ts'

/** The status of a crawl: its progress while it runs, otherwise its result. */
export function writeCrawlStatus(report: CrawlReport, isReadOnly = false): string {
  const { source, status, shortfall, isRunning, listFaults } = report
  return [
    // Without this line, an agent would take the indexed part for the whole.
    ...(shortfall === null ? [] : [writePartial(source, shortfall, isReadOnly)]),
    ...writeNeedsBrowser(report, isReadOnly),
    ...writeNarrowScope(report, isReadOnly),
    ...writeDocumentation(report, isReadOnly),
    `Source: ${writeLabel(source)} (${quoteSpaced(source.url)})`,
    `Status: ${status}`,
    ...listFaults.map((fault) => `List: ${oneLine(fault)}`),
    ...(isRunning ? writeActive(report) : writeFinished(report)),
  ].join('\n')
}

/** `PARTIAL: interrupted: 7 addresses not read; recrawl_source with source guide completes it` */
export function writePartial(source: Source, shortfall: Shortfall, isReadOnly: boolean): string {
  const remedy = isReadOnly ? '' : `; ${oneLine(writeToolRemedy(source, shortfall))}`
  return `${writeShortfall(shortfall)}${remedy}`
}

/** The line about pages that need a browser. */
function writeNeedsBrowser({ source, needsRendering }: CrawlReport, isReadOnly: boolean): string[] {
  return needsRendering === 0 ? [] : [`Needs a browser: ${writeUnrendered(needsRendering, source, isReadOnly)}`]
}

/** Says what the scope excluded, when it left only a few pages. */
function writeNarrowScope({ source, wider }: CrawlReport, isReadOnly: boolean): string[] {
  if (wider === null) return []
  const remedy = isReadOnly ? '' : `; ${oneLine(writeWidening(source, wider))}`
  return [`Narrow: ${writeWiderScope(wider)}${remedy}`]
}

/** Offers the documentation of a package with hardly any text. */
export function writeDocumentation(
  { source, documentation }: Pick<CrawlReport, 'source' | 'documentation'>,
  isReadOnly: boolean,
): string[] {
  if (documentation.length === 0) return []
  const version = source.version === null ? '' : ` and version ${quoteSpaced(source.version)}`
  const remedy = isReadOnly
    ? documentation.map(quoteSpaced).join(' ')
    : `add_source with url ${documentation.map(quoteSpaced).join(' or ')}${version} adds it`
  return [`Documentation: ${oneLine(writeDocumentationOffer(source))}; ${oneLine(remedy)}`]
}

function writeActive({ progress, crawl, waiting }: CrawlReport): string[] {
  const { pagesCrawled, pagesSkipped, pagesTotal } = progress
  const done = pagesCrawled + pagesSkipped
  const percent = pagesTotal === 0 ? 0 : Math.floor((done * 100) / pagesTotal)
  return [
    ...writeWaiting(waiting),
    `Progress: ${writeNumber(done)}/${writeNumber(pagesTotal)} pages crawled (${percent}%)`,
    `Skipped: ${countOf(pagesSkipped, 'page')} (unchanged content)`,
    ...writeErrors(progress),
    ...writeFiltered(progress),
    ...(crawl === null
      ? []
      : [
          `Started: ${writeTime(crawl.startedAt)}`,
          `Elapsed: ${writeDuration(Math.floor(crawl.elapsedMs / 1000) * 1000)}`,
          `Crawl: ${crawl.crawlId}`,
        ]),
  ]
}

function writeFinished({ progress, status, crawl, chunks, unread, incomplete, waiting }: CrawlReport): string[] {
  const { pagesCrawled, pagesSkipped, errors, filtered } = progress
  return [
    ...writeWaiting(waiting),
    `Last crawl: ${crawl === null || status === 'PENDING' ? 'never' : writeTime(crawl.endedAt ?? crawl.startedAt + crawl.elapsedMs)}`,
    ...writeIncomplete(incomplete).map(oneLine),
    writePageCounts({ indexed: pagesCrawled, unchanged: pagesSkipped, failed: errors, unread }),
    `Chunks: ${writeNumber(chunks)} total`,
    ...(crawl === null
      ? []
      : [`Crawl: ${crawl.crawlId}, ${crawl.kind}, ${crawl.state} after ${writeDuration(crawl.elapsedMs)}`]),
    ...(crawl === null || crawl.problem === null ? [] : [writeProblem(crawl.problem, crawl.reason)]),
    ...(errors > 0 ? writeErrors(progress) : []),
    ...(filtered > 0 ? writeFiltered(progress) : []),
  ]
}

function writeProblem(problem: string, reason: string | null): string {
  const advice = reason === 'address-refused' ? adviseFetch(reason) : undefined
  return `Problem: ${oneLine(problem)}${advice === undefined ? '' : ` – ${advice}`}`
}

function writeErrors({ errors, errorUrls }: CrawlReport['progress']): string[] {
  const lines = errorUrls.map(({ url, reason }) => `  - ${quoteSpaced(url)}: ${oneLine(reason)}`)
  return [`Errors: ${countOf(errors, 'page')} failed`, ...lines, ...writeRest(errors - lines.length)]
}

function writeFiltered({ filtered, filteredUrls }: CrawlReport['progress']): string[] {
  const lines = filteredUrls.map(({ url, reason, pattern }) => {
    return `  - ${quoteSpaced(url)}: ${oneLine(`${reason}${writeRule(reason, pattern)}`)}`
  })
  return [`Filtered: ${countOf(filtered, 'URL')} excluded by scope`, ...lines, ...writeRest(filtered - lines.length)]
}

function writeRest(count: number): string[] {
  return count > 0 ? [`  and ${writeNumber(count)} more`] : []
}

/** A crawl in one line, for lists. */
export function writeCrawlLine({ crawlId, source, kind, state, startedAt, elapsedMs, problem }: CrawlEntry): string {
  const why = problem === null ? '' : `: ${oneLine(problem)}`
  const when = `started ${writeTime(startedAt)}, ${writeDuration(elapsedMs)}`
  return `${crawlId}  ${writeLabel(source)}  ${kind}  ${state}  ${when}${why}`
}
