import { writeBytes } from '../../core/text/bytes.ts'
import { writeDuration } from '../../core/text/duration.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import type { WiderScope } from '../../crawl/addresses/wider-scope.ts'
import type { CrawlKind, CrawlSummary } from '../../crawl/events.ts'
import type { LedgerRow } from '../../crawl/ledger.ts'
import { isReadAsSite, listChangedSettings, widenScope, writeWiderScope } from '../../library/crawl/wider-scope.ts'
import { writeIncomplete } from '../../library/search/display-text.ts'
import { labelOf, type Source } from '../../library/source.ts'
import { incompleteOf } from '../../library/sources/describe-crawl.ts'
import { writeDocumentationOffer } from '../../library/sources/offer-documentation.ts'
import { findShortfall, type Gap, type Shortfall } from '../../library/sources/shortfall.ts'
import { createAddressCounts } from '../../library/sources/source-status.ts'
import { flagName } from '../../settings/settings.ts'
import { type Hint, printableLabel, sourceRecord } from '../library.ts'
import { scopeWords } from '../options/scope-options.ts'
import { type Colors, countOf, printableLine, writeNumber } from '../terminal.ts'
import { renderAdvice } from './advice.ts'
import { writeRate } from './progress.ts'

/** The result of a crawl, with the data needed to describe it. */
export interface CrawlResult {
  readonly source: Source
  readonly summary: CrawlSummary
  /** The start address after redirects. */
  readonly finalStartUrl: string
  /** Some of the failed addresses. */
  readonly failures: readonly LedgerRow[]
  /** The pages and chunks of the source in the library. */
  readonly pages: number
  readonly chunks: number
  /** Addresses of documentation to offer; see `SourceReport`. */
  readonly documentation: readonly string[]
}

/** Maximum number of failed addresses listed as examples. */
export const MAX_EXAMPLES = 5

/** Summarizes a crawl. Facts that are easily overlooked come first: a page limit that was reached, or an interruption. */
export function writeSummary(result: CrawlResult, hint: Hint, colors: Colors): string {
  const { source, summary, pages, chunks } = result
  if (hasNothingToRetry(summary)) return `${printableLabel(source)}: nothing to retry`
  const libraryLine = `${colors.bold(printableLabel(source))}: ${countOf(pages, 'page')}, ${countOf(chunks, 'chunk')} in the library`
  if (isRefused(summary)) return `${colors.yellow(writeRefused(summary))}\n${libraryLine}, unchanged`
  const { ledger, indexed, unchanged, elapsedMs } = summary
  const balance = createAddressCounts(ledger)
  const rate = elapsedMs === 0 ? 0 : ((indexed + unchanged) * 1000) / elapsedMs
  const width = writeNumber(balance.discovered).length
  const numbers = Object.entries(balance).map(([state, count]) => {
    const reasons = writeReasons(ledger.reasons, state)
    const line = `  ${state.padEnd(10)}  ${writeNumber(count).padStart(width)}`
    return reasons === '' ? line : `${line}  ${colors.dim(reasons)}`
  })
  return [
    ...writeWarnings(result, hint).map((line) => colors.yellow(line)),
    libraryLine,
    ...numbers,
    writeRun(summary, rate),
    ...writeFailures(result, balance.failed, hint),
    ...(summary.newInRefresh === 0 ? [] : [writeNewAddresses(summary.newInRefresh, source, hint)]),
  ].join('\n')
}

/** Whether a retry found no failed addresses. */
function hasNothingToRetry({ kind, end, visited, ledger }: CrawlSummary): boolean {
  return kind === 'retry' && end === 'completed' && visited === 0 && ledger.states.failed === 0
}

/** Summarizes a crawl in one line, for `--quiet`. */
export function writeShortSummary(result: CrawlResult): string {
  const { source, summary, pages, chunks } = result
  if (hasNothingToRetry(summary)) return `${printableLabel(source)}: nothing to retry`
  const [gap] = listGaps(result)
  const partial = gap === undefined ? '' : `, PARTIAL: ${gap.words}`
  return `${printableLabel(source)}: ${countOf(pages, 'page')}, ${countOf(chunks, 'chunk')} in the library${partial}`
}

