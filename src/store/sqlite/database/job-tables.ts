/** Trigger SQL that counts a new row of a host; part of two triggers below. */
const COUNT_HOST_ROW = `INSERT INTO host_counts
      VALUES (new.source, new.host, new.state IN ('pending', 'leased'), new.state = 'indexed', new.state = 'unchanged',
        new.state = 'skipped', new.state = 'failed', new.state = 'gone', new.page_hash IS NOT NULL, new.checked_at)
      ON CONFLICT DO UPDATE SET pending_rows = pending_rows + excluded.pending_rows,
        indexed_rows = indexed_rows + excluded.indexed_rows, unchanged_rows = unchanged_rows + excluded.unchanged_rows,
        skipped_rows = skipped_rows + excluded.skipped_rows, failed_rows = failed_rows + excluded.failed_rows,
        gone_rows = gone_rows + excluded.gone_rows, pages = pages + excluded.pages,
        asked_at = max(ifnull(asked_at, excluded.asked_at), ifnull(excluded.asked_at, asked_at));`

/** The migration that added jobs with their history, and row counts of hosts. */
export const JOB_TABLES: string = `
  -- A crawl is a run over a source. A job is a request to a server, and crawl_jobs now means jobs.
  ALTER TABLE crawl_jobs RENAME TO crawls;
  DROP INDEX crawl_jobs_by_source;
  CREATE INDEX crawls_by_source ON crawls (source, started_at);

  CREATE TABLE crawl_jobs (
    id TEXT NOT NULL PRIMARY KEY,
    url TEXT NOT NULL,
    args TEXT NOT NULL,
    pid INTEGER,
    started_at INTEGER,
    ended_at INTEGER,
    status TEXT NOT NULL,
    -- Distinguishes the process from others with the same pid.
    process_began TEXT,
    created_at INTEGER NOT NULL,
    crawl_id TEXT,
    source_id TEXT,
    restarts INTEGER NOT NULL,
    progress TEXT,
    problem TEXT,
    -- Updated with the events, so that a list of jobs need not count them.
    events INTEGER NOT NULL DEFAULT 0,
    last_event_at INTEGER
  ) STRICT;
  CREATE INDEX crawl_jobs_newest ON crawl_jobs (status = 'queued', ifnull(started_at, created_at));
  CREATE INDEX crawl_jobs_open ON crawl_jobs (created_at) WHERE status IN ('queued', 'running');
  CREATE INDEX crawl_jobs_ended ON crawl_jobs (ended_at) WHERE status NOT IN ('queued', 'running');

  -- SQLite ends every index with the row id, so each index below returns its rows in order of id, from any start.
  CREATE TABLE queue_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id TEXT NOT NULL,
    ts INTEGER NOT NULL,
    action TEXT NOT NULL,
    url TEXT NOT NULL,
    depth INTEGER,
    host TEXT,
    reason TEXT,
    queue_size INTEGER NOT NULL,
    alias TEXT
  ) STRICT;
  CREATE INDEX queue_events_by_job ON queue_events (job_id);
  CREATE INDEX queue_events_by_action ON queue_events (job_id, action);

  ${['crawl_problems', 'crawl_milestones']
    .map(
      (table) => `
  CREATE TABLE ${table} (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id TEXT NOT NULL,
    ts INTEGER NOT NULL,
    kind TEXT NOT NULL,
    scope TEXT,
    target TEXT,
    message TEXT,
    details TEXT
  ) STRICT;
  CREATE INDEX ${table}_by_job ON ${table} (job_id);
  CREATE INDEX ${table}_by_kind ON ${table} (kind);
  CREATE INDEX ${table}_by_scope ON ${table} (scope);`,
    )
    .join('\n')}

  CREATE TABLE crawl_types (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    declaration TEXT NOT NULL
  ) STRICT;

  -- When an address was last requested, or when it was found if it was never requested. Orders lists of addresses.
  ALTER TABLE ledger ADD COLUMN at INTEGER GENERATED ALWAYS AS (ifnull(checked_at, first_seen_at)) VIRTUAL;
  -- Word count of the page. It is stored here, because the metadata of a page is slow to read.
  ALTER TABLE ledger ADD COLUMN words INTEGER;
  UPDATE ledger SET words = (SELECT json_extract(p.meta, '$.wordCount') FROM pages p WHERE p.id = ledger.id)
    WHERE page_hash IS NOT NULL;
  -- Rows with the same time are in order of their ids, because every index ends with the row id.
  CREATE INDEX ledger_by_time ON ledger (source, at);
  CREATE INDEX ledger_by_host ON ledger (source, host, at);
  CREATE INDEX ledger_failed ON ledger (source, at) WHERE state = 'failed';

  -- Row counts of each host, so that queries need not count rows. Maintained by triggers.
  CREATE TABLE host_counts (
    source INTEGER NOT NULL,
    host TEXT NOT NULL,
    -- Includes leased rows: a separate count would need two more writes for every visit.
    pending_rows INTEGER NOT NULL,
    indexed_rows INTEGER NOT NULL,
    unchanged_rows INTEGER NOT NULL,
    skipped_rows INTEGER NOT NULL,
    failed_rows INTEGER NOT NULL,
    gone_rows INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    asked_at INTEGER,
    PRIMARY KEY (source, host)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO host_counts
    SELECT source, host, sum(state IN ('pending', 'leased')), sum(state = 'indexed'), sum(state = 'unchanged'),
      sum(state = 'skipped'), sum(state = 'failed'), sum(state = 'gone'), sum(page_hash IS NOT NULL), max(checked_at)
    FROM ledger GROUP BY source, host;
  CREATE TRIGGER host_inserted AFTER INSERT ON ledger BEGIN
    ${COUNT_HOST_ROW}
  END;
  CREATE TRIGGER host_updated AFTER UPDATE OF state, page_hash, checked_at ON ledger
    WHEN iif(old.state = 'leased', 'pending', old.state) <> iif(new.state = 'leased', 'pending', new.state)
      OR (old.page_hash IS NULL) <> (new.page_hash IS NULL) OR old.checked_at IS NOT new.checked_at BEGIN
    UPDATE host_counts SET
        pending_rows = pending_rows + (new.state IN ('pending', 'leased')) - (old.state IN ('pending', 'leased')),
        indexed_rows = indexed_rows + (new.state = 'indexed') - (old.state = 'indexed'),
        unchanged_rows = unchanged_rows + (new.state = 'unchanged') - (old.state = 'unchanged'),
        skipped_rows = skipped_rows + (new.state = 'skipped') - (old.state = 'skipped'),
        failed_rows = failed_rows + (new.state = 'failed') - (old.state = 'failed'),
        gone_rows = gone_rows + (new.state = 'gone') - (old.state = 'gone'),
        pages = pages + (new.page_hash IS NOT NULL) - (old.page_hash IS NOT NULL),
        asked_at = max(ifnull(asked_at, new.checked_at), ifnull(new.checked_at, asked_at))
      WHERE source = old.source AND host = old.host;
  END;
  -- Fires only for a refused row that is found again in another spelling. Its old state was counted for its old host.
  CREATE TRIGGER host_moved AFTER UPDATE OF host ON ledger WHEN old.host <> new.host BEGIN
    UPDATE host_counts SET pending_rows = pending_rows - (old.state IN ('pending', 'leased')),
        indexed_rows = indexed_rows - (old.state = 'indexed'), unchanged_rows = unchanged_rows - (old.state = 'unchanged'),
        skipped_rows = skipped_rows - (old.state = 'skipped'), failed_rows = failed_rows - (old.state = 'failed'),
        gone_rows = gone_rows - (old.state = 'gone'), pages = pages - (old.page_hash IS NOT NULL)
      WHERE source = old.source AND host = old.host;
    ${COUNT_HOST_ROW}
  END;
  `
