import type { Page } from '../../../core/model.ts'
import type { FoundPlace } from '../../../library/ports/findings.ts'
import { reviseClassification } from '../../../store/postgres/classifications.ts'
import type { Database, Sql } from '../../../store/postgres/database/database.ts'
import { removeHub } from '../../../store/postgres/empty-hubs.ts'
import type { AnalysedPage } from '../../analysis/page-analysis.ts'
import type { Analyses, AnalysisVersions, PageToAnalyse } from '../../ports/analyses.ts'
import { type AnalysisRecord, toAnalysis } from '../common/analysis-record.ts'
import { contextOf } from '../common/place-context.ts'
import { createAnalysisRuns, keepProgress } from './analysis-runs.ts'
import { createDomains } from './domains.ts'
import { insertOrTouchHub, writeHub } from './hub-writer.ts'

interface PendingColumns extends Omit<PageToAnalyse, 'page'> {
  readonly meta: string
  readonly markdown: string
}

/** Size limit for a batch of pages: a hundred of the largest pages would exhaust the memory. */
const MAX_BATCH_BYTES = 8_000_000

/** SQL for pages without a current analysis. An analysis by a newer program version counts as current. */
const PENDING = `FROM pages p JOIN ledger l ON l.id = p.id JOIN sources s ON s.id = l.source
    LEFT JOIN page_analyses a ON a.page = p.id
  WHERE NOT s.is_removed AND (a.analysis_version IS NULL OR a.analysis_version < $1
    OR a.analysis_version = $1 AND (a.gazetteer_revision IS DISTINCT FROM $2
      OR (a.classification::json ->> 'version')::int < $3))`

const BY_KEY = `a.page = (SELECT l.id FROM sources s JOIN ledger l ON l.source = s.id AND digest_of(l.key) = digest_of($1)
    AND l.key = $1 WHERE s.uuid = $2)`

/** Queries the analyses of pages. */
export function createAnalyses(db: Database): Analyses {
  return {
    ...createAnalysisRuns(db),
    ...createDomains(db),
    listPending: ({ after, limit, ...versions }) => listPending(db, versions, after, limit),
    countPending: async (versions, after = 0) => {
      const countSql = `SELECT count(*) AS pages ${PENDING} AND p.id > $4`
      const found = await db.get<{ pages: number }>(countSql, [...valuesOf(versions), after])
      return found?.pages ?? 0
    },
    write: (holder, pages, progress, stamp) =>
      db.transaction(async (sql) => {
        if (!(await keepProgress(sql, holder, progress, stamp.now))) return false
        for (const { page, analysed } of pages) await writePage(sql, page, analysed, stamp)
        return true
      }),
    read: async (sourceId, key) => {
      const found = await db.get<AnalysisRecord>(
        `SELECT a.classification, a.analysis, a.analysed_at AS "analysedAt" FROM page_analyses a WHERE ${BY_KEY}`,
        [key, sourceId],
      )
      return found && toAnalysis(found)
    },
  }
}

function valuesOf({ version, revision, classifierVersion }: AnalysisVersions): unknown[] {
  return [version, revision, classifierVersion]
}

async function listPending(
  sql: Sql,
  versions: AnalysisVersions,
  after: number,
  limit: number,
): Promise<PageToAnalyse[]> {
  // Computes sizes first, so that pages beyond the limit are not transferred.
  const found = await sql.all<PendingColumns>(
    `SELECT id, "sourceId", key, host, "checkedAt", meta, markdown FROM (
       SELECT p.id, s.uuid AS "sourceId", l.key, l.host, l.checked_at AS "checkedAt", p.meta, p.markdown,
         sum(octet_length(p.meta) + octet_length(p.markdown)) OVER (ORDER BY p.id) - octet_length(p.meta)
           - octet_length(p.markdown) AS before
       ${PENDING} AND p.id > $4 ORDER BY p.id LIMIT $5) pending
     WHERE before < $6 ORDER BY id`,
    [...valuesOf(versions), after, limit, MAX_BATCH_BYTES],
  )
  return found.map(({ meta, markdown, ...page }) => {
    const metadata = JSON.parse(meta) as Omit<Page, 'markdown'>
    return { ...page, page: { ...metadata, markdown } }
  })
}

