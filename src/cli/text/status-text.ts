import { writePercent } from '../../core/text/count.ts'
import { writeDuration } from '../../core/text/duration.ts'
import { isoOrNull, writeTime } from '../../core/text/iso-time.ts'
import type { LedgerRow } from '../../crawl/ledger.ts'
import type { HubCoverage } from '../../library/ports/findings.ts'
import { writeSchedule } from '../../library/refresh/schedule.ts'
import { writeIncomplete, writePageCounts, writeWaiting } from '../../library/search/display-text.ts'
import { DEFAULT_SETTINGS, type Source } from '../../library/source.ts'
import { incompleteOf } from '../../library/sources/describe-crawl.ts'
import { FILTER_REASONS, type SourceDescription } from '../../library/sources/describe-source.ts'
import { writeRule } from '../../library/sources/ledger-words.ts'
import { type Shortfall, writeShortfall } from '../../library/sources/shortfall.ts'
import { capOf, type SourceReport, totalPages } from '../../library/sources/source-status.ts'
import { type Hint, printableLabel, sourceRecord } from '../library.ts'
import { countOf, printableLine, writeNumber } from '../terminal.ts'
import { alignColumns } from './columns.ts'
import {
  failureRecord,
  writeCompleteCommand,
  writeDocumentationAdvice,
  writeEmptyPages,
  writeFailure,
  writeGap,
  writeWidenAdvice,
} from './summary.ts'

/** Writes the state of a source: the progress of a running crawl, or the result of the last one. */
export function writeStatus(
  description: SourceDescription,
  hint: Hint,
  now: number,
  coverage: HubCoverage | null = null,
): string {
  const { source, status } = description
  return [
    ...(description.shortfall?.gaps ?? []).map((gap) => writeGap(source, gap, hint)),
    ...writeNeedsBrowser(description, hint),
    ...(description.wider === null ? [] : [writeWidenAdvice(source, description.wider, hint)]),
    ...writeDocumentationAdvice(source, description.documentation, hint),
    `Source: ${printableLabel(source)} (${printableLine(source.url)})${listReadVersion(source)
      .map((words) => `, ${words}`)
      .join('')}`,
    `Status: ${status}`,
    ...writeReadSettings(source),
    ...listSchedule(description, now).map((words) => `Refresh: ${words}`),
    ...(coverage === null ? [] : [writeHubCoverage(coverage)]),
    ...(description.crawl?.summary?.listFaults ?? []).map((fault) => `List: ${printableLine(fault)}`),
    ...(description.isRunning ? writeRunning(description, now) : writeFinished(description, now)),
  ].join('\n')
}

/** Describes pages that need a browser. */
function writeNeedsBrowser({ source, reasons }: SourceReport, hint: Hint): string[] {
  const count = reasons['failed/needs-rendering'] ?? 0
  return count === 0 ? [] : [writeEmptyPages(count, source, hint)]
}

/** Describes how pages are rendered and chunked, if that differs from the defaults. */
function writeReadSettings(source: Source): string[] {
  const facts = listReadSettings(source)
  return facts.length === 0 ? [] : [`Reading: ${facts.join(', ')}`]
}

/** `3.0.1 read`, unless the source already names that version. */
function listReadVersion({ version, settings: { readVersion } }: Source): string[] {
  return readVersion === undefined || readVersion === version ? [] : [printableLine(`${readVersion} read`)]
}

function listSchedule({ source: { refresh }, isRunning }: SourceReport, now: number): string[] {
  return refresh === undefined ? [] : [printableLine(writeSchedule(refresh, now, isRunning))]
}

/** The schedule of a source as JSON. */
export function refreshRecord({ refresh }: Source): Record<string, unknown> | null {
  if (refresh === undefined) return null
  const { everyMs, dueAt, attempts, problem } = refresh
  return { every: writeDuration(everyMs), every_ms: everyMs, next_at: isoOrNull(dueAt), attempts, problem }
}

