import type { CrawlTerms } from '../ledger/crawls.ts'
import { numberOf } from '../sources.ts'
import type { Sql } from './database.ts'
import { lockSource } from './lock-source.ts'

/** A locked source, and what a crawl may do to it. */
export interface LockedSource {
  readonly source: number
  /** The number of the crawl; null for an unknown crawl. */
  readonly crawl: number | null
  /**
   * Whether the crawl may write: it is running, and was not taken over since this process began it. An unknown crawl has no owner and may
   * write too.
   */
  readonly mayWrite: boolean
}

/**
 * Locks a source for the caller's transaction, on behalf of a crawl; undefined when the source does not exist. All checks come after the
 * lock, because a process that removes the source or takes over the crawl holds the same lock.
 */
export async function lockForCrawl(
  sql: Sql,
  sourceId: string,
  crawlId: string | undefined,
  terms: CrawlTerms,
): Promise<LockedSource | undefined> {
  const source = await numberOf(sql, sourceId)
  if (source === undefined) return undefined
  await lockSource(sql, source)
  const found = await sql.get<{ crawl: number | null; state: string | null; term: number | null }>(
    `SELECT i.id AS crawl, j.state, j.term FROM sources s LEFT JOIN crawl_ids i ON i.uuid = $2 LEFT JOIN crawls j ON j.id = i.id
     WHERE s.id = $1 AND NOT s.is_removed`,
    [source, crawlId ?? null],
  )
  if (found === undefined) return undefined
  const { crawl, state, term } = found
  const isHeldHere = state === 'running' && term === (terms.get(crawlId ?? '') ?? term)
  return { source, crawl, mayWrite: crawlId === undefined || term === null || isHeldHere }
}