/** Whether no request was sent because the host is private. */
function isRefused({ uselessReason, requests }: CrawlSummary): boolean {
  return uselessReason === 'address-refused' && requests === 0
}

function writeRefused({ problem }: CrawlSummary): string {
  return `no request was sent to the site: ${printableLine(problem ?? '')}`
}

/** `this run: 12 indexed, 3 removed, 1.2 MB in 14 requests, 4.2s, 3.1 pages/s` */
function writeRun(summary: CrawlSummary, rate: number): string {
  const { indexed, unchanged, skipped, failed, removed, unread = 0, bytes, requests, elapsedMs } = summary
  const counts = Object.entries({ indexed, unchanged, skipped, failed, removed, 'not read': unread })
  const done = counts.filter(([, count]) => count > 0).map(([name, count]) => `${writeNumber(count)} ${name}`)
  const traffic =
    requests === 0 ? `${writeBytes(bytes)} read` : `${writeBytes(bytes)} in ${countOf(requests, 'request')}`
  return `this run: ${[...done, traffic, writeDuration(elapsedMs), `${writeRate(rate)} pages/s`].join(', ')}`
}

function writeWarnings(result: CrawlResult, hint: Hint): string[] {
  const { source, summary, finalStartUrl, documentation } = result
  const { ledger, end, wider, withheld, overflow, listFaults = [] } = summary
  const lines: string[] = []
  if (wider !== undefined) lines.push(writeWidenAdvice(source, wider, hint))
  lines.push(...writeDocumentationAdvice(source, documentation, hint))
  const same = ledger.reasons['skipped/same-content'] ?? 0
  if (same > 0) lines.push(writeRepeatedPages(same, labelOf(source), hint))
  const empty = ledger.reasons['failed/needs-rendering'] ?? 0
  if (empty > 0) lines.push(writeEmptyPages(empty, source, hint))
  const { pending } = createAddressCounts(ledger)
  for (const gap of listGaps(result)) lines.push(writeGap(source, gap, hint))
  for (const { host, detail } of summary.parked)
    lines.push(`${host} was skipped for the rest of the crawl: ${printableLine(detail)}`)
  if (overflow > 0) lines.push(writeOverflow(overflow, ledger.total))
  if (end === 'cancelled') {
    lines.push(`stopped with ${countOf(pending, 'address')} left`)
  }
  if (withheld > 0)
    lines.push(
      `${countOf(withheld, 'page')} no longer found, but kept because there are so many; --accept-loss removes them`,
    )
  lines.push(...writeIncomplete(incompleteOf({ kind: summary.kind, summary })).map(printableLine))
  lines.push(...listFaults.map(printableLine))
  if (isOutsideStart(source.url, finalStartUrl))
    lines.push(`the start redirects to ${printableLine(finalStartUrl)}; that address was crawled`)
  return lines
}

/** Describes what the scope excluded if it left only a few pages, with commands for a wider scope. */
export function writeWidenAdvice(source: Source, wider: WiderScope, hint: Hint): string {
  const { name, version, url, scope: currentScope } = source
  const labels = ['--name', name, ...(version === null ? [] : ['--version', version])]
  // The start address stays the same, because a folder may not have a page of its own.
  const { reach, allow } = widenScope(source, wider)
  const limits = { maxDepth: currentScope.maxDepth ?? undefined, maxPages: currentScope.maxPages ?? undefined }
  const { block, trapGuards } = currentScope
  const scope = ['--scope', reach, ...scopeWords({ allow, block, trapGuards, ...withoutUndefined(limits) })]
  const again = `${hint('remove', labelOf(source))} && ${hint('add', url, ...scope, ...settingWords(source), ...labels)}`
  return `${writeWiderScope(wider)}; include them with: ${again}`
}

