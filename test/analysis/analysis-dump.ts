import Sqlite from 'better-sqlite3'

/** Everything that analyses store in a library, without times and ids of runs. */
export type AnalysisDump = Readonly<Record<string, readonly unknown[]>>

const QUERIES: Readonly<Record<string, string>> = {
  pages: `SELECT page, source, kind, confidence, classification, analysis_version, gazetteer_revision,
      analysed_at IS NULL AS isOpen, analysis FROM page_analyses ORDER BY page`,
  places: `SELECT page, article_url, place_id, place, place_kind, method, source, offset_start, offset_end, context
    FROM article_places ORDER BY page, source, offset_start, offset_end, place_id`,
  hubs: `SELECT host, url, place_id, place_slug, place_kind, topic_slug, topic_label, topic_kind, title, nav_links_count,
      article_links_count, evidence FROM place_hubs ORDER BY url`,
  domains: `SELECT host, pages, articles, sections, dated_ratio, score, is_news, rate_limited_15, rate_limited_60
    FROM domains ORDER BY host`,
  locales: 'SELECT * FROM domain_locales ORDER BY host',
  milestones: `SELECT job_id, kind, scope, target, message, json_remove(details, '$.runId') AS details
    FROM crawl_milestones ORDER BY id`,
  runs: `SELECT status, stage, analysis_version, page_limit, domain_limit, skip_pages, skip_domains, dry_run, summary,
      last_progress, error FROM analysis_runs ORDER BY rowid`,
}

/** Reads the results of analyses in a library. */
export function readAnalysisDump(path: string): AnalysisDump {
  const db = new Sqlite(path, { readonly: true })
  try {
    return Object.fromEntries(Object.entries(QUERIES).map(([name, query]) => [name, db.prepare(query).all()]))
  } finally {
    db.close()
  }
}
