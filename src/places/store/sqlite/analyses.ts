import type { Page } from '../../../core/model.ts'
import type { FoundPlace } from '../../../library/ports/findings.ts'
import { parseStored } from '../../../store/common/damage.ts'
import { createClassifications } from '../../../store/sqlite/classifications.ts'
import type { Database, Write } from '../../../store/sqlite/database/database.ts'
import type { AnalysedPage } from '../../analysis/page-analysis.ts'
import type { Analyses, AnalysisVersions, PageToAnalyse } from '../../ports/analyses.ts'
import { type AnalysisRecord, toAnalysis } from '../common/analysis-record.ts'
import { contextOf } from '../common/place-context.ts'
import { createAnalysisRuns } from './analysis-runs.ts'
import { createDomains } from './domains.ts'
import { createHubWriter } from './place-hubs.ts'

interface PendingColumns extends Omit<PageToAnalyse, 'page'> {
  readonly meta: Buffer
  readonly markdown: Buffer
}

/** Size limit for a batch of pages: a hundred of the largest pages would exhaust the memory. */
const MAX_BATCH_BYTES = 8_000_000

/** SQL for pages without a current analysis. An analysis by a newer program version counts as current. */
const IS_PENDING = `(a.analysis_version IS NULL OR a.analysis_version < @version
  OR a.analysis_version = @version AND (a.gazetteer_revision IS NOT @revision
    OR a.classification ->> '$.version' < @classifierVersion))`

/** Creates the queries for analyses of pages. */
export function createAnalyses(db: Database, write: Write): Analyses {
  const pending = `FROM pages p CROSS JOIN ledger l ON l.id = p.id JOIN sources s ON s.id = l.source
    LEFT JOIN page_analyses a ON a.page = p.id WHERE s.is_removed = 0 AND ${IS_PENDING}`
  // Text is read as bytes, which Node decodes twice as fast.
  const selectPending = db.prepare<[AnalysisVersions & { after: number; limit: number }], PendingColumns>(
    `SELECT p.id, s.uuid AS sourceId, l.key, l.host, l.checked_at AS checkedAt, CAST(p.meta AS BLOB) AS meta,
       CAST(p.markdown AS BLOB) AS markdown
     ${pending} AND p.id > @after ORDER BY p.id LIMIT @limit`,
  )
  const countPending = db
    .prepare<[AnalysisVersions & { after: number }], number>(`SELECT count(*) ${pending} AND p.id > @after`)
    .pluck()
  const byKey = 'a.page = (SELECT id FROM ledger WHERE key = ? AND source = (SELECT id FROM sources WHERE uuid = ?))'
  const select = db.prepare<[string, string], AnalysisRecord>(
    `SELECT a.classification, a.analysis, a.analysed_at AS analysedAt FROM page_analyses a WHERE ${byKey}`,
  )
  const writePage = createPageWriter(db)
  const runs = createAnalysisRuns(db, write)

  return {
    ...runs,
    ...createDomains(db, write),
    listPending: async (query) => {
      const pages: PageToAnalyse[] = []
      let bytes = 0
      for (const found of selectPending.iterate(query)) {
        pages.push(toPending(found))
        bytes += found.meta.length + found.markdown.length
        if (bytes >= MAX_BATCH_BYTES) break
      }
      return pages
    },
    countPending: async (versions, after = 0) => countPending.get({ ...versions, after }) ?? 0,
    write: (holder, pages, progress, stamp) =>
      write(() => {
        if (!runs.keepProgress(holder, progress, stamp.now)) return false
        for (const { page, analysed } of pages) writePage(page, analysed, stamp)
        return true
      }),
    read: async (sourceId, key) => {
      const found = select.get(key, sourceId)
      return found && toAnalysis(found)
    },
  }
}

function toPending({ meta, markdown, ...page }: PendingColumns): PageToAnalyse {
  const metadata = parseStored<Omit<Page, 'markdown'>>(meta.toString())
  return { ...page, page: { ...metadata, markdown: markdown.toString() } }
}

/** Creates the function that stores the analysis of a page, with its places and hub. */
function createPageWriter(
  db: Database,
): (page: PageToAnalyse, analysed: AnalysedPage, stamp: { readonly revision: string; readonly now: number }) => void {
  const selectSource = db
    .prepare<[number, number | null], number>(
      'SELECT source FROM ledger WHERE id = ? AND checked_at IS ? AND page_hash IS NOT NULL',
    )
    .pluck()
  const classifications = createClassifications(db)
  const update = db.prepare<[number, string, number, string | null, string | null, string, number]>(
    `UPDATE page_analyses SET analysis_version = ?, gazetteer_revision = ?, analysed_at = ?, published_at = ?, language = ?,
       analysis = ? WHERE page = ?`,
  )
  const selectSeen = db.prepare<[number], { placeId: number; at: number }>(
    'SELECT place_id AS placeId, min(first_seen_at) AS at FROM article_places WHERE page = ? GROUP BY place_id',
  )
  const deletePlaces = db.prepare<[number]>('DELETE FROM article_places WHERE page = ?')
  const insertPlace = db.prepare<unknown[]>(
    `INSERT OR IGNORE INTO article_places (page, article_url, place_id, place, place_kind, method, source, offset_start,
       offset_end, context, first_seen_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const hubs = createHubWriter(db)
  const selectConfirmed = db
    .prepare<[string, string], 1>(`SELECT 1 FROM hub_verdicts WHERE host = ? AND url = ? AND state = 'confirmed'`)
    .pluck()

  const writePlaces = (id: number, page: Page, places: readonly FoundPlace[], now: number): void => {
    const seen = selectSeen.all(id)
    if (seen.length > 0) deletePlaces.run(id)
    const firstSeenAt = new Map(seen.map(({ placeId, at }) => [placeId, at]))
    for (const found of places) {
      const { place_id: placeId, place, place_kind: kind, method, source, offset_start: start, offset_end: end } = found
      const context = source === 'text' ? contextOf(page.markdown, start, end) : null
      const at = firstSeenAt.get(placeId) ?? now
      insertPlace.run(id, page.url, placeId, place, kind, method, source, start, end, context, at)
    }
  }

  return ({ id, host, checkedAt, page }, { classification, analysis, hub }, { revision, now }) => {
    const source = selectSource.get(id, checkedAt)
    // The page was visited meanwhile, so the next run analyzes it again.
    if (source === undefined) return
    classifications.revise(source, id, classification)
    const { analysis_version: version, published_at: publishedAt, language } = analysis
    update.run(version, revision, now, publishedAt, language, JSON.stringify(analysis), id)
    writePlaces(id, page, analysis.findings.places, now)
    // A hub is identified by the URL of its first page, which describes it best.
    if (hub !== null && hub.url === page.url) hubs.write(hub, now)
    else if (hub !== null) hubs.insertOrTouch(hub, now)
    // A hub that a crawl has confirmed stays, whatever its text looks like.
    else if (selectConfirmed.get(host, page.url) === undefined) hubs.remove(page.url)
  }
}
