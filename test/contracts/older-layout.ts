/** SQL that gives a library of the current version the columns from before exit codes of jobs were stored. */
export const OLDER_LAYOUT: readonly string[] = [
  'DROP INDEX page_analyses_by_kind',
  `ALTER TABLE page_analyses ADD COLUMN hint TEXT NOT NULL DEFAULT 'other'`,
  'ALTER TABLE page_analyses ADD COLUMN hint_confidence REAL NOT NULL DEFAULT 0.5',
  'CREATE INDEX page_analyses_by_kind ON page_analyses (source, kind, page)',
  'CREATE INDEX page_analyses_by_hint ON page_analyses (source, hint, page, hint_confidence)',
  'ALTER TABLE crawl_jobs DROP COLUMN code',
  'ALTER TABLE crawl_jobs DROP COLUMN signal',
]
