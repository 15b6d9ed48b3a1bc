import { PharosError } from '../../../core/errors.ts'
import { currentKey, currentUrl } from '../../common/current-key.ts'
import type { Database } from './database.ts'

/** Marks the file as a Pharos library: `Phar`. */
const APPLICATION_ID = 0x50686172

/** Trigger SQL that counts a new row of a host; part of two triggers below. */
const COUNT_HOST_ROW = `INSERT INTO host_counts
      VALUES (new.source, new.host, new.state IN ('pending', 'leased'), new.state = 'indexed', new.state = 'unchanged',
        new.state = 'skipped', new.state = 'failed', new.state = 'gone', new.page_hash IS NOT NULL, new.checked_at)
      ON CONFLICT DO UPDATE SET pending_rows = pending_rows + excluded.pending_rows,
        indexed_rows = indexed_rows + excluded.indexed_rows, unchanged_rows = unchanged_rows + excluded.unchanged_rows,
        skipped_rows = skipped_rows + excluded.skipped_rows, failed_rows = failed_rows + excluded.failed_rows,
        gone_rows = gone_rows + excluded.gone_rows, pages = pages + excluded.pages,
        asked_at = max(ifnull(asked_at, excluded.asked_at), ifnull(excluded.asked_at, asked_at));`

/**
 * The changes of each schema version. A released migration never changes.
 *
 * The ledger holds no long text, so that it can be counted and scanned quickly; `pages` holds the content under the id of its ledger row.
 * The chunks of a page have consecutive ids and need no index. Triggers maintain `ledger_counts`: the counts are read after every batch,
 * and an index by state would cost more than the triggers.
 */
