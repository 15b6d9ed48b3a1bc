import type { Terms } from './crawls.ts'
import type { Sql } from './database.ts'
import { lockSource } from './lock-source.ts'
import { numberOf } from './sources.ts'

/** A source that is locked, and what a crawl may do to it. */
export interface Entered {
  readonly source: number
  /** The number of the crawl; null before it was heard of. */
  readonly crawl: number | null
  /**
   * Whether the crawl may write: it runs, and has not been taken over since it was begun here. One that was never begun is nobody's and
   * may.
   */
  readonly mayWrite: boolean
}

/**
 * Locks a source for the transaction of the caller, on behalf of a crawl; undefined where there is no such source. All is looked at behind
 * the lock: whoever removes a source or takes a crawl over has it meanwhile.
 */
export async function enterSource(
  sql: Sql,
  sourceId: string,
  crawlId: string | undefined,
  terms: Terms,
): Promise<Entered | undefined> {
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
  const isOurs = state === 'running' && term === (terms.get(crawlId ?? '') ?? term)
  return { source, crawl, mayWrite: crawlId === undefined || term === null || isOurs }
}
