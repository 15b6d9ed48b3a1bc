/*
 * The tables of a library, as in SQLite wherever both can do the same. Texts are compared byte by byte (`COLLATE "C"`), so that sort orders
 * match every other store, whatever the collation of the database. Timestamps are milliseconds since 1970. Ids of chunks, segments and
 * events are never reused.
 *
 * Every write to the ledger of a source takes the lock of that source (lock-source.ts). So sources are independent of each other, and
 * settlements of one source never run concurrently.
 *
 * Growth of the tables, and its limits:
 * - With a source, and removed with it: `ledger` has at most as many rows as the limit of a crawl allows (a million by default). Removed
 *   addresses keep their rows, so that they are recognized when they are found again. `pages`, `links`, `chunks`, vectors, analyses and
 *   `url_aliases` are bounded by `ledger`, and all but the last are deleted with their page. `crawls` and `crawl_ids` have a small row for
 *   each crawl.
 * - With events, and trimmed: `crawl_jobs`, `queue_events`, `crawl_problems` and `crawl_milestones` by the retention rule of the job log,
 *   `analysis_runs` and their events to the newest thousand, `workers` and `passed_on` after a minute. `crawl_helpers` is cleared at the
 *   end of a crawl. Index updates empty `index_stale` and `index_gone`.
 * - With every host ever seen, and kept: `hosts`, a small row each, and `robots`, a file of at most 500 KiB for each origin. Without them,
 *   robots.txt and the pace of a host would have to be learned again.
 * - With imports: the tables of places.
 *
 * No table is partitioned. Events, the only rows that expire by age alone, never exceed 500,000. All other rows are deleted with a job, a
 * source or a page: one partition for each would mean thousands of them, and a unique key of a partitioned table must include the partition
 * key. Rows are deleted in batches, so that other writers do not wait.
 */
