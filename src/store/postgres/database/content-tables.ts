/** The tables of pages, aliases, hosts, the chunk index and vectors. */
export const CONTENT_TABLES: string = `
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
`
