import type { Classification, PageClass } from '../../core/model.ts'
import type { Database } from './database/database.ts'

/** Classifications: one row per page, from a crawl or an analysis. Everything here runs inside the caller's transaction. */
export interface Classifications {
  /**
   * Replaces the classification for new content. Findings about the old content are deleted, even when there is no new classification yet.
   */
  replace(source: number, page: number, classification: Classification | undefined): void
  /** Writes only the classification; the findings of an analysis stay. */
  revise(source: number, page: number, classification: Classification): void
  /** Marks a page for the next analysis run. Its old findings stay visible until then. */
  invalidate(page: number): void
}

interface ClassColumns {
  readonly source: number
  readonly page: number
  readonly kind: string
  readonly confidence: number
  readonly classification: string
}

/** Creates the statements for classifications. */
export function createClassifications(db: Database): Classifications {
  const upsert = db.prepare<[ClassColumns]>(
    `INSERT INTO page_analyses (page, source, kind, confidence, classification)
     VALUES (@page, @source, @kind, @confidence, @classification)
     ON CONFLICT DO UPDATE SET source = excluded.source, kind = excluded.kind, confidence = excluded.confidence,
       classification = excluded.classification`,
  )
  const removals = ['page_analyses', 'article_places'].map((table) =>
    db.prepare<[number]>(`DELETE FROM ${table} WHERE page = ?`),
  )
  const invalidate = db.prepare<[number]>(
    'UPDATE page_analyses SET analysis_version = NULL WHERE page = ? AND analysis_version IS NOT NULL',
  )
  const revise = (source: number, page: number, classification: Classification): void => {
    const { kind, confidence } = classification
    upsert.run({ source, page, kind, confidence, classification: JSON.stringify(classification) })
  }
  return {
    replace: (source, page, classification) => {
      for (const removal of removals) removal.run(page)
      if (classification !== undefined) revise(source, page, classification)
    },
    revise,
    invalidate: (page) => {
      invalidate.run(page)
    },
  }
}

/** Creates the function that reads the class of a page. */
export function createClassReader(db: Database): (sourceId: string, key: string) => PageClass | undefined {
  const select = db
    .prepare<[string, string], PageClass>(
      `SELECT kind FROM page_analyses
       WHERE page = (SELECT id FROM ledger WHERE key = ? AND source = (SELECT id FROM sources WHERE uuid = ?))`,
    )
    .pluck()
  return (sourceId, key) => select.get(key, sourceId)
}