export const TABLES: string = `
CREATE TABLE schema_version (version integer NOT NULL);

-- A short key for a text that may be too long for an index. md5() is not used, because collisions can be
-- constructed and some servers disable it.
CREATE FUNCTION digest_of(text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT substring(sha256(convert_to($1, 'UTF8')) FROM 1 FOR 16) $$;

-- The identity of this library, and where its vectors are copied to.
CREATE TABLE library_identity (
  id integer PRIMARY KEY CHECK (id = 1),
  library text NOT NULL,
  copy_place text
);
INSERT INTO library_identity (id, library) VALUES (1, replace(gen_random_uuid()::text, '-', ''));

-- Libraries that were copied into this one, or are being copied.
CREATE TABLE arrivals (
  origin text COLLATE "C" PRIMARY KEY,
  -- The numbers of the copied rows in this library, as JSON.
  plan text NOT NULL,
  began_at bigint NOT NULL,
  ended_at bigint,
  holder text NOT NULL,
  touched_at bigint NOT NULL
);

CREATE TABLE sources (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  uuid text COLLATE "C" NOT NULL UNIQUE,
  name text COLLATE "C" NOT NULL,
  version text COLLATE "C",
  url text COLLATE "C" NOT NULL,
  site_url text COLLATE "C" NOT NULL,
  scope text NOT NULL,
  settings text NOT NULL,
  created_at bigint NOT NULL,
  -- The source is hidden, and its rows are being deleted in batches.
  is_removed boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX sources_by_version ON sources (name, version) WHERE version IS NOT NULL;
CREATE UNIQUE INDEX sources_by_name ON sources (name) WHERE version IS NULL;

-- Short numbers for the ids of crawls, because every ledger row contains one.
CREATE TABLE crawl_ids (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  uuid text COLLATE "C" NOT NULL UNIQUE,
  source bigint NOT NULL REFERENCES sources (id)
);
CREATE INDEX crawl_ids_by_source ON crawl_ids (source);

CREATE TABLE crawls (
  id bigint PRIMARY KEY REFERENCES crawl_ids (id),
  source bigint NOT NULL REFERENCES sources (id),
  kind text NOT NULL,
  state text NOT NULL,
  options text NOT NULL,
  runner text,
  -- Number of starts of the crawl. A process that started the crawl earlier has lost it.
  term integer NOT NULL DEFAULT 1,
  started_at bigint NOT NULL,
  heartbeat_at bigint NOT NULL,
  ended_at bigint,
  summary text,
  -- What processes need to join the crawl, as JSON; null while none may join.
  shared text
);
CREATE INDEX crawls_by_source ON crawls (source, started_at);
CREATE INDEX crawls_running ON crawls (id) WHERE state = 'running';

-- The work of processes that joined a crawl, for each start of the crawl.
CREATE TABLE crawl_helpers (
  crawl bigint NOT NULL REFERENCES crawls (id),
  term integer NOT NULL,
  holder text COLLATE "C" NOT NULL,
  visited bigint NOT NULL DEFAULT 0,
  indexed bigint NOT NULL DEFAULT 0,
  unchanged bigint NOT NULL DEFAULT 0,
  skipped bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  new_in_refresh bigint NOT NULL DEFAULT 0,
  overflow bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  requests bigint NOT NULL DEFAULT 0,
  -- Hosts that get no more requests in this crawl, each followed by the reason.
  parked text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (crawl, term, holder)
);

-- Ids increase in the order in which addresses were found.
CREATE TABLE ledger (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  source bigint NOT NULL REFERENCES sources (id),
  state text COLLATE "C" NOT NULL,
  reason text COLLATE "C",
  depth integer NOT NULL,
  -- Order of the row in the frontier: lower weights are taken first.
  weight integer NOT NULL DEFAULT 0,
  crawl bigint,
  page_hash bytea,
  key text COLLATE "C" NOT NULL,
  url text COLLATE "C" NOT NULL,
  host text COLLATE "C" NOT NULL,
  discovery text COLLATE "C" NOT NULL,
  found_on text COLLATE "C",
  pattern text,
  target text COLLATE "C",
  etag text,
  last_modified text,
  -- The address that gave the content and its validators: another spelling of the row's address, or its Markdown.
  content_url text,
  content_hash bytea,
  -- Word count of the page.
  words integer,
  attempts integer NOT NULL DEFAULT 0,
  status integer,
  detail text,
  first_seen_at bigint NOT NULL,
  checked_at bigint,
  changed_at bigint,
  due_at double precision,
  -- Token of the host, id of the request that leased the row, and the row's position in it, separated by colons.
  lease text COLLATE "C",
  leased_until double precision,
  -- Whether a page is empty until its scripts have run.
  is_shell boolean NOT NULL DEFAULT false,
  is_final boolean NOT NULL DEFAULT false,
  awaits_confirmation boolean NOT NULL DEFAULT false,
  final_crawl bigint,
  proven_crawl bigint,
  -- When an address was last requested, or found if it never was. Lists of addresses are in this order.
  at bigint GENERATED ALWAYS AS (coalesce(checked_at, first_seen_at)) STORED
);
-- Queries get keys in order with \`ORDER BY left(key, 512), key\`.
CREATE UNIQUE INDEX ledger_by_key ON ledger (source, digest_of(key));
CREATE INDEX ledger_in_order ON ledger (source, left(key, 512));
CREATE INDEX ledger_ready ON ledger (source, awaits_confirmation, host, weight, depth, id)
  WHERE state = 'pending' AND due_at IS NULL;
CREATE INDEX ledger_by_weight ON ledger (source, awaits_confirmation, weight, depth, id)
  WHERE state = 'pending' AND due_at IS NULL;
CREATE INDEX ledger_waiting ON ledger (source, awaits_confirmation, host, due_at, depth)
  WHERE state = 'pending' AND due_at IS NOT NULL;
CREATE INDEX ledger_leased ON ledger (source, awaits_confirmation, depth, leased_until) WHERE state = 'leased';
CREATE INDEX ledger_by_content ON ledger (source, page_hash, changed_at) WHERE page_hash IS NOT NULL;
CREATE INDEX ledger_by_reason ON ledger (source, state, reason, left(key, 512)) WHERE reason IS NOT NULL;
CREATE INDEX ledger_by_time ON ledger (source, at, id);
CREATE INDEX ledger_by_host ON ledger (source, host, at, id);
CREATE INDEX ledger_failed ON ledger (source, at, id) WHERE state = 'failed';

-- Hosts with pending rows, so that leases and counts need not search all rows. Maintained by triggers.
CREATE TABLE open_hosts (
  source bigint NOT NULL,
  awaits_confirmation boolean NOT NULL,
  host text COLLATE "C" NOT NULL,
  -- Rows that are due at once, and rows with a due time.
  ready bigint NOT NULL,
  waiting bigint NOT NULL,
  PRIMARY KEY (source, awaits_confirmation, host)
);

CREATE TABLE ledger_counts (
  source bigint NOT NULL,
  state text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  rows bigint NOT NULL,
  PRIMARY KEY (source, state, reason)
);

-- Row counts of each host, so that queries need not count rows. Maintained by triggers. Leased rows count as pending.
CREATE TABLE host_counts (
  source bigint NOT NULL,
  host text COLLATE "C" NOT NULL,
  pending_rows bigint NOT NULL DEFAULT 0,
  indexed_rows bigint NOT NULL DEFAULT 0,
  unchanged_rows bigint NOT NULL DEFAULT 0,
  skipped_rows bigint NOT NULL DEFAULT 0,
  failed_rows bigint NOT NULL DEFAULT 0,
  gone_rows bigint NOT NULL DEFAULT 0,
  pages bigint NOT NULL DEFAULT 0,
  asked_at bigint,
  PRIMARY KEY (source, host)
);

CREATE FUNCTION count_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ledger_counts AS c (source, state, reason, rows)
    SELECT source, state, coalesce(reason, ''), count(*) FROM added GROUP BY 1, 2, 3
    ON CONFLICT (source, state, reason) DO UPDATE SET rows = c.rows + excluded.rows;
  INSERT INTO open_hosts AS o (source, awaits_confirmation, host, ready, waiting)
    SELECT source, awaits_confirmation, host, count(*) FILTER (WHERE due_at IS NULL),
      count(*) FILTER (WHERE due_at IS NOT NULL)
    FROM added WHERE state = 'pending' GROUP BY 1, 2, 3
    ON CONFLICT (source, awaits_confirmation, host)
      DO UPDATE SET ready = o.ready + excluded.ready, waiting = o.waiting + excluded.waiting;
  INSERT INTO host_counts AS h (source, host, pending_rows, indexed_rows, unchanged_rows, skipped_rows, failed_rows,
      gone_rows, pages, asked_at)
    SELECT source, host, count(*) FILTER (WHERE state IN ('pending', 'leased')), count(*) FILTER (WHERE state = 'indexed'),
      count(*) FILTER (WHERE state = 'unchanged'), count(*) FILTER (WHERE state = 'skipped'),
      count(*) FILTER (WHERE state = 'failed'), count(*) FILTER (WHERE state = 'gone'), count(page_hash), max(checked_at)
    FROM added GROUP BY 1, 2
    ON CONFLICT (source, host) DO UPDATE SET pending_rows = h.pending_rows + excluded.pending_rows,
      indexed_rows = h.indexed_rows + excluded.indexed_rows, unchanged_rows = h.unchanged_rows + excluded.unchanged_rows,
      skipped_rows = h.skipped_rows + excluded.skipped_rows, failed_rows = h.failed_rows + excluded.failed_rows,
      gone_rows = h.gone_rows + excluded.gone_rows, pages = h.pages + excluded.pages,
      asked_at = greatest(h.asked_at, excluded.asked_at);
  RETURN NULL;
END $$;
CREATE TRIGGER ledger_inserted AFTER INSERT ON ledger REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_inserted();

CREATE FUNCTION count_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ledger_counts AS c (source, state, reason, rows)
    SELECT source, state, reason, sum(n)::bigint FROM (
      SELECT source, state, coalesce(reason, '') AS reason, 1 AS n FROM added UNION ALL
      SELECT source, state, coalesce(reason, ''), -1 FROM taken) d
    GROUP BY 1, 2, 3 HAVING sum(n) <> 0
    ON CONFLICT (source, state, reason) DO UPDATE SET rows = c.rows + excluded.rows;
  INSERT INTO open_hosts AS o (source, awaits_confirmation, host, ready, waiting)
    SELECT source, awaits_confirmation, host, sum(CASE WHEN due_at IS NULL THEN n ELSE 0 END),
      sum(CASE WHEN due_at IS NULL THEN 0 ELSE n END)
    FROM (
      SELECT source, awaits_confirmation, host, due_at, 1 AS n FROM added WHERE state = 'pending' UNION ALL
      SELECT source, awaits_confirmation, host, due_at, -1 FROM taken WHERE state = 'pending') d
    GROUP BY 1, 2, 3 HAVING sum(n) <> 0 OR sum(CASE WHEN due_at IS NULL THEN n ELSE 0 END) <> 0
    ON CONFLICT (source, awaits_confirmation, host)
      DO UPDATE SET ready = o.ready + excluded.ready, waiting = o.waiting + excluded.waiting;
  DELETE FROM open_hosts o USING (SELECT DISTINCT source, awaits_confirmation, host FROM taken WHERE state = 'pending') t
    WHERE o.source = t.source AND o.awaits_confirmation = t.awaits_confirmation AND o.host = t.host
      AND o.ready = 0 AND o.waiting = 0;
  INSERT INTO host_counts AS h (source, host, pending_rows, indexed_rows, unchanged_rows, skipped_rows, failed_rows,
      gone_rows, pages, asked_at)
    SELECT source, host, pending_rows, indexed_rows, unchanged_rows, skipped_rows, failed_rows, gone_rows, pages, asked_at
    FROM (
      SELECT source, host, sum(CASE WHEN state IN ('pending', 'leased') THEN n ELSE 0 END) AS pending_rows,
        sum(CASE WHEN state = 'indexed' THEN n ELSE 0 END) AS indexed_rows,
        sum(CASE WHEN state = 'unchanged' THEN n ELSE 0 END) AS unchanged_rows,
        sum(CASE WHEN state = 'skipped' THEN n ELSE 0 END) AS skipped_rows,
        sum(CASE WHEN state = 'failed' THEN n ELSE 0 END) AS failed_rows,
        sum(CASE WHEN state = 'gone' THEN n ELSE 0 END) AS gone_rows,
        sum(CASE WHEN page_hash IS NULL THEN 0 ELSE n END) AS pages,
        max(checked_at) FILTER (WHERE n = 1) AS asked_at, max(checked_at) FILTER (WHERE n = -1) AS asked_before
      FROM (
        SELECT source, host, state, page_hash, checked_at, 1 AS n FROM added UNION ALL
        SELECT source, host, state, page_hash, checked_at, -1 FROM taken) d
      GROUP BY 1, 2) c
    -- Skips hosts whose counts stay the same, because leases would otherwise write a row here at every visit.
    WHERE (pending_rows, indexed_rows, unchanged_rows, skipped_rows, failed_rows, gone_rows, pages) <> (0, 0, 0, 0, 0, 0, 0)
      OR asked_at IS DISTINCT FROM asked_before
    ON CONFLICT (source, host) DO UPDATE SET pending_rows = h.pending_rows + excluded.pending_rows,
      indexed_rows = h.indexed_rows + excluded.indexed_rows, unchanged_rows = h.unchanged_rows + excluded.unchanged_rows,
      skipped_rows = h.skipped_rows + excluded.skipped_rows, failed_rows = h.failed_rows + excluded.failed_rows,
      gone_rows = h.gone_rows + excluded.gone_rows, pages = h.pages + excluded.pages,
      asked_at = greatest(h.asked_at, excluded.asked_at);
  RETURN NULL;
END $$;
CREATE TRIGGER ledger_updated AFTER UPDATE ON ledger REFERENCING NEW TABLE AS added OLD TABLE AS taken
  FOR EACH STATEMENT EXECUTE FUNCTION count_updated();

CREATE TABLE pages (
  id bigint PRIMARY KEY REFERENCES ledger (id),
  first_chunk bigint NOT NULL,
  chunk_count integer NOT NULL,
  title text NOT NULL,
  language text,
  -- The page without its Markdown, as JSON. The sections are stored again, because they are often read alone.
  meta text NOT NULL,
  sections text NOT NULL,
  markdown text NOT NULL,
  -- The positions of sections and chunks, so that a part of the page can be read.
  layout text NOT NULL
);

-- Links of pages, and of rows that repeat a page. They are used again when a response says that nothing changed.
CREATE TABLE links (
  id bigint PRIMARY KEY REFERENCES ledger (id),
  links text NOT NULL
);

-- The chunks of a page have consecutive ids, which are drawn from the sequence (content.ts).
CREATE SEQUENCE chunk_numbers;
CREATE TABLE chunks (
  id bigint PRIMARY KEY,
  source bigint NOT NULL,
  page bigint NOT NULL,
  chunk_id bytea NOT NULL,
  content_hash bytea NOT NULL,
  position integer NOT NULL,
  kind text NOT NULL,
  start_line integer NOT NULL,
  end_line integer NOT NULL,
  token_estimate integer NOT NULL,
  slug text NOT NULL,
  path text NOT NULL,
  heading_path text NOT NULL,
  symbol text,
  address text,
  asset_path text,
  content text NOT NULL
);
-- Includes the ids, so that a scan of the index need not read the rows.
CREATE INDEX chunks_by_chunk_id ON chunks (source, chunk_id) INCLUDE (id);

-- Whether an alias exists is unknown until it is checked.
CREATE TABLE url_aliases (
  source bigint NOT NULL REFERENCES sources (id),
  url text COLLATE "C" NOT NULL,
  alias_url text COLLATE "C" NOT NULL,
  classification text NOT NULL,
  reason text,
  -- Whether the alias exists; null if it was never requested, or if its response does not tell.
  is_there boolean,
  -- When the alias was found or last checked.
  checked_at bigint NOT NULL,
  -- The result of the check, as JSON; null before the first check.
  metadata text
);
CREATE UNIQUE INDEX url_aliases_once ON url_aliases (source, digest_of(url), digest_of(alias_url));
CREATE INDEX url_aliases_in_order ON url_aliases (source, left(url, 512), left(alias_url, 512));
CREATE INDEX url_aliases_by_alias ON url_aliases (source, digest_of(alias_url));

CREATE TABLE hosts (
  host text COLLATE "C" PRIMARY KEY,
  next_at double precision NOT NULL DEFAULT 0,
  interval_ms double precision NOT NULL DEFAULT 0,
  floor_ms double precision NOT NULL DEFAULT -1,
  held_until double precision NOT NULL DEFAULT 0,
  slowed_at double precision NOT NULL DEFAULT 0,
  strikes integer NOT NULL DEFAULT 0,
  -- The process that leases the host (host-lease.ts): the name of its runner, '#', and a suffix that makes it unique.
  holder text COLLATE "C",
  token bigint NOT NULL DEFAULT 0,
  leased_until double precision NOT NULL DEFAULT 0,
  taken_at double precision NOT NULL DEFAULT 0,
  wanted_at double precision NOT NULL DEFAULT 0
);
-- Has no column that changes with every visit, so that a visit does not write to an index.
CREATE INDEX hosts_by_holder ON hosts (holder) WHERE holder IS NOT NULL;

CREATE TABLE robots (
  origin text COLLATE "C" PRIMARY KEY,
  fetched_at bigint NOT NULL,
  type text NOT NULL,
  status integer,
  body text NOT NULL
);

-- Lists that contain pages, as last read. Other addresses that a list names are stored as JSON.
CREATE TABLE lists (
  source bigint NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  url text COLLATE "C" NOT NULL,
  etag text,
  last_modified text,
  content_hash text NOT NULL,
  context_hash text NOT NULL,
  pages integer NOT NULL,
  named text NOT NULL
);
CREATE UNIQUE INDEX lists_once ON lists (source, digest_of(url));

-- The rules of the chunk index, and how often it has changed. The index is rebuilt when its rules change.
CREATE TABLE index_state (
  id integer PRIMARY KEY CHECK (id = 1),
  format text NOT NULL,
  generation bigint NOT NULL
);
INSERT INTO index_state VALUES (1, '', 0);

-- The index consists of immutable segments, which readers cache by id.
CREATE TABLE index_segments (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  count integer NOT NULL,
  first bigint NOT NULL,
  last bigint NOT NULL,
  documents bytea NOT NULL,
  directory bytea NOT NULL
);

-- Terms with their postings, ordered by stem. Nearly all blocks fit into a page of the database, which is fastest to
-- read. They are stored as they are, because compressing them again would not make them smaller.
CREATE TABLE index_blocks (
  segment bigint NOT NULL REFERENCES index_segments (id) ON DELETE CASCADE,
  block integer NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (segment, block)
) WITH (toast_tuple_target = 8160);
ALTER TABLE index_blocks ALTER data SET STORAGE EXTERNAL;
ALTER TABLE index_segments ALTER documents SET STORAGE EXTERNAL, ALTER directory SET STORAGE EXTERNAL;

-- Runs of deleted chunks that a segment still contains.
CREATE TABLE index_dead (
  segment bigint NOT NULL REFERENCES index_segments (id) ON DELETE CASCADE,
  first bigint NOT NULL,
  last bigint NOT NULL,
  PRIMARY KEY (segment, first)
);

-- Runs of chunks to index, and runs of deleted chunks. Writers of chunks add rows, and the index maintenance removes
-- them. A settlement never waits for these tables, and the order of commits does not matter.
CREATE TABLE index_stale (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  first bigint NOT NULL,
  last bigint NOT NULL
);
CREATE INDEX index_stale_in_order ON index_stale (first);
CREATE TABLE index_gone (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  first bigint NOT NULL,
  last bigint NOT NULL
);

-- The model that made the vectors. A library has one vector space at a time.
CREATE TABLE vector_space (
  id integer PRIMARY KEY CHECK (id = 1),
  model text NOT NULL,
  fingerprint text NOT NULL,
  dimensions integer NOT NULL
);

-- Vectors are deleted with their chunk. Numbers are never reused, because readers find new vectors by number.
CREATE TABLE vectors (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  chunk bigint NOT NULL UNIQUE REFERENCES chunks (id) ON DELETE CASCADE,
  source bigint NOT NULL,
  vector bytea NOT NULL
);
CREATE INDEX vectors_by_source ON vectors (source);

-- The process that embeds now, and until when other processes leave the work to it.
CREATE TABLE embedding_lease (
  id integer PRIMARY KEY CHECK (id = 1),
  holder text NOT NULL,
  until bigint NOT NULL
);

-- Chunks that the model cannot embed, and why.
CREATE TABLE refused_chunks (
  chunk bigint PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
  source bigint NOT NULL,
  problem text NOT NULL
);

-- Vectors that are known to be in the copy, by chunk.
CREATE TABLE copied_vectors (
  chunk bigint PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
  source bigint NOT NULL
);

-- Row counts of chunks and dependent tables for each source, so that no search counts rows. Maintained by triggers.
CREATE TABLE chunk_counts (
  source bigint NOT NULL,
  of_table text COLLATE "C" NOT NULL,
  rows bigint NOT NULL,
  PRIMARY KEY (source, of_table)
);

CREATE FUNCTION count_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO chunk_counts AS c (source, of_table, rows) SELECT source, TG_TABLE_NAME, count(*) FROM added GROUP BY 1
    ON CONFLICT (source, of_table) DO UPDATE SET rows = c.rows + excluded.rows;
  RETURN NULL;
END $$;
CREATE FUNCTION count_taken() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE chunk_counts c SET rows = c.rows - t.rows FROM (SELECT source, count(*) AS rows FROM taken GROUP BY 1) t
    WHERE c.source = t.source AND c.of_table = TG_TABLE_NAME;
  RETURN NULL;
END $$;
${['chunks', 'vectors', 'refused_chunks', 'copied_vectors']
  .map(
    (table) => `CREATE TRIGGER ${table}_added AFTER INSERT ON ${table} REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_added();