function listReadSettings({ settings: { render, chunks } }: Source): string[] {
  return [
    ...(render === DEFAULT_SETTINGS.render ? [] : [`render ${render}`]),
    ...(chunks === DEFAULT_SETTINGS.chunks ? [] : [`chunks ${chunks}`]),
  ]
}

/** `Understood: 238 of 250 countries have a hub and 12 have none, 10 expected hubs are missing, 7 patterns of addresses` */
function writeHubCoverage({ countriesCovered, countries, hubs, missingCount, patterns }: HubCoverage): string {
  const uncovered = writeNumber(countries - countriesCovered)
  const covered = `${writeNumber(countriesCovered)} of ${writeNumber(countries)} countries have a hub and ${uncovered} have none`
  const facts = [
    countries === 0 ? countOf(hubs, 'hub') : covered,
    ...(missingCount === 0
      ? []
      : [`${countOf(missingCount, 'expected hub')} ${missingCount === 1 ? 'is' : 'are'} missing`]),
    `${writeNumber(patterns.length)} ${patterns.length === 1 ? 'pattern' : 'patterns'} of addresses`,
  ]
  return `Understood: ${facts.join(', ')}`
}

function writeRunning(description: SourceDescription, now: number): string[] {
  const { source, balance, settled, crawl } = description
  const crawled = settled.indexed + settled.unchanged
  const total = totalPages(settled, balance.pending, capOf(source, crawl?.options.scope))
  const percent = total === 0 ? 0 : Math.floor((crawled * 100) / total)
  const startedAt = crawl?.startedAt ?? now
  return [
    ...writeWaiting(description.waiting),
    `Progress: ${writeNumber(crawled)}/${writeNumber(total)} pages crawled (${percent}%)`,
    `Skipped: ${writeSkipped(description)}`,
    ...writeLeftOut(description),
    ...writeErrors(description),
    ...writeFiltered(description),
    `Started: ${writeTime(startedAt)}`,
    `Elapsed: ${writeDuration(Math.floor((now - startedAt) / 1000) * 1000)}`,
  ]
}

function writeFinished(description: SourceDescription, now: number): string[] {
  const { balance, chunks, meaning, settled, crawl } = description
  const others = countOthers(description)
  const { discovered, indexed, unchanged, skipped, failed, gone, pending } = balance
  const { unread = pending } = crawl?.summary ?? {}
  const states = Object.entries({ indexed, unchanged, skipped, failed, gone, pending })
  const sum = states.map(([state, count]) => `${writeNumber(count)} ${state}`).join(' + ')
  return [
    ...writeWaiting(description.waiting),
    `Last crawl: ${writeLastCrawl(description, now)}`,
    ...writeUnreached(description),
    ...writeIncomplete(crawl === null ? null : incompleteOf(crawl)).map(printableLine),
    writePageCounts({ ...settled, unread }),
    `Chunks: ${writeNumber(chunks)} total${meaning === null ? '' : `, meaning ${writePercent(meaning)}`}`,
    `Ledger: ${writeNumber(discovered)} discovered = ${sum}`,
    ...(failed > 0 ? writeErrors(description) : []),
    ...(countFiltered(description) + description.kept > 0 ? writeFiltered(description) : []),
    ...writeContainers(description),
    ...(others > 0
      ? [`Skipped: ${countOf(others, 'URL')} left out for other reasons`, ...writeLeftOut(description)]
      : []),
  ]
}

/** Describes what the last crawl could not reach. */
function writeUnreached({ crawl }: SourceReport): string[] {
  const { parked = [], overflow = 0 } = crawl?.summary ?? {}
  return [
    ...parked.map(({ host, detail }) => `Host skipped: ${printableLine(`${host}, ${detail}`)}`),
    ...(overflow > 0 ? [`Not recorded: ${countOf(overflow, 'address')} beyond maxAddresses`] : []),
  ]
}