/** What a user chose for a source besides its scope, as flags of `add`. */
function settingWords(source: Source): string[] {
  const { settings, refresh } = source
  const every = refresh === undefined ? '' : writeDuration(refresh.everyMs)
  const changed = Object.entries(listChangedSettings(settings))
  return [
    ...(isReadAsSite(source) ? ['--as', 'site'] : []),
    ...settings.seeds.flatMap((seed) => ['--seed', seed]),
    ...changed.flatMap(([name, value]) => [`--${flagName(name).replace(/-url$/, '')}`, String(value)]),
    ...(refresh === undefined ? [] : ['--every', every.includes(' ') ? `${refresh.everyMs}ms` : every]),
  ]
}

/** Offers the documentation of a package with hardly any text; empty if there is none to offer. */
export function writeDocumentationAdvice(source: Source, documentation: readonly string[], hint: Hint): string[] {
  if (documentation.length === 0) return []
  const { version } = source
  const commands = documentation.map((url) => hint('add', url, ...(version === null ? [] : ['--version', version])))
  return [`${printableLine(writeDocumentationOffer(source))}; add it with: ${commands.join(' or ')}`]
}

/** The command that resumes an interrupted crawl. */
export function writeResumeCommand(source: Source, kind: CrawlKind, hint: Hint): string {
  return hint(kind === 'add' ? 'recrawl' : kind, labelOf(source))
}

/** What a completed crawl left unread. Empty for any other end, which the summary reports separately. */
function listGaps(result: CrawlResult): readonly Gap[] {
  return result.summary.end === 'completed' ? (shortfallOf(result)?.gaps ?? []) : []
}

/** What a crawl left unread. */
export function shortfallOf({
  source,
  summary,
  pages,
}: Pick<CrawlResult, 'source' | 'summary' | 'pages'>): Shortfall | null {
  const { ledger, kind, end } = summary
  const { pending } = createAddressCounts(ledger)
  const crawl = { kind, state: end, summary }
  const crawlState = { isRunning: false, isInterrupted: false }
  return findShortfall({ source, reasons: ledger.reasons, pending, pages, crawl, ...crawlState })
}

/** Whether the start address after redirects is on another host or in another folder than before. */
function isOutsideStart(start: string, finalStart: string): boolean {
  const [from, to] = [new URL(start), new URL(finalStart)]
  return from.host !== to.host || !foldersOf(from).some((folder) => foldersOf(to).includes(folder))
}

/** `/docs` may be a page, or a folder without its trailing slash. */
function foldersOf({ pathname }: URL): string[] {
  return [pathname.replace(/(?<![^/])[^/]*$/, ''), pathname.replace(/\/?$/, '/')]
}

/** `PARTIAL: the cap of 10 was reached: 48 known addresses not read; complete it with: pharos recrawl guide --max-pages 58` */
export function writeGap(source: Source, { words, remedy }: Gap, hint: Hint): string {
  return `PARTIAL: ${words}; complete it with: ${writeCompleteCommand(source, remedy, hint)}`
}

/** The command that closes a gap. */
export function writeCompleteCommand(source: Source, { verb, maxPages }: Gap['remedy'], hint: Hint): string {
  return hint(verb, labelOf(source), ...(maxPages === null ? [] : ['--max-pages', String(maxPages)]))
}

/** Describes addresses that were left out because their pages repeat. */
function writeRepeatedPages(count: number, label: string, hint: Hint): string {
  const [were, them] = count === 1 ? ['was', 'it'] : ['were', 'them']
  const left = `${countOf(count, 'address')} ${were} left out, because all pages like ${them} were the same`
  return `${left}; ${hint('recrawl', label, '--no-trap-guards')} reads ${them}, ${hint('explain', label, '<url>')} explains why`
}

/** Describes pages that are empty until a browser runs their scripts. */
export function writeEmptyPages(count: number, source: Source, hint: Hint): string {
  const [are, their] = count === 1 ? ['is', 'its'] : ['are', 'their']
  return `${countOf(count, 'page')} ${are} empty until a browser runs ${their} scripts; ${renderAdvice(source, hint)}`
}

/** Describes addresses that exceed the limit of a source. `recorded` is the number that was recorded. */
function writeOverflow(count: number, recorded: number): string {
  const were = count === 1 ? 'was' : 'were'
  const more = `${writeNumber(count)} more ${count === 1 ? 'address' : 'addresses'}`
  return `${more} ${were} found than the ${writeNumber(recorded)} a source may have (maxAddresses); raise that, or narrow the scope with --allow, --block or --max-depth`
}

