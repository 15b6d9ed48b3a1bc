import type { DemotedAddress } from '../../../crawl/settlement.ts'
import { addCounts, NO_COUNTS, type ProcessCounts, type SharedCrawl } from '../../../crawl/sharing.ts'
import type { Crawl, SharableCrawl } from '../../../library/ports/store.ts'
import type { RowDraft } from '../../common/ledger/row-draft.ts'
import type { Database, Sql } from '../database/database.ts'
import { notify } from '../workers.ts'
import { findCrawl, IS_HELD_BY_RUNNER } from './crawls.ts'
import { writeIsHeld, writeOpenAt } from './lease-context.ts'

/** Allows other processes to join a crawl from now on, and notifies idle workers. */
export async function shareCrawl(
  db: Database,
  id: string,
  runner: string | undefined,
  shared: SharedCrawl,
): Promise<void> {
  await db.transaction(async (sql) => {
    await sql.run(`UPDATE crawls SET shared = $3 WHERE ${IS_HELD_BY_RUNNER}`, [
      id,
      runner ?? null,
      JSON.stringify(shared),
    ])
    await notify(sql, db.channel, 'shared')
  })
}

/** A running crawl that other processes may join, with the data that helpers need; undefined when it cannot be joined. */
export async function findShared(
  sql: Sql,
  id: string,
): Promise<{ readonly crawl: Crawl; readonly shared: SharedCrawl } | undefined> {
  const crawl = await findCrawl(sql, id)
  const shared = await readShared(sql, id)
  return crawl === undefined || shared == null ? undefined : { crawl, shared }
}

/** The data that helpers of a crawl need; null when joining is not allowed for now, undefined when the crawl is not running. */
export async function readShared(sql: Sql, id: string): Promise<SharedCrawl | null | undefined> {
  const found = await sql.get<{ shared: string | null }>(
    `SELECT j.shared FROM crawls j JOIN crawl_ids i ON i.id = j.id WHERE i.uuid = $1 AND j.state = 'running'`,
    [id],
  )
  // The JSON was written by this store.
  return found === undefined ? undefined : JSON.parse(found.shared ?? 'null')
}

/** A crawl without a heartbeat for this long may be abandoned, and cannot be joined until it resumes. */
const STALE_AFTER_MS = 30_000
/** Maximum number of hosts that are counted per crawl. */
const MAX_COUNTED_HOSTS = 1000

/** Running crawls that can be joined, ordered by the number of free hosts with open work, most first. */
export function listSharable(sql: Sql, now: number): Promise<SharableCrawl[]> {
  return sql.all<SharableCrawl>(
    `SELECT i.uuid AS "crawlId", s.uuid AS "sourceId", f.hosts AS "freeHosts", f.ready
     FROM crawls j JOIN crawl_ids i ON i.id = j.id JOIN sources s ON s.id = j.source CROSS JOIN LATERAL (
       SELECT count(*) AS hosts, coalesce(sum(found.ready), 0)::bigint AS ready FROM (
         SELECT o.ready FROM open_hosts o LEFT JOIN hosts h ON h.host = o.host
         WHERE o.source = j.source AND (h.holder IS NULL OR NOT ${writeIsHeld('$1::float8')}) AND ${writeOpenAt('$1::float8')} <= $1
         LIMIT ${MAX_COUNTED_HOSTS}) AS found) f
     WHERE j.shared IS NOT NULL AND j.state = 'running' AND NOT s.is_removed AND abs($1 - j.heartbeat_at) < ${STALE_AFTER_MS}
       AND f.hosts > 0
     ORDER BY f.hosts DESC, j.id`,
    [now],
  )
}

const COUNTS = [
  'visited',
  'indexed',
  'unchanged',
  'skipped',
  'failed',
  'proven_gone',
  'new_in_refresh',
  'overflow',
  'bytes',
  'requests',
] as const

/** A process that has joined a crawl. */
export interface Helper {
  readonly crawl: number
  readonly name: string
}