/** `2026-02-20T10:30:00Z (3m ago), recrawl, completed in 4.2s` */
function writeLastCrawl({ crawl }: SourceReport, now: number): string {
  if (crawl === null) return 'never'
  const at = crawl.endedAt ?? crawl.heartbeatAt
  const ago = writeDuration(Math.floor((now - at) / 60_000) * 60_000)
  const end =
    crawl.summary === null
      ? 'not finished'
      : `${END_WORDS[crawl.summary.end]} ${writeDuration(crawl.summary.elapsedMs)}`
  const problem = crawl.summary?.problem ?? null
  const why = problem === null ? '' : `: ${printableLine(problem)}`
  return `${writeTime(at)} (${now - at < 60_000 ? 'just now' : `${ago} ago`}), ${crawl.kind}, ${end}${why}`
}

const END_WORDS = {
  completed: 'completed in',
  cancelled: 'stopped after',
  gate: 'stopped at the loss gate after',
  failed: 'failed after',
} as const

/** Counts the unchanged pages, and by reason the addresses that were skipped for reasons other than the scope. */
function writeSkipped({ settled, reasons }: SourceDescription): string {
  const others = Object.entries(reasons)
    .filter(([name]) => name.startsWith('skipped/') && !FILTERED_STATES.has(name))
    .map(([name, count]) => ({ name: name.slice('skipped/'.length), count }))
  const parts = [{ name: 'unchanged', count: settled.unchanged }, ...others].filter(({ count }) => count > 0)
  const sum = parts.reduce((all, { count }) => all + count, 0)
  const words = parts.map(({ name, count }) => `${writeNumber(count)} ${name}`).join(', ')
  return `${countOf(sum, 'page')}${words === '' ? '' : ` (${words})`}`
}

const FILTERED_STATES: ReadonlySet<string> = new Set(FILTER_REASONS.map((reason) => `skipped/${reason}`))

function countFiltered({ reasons }: SourceReport): number {
  return Object.entries(reasons).reduce((sum, [name, count]) => (FILTERED_STATES.has(name) ? sum + count : sum), 0)
}

/** The number of addresses skipped for reasons other than the scope, including container files. */
function countLeftOut(report: SourceReport): number {
  return report.balance.skipped - countFiltered(report)
}

/** The number of container files, such as EPUB books, which are skipped themselves while their pages are indexed. */
function countContainers({ reasons }: SourceReport): number {
  return reasons['skipped/container'] ?? 0
}

function writeContainers(report: SourceReport): string[] {
  const count = countContainers(report)
  return count === 0 ? [] : [`Split: ${countOf(count, 'file')}, whose pages are indexed separately`]
}

/** The number of addresses shown as left out: not container files, because their pages are indexed. */
function countOthers(report: SourceReport): number {
  return countLeftOut(report) - countContainers(report)
}

function writeLeftOut(description: SourceDescription): string[] {
  const others = description.leftOut.filter(({ reason }) => reason !== 'container')
  return writeList(others.map(writeRefused), countOthers(description))
}

function writeErrors({ balance, errors }: SourceDescription): string[] {
  return [`Errors: ${countOf(balance.failed, 'page')} failed`, ...writeList(errors.map(writeFailure), balance.failed)]
}

function writeFiltered(description: SourceDescription): string[] {
  const { kept } = description
  const count = countFiltered(description) + kept
  const lastRunNote = kept === 0 ? '' : `, ${writeNumber(kept)} of them in the last run only: their pages stay`
  return [
    `Filtered: ${countOf(count, 'URL')} excluded by scope${lastRunNote}`,
    ...writeList(description.filtered.map(writeRefused), count),
  ]
}

function writeRefused({ url, reason, pattern, target }: LedgerRow): string {
  const elsewhere = target === null ? '' : ` → ${target}`
  return printableLine(`${url}: ${reason ?? 'refused'}${writeRule(reason, pattern)}${elsewhere}`)
}

function writeList(lines: readonly string[], count: number): string[] {
  const more = count - lines.length
  return [
    ...lines.map((line) => `  - ${line}`),
    ...(more > 0 ? [`  and ${writeNumber(more)} more; --all lists them`] : []),
  ]
}