const MIGRATIONS: readonly string[] = [
  `
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
  `,
  `
  ALTER TABLE hosts ADD COLUMN floor_ms REAL NOT NULL DEFAULT -1;
  ALTER TABLE hosts ADD COLUMN held_until REAL NOT NULL DEFAULT 0;
  ALTER TABLE hosts ADD COLUMN slowed_at REAL NOT NULL DEFAULT 0;
  ALTER TABLE hosts ADD COLUMN strikes INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- The model that made the vectors. A library has one vector space at a time.
  CREATE TABLE vector_space (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    model TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    dimensions INTEGER NOT NULL
  ) STRICT;

  -- Vectors are deleted with their chunk. Numbers are never reused, because readers find new vectors by number. The
  -- source is repeated, so that vectors can be counted and compared without reading the chunks.
  CREATE TABLE vectors (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk INTEGER NOT NULL UNIQUE,
    source INTEGER NOT NULL,
    vector BLOB NOT NULL
  ) STRICT;
  CREATE INDEX vectors_by_source ON vectors (source);
  CREATE TRIGGER chunk_deleted AFTER DELETE ON chunks BEGIN
    DELETE FROM vectors WHERE chunk = old.id;
  END;
  `,
  `
  DROP TABLE chunk_index;
  DROP TABLE chunk_index_state;

  -- Progress and rules of the chunk index. The index is rebuilt when its rules change.
  CREATE TABLE index_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    format TEXT NOT NULL,
    last_chunk INTEGER NOT NULL,
    generation INTEGER NOT NULL
  ) STRICT;
  INSERT INTO index_state VALUES (1, '', 0, 0);

  -- The index consists of immutable segments. Ids are never reused, because readers cache segments by id.
  CREATE TABLE index_segments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    count INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    first_block INTEGER NOT NULL,
    block_count INTEGER NOT NULL,
    documents BLOB NOT NULL,
    directory BLOB NOT NULL
  ) STRICT;

  -- Terms with their postings, ordered by stem. A block fills one page of the file, or more for a common word.
  CREATE TABLE index_blocks (
    id INTEGER PRIMARY KEY,
    data BLOB NOT NULL
  ) STRICT;

  -- Ranges of deleted chunks that a segment still contains.
  CREATE TABLE index_dead (
    segment INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    PRIMARY KEY (segment, first)
  ) STRICT, WITHOUT ROWID;

  -- Ranges of chunks to index again.
  CREATE TABLE index_stale (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL
  ) STRICT;

  -- How pages were cut into chunks, so that a part of a page can be read. This is a separate table, because a column
  -- after the text of a page would be as slow to read as the text. Pages that were stored before this version have no row.
  CREATE TABLE layouts (
    id INTEGER PRIMARY KEY REFERENCES pages (id),
    layout TEXT NOT NULL
  ) STRICT;
  CREATE TRIGGER page_deleted AFTER DELETE ON pages BEGIN
    DELETE FROM layouts WHERE id = old.id;
  END;
  `,
  `
  -- The process that embeds now, and until when other processes leave the work to it.
  CREATE TABLE embedding_lease (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    holder TEXT NOT NULL,
    until INTEGER NOT NULL
  ) STRICT;
  `,
  `
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

  CREATE TABLE crawl_problems (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id TEXT NOT NULL,
    ts INTEGER NOT NULL,
    kind TEXT NOT NULL,
    scope TEXT,
    target TEXT,
    message TEXT,
    details TEXT
  ) STRICT;
  CREATE INDEX crawl_problems_by_job ON crawl_problems (job_id);
  CREATE INDEX crawl_problems_by_kind ON crawl_problems (kind);
  CREATE INDEX crawl_problems_by_scope ON crawl_problems (scope);

  CREATE TABLE crawl_milestones (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id TEXT NOT NULL,
    ts INTEGER NOT NULL,
    kind TEXT NOT NULL,
    scope TEXT,
    target TEXT,
    message TEXT,
    details TEXT
  ) STRICT;
  CREATE INDEX crawl_milestones_by_job ON crawl_milestones (job_id);
  CREATE INDEX crawl_milestones_by_kind ON crawl_milestones (kind);
  CREATE INDEX crawl_milestones_by_scope ON crawl_milestones (scope);

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
  `,
  `
  -- Order of the row in the frontier: lower weights are taken first.
  ALTER TABLE ledger ADD COLUMN weight INTEGER NOT NULL DEFAULT 0;
  DROP INDEX ledger_ready;
  DROP INDEX ledger_by_age;
  CREATE INDEX ledger_ready ON ledger (source, awaits_confirmation, host, weight, depth, id)
    WHERE state = 'pending' AND due_at IS NULL;
  CREATE INDEX ledger_by_weight ON ledger (source, awaits_confirmation, weight, depth, id, host)
    WHERE state = 'pending' AND due_at IS NULL;

  -- Whether an alias exists is unknown until it is checked. Before this version, none was checked.
  CREATE TABLE checked_aliases (
    source INTEGER NOT NULL REFERENCES sources (id),
    url TEXT NOT NULL,
    alias_url TEXT NOT NULL,
    classification TEXT NOT NULL,
    reason TEXT,
    -- Null if the alias was never requested, or if its response does not tell.
    "exists" INTEGER,
    -- When the alias was found or last checked.
    checked_at INTEGER NOT NULL,
    -- The result of the check, as JSON; null before the first check.
    metadata TEXT,
    PRIMARY KEY (source, url, alias_url)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO checked_aliases
    SELECT source, url, alias_url, classification, reason, NULL, checked_at, NULL FROM url_aliases;
  DROP TABLE url_aliases;
  ALTER TABLE checked_aliases RENAME TO url_aliases;
  CREATE INDEX url_aliases_by_alias ON url_aliases (source, alias_url);

  -- A milestone is stored once per job and scope.
  CREATE INDEX crawl_milestones_once ON crawl_milestones (job_id, kind, scope);

  -- The class of a page, written when the page is settled, and the result of its later analysis. One row per page.
  CREATE TABLE page_analyses (
    page INTEGER PRIMARY KEY REFERENCES ledger (id),
    source INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('article', 'nav', 'other')),
    confidence REAL NOT NULL,
    hint TEXT NOT NULL,
    hint_confidence REAL NOT NULL,
    -- The whole classification, as JSON.
    classification TEXT NOT NULL,
    -- The columns from here on are null until the page is analyzed.
    analysis_version INTEGER,
    gazetteer_revision TEXT,
    analysed_at INTEGER,
    -- Results that are read to judge hosts. They precede the whole analysis, which is long and slow to read.
    published_at TEXT,
    language TEXT,
    analysis TEXT
  ) STRICT;
  -- Lists of addresses filter by these two columns, without reading the long columns of the table.
  CREATE INDEX page_analyses_by_kind ON page_analyses (source, kind, page);
  CREATE INDEX page_analyses_by_hint ON page_analyses (source, hint, page, hint_confidence);
  CREATE TRIGGER page_removed AFTER DELETE ON pages BEGIN
    DELETE FROM page_analyses WHERE page = old.id;
    DELETE FROM article_places WHERE page = old.id;
  END;

  CREATE TABLE places (
    id INTEGER PRIMARY KEY,
    -- The id of the place in the imported data. Importing the same id again updates this row.
    ref TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    country_code TEXT,
    adm1_code TEXT,
    adm2_code TEXT,
    population INTEGER,
    timezone TEXT,
    lat REAL,
    lng REAL,
    bbox TEXT,
    canonical_name_id INTEGER,
    source TEXT NOT NULL,
    extra TEXT,
    status TEXT NOT NULL DEFAULT 'current',
    valid_from TEXT,
    valid_to TEXT,
    -- The normalized canonical name, by which lists are sorted.
    sort_name TEXT NOT NULL DEFAULT '',
    -- Digest of the imported record, so that an unchanged record is not written again.
    digest BLOB
  ) STRICT;
  CREATE INDEX places_by_name ON places (sort_name);
  CREATE INDEX places_by_population ON places (population DESC);
  CREATE INDEX places_by_kind ON places (kind, population DESC);
  CREATE INDEX places_by_country ON places (country_code, kind, population DESC);

  CREATE TABLE place_names (
    id INTEGER PRIMARY KEY,
    place_id INTEGER NOT NULL REFERENCES places (id),
    name TEXT NOT NULL,
    normalized TEXT NOT NULL,
    -- Empty if unknown. It is never null, because the unique constraint would not compare nulls.
    lang TEXT NOT NULL DEFAULT '',
    script TEXT,
    name_kind TEXT NOT NULL,
    is_preferred INTEGER NOT NULL DEFAULT 0,
    is_official INTEGER NOT NULL DEFAULT 0,
    -- Null if the name has the same source as the place.
    source TEXT,
    UNIQUE (place_id, normalized, lang, name_kind)
  ) STRICT;
  CREATE INDEX place_names_by_name ON place_names (normalized, place_id);

  -- Words of names after the first word, which the index above finds.
  CREATE TABLE place_words (
    word TEXT NOT NULL,
    place_id INTEGER NOT NULL REFERENCES places (id),
    PRIMARY KEY (word, place_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX place_words_by_place ON place_words (place_id);

  CREATE TABLE place_hierarchy (
    parent INTEGER NOT NULL REFERENCES places (id),
    child INTEGER NOT NULL REFERENCES places (id),
    relation TEXT NOT NULL CHECK (relation IN ('admin_parent', 'contains', 'member_of')),
    depth INTEGER NOT NULL,
    PRIMARY KEY (parent, child, relation)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX place_hierarchy_by_child ON place_hierarchy (child, depth);

  CREATE TABLE place_sources (
    name TEXT PRIMARY KEY,
    version TEXT NOT NULL,
    license TEXT NOT NULL,
    attribution TEXT NOT NULL,
    url TEXT,
    imported_at INTEGER NOT NULL,
    places INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE place_external_ids (
    source TEXT NOT NULL,
    ext_id TEXT NOT NULL,
    place_id INTEGER NOT NULL REFERENCES places (id),
    PRIMARY KEY (source, ext_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX place_external_ids_by_place ON place_external_ids (place_id);

  CREATE TABLE domain_locales (
    host TEXT PRIMARY KEY,
    country_code TEXT,
    primary_langs TEXT,
    confidence REAL NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- The names in the form that matching reads, and the revision that tells whether this form is up to date.
  CREATE TABLE gazetteer_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    revision TEXT NOT NULL,
    name_index BLOB
  ) STRICT;
  INSERT INTO gazetteer_state VALUES (1, '', NULL);

  ${['INSERT', 'UPDATE']
    .map(
      (action) => `
  CREATE TRIGGER places_checked_on_${action.toLowerCase()} BEFORE ${action} ON places BEGIN
    SELECT RAISE(ABORT, 'a place is a country, region, city, poi or supranational')
      WHERE new.kind NOT IN ('country', 'region', 'city', 'poi', 'supranational');
    SELECT RAISE(ABORT, 'a place is current or historical') WHERE new.status NOT IN ('current', 'historical');
    SELECT RAISE(ABORT, 'a latitude is between -90 and 90') WHERE new.lat NOT BETWEEN -90 AND 90;
    SELECT RAISE(ABORT, 'a longitude is between -180 and 180') WHERE new.lng NOT BETWEEN -180 AND 180;
    SELECT RAISE(ABORT, 'a population is not negative') WHERE new.population < 0;
    SELECT RAISE(ABORT, 'codes are written in capitals') WHERE new.country_code <> upper(new.country_code)
      OR new.adm1_code <> upper(new.adm1_code) OR new.adm2_code <> upper(new.adm2_code);
    SELECT RAISE(ABORT, 'the canonical name of a place is one of its names') WHERE new.canonical_name_id IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM place_names n WHERE n.id = new.canonical_name_id AND n.place_id = new.id);
  END;
  CREATE TRIGGER place_names_checked_on_${action.toLowerCase()} BEFORE ${action} ON place_names BEGIN
    SELECT RAISE(ABORT, 'a name is not empty') WHERE trim(new.name) = '' OR trim(new.normalized) = '';
    SELECT RAISE(ABORT, 'a name is an endonym, exonym, alias, abbrev, official, common or demonym')
      WHERE new.name_kind NOT IN ('endonym', 'exonym', 'alias', 'abbrev', 'official', 'common', 'demonym');
  END;
  CREATE TRIGGER place_hierarchy_checked_on_${action.toLowerCase()} BEFORE ${action} ON place_hierarchy
    WHEN new.parent = new.child BEGIN
    SELECT RAISE(ABORT, 'a place does not lie in itself');
  END;`,
    )
    .join('')}

  CREATE TABLE article_places (
    page INTEGER NOT NULL REFERENCES ledger (id),
    article_url TEXT NOT NULL,
    place_id INTEGER NOT NULL,
    place TEXT NOT NULL,
    place_kind TEXT NOT NULL,
    method TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('title', 'text', 'url')),
    offset_start INTEGER NOT NULL,
    offset_end INTEGER NOT NULL,
    context TEXT,
    first_seen_at INTEGER NOT NULL,
    PRIMARY KEY (page, source, offset_start, offset_end, place_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX article_places_by_place ON article_places (place_id, page);

  CREATE TABLE place_hubs (
    id INTEGER PRIMARY KEY,
    host TEXT NOT NULL,
    url TEXT NOT NULL UNIQUE,
    place_id INTEGER,
    place_slug TEXT,
    place_kind TEXT,
    topic_slug TEXT,
    topic_label TEXT,
    topic_kind TEXT,
    title TEXT,
    first_seen_at INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    nav_links_count INTEGER,
    article_links_count INTEGER,
    evidence TEXT
  ) STRICT;
  CREATE INDEX place_hubs_by_host ON place_hubs (host, place_kind, place_slug);
  CREATE INDEX place_hubs_by_place ON place_hubs (place_id);
  CREATE INDEX place_hubs_by_topic ON place_hubs (topic_slug, host);

  -- What crawl plans have learned about a host.
  CREATE TABLE url_patterns (
    host TEXT NOT NULL,
    pattern TEXT NOT NULL,
    role TEXT NOT NULL,
    seen INTEGER NOT NULL,
    hits INTEGER NOT NULL,
    misses INTEGER NOT NULL,
    confidence REAL NOT NULL,
    examples TEXT NOT NULL,
    learned_at INTEGER NOT NULL,
    PRIMARY KEY (host, pattern)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE hub_verdicts (
    host TEXT NOT NULL,
    url TEXT NOT NULL,
    pattern TEXT NOT NULL,
    place_id INTEGER,
    place_slug TEXT,
    place_kind TEXT,
    origin TEXT NOT NULL CHECK (origin IN ('guessed', 'listed')),
    state TEXT NOT NULL CHECK (state IN ('confirmed', 'missing', 'rejected')),
    status INTEGER,
    title TEXT,
    nav_links INTEGER NOT NULL,
    article_links INTEGER NOT NULL,
    checked_at INTEGER NOT NULL,
    PRIMARY KEY (host, url)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX hub_verdicts_by_state ON hub_verdicts (host, state, checked_at);

  CREATE TABLE reached_milestones (
    crawl_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (crawl_id, kind)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE domains (
    host TEXT PRIMARY KEY,
    pages INTEGER NOT NULL,
    articles INTEGER NOT NULL,
    sections INTEGER NOT NULL,
    dated_ratio REAL NOT NULL,
    score REAL NOT NULL,
    is_news INTEGER NOT NULL,
    rate_limited_15 INTEGER NOT NULL,
    rate_limited_60 INTEGER NOT NULL,
    analysed_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE analysis_runs (
    id TEXT NOT NULL PRIMARY KEY,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    status TEXT NOT NULL,
    stage TEXT NOT NULL,
    analysis_version INTEGER NOT NULL,
    page_limit INTEGER,
    domain_limit INTEGER,
    skip_pages INTEGER NOT NULL,
    skip_domains INTEGER NOT NULL,
    dry_run INTEGER NOT NULL,
    verbose INTEGER NOT NULL,
    summary TEXT,
    last_progress TEXT NOT NULL,
    error TEXT,
    runner TEXT,
    heartbeat_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX analysis_runs_newest ON analysis_runs (started_at DESC);
  CREATE INDEX analysis_runs_by_status ON analysis_runs (status, started_at DESC);

  CREATE TABLE analysis_run_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL,
    ts INTEGER NOT NULL,
    stage TEXT NOT NULL,
    message TEXT NOT NULL,
    details TEXT
  ) STRICT;
  CREATE INDEX analysis_run_events_by_run ON analysis_run_events (run_id, ts DESC);
  `,
  `
  -- Whether a page is empty until its scripts have run.
  ALTER TABLE ledger ADD COLUMN is_shell INTEGER NOT NULL DEFAULT 0;

  -- Chunks that the model cannot embed, and why. Rows are deleted with their chunk, and with the vector space.
  CREATE TABLE refused_chunks (
    chunk INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    problem TEXT NOT NULL
  ) STRICT;
  CREATE TRIGGER refusal_deleted AFTER DELETE ON chunks BEGIN
    DELETE FROM refused_chunks WHERE chunk = old.id;
  END;

  -- The identity of this library, and where its vectors are copied to.
  CREATE TABLE library_identity (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    library TEXT NOT NULL,
    copy_place TEXT
  ) STRICT;
  INSERT INTO library_identity (id, library) VALUES (1, lower(hex(randomblob(16))));

  -- Vectors that are known to be in the copy, by chunk. Rows are deleted with their chunk.
  CREATE TABLE copied_vectors (
    chunk INTEGER PRIMARY KEY,
    source INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX copied_vectors_by_source ON copied_vectors (source);
  CREATE TRIGGER copied_vector_deleted AFTER DELETE ON chunks BEGIN
    DELETE FROM copied_vectors WHERE chunk = old.id;
  END;
  `,
  `
  -- Libraries that were copied into this one, or are being copied.
  CREATE TABLE arrivals (
    origin TEXT NOT NULL PRIMARY KEY,
    -- The numbers of its rows in this library, as JSON.
    plan TEXT NOT NULL,
    began_at INTEGER NOT NULL,
    ended_at INTEGER,
    holder TEXT NOT NULL,
    touched_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Signatures that relate similar pages, by the id of their row. A separate table, because each search reads many.
  -- Pages that were stored before this version have none until they are read again.
  CREATE TABLE likenesses (
    page INTEGER PRIMARY KEY REFERENCES pages (id),
    fingerprint TEXT,
    language TEXT,
    family TEXT
  ) STRICT;
  CREATE TRIGGER likeness_deleted AFTER DELETE ON pages BEGIN
    DELETE FROM likenesses WHERE page = old.id;
  END;
  `,
  `
  -- From this version on, keys keep the final slash and display parameters. Each row takes the key of the address that
  -- gave its content.
  CREATE TEMP TABLE renamed (id INTEGER PRIMARY KEY, source INTEGER, url TEXT, old TEXT, new TEXT);
  INSERT INTO renamed
    SELECT l.id, l.source, current_url(l.url, l.content_url), l.key,
      current_key(s.url, s.scope, current_url(l.url, l.content_url))
    FROM ledger l JOIN sources s ON s.id = l.source WHERE l.key <> l.url OR l.content_url <> l.url;
  DELETE FROM renamed WHERE new IS NULL;
  CREATE INDEX renamed_by_key ON renamed (source, old);
  UPDATE ledger SET target = t.new FROM renamed t WHERE t.source = ledger.source AND t.old = ledger.target;
  UPDATE ledger SET url = t.url FROM renamed t WHERE t.id = ledger.id;
  -- A row keeps its old key if another row already has the new one.
  UPDATE OR IGNORE ledger SET key = t.new FROM renamed t WHERE t.id = ledger.id;
  -- The path of a chunk is the key of its page.
  UPDATE chunks SET path = l.key FROM renamed t JOIN ledger l ON l.id = t.id WHERE t.id = chunks.page;
  DROP TABLE renamed;
  `,
]