/** The command that retries failed addresses: a recrawl with rendering if all of them need a browser and rendering is off. */
function writeRetryCommand({ source, summary }: CrawlResult, failed: number, hint: Hint): string {
  const needsBrowser = summary.ledger.reasons['failed/needs-rendering'] === failed
  const isRetryUseless = needsBrowser && source.settings.render === 'http'
  return isRetryUseless ? hint('recrawl', labelOf(source), '--render', 'auto') : hint('retry', labelOf(source))
}

/** Whether a PARTIAL line already gives the retry command. */
function isRetryAdvised(result: CrawlResult): boolean {
  return listGaps(result).some(({ remedy }) => remedy.verb === 'retry')
}

function writeFailures(result: CrawlResult, failed: number, hint: Hint): string[] {
  const { source, summary, failures } = result
  if (failures.length === 0) return []
  const more = failed - failures.length
  const label = labelOf(source)
  return [
    'failed:',
    ...failures.map((row) => `  ${writeFailure(row)}`),
    ...(more > 0 ? [`  and ${writeNumber(more)} more`] : []),
    `why: ${hint('explain', label, '<url>')}`,
    // A crawl that stopped at the loss gate has requested its missing pages twice already, so no retry is suggested.
    ...(summary.end === 'gate' || isRetryAdvised(result) ? [] : [`again: ${writeRetryCommand(result, failed, hint)}`]),
  ]
}

/** `https://docs.example/a: timeout: no answer within 30s` */
export function writeFailure({ url, reason, detail }: LedgerRow): string {
  const words = detail === null ? null : writeDetail(detail)
  return printableLine([url, reason, words].filter((part) => part !== null && part !== '').join(': '))
}

/** Formats sizes in bytes readably. */
export function writeDetail(detail: string): string {
  return detail.replace(/\b(\d{4,15}) bytes\b/g, (_, bytes: string) => writeBytes(Number(bytes)))
}

function writeNewAddresses(count: number, source: Source, hint: Hint): string {
  const seen = `${countOf(count, 'new address')} found but not fetched; fetch`
  return `${seen} ${count === 1 ? 'it' : 'them'} with: ${hint('refresh', labelOf(source), '--discover')}`
}

/** `12 off-site, 3 blocked`, the most frequent first. */
export function writeReasons(reasons: Readonly<Record<string, number>>, state: string): string {
  return Object.entries(reasons)
    .filter(([name, count]) => name.startsWith(`${state}/`) && count > 0)
    .toSorted(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .map(([name, count]) => `${writeNumber(count)} ${name.slice(state.length + 1)}`)
    .join(', ')
}

/** The summary as JSON. */
export function summaryRecord(result: CrawlResult): Record<string, unknown> {
  const { source, summary, failures, pages, chunks, documentation } = result
  const { ledger, wider } = summary
  return {
    source: sourceRecord(source),
    crawl_id: summary.crawlId,
    kind: summary.kind,
    end: summary.end,
    problem: summary.problem,
    capped_at: summary.cappedAt,
    incomplete: summary.incomplete,
    list_faults: summary.listFaults ?? [],
    overflow: summary.overflow,
    ...(wider === undefined ? {} : { wider_scope: wider }),
    ...(documentation.length === 0 ? {} : { documentation }),
    parked: summary.parked,
    ...createAddressCounts(ledger),
    reasons: ledger.reasons,
    pages,
    chunks,
    run: {
      visited: summary.visited,
      indexed: summary.indexed,
      unchanged: summary.unchanged,
      skipped: summary.skipped,
      failed: summary.failed,
      removed: summary.removed,
      unread: summary.unread ?? 0,
      withheld: summary.withheld,
      new_in_refresh: summary.newInRefresh,
      bytes: summary.bytes,
      requests: summary.requests,
      elapsed_ms: summary.elapsedMs,
    },
    failures: failures.map(failureRecord),
  }
}

/** A failed address as JSON. */
export function failureRecord({ url, reason, status, detail }: LedgerRow): Record<string, unknown> {
  return { url, reason, status, detail }
}
