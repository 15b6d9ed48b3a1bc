import type { Settlement } from '../../../crawl/settlement.ts'
import type { CrawlRef } from '../../common/ledger/crawl-ref.ts'
import type { Sql } from '../database/database.ts'

/** Longer redirect chains are not followed. */
const MAX_STEPS = 20

/**
 * Returns the settlement, changed to a failure when its redirect leads back to its own address through other rows of the crawl. The visit
 * has checked this too, but two concurrent visits cannot see each other's result; only under the lock on the source is the check reliable.
 */
export async function breakLoop(
  sql: Sql,
  source: number,
  crawl: CrawlRef,
  settlement: Settlement,
): Promise<Settlement> {
  const { target, reason, visit } = settlement
  if (reason !== 'redirect' || target === undefined || target === null) return settlement
  const found = await sql.get<{ isLoop: boolean }>(
    `WITH RECURSIVE chain (key, step) AS (
       SELECT $3::text COLLATE "C", 0
       UNION ALL
       SELECT l.target, chain.step + 1 FROM chain
       JOIN ledger l ON l.source = $1 AND digest_of(l.key) = digest_of(chain.key) AND l.key = chain.key
       WHERE l.reason = 'redirect' AND l.crawl = $2 AND l.target IS NOT NULL AND chain.key <> $4 AND chain.step < $5
     ) SELECT coalesce(bool_or(key = $4), false) AS "isLoop" FROM chain WHERE step > 0`,
    [source, crawl.number, target, visit.key, MAX_STEPS],
  )
  if (found?.isLoop !== true) return settlement
  const { target: _, isProvenGone: __, finds: ___, aliases: ____, ...rest } = settlement
  return { ...rest, state: 'failed', reason: 'redirect-loop', pattern: null }
}
