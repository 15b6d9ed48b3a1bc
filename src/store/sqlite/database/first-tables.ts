/**
 * The tables of the first released schema.
 *
 * The ledger holds no long text, so that it can be counted and scanned quickly; `pages` holds the content under the id of its ledger row.
 * The chunks of a page have consecutive ids and need no index. Triggers maintain `ledger_counts`: the counts are read after every batch,
 * and an index by state would cost more than the triggers.
 */
export const FIRST_TABLES = `
  CREATE TABLE sources (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    version TEXT,
    url TEXT NOT NULL,
    site_url TEXT NOT NULL,
    scope TEXT NOT NULL,
    settings TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- 1 hides the source: its rows are being deleted in batches, or are still being copied into this library.
    is_removed INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE UNIQUE INDEX sources_by_version ON sources (name, version) WHERE version IS NOT NULL;
  CREATE UNIQUE INDEX sources_by_name ON sources (name) WHERE version IS NULL;

  -- Short numbers for the ids of crawls, because every ledger row contains one.
  CREATE TABLE crawl_ids (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE,
    source INTEGER NOT NULL REFERENCES sources (id)
  ) STRICT;
  CREATE INDEX crawl_ids_by_source ON crawl_ids (source);

  CREATE TABLE crawl_jobs (
    id INTEGER PRIMARY KEY REFERENCES crawl_ids (id),
    source INTEGER NOT NULL REFERENCES sources (id),
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    options TEXT NOT NULL,
    runner TEXT,
    -- Number of starts. A process that started the crawl earlier may no longer write.
    term INTEGER NOT NULL DEFAULT 1,
    started_at INTEGER NOT NULL,
    heartbeat_at INTEGER NOT NULL,
    ended_at INTEGER,
    summary TEXT
  ) STRICT;
  CREATE INDEX crawl_jobs_by_source ON crawl_jobs (source, started_at);

  -- Ids increase in the order in which addresses were found. Columns that are read for every found address come first.
  CREATE TABLE ledger (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL REFERENCES sources (id),
    state TEXT NOT NULL,
    reason TEXT,
    depth INTEGER NOT NULL,
    crawl INTEGER,
    page_hash ANY,
    key TEXT NOT NULL,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    discovery TEXT NOT NULL,
    found_on TEXT,
    pattern TEXT,
    target TEXT,
    etag TEXT,
    last_modified TEXT,
    -- The address that gave the content and its validators: another spelling of the row's address, or its Markdown.
    content_url TEXT,
    content_hash ANY,
    attempts INTEGER NOT NULL DEFAULT 0,
    status INTEGER,
    detail TEXT,
    first_seen_at INTEGER NOT NULL,
    checked_at INTEGER,
    changed_at INTEGER,
    due_at REAL,
    lease TEXT,
    leased_until REAL,
    is_final INTEGER NOT NULL DEFAULT 0,
    awaits_confirmation INTEGER NOT NULL DEFAULT 0,
    final_crawl INTEGER,
    proven_crawl INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX ledger_by_key ON ledger (source, key);
  CREATE INDEX ledger_ready ON ledger (source, awaits_confirmation, host, depth, id)
    WHERE state = 'pending' AND due_at IS NULL;
  CREATE INDEX ledger_by_age ON ledger (source, awaits_confirmation, depth, id, host)
    WHERE state = 'pending' AND due_at IS NULL;
  CREATE INDEX ledger_waiting ON ledger (source, awaits_confirmation, host, due_at, depth)
    WHERE state = 'pending' AND due_at IS NOT NULL;
  CREATE INDEX ledger_leased ON ledger (source, awaits_confirmation, depth, leased_until)
    WHERE state = 'leased';
  CREATE INDEX ledger_by_content ON ledger (source, page_hash, changed_at)
    WHERE page_hash IS NOT NULL;

  -- Covers only rows with a reason. Rows that were fetched and settled without a problem have none.
  CREATE INDEX ledger_by_reason ON ledger (source, state, reason, key)
    WHERE reason IS NOT NULL;

  -- Hosts with pending rows, so that leases and counts need not search all rows. Maintained by triggers.
  CREATE TABLE open_hosts (
    source INTEGER NOT NULL,
    awaits_confirmation INTEGER NOT NULL,
    host TEXT NOT NULL,
    -- Rows that are due at once, and rows with a due time.
    ready INTEGER NOT NULL,
    waiting INTEGER NOT NULL,
    PRIMARY KEY (source, awaits_confirmation, host)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER pending_inserted AFTER INSERT ON ledger WHEN new.state = 'pending' BEGIN
    INSERT INTO open_hosts VALUES (new.source, new.awaits_confirmation, new.host, new.due_at IS NULL, new.due_at IS NOT NULL)
      ON CONFLICT DO UPDATE SET ready = ready + excluded.ready, waiting = waiting + excluded.waiting;
  END;
  CREATE TRIGGER pending_updated AFTER UPDATE OF state, due_at, awaits_confirmation, host ON ledger
    WHEN (old.state = 'pending' OR new.state = 'pending') AND (old.state <> new.state OR old.host <> new.host
      OR old.due_at IS NOT new.due_at OR old.awaits_confirmation <> new.awaits_confirmation) BEGIN
    UPDATE open_hosts SET ready = ready - (old.due_at IS NULL), waiting = waiting - (old.due_at IS NOT NULL)
      WHERE old.state = 'pending' AND source = old.source AND awaits_confirmation = old.awaits_confirmation
        AND host = old.host;
    INSERT INTO open_hosts
      SELECT new.source, new.awaits_confirmation, new.host, new.due_at IS NULL, new.due_at IS NOT NULL
      WHERE new.state = 'pending'
      ON CONFLICT DO UPDATE SET ready = ready + excluded.ready, waiting = waiting + excluded.waiting;
    DELETE FROM open_hosts WHERE source = old.source AND awaits_confirmation = old.awaits_confirmation
      AND host = old.host AND ready = 0 AND waiting = 0;
  END;

  CREATE TABLE ledger_counts (
    source INTEGER NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    rows INTEGER NOT NULL,
    PRIMARY KEY (source, state, reason)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER ledger_inserted AFTER INSERT ON ledger BEGIN
    INSERT INTO ledger_counts (source, state, reason, rows) VALUES (new.source, new.state, ifnull(new.reason, ''), 1)
      ON CONFLICT DO UPDATE SET rows = rows + 1;
  END;
  CREATE TRIGGER ledger_updated AFTER UPDATE OF state, reason ON ledger
    WHEN old.state IS NOT new.state OR old.reason IS NOT new.reason BEGIN
    UPDATE ledger_counts SET rows = rows - 1
      WHERE source = old.source AND state = old.state AND reason = ifnull(old.reason, '');
    INSERT INTO ledger_counts (source, state, reason, rows) VALUES (new.source, new.state, ifnull(new.reason, ''), 1)
      ON CONFLICT DO UPDATE SET rows = rows + 1;
  END;

  CREATE TABLE pages (
    id INTEGER PRIMARY KEY REFERENCES ledger (id),
    first_chunk INTEGER NOT NULL,
    chunk_count INTEGER NOT NULL,
    title TEXT NOT NULL,
    -- The page without its Markdown.
    meta TEXT NOT NULL,
    markdown TEXT NOT NULL
  ) STRICT;

  -- Links of pages, and of rows that repeat a page. They are used again when a response says that nothing changed.
  CREATE TABLE links (
    id INTEGER PRIMARY KEY REFERENCES ledger (id),
    links TEXT NOT NULL
  ) STRICT;

  -- Ids are never reused, because the index records its progress by id.
  CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source INTEGER NOT NULL,
    page INTEGER NOT NULL,
    chunk_id ANY NOT NULL,
    content_hash ANY NOT NULL,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    token_estimate INTEGER NOT NULL,
    slug TEXT NOT NULL,
    path TEXT NOT NULL,
    heading_path TEXT NOT NULL,
    symbol TEXT,
    address TEXT,
    asset_path TEXT,
    content TEXT NOT NULL
  ) STRICT;
  CREATE INDEX chunks_by_chunk_id ON chunks (source, chunk_id);

  -- Receives stems joined by spaces. The ASCII tokenizer leaves all other characters alone, so that tokens stay as
  -- core/text made them; unicode61 would split at joiners and fold letters again. Positions are stored
  -- because bm25() cannot count occurrences without them: in a contentless table all its scores would be 0.
  CREATE VIRTUAL TABLE chunk_index USING fts5 (
    title, headings, body,
    content = '', contentless_delete = 1,
    tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\\]^_\`{|}~'"
  );

  -- The last chunk that was added to chunk_index.
  CREATE TABLE chunk_index_state (last_chunk INTEGER NOT NULL) STRICT;
  INSERT INTO chunk_index_state VALUES (0);

  CREATE TABLE url_aliases (
    source INTEGER NOT NULL REFERENCES sources (id),
    url TEXT NOT NULL,
    alias_url TEXT NOT NULL,
    classification TEXT NOT NULL,
    reason TEXT,
    "exists" INTEGER NOT NULL DEFAULT 1,
    checked_at INTEGER NOT NULL,
    metadata TEXT,
    PRIMARY KEY (source, url, alias_url)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX url_aliases_by_alias ON url_aliases (source, alias_url);

  CREATE TABLE hosts (
    host TEXT PRIMARY KEY,
    next_at REAL NOT NULL DEFAULT 0,
    interval_ms REAL NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE robots (
    origin TEXT PRIMARY KEY,
    fetched_at INTEGER NOT NULL,
    type TEXT NOT NULL,
    status INTEGER,
    body TEXT NOT NULL
  ) STRICT;

  -- Lists that contain pages, as last read. Other addresses that a list names are stored as JSON.
  CREATE TABLE lists (
    source INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    etag TEXT,
    last_modified TEXT,
    content_hash TEXT NOT NULL,
    context_hash TEXT NOT NULL,
    pages INTEGER NOT NULL,
    named TEXT NOT NULL,
    PRIMARY KEY (source, url)
  ) STRICT;
  `