/** The gazetteer revision and time of an analysis. */
interface AnalysisStamp {
  readonly revision: string
  readonly now: number
}

/** Stores the analysis of a page, with its places and hub. */
async function writePage(
  sql: Sql,
  pending: PageToAnalyse,
  analysed: AnalysedPage,
  stamp: AnalysisStamp,
): Promise<void> {
  const { id, host, checkedAt, page } = pending
  const { classification, analysis, hub } = analysed
  const found = await sql.get<{ source: number }>(
    'SELECT source FROM ledger WHERE id = $1 AND checked_at IS NOT DISTINCT FROM $2 AND page_hash IS NOT NULL FOR UPDATE',
    [id, checkedAt],
  )
  // The page was visited meanwhile, so the next run analyzes it again.
  if (found === undefined) return
  await reviseClassification(sql, found.source, id, classification)
  const { analysis_version: version, published_at: publishedAt, language } = analysis
  await sql.run(
    `UPDATE page_analyses SET analysis_version = $1, gazetteer_revision = $2, analysed_at = $3, published_at = $4, language = $5,
       analysis = $6 WHERE page = $7`,
    [version, stamp.revision, stamp.now, publishedAt, language, JSON.stringify(analysis), id],
  )
  await writePlaces(sql, id, page, analysis.findings.places, stamp.now)
  // A hub is identified by the URL of its first page, which describes it best.
  if (hub !== null && hub.url === page.url) await writeHub(sql, hub, stamp.now)
  else if (hub !== null) await insertOrTouchHub(sql, hub, stamp.now)
  // A hub that a crawl has confirmed stays, whatever its text looks like.
  else if (!(await isConfirmed(sql, host, page.url))) await removeHub(sql, page.url)
}

async function isConfirmed(sql: Sql, host: string, url: string): Promise<boolean> {
  const found = await sql.get(
    `SELECT 1 FROM hub_verdicts WHERE host = $1 AND digest_of(url) = digest_of($2) AND url = $2 AND state = 'confirmed'`,
    [host, url],
  )
  return found !== undefined
}

/** Replaces the places of a page, and keeps the time at which each one was first seen. */
async function writePlaces(
  sql: Sql,
  id: number,
  page: Page,
  places: readonly FoundPlace[],
  now: number,
): Promise<void> {
  const seen = await sql.all<{ placeId: number; at: number }>(
    `WITH gone AS (DELETE FROM article_places WHERE page = $1 RETURNING place_id, first_seen_at)
     SELECT place_id AS "placeId", min(first_seen_at) AS at FROM gone GROUP BY place_id`,
    [id],
  )
  if (places.length === 0) return
  const firstSeenAt = new Map(seen.map(({ placeId, at }) => [placeId, at]))
  await sql.run(
    `INSERT INTO article_places (page, article_url, place_id, place, place_kind, method, source, offset_start, offset_end,
       context, first_seen_at)
     SELECT $1, $2, place_id, place, place_kind, method, source, offset_start, offset_end, context, first_seen_at
     FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[], $9::int[], $10::text[], $11::bigint[])
       AS n (place_id, place, place_kind, method, source, offset_start, offset_end, context, first_seen_at)
     ON CONFLICT DO NOTHING`,
    [
      id,
      page.url,
      places.map((place) => place.place_id),
      places.map((place) => place.place),
      places.map((place) => place.place_kind),
      places.map((place) => place.method),
      places.map((place) => place.source),
      places.map((place) => place.offset_start),
      places.map((place) => place.offset_end),
      places.map(({ source, offset_start: start, offset_end: end }) =>
        source === 'text' ? contextOf(page.markdown, start, end) : null,
      ),
      places.map((place) => firstSeenAt.get(place.place_id) ?? now),
    ],
  )
}
