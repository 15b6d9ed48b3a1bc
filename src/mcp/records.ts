import { writeTime } from '../core/text/iso-time.ts'
import { type WiderScope, widenScope, writeWiderScope } from '../library/crawl/wider-scope.ts'
import { timeOrNull } from '../library/search/display-text.ts'
import type { Source } from '../library/source.ts'
import type { CrawlEntry, CrawlReport } from '../library/sources/describe-crawl.ts'
import { writeShortfall } from '../library/sources/shortfall.ts'

/** Fields that name a source. */
export type SourceRecord = Pick<Source, 'id' | 'name' | 'version' | 'url'>

/** A source in structured content. */
export function sourceRecord({ id, name, version, url }: Source): SourceRecord {
  return { id, name, version, url }
}

/** A crawl in structured content. */
export function crawlRecord(entry: CrawlEntry): Record<string, unknown> {
  const { crawlId, source, kind, state, startedAt, endedAt, elapsedMs, problem } = entry
  return {
    crawlId,
    source: sourceRecord(source),
    kind,
    state,
    startedAt: writeTime(startedAt),
    endedAt: timeOrNull(endedAt),
    elapsedMs,
    problem,
  }
}

/** A crawl with all details, in structured content. */
export function reportRecord(report: CrawlReport): Record<string, unknown> {
  const { source, crawl, progress, waiting, shortfall, wider, listFaults, documentation, ...rest } = report
  const { errorUrls, ...counts } = progress
  return {
    ...rest,
    source: sourceRecord(source),
    crawl: crawl === null ? null : crawlRecord(crawl),
    ...counts,
    errorUrls: errorUrls.map((errorUrl) => ({ ...errorUrl, pattern: null })),
    waiting: waiting.map(({ host, until, cause }) => ({ host, until: writeTime(until), cause })),
    partial: shortfall === null ? null : writeShortfall(shortfall),
    widerScope: wider === null ? null : widerRecord(source, wider),
    ...(listFaults.length > 0 && { listFaults: [...listFaults] }),
    ...(documentation.length > 0 && { documentation: [...documentation] }),
  }
}

function widerRecord(source: Source, wider: WiderScope): Record<string, unknown> {
  const { reach: scope, allow: allowPatterns } = widenScope(source, wider)
  return { message: writeWiderScope(wider), ...wider, scope, allowPatterns }
}
