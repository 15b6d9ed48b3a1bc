import { PharosError } from '../../../core/errors.ts'
import type { CrawlSummary } from '../../../crawl/events.ts'
import type { HostLease } from '../../../crawl/hosts/host-lease.ts'
import { MAX_DELAY_MS } from '../../../crawl/transitions.ts'
import { type Crawl, MAX_FOCUSED_RUNS } from '../../../library/ports/store.ts'
import { labelOf } from '../../../library/source.ts'
import {
  CRAWL_COLUMNS,
  type CrawlRecord,
  crawlValues,
  IS_FOCUSED,
  reopenCrawl,
  SELECT_CRAWLS,
  toCrawl,
} from '../../common/ledger/crawl-record.ts'
import type { Sql } from '../database/database.ts'
import { lockSource } from '../database/lock-source.ts'
import { crawlNumber } from '../sources.ts'
import type { HostHolder } from './host-holder.ts'
import { freeHosts } from './hosts.ts'

/** The term of each crawl when this process began it. A term counts how often a crawl was begun, so a higher one means a takeover. */
export type CrawlTerms = Map<string, number>

/** The arguments for beginning a crawl. */
export interface CrawlStart {
  readonly crawl: Crawl
  readonly staleMs: number
  /** Id of the interrupted crawl to resume. */
  readonly resume: string | undefined
  /** A runner that is known to have ended. */
  readonly endedRunner: string | undefined
  /** The process that begins the crawl. */
  readonly holder: HostHolder
}

/** Begins a crawl inside the caller's transaction. The term counts how often the crawl has been begun. */
export async function beginCrawl(
  sql: Sql,
  source: number,
  { crawl, staleMs, resume, endedRunner, holder }: CrawlStart,
): Promise<{ readonly crawl: Crawl; readonly term: number }> {
  await lockSource(sql, source)
  const now = resume === undefined ? crawl.startedAt : crawl.heartbeatAt
  const running = await sql.all<CrawlRecord>(`${SELECT_CRAWLS} WHERE j.source = $1 AND j.state = 'running'`, [source])
  const isGone = ({ runner }: CrawlRecord) => endedRunner !== undefined && runner === endedRunner
  const isLive = (other: CrawlRecord) => !isGone(other) && Math.abs(now - other.heartbeatAt) < staleMs
  if (running.some(isLive)) await refuseRunning(sql, source)
  const others = running.filter(({ id }) => id !== resume).map(({ id }) => id)
  await sql.run(
    `UPDATE crawls SET state = 'cancelled', ended_at = heartbeat_at WHERE id IN (SELECT id FROM crawl_ids WHERE uuid = ANY ($1))`,
    [others],
  )
  if (endedRunner !== undefined) await freeHostsOf(sql, endedRunner, now)
  await sql.run(RELEASE_LEASED_ROWS, [source, resume !== undefined, now, holder.name])
  await sql.run(`UPDATE ledger SET due_at = NULL WHERE source = $1 AND state = 'pending' AND due_at > $2`, [
    source,
    now + MAX_DELAY_MS,
  ])
  return resume === undefined ? insertCrawl(sql, source, crawl) : resumeCrawl(sql, source, { crawl, resume, now })
}

/** Releases leased rows. When a crawl resumes, helpers with a live host lease keep their rows. */
const RELEASE_LEASED_ROWS = `UPDATE ledger l SET state = 'pending', lease = NULL, leased_until = NULL
  WHERE l.source = $1 AND l.state = 'leased' AND NOT ($2 AND EXISTS (
    SELECT 1 FROM hosts h WHERE h.host = l.host AND h.token::text = split_part(l.lease, ':', 1) AND h.leased_until > $3::float8
      AND h.holder <> $4))`

/** Releases all host leases of a runner that has ended. */
async function freeHostsOf(sql: Sql, runner: string, now: number): Promise<void> {
  const isOfRunner = ({ holder }: HostLease) => holder?.startsWith(`${runner}#`) === true
  // A prefix range for holder names: `$` follows `#` in byte order.
  const found = await sql.all<{ host: string }>(
    `SELECT host FROM hosts WHERE holder >= $1 || '#' AND holder < $1 || '$' AND leased_until > 0`,
    [runner],
  )
  await freeHosts(
    sql,
    found.map(({ host }) => host),
    now,
    isOfRunner,
  )
}

async function refuseRunning(sql: Sql, source: number): Promise<never> {
  const found = await sql.get<{ name: string; version: string | null }>(
    'SELECT name, version FROM sources WHERE id = $1',
    [source],
  )
  throw new PharosError('CRAWL_RUNNING', { source: labelOf(found ?? { name: String(source), version: null }) })
}

/**
 * Deletes all but the newest `$2` focused crawls of a source, that is runs for changes in a watched folder. Running crawls and crawls with
 * helpers are kept.
 */
