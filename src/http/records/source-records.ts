import { writeDuration } from '../../core/text/duration.ts'
import { isoOf, isoOrNull } from '../../core/text/iso-time.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import { adviseWidening, widenScope, writeWiderScope } from '../../library/crawl/wider-scope.ts'
import { labelOf, type RefreshSchedule } from '../../library/source.ts'
import type { LedgerRow } from '../../library/sources/ledger-words.ts'
import { type Shortfall, writeShortfall } from '../../library/sources/shortfall.ts'
import type { SourceReport } from '../../library/sources/source-status.ts'

/** A source with its status. */
export function sourceRecord(report: SourceReport): Record<string, unknown> {
  const {
    source,
    status,
    balance,
    reasons,
    pages,
    chunks,
    meaning,
    crawl,
    isRunning,
    isInterrupted,
    shortfall,
    wider,
    documentation,
    waiting,
  } = report
  const { id, name, version, url, siteUrl, scope, settings } = source
  return {
    id,
    name,
    version,
    label: labelOf(source),
    kind: treeKindOf(url) ?? 'site',
    url,
    siteUrl,
    scope,
    settings,
    createdAt: isoOf(source.createdAt),
    status,
    balance,
    reasons,
    pages,
    chunks,
    meaning,
    lastCrawledAt: isoOrNull(report.lastCrawledAt),
    refresh: source.refresh === undefined ? null : refreshRecord(source.refresh),
    isRunning,
    isInterrupted,
    partial: shortfall === null ? null : partialRecord(id, shortfall),
    widerScope:
      wider === null
        ? null
        : {
            message: writeWiderScope(wider),
            advice: adviseWidening(source, wider),
            ...wider,
            scope: widenScope(source, wider),
          },
    documentation,
    waiting: waiting.map(({ host, until }) => ({ host, until: isoOf(until) })),
    crawl:
      crawl === null
        ? null
        : {
            id: crawl.id,
            kind: crawl.kind,
            state: crawl.state,
            startedAt: isoOf(crawl.startedAt),
            endedAt: isoOrNull(crawl.endedAt),
            summary: crawl.summary,
          },
  }
}

/** When a source is crawled again by itself. */
function refreshRecord({ everyMs, dueAt, attempts, problem }: RefreshSchedule): Record<string, unknown> {
  return { every: writeDuration(everyMs), everyMs, nextAt: isoOf(dueAt), attempts, problem }
}

/** Missing pages of a source, and the requests that complete it. */
function partialRecord(id: string, { gaps, ...counts }: Shortfall): Record<string, unknown> {
  return {
    message: writeShortfall({ gaps, ...counts }),
    ...counts,
    complete: gaps.map(({ remedy: { verb, maxPages } }) => ({
      method: 'POST',
      path: `/api/sources/${encodeURIComponent(id)}/${verb}`,
      body: maxPages === null ? {} : { scope: { maxPages } },
    })),
  }
}

/** An address of the ledger with all its details. */
export function rowRecord(row: LedgerRow): Record<string, unknown> {
  const { firstSeenAt, checkedAt, changedAt, dueAt, ...rest } = row
  return {
    ...rest,
    firstSeenAt: isoOf(firstSeenAt),
    checkedAt: isoOrNull(checkedAt),
    changedAt: isoOrNull(changedAt),
    dueAt: isoOrNull(dueAt),
  }
}