/** SQL that adds to the counts of a helper; its parameters are {@link helpValues}, starting at `first`. */
export function addHelpSql(first: number): string {
  const parameter = (offset: number, type: string) => `$${first + offset}::${type}`
  const values = COUNTS.map((_, offset) => parameter(offset + 2, 'bigint'))
  return `INSERT INTO crawl_helpers AS k (crawl, term, holder, ${COUNTS.join(', ')}, parked)
    SELECT j.id, j.term, ${parameter(1, 'text')}, ${values.join(', ')}, ${parameter(COUNTS.length + 2, 'text[]')}
    FROM crawls j WHERE j.id = ${parameter(0, 'bigint')}
    ON CONFLICT (crawl, term, holder) DO UPDATE SET ${COUNTS.map((name) => `${name} = k.${name} + excluded.${name}`).join(', ')},
      parked = CASE WHEN k.parked @> excluded.parked THEN k.parked ELSE k.parked || excluded.parked END`
}

/** The parameters of {@link addHelpSql}. */
export function helpValues({ crawl, name }: Helper, help: ProcessCounts): unknown[] {
  const { visited, indexed, unchanged, skipped, failed, provenGone, newInRefresh, overflow, bytes, requests, parked } =
    help
  const counts = [visited, indexed, unchanged, skipped, failed, provenGone, newInRefresh, overflow, bytes, requests]
  return [crawl, name, ...counts, parked.flatMap(({ host, detail }) => [host, detail])]
}

const ADD_HELP = addHelpSql(1)

/** Adds to the counts of a helper. */
export async function writeHelp(sql: Sql, helper: Helper, help: Partial<ProcessCounts>): Promise<void> {
  await sql.run(ADD_HELP, helpValues(helper, { ...NO_COUNTS, ...help }))
}

type HelpedRow = Pick<RowDraft, 'state' | 'provenCrawl' | 'pageHash'>

/**
 * The counts of a visit, and of the row that lost its content to this visit. A failed visit whose page is proven gone counts as
 * `provenGone` instead of `failed`.
 */
export function helpOf(
  { state, provenCrawl, pageHash }: HelpedRow,
  cost: Pick<ProcessCounts, 'bytes' | 'requests'>,
  demoted: DemotedAddress | null,
): ProcessCounts {
  if (state === 'pending' || state === 'leased' || state === 'gone') return { ...NO_COUNTS, ...cost }
  const isGone = state === 'failed' && provenCrawl !== null && pageHash !== null
  const help = { ...NO_COUNTS, ...cost, visited: 1, [isGone ? 'provenGone' : state]: 1 }
  return demoted === null ? help : addCounts(help, { ...NO_COUNTS, [demoted.state]: -1, skipped: 1 })
}

interface HelpColumns extends Omit<ProcessCounts, 'parked'> {
  /** Hosts, each followed by its reason. */
  readonly parked: readonly string[]
}

/** The total of all helpers of a crawl since it was last begun. */
export async function readHelp(sql: Sql, id: string): Promise<ProcessCounts> {
  const found = await sql.all<HelpColumns>(
    `SELECT k.visited, k.indexed, k.unchanged, k.skipped, k.failed, k.proven_gone AS "provenGone", k.new_in_refresh AS "newInRefresh", k.overflow, k.bytes,
       k.requests, k.parked
     FROM crawl_helpers k JOIN crawls j ON j.id = k.crawl AND j.term = k.term JOIN crawl_ids i ON i.id = j.id
     WHERE i.uuid = $1 ORDER BY k.holder`,
    [id],
  )
  return found.map(toHelp).reduce(addCounts, NO_COUNTS)
}

function toHelp({ parked, ...counts }: HelpColumns): ProcessCounts {
  const pairs = Array.from({ length: parked.length / 2 }, (_, i) => parked.slice(2 * i, 2 * i + 2))
  return { ...counts, parked: pairs.map(([host = '', detail = '']) => ({ host, detail })) }
}