const DELETE_OLD_FOCUSED_CRAWLS = `DELETE FROM crawls WHERE source = $1 AND ${IS_FOCUSED} AND id NOT IN (
    SELECT id FROM crawls WHERE source = $1 AND ${IS_FOCUSED} ORDER BY started_at DESC, id DESC LIMIT $2)
  AND NOT EXISTS (SELECT 1 FROM crawl_helpers h WHERE h.crawl = crawls.id)`

async function insertCrawl(sql: Sql, source: number, crawl: Crawl): Promise<{ crawl: Crawl; term: number }> {
  await sql.run(
    `UPDATE ledger SET attempts = 0, is_final = false, awaits_confirmation = false WHERE source = $1 AND state = 'pending'`,
    [source],
  )
  await sql.run('DELETE FROM earlier_pages WHERE source = $1', [source])
  if (crawl.options.isFocused === true) await sql.run(DELETE_OLD_FOCUSED_CRAWLS, [source, MAX_FOCUSED_RUNS - 1])
  await sql.run(
    `INSERT INTO crawls (id, source, ${CRAWL_COLUMNS}, keeps_earlier) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, true)`,
    [await crawlNumber(sql, source, crawl.id), source, ...crawlValues(crawl)],
  )
  return { crawl, term: 1 }
}

interface Reopening {
  readonly crawl: Crawl
  readonly resume: string
  readonly now: number
}

async function resumeCrawl(
  sql: Sql,
  source: number,
  { crawl, resume, now }: Reopening,
): Promise<{ crawl: Crawl; term: number }> {
  const found = await sql.get<CrawlRecord>(`${SELECT_CRAWLS} WHERE i.uuid = $1 AND j.source = $2`, [resume, source])
  const reopenedCrawl = reopenCrawl(found, resume, now, crawl.runner)
  const reopened = await sql.get<{ term: number }>(
    `UPDATE crawls SET state = 'running', term = term + 1, heartbeat_at = $1, runner = $2, ended_at = NULL, summary = NULL,
       shared = NULL
     WHERE id = (SELECT id FROM crawl_ids WHERE uuid = $3) RETURNING term`,
    [now, crawl.runner, resume],
  )
  return { crawl: reopenedCrawl, term: reopened?.term ?? 0 }
}

/** SQL condition for the crawl `$1` while the runner `$2` holds it; null stands for any runner. */
export const IS_HELD_BY_RUNNER: string = `id = (SELECT id FROM crawl_ids WHERE uuid = $1) AND state = 'running' AND runner IS NOT DISTINCT FROM coalesce($2, runner)`

/** Records a heartbeat; false when the runner no longer holds the crawl. */
export async function touchCrawl(sql: Sql, id: string, now: number, runner: string | undefined): Promise<boolean> {
  return (
    (await sql.run(`UPDATE crawls SET heartbeat_at = $3 WHERE ${IS_HELD_BY_RUNNER}`, [id, runner ?? null, now])) > 0
  )
}

/**
 * Ends a crawl inside the caller's transaction; without a summary it counts as cancelled. Waits for transactions that are writing for the
 * crawl.
 */
export async function endCrawl(
  sql: Sql,
  id: string,
  summary: CrawlSummary | null,
  now: number,
  runner: string | undefined,
): Promise<void> {
  const found = await sql.get<{ source: number }>('SELECT source FROM crawl_ids WHERE uuid = $1', [id])
  if (found === undefined) return
  await lockSource(sql, found.source)
  // The counts of the helpers are already included in the summary.
  await sql.run(
    `WITH ended AS (UPDATE crawls SET state = $3, ended_at = $4, summary = $5 WHERE ${IS_HELD_BY_RUNNER} RETURNING id)
     DELETE FROM crawl_helpers WHERE crawl IN (SELECT id FROM ended)`,
    [id, runner ?? null, summary?.end ?? 'cancelled', now, summary && JSON.stringify(summary)],
  )
}

/** A crawl by its id. */
export async function findCrawl(sql: Sql, id: string): Promise<Crawl | undefined> {
  const found = await sql.get<CrawlRecord>(`${SELECT_CRAWLS} WHERE i.uuid = $1`, [id])
  return found === undefined ? undefined : toCrawl(found)
}

/** The running crawls of all sources. */
export async function listRunning(sql: Sql): Promise<Crawl[]> {
  const found = await sql.all<CrawlRecord>(
    `${SELECT_CRAWLS} WHERE j.state = 'running' AND NOT s.is_removed ORDER BY j.id`,
  )
  return found.map(toCrawl)
}

/** Lists the crawls of a source, newest first. */
export async function listCrawls(sql: Sql, source: number, limit: number): Promise<Crawl[]> {
  const found = await sql.all<CrawlRecord>(
    `${SELECT_CRAWLS} WHERE j.source = $1 ORDER BY j.started_at DESC, j.id DESC LIMIT $2`,
    [source, limit],
  )
  return found.map(toCrawl)
}