/** The status as JSON. */
export function statusRecord(
  description: SourceDescription,
  now: number,
  coverage: HubCoverage | null = null,
): Record<string, unknown> {
  const { source, balance, crawl, isRunning, settled } = description
  return {
    ...sourceRecord(source),
    render: source.settings.render,
    chunk_profile: source.settings.chunks,
    read_version: source.settings.readVersion ?? null,
    refresh: refreshRecord(source),
    status: description.status,
    is_running: isRunning,
    is_interrupted: description.isInterrupted,
    ...balance,
    reasons: description.reasons,
    pages: description.pages,
    chunks: description.chunks,
    meaning: description.meaning,
    capped_at: crawl?.summary?.cappedAt ?? null,
    partial: partialRecord(description.shortfall),
    wider_scope: description.wider,
    list_faults: crawl?.summary?.listFaults ?? [],
    documentation: description.documentation,
    understood:
      coverage === null
        ? null
        : {
            countries_covered: coverage.countriesCovered,
            countries: coverage.countries,
            hubs: coverage.hubs,
            missing: coverage.missingCount,
            patterns: coverage.patterns.length,
          },
    waiting: description.waiting.map(({ host, until, cause }) => ({ host, until: isoOrNull(until), cause })),
    last_crawl:
      crawl === null
        ? null
        : {
            id: crawl.id,
            kind: crawl.kind,
            state: crawl.state,
            pages: settled.indexed + settled.unchanged,
            started_at: isoOrNull(crawl.startedAt),
            ended_at: isoOrNull(crawl.endedAt),
            elapsed_ms: crawl.summary?.elapsedMs ?? (isRunning ? now - crawl.startedAt : null),
            problem: crawl.summary?.problem ?? null,
            incomplete: incompleteOf(crawl),
          },
    errors_total: balance.failed,
    errors: description.errors.map(failureRecord),
    filtered_total: countFiltered(description) + description.kept,
    filtered: description.filtered.map(({ url, reason, pattern }) => ({ url, reason, pattern })),
    // `filtered_total` and `left_out_total` add up to `skipped` plus the addresses that were filtered in the last run only.
    left_out_total: countLeftOut(description),
    left_out: description.leftOut.map(({ url, reason, pattern, target }) => ({ url, reason, pattern, target })),
  }
}

/** Writes one line per source, in columns. */
export function writeSourceLines(reports: readonly SourceReport[], now: number): string[] {
  return alignColumns(reports.map((report) => writeSource(report, now)))
}

function writeSource(report: SourceReport, now: number): string[] {
  const { source, status, balance, pages, chunks, meaning, lastCrawledAt, shortfall } = report
  const facts = [
    ...listReadVersion(source),
    countOf(pages, 'page'),
    countOf(chunks, 'chunk'),
    ...(meaning === null ? [] : [`meaning ${writePercent(meaning)}`]),
    ...(balance.failed > 0 ? [countOf(balance.failed, 'error')] : []),
    ...(balance.pending > 0 ? [`${writeNumber(balance.pending)} pending`] : []),
    ...(shortfall === null ? [] : [writeShortfall(shortfall)]),
    ...listReadSettings(source),
    lastCrawledAt === null ? 'never crawled' : `crawled ${writeAge(now - lastCrawledAt)}`,
    ...listSchedule(report, now).map((words) => `again ${words}`),
  ]
  return [printableLabel(source), status, facts.join(', '), printableLine(source.url)]
}

/** The commands that complete a source, one per line. */
export function writeRemedies({ source, shortfall }: SourceReport, hint: Hint): string[] {
  const commands = (shortfall?.gaps ?? []).map(({ remedy }) => writeCompleteCommand(source, remedy, hint))
  return commands.map((command) => `complete ${printableLabel(source)} with: ${command}`)
}

/** The missing pages of a source as JSON. */
export function partialRecord(shortfall: Shortfall | null): Record<string, unknown> | null {
  if (shortfall === null) return null
  const { cap, unread, pending, failed } = shortfall
  return { message: writeShortfall(shortfall), cap, unread, pending, failed }
}

function writeAge(ms: number): string {
  return ms < 60_000 ? 'just now' : `${writeDuration(Math.floor(ms / 60_000) * 60_000)} ago`
}
