/** The tables of sources, crawls and the ledger, with triggers that count its rows. */
export const LEDGER_TABLES = `
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
`