CREATE TRIGGER ${table}_taken AFTER DELETE ON ${table} REFERENCING OLD TABLE AS taken
  FOR EACH STATEMENT EXECUTE FUNCTION count_taken();`,
  )
  .join('\n')}

-- Requests to a server for a crawl.
CREATE TABLE crawl_jobs (
  id text COLLATE "C" PRIMARY KEY,
  -- Order of the requests.
  number bigint GENERATED ALWAYS AS IDENTITY,
  url text NOT NULL,
  args text NOT NULL,
  pid bigint,
  started_at bigint,
  ended_at bigint,
  status text COLLATE "C" NOT NULL,
  -- Distinguishes the process from others with the same pid.
  process_began text,
  created_at bigint NOT NULL,
  crawl_id text,
  source_id text,
  restarts integer NOT NULL,
  progress text,
  problem text,
  -- Updated with the events, so that a list of jobs need not count them.
  events bigint NOT NULL DEFAULT 0,
  last_event_at bigint,
  -- The worker that has the job or had it last, and the name of its crawl process as a lease holder.
  worker text COLLATE "C",
  holder text COLLATE "C",
  -- Commands for the running job.
  asked_end text COLLATE "C",
  wants_pause boolean NOT NULL DEFAULT false,
  -- Whether the requester was told that the job starts at once.
  is_begun boolean NOT NULL DEFAULT false
);
CREATE INDEX crawl_jobs_newest ON crawl_jobs ((status = 'queued'), coalesce(started_at, created_at), number);
CREATE INDEX crawl_jobs_open ON crawl_jobs (created_at) WHERE status IN ('queued', 'running');
CREATE INDEX crawl_jobs_ended ON crawl_jobs (ended_at) WHERE status NOT IN ('queued', 'running');

CREATE TABLE queue_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job_id text COLLATE "C" NOT NULL,
  ts bigint NOT NULL,
  action text COLLATE "C" NOT NULL,
  url text NOT NULL,
  depth integer,
  host text,
  reason text,
  queue_size bigint NOT NULL,
  alias text
);
CREATE INDEX queue_events_by_job ON queue_events (job_id, id);
CREATE INDEX queue_events_by_action ON queue_events (job_id, action, id);

CREATE TABLE crawl_problems (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job_id text COLLATE "C" NOT NULL,
  ts bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  scope text COLLATE "C",
  target text,
  message text,
  details text
);
CREATE INDEX crawl_problems_by_job ON crawl_problems (job_id, id);
CREATE INDEX crawl_problems_by_kind ON crawl_problems (kind, id);
CREATE INDEX crawl_problems_by_scope ON crawl_problems (left(scope, 512), id);

CREATE TABLE crawl_milestones (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job_id text COLLATE "C" NOT NULL,
  ts bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  scope text COLLATE "C",
  target text,
  message text,
  details text
);
CREATE INDEX crawl_milestones_by_job ON crawl_milestones (job_id, id);
CREATE INDEX crawl_milestones_by_kind ON crawl_milestones (kind, id);
CREATE INDEX crawl_milestones_by_scope ON crawl_milestones (left(scope, 512), id);
-- A milestone is stored once per job and scope.
CREATE INDEX crawl_milestones_once ON crawl_milestones (job_id, kind, left(scope, 512));

-- Processes that take jobs. Each repeats its entry every second, so the table may be lost in a crash of the server.
CREATE UNLOGGED TABLE workers (
  id text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  version text NOT NULL,
  is_server boolean NOT NULL,
  slots integer NOT NULL,
  state text COLLATE "C" NOT NULL,
  jobs text[] NOT NULL,
  helps text[] NOT NULL,
  holders text[] NOT NULL,
  visits bigint NOT NULL,
  bytes bigint NOT NULL,
  visits_per_sec double precision NOT NULL,
  started_at bigint NOT NULL,
  -- By the clock of the database server, in milliseconds.
  seen_at double precision NOT NULL
);

-- Batches of live events that workers send to servers. Kept for a minute; the events are only displayed.
CREATE UNLOGGED TABLE passed_on (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  worker text COLLATE "C" NOT NULL,
  at double precision NOT NULL,
  body text NOT NULL
);

CREATE TABLE crawl_types (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  description text,
  declaration text NOT NULL
);
`
