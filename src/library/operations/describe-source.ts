import type { LedgerRow, Reason } from '../../crawl/ledger.ts'
import type { Library } from '../library.ts'
import type { Source } from '../source.ts'
import { reportSource, type SourceReport } from './source-status.ts'

/** A report with the addresses that a person asks about. */
export interface SourceDescription extends SourceReport {
  /** Pages that the last crawl has taken in or found unchanged. */
  readonly crawled: number
  /** Addresses that failed, as many as asked for. */
  readonly errors: readonly LedgerRow[]
  /** Addresses that the gate refused, as many as asked for; those that somebody's own rules refused come first. */
  readonly filtered: readonly LedgerRow[]
}

/** Reasons for which the gate refuses an address, the most surprising first: links to other sites are many and expected. */
export const FILTER_REASONS: readonly Reason[] = [
  'page-cap',
  'blocked',
  'not-allowed',
  'max-depth',
  'robots-disallow',
  'robots-unreachable',
  'query-skip',
  'out-of-scope',
  'excluded',
  'bad-url',
  'off-site',
  'scheme',
]

/** Reports on one source, with up to `limit` addresses that failed and as many that were refused. */
export async function describeSource(library: Library, source: Source, limit: number): Promise<SourceDescription> {
  const { store } = library
  const report = await reportSource(library, source)
  const { crawl, reasons } = report
  const errors = limit === 0 ? [] : await store.listRows(source.id, { state: 'failed', limit })
  const filtered: LedgerRow[] = []
  for (const reason of FILTER_REASONS) {
    if (filtered.length >= limit) break
    if ((reasons[`skipped/${reason}`] ?? 0) === 0) continue
    filtered.push(...(await store.listRows(source.id, { state: 'skipped', reason, limit: limit - filtered.length })))
  }
  const crawled = crawl === null ? 0 : await store.countPages(source.id, crawl.id)
  return { ...report, crawled, errors, filtered }
}
