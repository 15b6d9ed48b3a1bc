/** The migration that added analyses of pages, places, hubs, and the memory of plans. */
export const UNDERSTANDING_TABLES: string = `
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
  `
