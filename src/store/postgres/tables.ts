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
 *   addresses keep their rows, so that they are recognised when they are found again. `pages`, `links`, `chunks`, vectors, analyses and
 *   `url_aliases` are bounded by it, and all but the last are deleted with their page. `crawls` and `crawl_ids` have a small row for each
 *   crawl.
 * - With events, and trimmed: `crawl_jobs`, `queue_events`, `crawl_problems` and `crawl_milestones` by the retention rule of the job log,
 *   `analysis_runs` and their events to the newest thousand, `workers` and `passed_on` after a minute. `crawl_helpers` is cleared at the
 *   end of a crawl. Index updates empty `index_stale` and `index_gone`.
 * - With every host ever seen, and kept: `hosts`, a small row each, and `robots`, a file of at most 500 KiB for each origin. Without them,
 *   robots.txt and the pace of a host would have to be learnt again.
 * - With imports: the tables of places.
 *
 * No table is partitioned. Events, the only rows that expire by age alone, never exceed 500,000. All other rows are deleted with a job, a
 * source or a page: one partition for each would mean thousands of them, and a unique key of a partitioned table must include the partition
 * key. Rows are deleted in batches, so that other writers do not wait.
 */
export const TABLES: string = `
CREATE TABLE schema_version (version integer NOT NULL);

-- Stands for a text that may be too long for an index. digest_of() would be at hand, but two addresses of one can be made up, and some servers
-- do without it.
CREATE FUNCTION digest_of(text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT substring(sha256(convert_to($1, 'UTF8')) FROM 1 FOR 16) $$;

-- Tells this library from all others, and where the vectors are copied to.
CREATE TABLE library_identity (
  id integer PRIMARY KEY CHECK (id = 1),
  library text NOT NULL,
  copy_place text
);
INSERT INTO library_identity (id, library) VALUES (1, replace(gen_random_uuid()::text, '-', ''));

-- Libraries that were copied here, or are just being.
CREATE TABLE arrivals (
  origin text COLLATE "C" PRIMARY KEY,
  -- Which numbers its rows have here, as JSON.
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
  -- Its rows are being deleted, some at a time; nobody sees it any more.
  is_removed boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX sources_by_version ON sources (name, version) WHERE version IS NOT NULL;
CREATE UNIQUE INDEX sources_by_name ON sources (name) WHERE version IS NULL;

-- Small numbers for the ids of crawls, which stand in every row of the ledger.
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
  -- How often it was begun: whoever began it before has lost it.
  term integer NOT NULL DEFAULT 1,
  started_at bigint NOT NULL,
  heartbeat_at bigint NOT NULL,
  ended_at bigint,
  summary text,
  -- What other processes have to know that take part in it, as JSON; null while none may.
  shared text
);
CREATE INDEX crawls_by_source ON crawls (source, started_at);
CREATE INDEX crawls_running ON crawls (id) WHERE state = 'running';

-- What was done for a crawl by processes that only take part in it, each time it was begun.
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
  -- Hosts that are left alone for the rest of the crawl, each followed by the reason.
  parked text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (crawl, term, holder)
);

-- Ids grow in the order in which addresses were found.
CREATE TABLE ledger (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  source bigint NOT NULL REFERENCES sources (id),
  state text COLLATE "C" NOT NULL,
  reason text COLLATE "C",
  depth integer NOT NULL,
  -- By which rows of the frontier are taken earlier or later than others.
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
  -- The address that gave the content and its validators: a spelling of the row's own, or its Markdown.
  content_url text,
  content_hash bytea,
  -- Words of the page.
  words integer,
  attempts integer NOT NULL DEFAULT 0,
  status integer,
  detail text,
  first_seen_at bigint NOT NULL,
  checked_at bigint,
  changed_at bigint,
  due_at double precision,
  -- The token of its host, the request by which it was taken, and its place in that, with colons between.
  lease text COLLATE "C",
  leased_until double precision,
  -- Whether a page shows nothing before its scripts have run.
  is_shell boolean NOT NULL DEFAULT false,
  is_final boolean NOT NULL DEFAULT false,
  awaits_confirmation boolean NOT NULL DEFAULT false,
  final_crawl bigint,
  proven_crawl bigint,
  -- When an address was last asked, or found where it never was: lists of addresses are in this order.
  at bigint GENERATED ALWAYS AS (coalesce(checked_at, first_seen_at)) STORED
);
-- Keys in their order are asked for as \`ORDER BY left(key, 512), key\`.
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

-- Hosts with pending rows, so that neither a lease nor a count has to look for them among the rows. Kept by triggers.
CREATE TABLE open_hosts (
  source bigint NOT NULL,
  awaits_confirmation boolean NOT NULL,
  host text COLLATE "C" NOT NULL,
  -- Rows without and with a moment before which they are not due.
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

-- What is known of hosts, so that nobody has to count their rows. Kept by triggers. Leased rows count as pending.
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
    -- A lease and its end say nothing new of a host, and would be written here at every visit.
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
  -- The page without its Markdown, as JSON; its sections once more, because they are asked for without the rest.
  meta text NOT NULL,
  sections text NOT NULL,
  markdown text NOT NULL,
  -- How it was cut, so that a part of it can be read.
  layout text NOT NULL
);

-- Addresses to replay when an answer says that nothing changed: of pages, and of rows that repeat one.
CREATE TABLE links (
  id bigint PRIMARY KEY REFERENCES ledger (id),
  links text NOT NULL
);

-- The chunks of a page have consecutive ids, which are taken from the sequence in one go.
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
-- With their ids, so that whoever goes through them need not read them.
CREATE INDEX chunks_by_chunk_id ON chunks (source, chunk_id) INCLUDE (id);

-- Whether an address exists that another stands for is not known before somebody has looked.
CREATE TABLE url_aliases (
  source bigint NOT NULL REFERENCES sources (id),
  url text COLLATE "C" NOT NULL,
  alias_url text COLLATE "C" NOT NULL,
  classification text NOT NULL,
  reason text,
  -- Null where it was never asked, or its answer does not tell.
  is_there boolean,
  -- When it was found or last looked up.
  checked_at bigint NOT NULL,
  -- What it turned out to be, as JSON: null before anybody has looked.
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
  -- Which process has it (host-lease.ts): the name of its runner, '#', and what tells it from others that were called the same.
  holder text COLLATE "C",
  token bigint NOT NULL DEFAULT 0,
  leased_until double precision NOT NULL DEFAULT 0,
  taken_at double precision NOT NULL DEFAULT 0,
  wanted_at double precision NOT NULL DEFAULT 0
);
-- Not of what changes at every visit, so that no index has to be written then.
CREATE INDEX hosts_by_holder ON hosts (holder) WHERE holder IS NOT NULL;

CREATE TABLE robots (
  origin text COLLATE "C" PRIMARY KEY,
  fetched_at bigint NOT NULL,
  type text NOT NULL,
  status integer,
  body text NOT NULL
);

-- Lists that hold pages, as they were last read: what they named besides is JSON.
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

-- How the index over chunks was made, and how often it changed. It is made anew when its rules change.
CREATE TABLE index_state (
  id integer PRIMARY KEY CHECK (id = 1),
  format text NOT NULL,
  generation bigint NOT NULL
);
INSERT INTO index_state VALUES (1, '', 0);

-- The index is made of segments that are never changed: readers keep some in memory by their ids.
CREATE TABLE index_segments (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  count integer NOT NULL,
  first bigint NOT NULL,
  last bigint NOT NULL,
  documents bytea NOT NULL,
  directory bytea NOT NULL
);

-- Terms with their postings in the order of stems. Nearly all blocks fit into a page of the database, where they are read fastest, and
-- nothing here gets smaller by being compressed once more.
CREATE TABLE index_blocks (
  segment bigint NOT NULL REFERENCES index_segments (id) ON DELETE CASCADE,
  block integer NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (segment, block)
) WITH (toast_tuple_target = 8160);
ALTER TABLE index_blocks ALTER data SET STORAGE EXTERNAL;
ALTER TABLE index_segments ALTER documents SET STORAGE EXTERNAL, ALTER directory SET STORAGE EXTERNAL;

-- Runs of chunks that a segment still holds and that are not there any more.
CREATE TABLE index_dead (
  segment bigint NOT NULL REFERENCES index_segments (id) ON DELETE CASCADE,
  first bigint NOT NULL,
  last bigint NOT NULL,
  PRIMARY KEY (segment, first)
);

-- Written by whoever writes chunks, and emptied by whoever tends the index: a settlement never waits for it, and it does not matter in
-- which order settlements are committed. Runs of chunks to be taken in, and runs that went.
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

-- What the vectors were made by: one space at a time.
CREATE TABLE vector_space (
  id integer PRIMARY KEY CHECK (id = 1),
  model text NOT NULL,
  fingerprint text NOT NULL,
  dimensions integer NOT NULL
);

-- They go with their chunk. Numbers are never used again: readers know by them which vectors are new.
CREATE TABLE vectors (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  chunk bigint NOT NULL UNIQUE REFERENCES chunks (id) ON DELETE CASCADE,
  source bigint NOT NULL,
  vector bytea NOT NULL
);
CREATE INDEX vectors_by_source ON vectors (source);

-- Who embeds just now, and until when nobody else need.
CREATE TABLE embedding_lease (
  id integer PRIMARY KEY CHECK (id = 1),
  holder text NOT NULL,
  until bigint NOT NULL
);

-- Chunks that the model makes no vector of, and why.
CREATE TABLE refused_chunks (
  chunk bigint PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
  source bigint NOT NULL,
  problem text NOT NULL
);

-- The vectors that are known to be in the copy, by their chunks.
CREATE TABLE copied_vectors (
  chunk bigint PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
  source bigint NOT NULL
);

-- How many rows of chunks, and of what goes with them, a source has: every search asks, and none should count. Kept by triggers.
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

-- What a server was asked for.
CREATE TABLE crawl_jobs (
  id text COLLATE "C" PRIMARY KEY,
  -- In the order in which they were asked for.
  number bigint GENERATED ALWAYS AS IDENTITY,
  url text NOT NULL,
  args text NOT NULL,
  pid bigint,
  started_at bigint,
  ended_at bigint,
  status text COLLATE "C" NOT NULL,
  -- Tells the process from others that had its number.
  process_began text,
  created_at bigint NOT NULL,
  crawl_id text,
  source_id text,
  restarts integer NOT NULL,
  progress text,
  problem text,
  -- Kept with the events, so that a list of jobs counts none.
  events bigint NOT NULL DEFAULT 0,
  last_event_at bigint,
  -- The worker that has it, or had it last, and its process as one that runs crawls.
  worker text COLLATE "C",
  holder text COLLATE "C",
  -- What was asked of it meanwhile.
  asked_end text COLLATE "C",
  wants_pause boolean NOT NULL DEFAULT false,
  -- Whether it was promised to begin at once.
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
-- A milestone is kept once for each job and what it is about.
CREATE INDEX crawl_milestones_once ON crawl_milestones (job_id, kind, left(scope, 512));

-- Those that take jobs. Each says so again every second: after a crash of the server they do so anew.
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
  -- By the clock of the server, in milliseconds.
  seen_at double precision NOT NULL
);

-- What workers pass on to servers, some of it at once. Kept for a minute; nothing is lost with it but what somebody would watch.
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
