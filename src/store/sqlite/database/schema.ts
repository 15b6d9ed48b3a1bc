import { PharosError } from '../../../core/errors.ts'
import { currentKey, currentUrl } from '../../common/current-key.ts'
import type { Database } from './database.ts'
import { FIRST_TABLES } from './first-tables.ts'
import { JOB_TABLES } from './job-tables.ts'
import { UNDERSTANDING_TABLES } from './understanding-tables.ts'

/** Marks the file as a Pharos library: `Phar`. */
const APPLICATION_ID = 0x50686172

/** The changes of each schema version. A released migration never changes. */
const MIGRATIONS: readonly string[] = [
  FIRST_TABLES,
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
  JOB_TABLES,
  UNDERSTANDING_TABLES,
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
  `
  -- When a source is crawled again by itself, as JSON; null for never.
  ALTER TABLE sources ADD COLUMN refresh TEXT;
  `,
  `
  -- Texts of pages before the last crawl of their source changed or removed them, deflated, by the id of their row.
  CREATE TABLE earlier_pages (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    size INTEGER NOT NULL,
    url TEXT NOT NULL,
    markdown BLOB NOT NULL
  ) STRICT;
  CREATE INDEX earlier_pages_by_source ON earlier_pages (source, size);
  CREATE TRIGGER row_deleted AFTER DELETE ON ledger BEGIN
    DELETE FROM earlier_pages WHERE id = old.id;
  END;
  `,
  `
  -- Whether \`earlier_pages\` lists every page that the crawl changed or removed. Copied crawls and those of earlier versions do not.
  ALTER TABLE crawls ADD COLUMN keeps_earlier INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- A page has one class, so the votes of single signals are not kept beside it.
  DROP INDEX page_analyses_by_hint;
  DROP INDEX page_analyses_by_kind;
  ALTER TABLE page_analyses DROP COLUMN hint;
  ALTER TABLE page_analyses DROP COLUMN hint_confidence;
  UPDATE page_analyses SET classification = json_remove(classification, '$.combined');
  CREATE INDEX page_analyses_by_kind ON page_analyses (source, kind, page, confidence);

  -- How the last process of a job ended.
  ALTER TABLE crawl_jobs ADD COLUMN code INTEGER;
  ALTER TABLE crawl_jobs ADD COLUMN signal TEXT;
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

/** Whether a database has the mark of this program. */
export function isOwned(db: Database): boolean {
  return Number(db.pragma('application_id', { simple: true })) === APPLICATION_ID
}

/** The schema version of a database that is a library or empty. Throws for any other. */
export function checkVersion(db: Database, library: string): number {
  const found = Number(db.pragma('user_version', { simple: true }))
  const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
  if (!isOwned(db) && !isEmpty) {
    throw new PharosError('LIBRARY_UNUSABLE', { library, problem: 'it is a database of another program' })
  }
  if (!isEmpty && found < FIRST_VERSION) {
    const problem = 'it was written by an unreleased version of Pharos; delete the file and add its sources again'
    throw new PharosError('LIBRARY_UNUSABLE', { library, problem })
  }
  if (found > SCHEMA_VERSION) throw new PharosError('LIBRARY_NEWER', { library, found, supported: SCHEMA_VERSION })
  return found
}