/** Version 1 was never released: it covers everything that was written during development. */
const FIRST_VERSION = 2

/** Lock timeout while another process migrates an older library. */
const MIGRATION_TIMEOUT_MS = 60_000
/** Above this size, a migration takes longer than a second. */
const SLOW_MIGRATION_BYTES = 64_000_000

/** The schema version of this program. */
export const SCHEMA_VERSION: number = FIRST_VERSION + MIGRATIONS.length - 1

/**
 * Migrates a database to the current schema; several processes may try at once. Refuses a database of a newer program, or of another
 * program.
 */
export function migrate(db: Database, library: string, notice: (text: string) => void): void {
  if (isCurrent(db, library)) return
  if (Number(db.pragma('user_version', { simple: true })) > 0) {
    // Another process may be migrating the library already.
    db.pragma(`busy_timeout = ${MIGRATION_TIMEOUT_MS}`)
    const bytes = Number(db.pragma('page_count', { simple: true })) * Number(db.pragma('page_size', { simple: true }))
    if (bytes > SLOW_MIGRATION_BYTES) notice(`upgrading the library ${library}, which may take a while`)
  }
  db.function('current_url', currentUrl)
  db.function('current_key', currentKey)
  db.transaction(() => {
    const done = Math.max(0, checkVersion(db, library) - FIRST_VERSION + 1)
    for (const migration of MIGRATIONS.slice(done)) db.exec(migration)
    db.pragma(`application_id = ${APPLICATION_ID}`)
    db.pragma(`user_version = ${SCHEMA_VERSION}`)
  }).immediate()
}

/** Whether a database has the current schema. Throws for a database that `migrate` refuses. */
export function isCurrent(db: Database, library: string): boolean {
  // One transaction, because another process may be writing the values that `checkVersion` reads.
  return db.transaction(() => checkVersion(db, library))() === SCHEMA_VERSION
}

/** The schema version of a database, if it is a library or empty. */
function checkVersion(db: Database, library: string): number {
  const found = Number(db.pragma('user_version', { simple: true }))
  const owner = Number(db.pragma('application_id', { simple: true }))
  const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
  if (owner !== APPLICATION_ID && !isEmpty) {
    throw new PharosError('LIBRARY_UNUSABLE', { library, problem: 'it is a database of another program' })
  }
  if (!isEmpty && found < FIRST_VERSION) {
    const problem = 'it was written by an unreleased version of Pharos; delete the file and add its sources again'
    throw new PharosError('LIBRARY_UNUSABLE', { library, problem })
  }
  if (found > SCHEMA_VERSION) throw new PharosError('LIBRARY_NEWER', { library, found, supported: SCHEMA_VERSION })
  return found
}
