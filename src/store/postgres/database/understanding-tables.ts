/* Tables for the results of analyses: classes and analyses of pages, places, hubs, and the memory of plans. */
export const UNDERSTANDING_TABLES = `
-- The class of a page, written when the page is settled, and the result of its later analysis. One row per page.
CREATE TABLE page_analyses (
  page bigint PRIMARY KEY REFERENCES ledger (id),
  source bigint NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('article', 'nav', 'other')),
  confidence double precision NOT NULL,
  hint text COLLATE "C" NOT NULL,
  hint_confidence double precision NOT NULL,
  -- The whole classification, as JSON.
  classification text NOT NULL,
  -- The analysis: version, gazetteer, time and result; null before the first analysis.
  analysis_version integer,
  gazetteer_revision text,
  analysed_at bigint,
  published_at text,
  language text,
  analysis text
);
CREATE INDEX page_analyses_by_kind ON page_analyses (source, kind, page);
CREATE INDEX page_analyses_by_hint ON page_analyses (source, hint, page, hint_confidence);

CREATE TABLE places (
  id bigint PRIMARY KEY,
  -- The id of the place in the imported data. Another import with the same id updates this row.
  ref text COLLATE "C" NOT NULL UNIQUE,
  kind text COLLATE "C" NOT NULL,
  country_code text COLLATE "C",
  adm1_code text COLLATE "C",
  adm2_code text COLLATE "C",
  population bigint,
  timezone text,
  lat double precision,
  lng double precision,
  bbox text,
  canonical_name_id bigint,
  source text NOT NULL,
  extra text,
  status text COLLATE "C" NOT NULL DEFAULT 'current',
  valid_from text,
  valid_to text,
  -- The canonical name in normalized form, which sorts lists.
  sort_name text COLLATE "C" NOT NULL DEFAULT '',
  -- Digest of the imported record, so that unchanged records are not written again.
  digest bytea,
  -- Constraints are checked in the order of their names; gazetteer-import.ts has their messages.
  CONSTRAINT place_1_kind CHECK (kind IN ('country', 'region', 'city', 'poi', 'supranational')),
  CONSTRAINT place_2_status CHECK (status IN ('current', 'historical')),
  CONSTRAINT place_3_latitude CHECK (lat BETWEEN -90 AND 90),
  CONSTRAINT place_4_longitude CHECK (lng BETWEEN -180 AND 180),
  CONSTRAINT place_5_population CHECK (population >= 0),
  CONSTRAINT place_6_codes CHECK (country_code = upper(country_code)
    AND coalesce(adm1_code = upper(adm1_code), true) AND coalesce(adm2_code = upper(adm2_code), true))
);
CREATE INDEX places_by_name ON places (sort_name, id);
CREATE INDEX places_by_population ON places (population DESC NULLS LAST, id);
CREATE INDEX places_by_kind ON places (kind, population DESC NULLS LAST, id);
CREATE INDEX places_by_country ON places (country_code NULLS FIRST, kind, population DESC NULLS LAST, id);

CREATE TABLE place_names (
  id bigint PRIMARY KEY,
  place_id bigint NOT NULL REFERENCES places (id),
  name text NOT NULL,
  normalized text COLLATE "C" NOT NULL,
  -- Empty if unknown, so that names without a language are unique as well.
  lang text COLLATE "C" NOT NULL DEFAULT '',
  script text,
  name_kind text COLLATE "C" NOT NULL,
  is_preferred boolean NOT NULL DEFAULT false,
  is_official boolean NOT NULL DEFAULT false,
  -- The source of the name; null if it is the source of the place.
  source text,
  UNIQUE (place_id, normalized, lang, name_kind),
  CONSTRAINT name_1_text CHECK (trim(name) <> '' AND trim(normalized) <> ''),
  CONSTRAINT name_2_kind
    CHECK (name_kind IN ('endonym', 'exonym', 'alias', 'abbrev', 'official', 'common', 'demonym'))
);
CREATE INDEX place_names_by_name ON place_names (normalized, place_id);

-- Words of names without the first word, because the index above already finds names by their first word.
CREATE TABLE place_words (
  word text COLLATE "C" NOT NULL,
  place_id bigint NOT NULL REFERENCES places (id),
  PRIMARY KEY (word, place_id)
);
CREATE INDEX place_words_by_place ON place_words (place_id);

CREATE TABLE place_hierarchy (
  parent bigint NOT NULL REFERENCES places (id),
  child bigint NOT NULL REFERENCES places (id),
  relation text COLLATE "C" NOT NULL CHECK (relation IN ('admin_parent', 'contains', 'member_of')),
  depth integer NOT NULL,
  PRIMARY KEY (parent, child, relation),
  CONSTRAINT place_within_others CHECK (parent <> child)
);
CREATE INDEX place_hierarchy_by_child ON place_hierarchy (child, depth);

CREATE TABLE place_sources (
  name text COLLATE "C" PRIMARY KEY,
  number bigint GENERATED ALWAYS AS IDENTITY,
  version text NOT NULL,
  license text NOT NULL,
  attribution text NOT NULL,
  url text,
  imported_at bigint NOT NULL,
  places bigint NOT NULL
);

CREATE TABLE place_external_ids (
  source text COLLATE "C" NOT NULL,
  ext_id text COLLATE "C" NOT NULL,
  place_id bigint NOT NULL REFERENCES places (id),
  PRIMARY KEY (source, ext_id)
);
CREATE INDEX place_external_ids_by_place ON place_external_ids (place_id);

CREATE TABLE domain_locales (
  host text COLLATE "C" PRIMARY KEY,
  country_code text,
  primary_langs text,
  confidence double precision NOT NULL
);

-- The names in the form that matching reads, and the revision that tells whether this form is up to date.
CREATE TABLE gazetteer_state (
  id integer PRIMARY KEY CHECK (id = 1),
  revision text NOT NULL,
  name_index bytea
);
INSERT INTO gazetteer_state VALUES (1, '', NULL);

CREATE FUNCTION check_canonical_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.canonical_name_id IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM place_names n WHERE n.id = NEW.canonical_name_id AND n.place_id = NEW.id) THEN
    RAISE EXCEPTION 'the canonical name of a place is one of its names' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER places_checked BEFORE INSERT OR UPDATE OF canonical_name_id ON places
  FOR EACH ROW EXECUTE FUNCTION check_canonical_name();

CREATE TABLE article_places (
  page bigint NOT NULL REFERENCES ledger (id),
  article_url text NOT NULL,
  place_id bigint NOT NULL,
  place text NOT NULL,
  place_kind text NOT NULL,
  method text NOT NULL,
  source text COLLATE "C" NOT NULL CHECK (source IN ('title', 'text', 'url')),
  offset_start integer NOT NULL,
  offset_end integer NOT NULL,
  context text,
  first_seen_at bigint NOT NULL,
  PRIMARY KEY (page, source, offset_start, offset_end, place_id)
);
CREATE INDEX article_places_by_place ON article_places (place_id, page);

-- Deletes the results of an analysis with their page.
CREATE FUNCTION forget_page() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM page_analyses a USING taken t WHERE a.page = t.id;
  DELETE FROM article_places a USING taken t WHERE a.page = t.id;
  RETURN NULL;
END $$;
CREATE TRIGGER page_removed AFTER DELETE ON pages REFERENCING OLD TABLE AS taken
  FOR EACH STATEMENT EXECUTE FUNCTION forget_page();

CREATE TABLE place_hubs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  host text COLLATE "C" NOT NULL,
  url text COLLATE "C" NOT NULL,
  place_id bigint,
  place_slug text COLLATE "C",
  place_kind text COLLATE "C",
  topic_slug text COLLATE "C",
  topic_label text,
  topic_kind text,
  title text,
  first_seen_at bigint NOT NULL,
  last_seen_at bigint NOT NULL,
  nav_links_count integer,
  article_links_count integer,
  evidence text
);
CREATE UNIQUE INDEX place_hubs_once ON place_hubs (digest_of(url));
CREATE INDEX place_hubs_by_host ON place_hubs (host, place_kind, place_slug);
CREATE INDEX place_hubs_by_place ON place_hubs (place_id);
CREATE INDEX place_hubs_by_topic ON place_hubs (topic_slug, host);

-- What crawl plans have learned about a host.
CREATE TABLE url_patterns (
  host text COLLATE "C" NOT NULL,
  pattern text COLLATE "C" NOT NULL,
  role text NOT NULL,
  seen integer NOT NULL,
  hits integer NOT NULL,
  misses integer NOT NULL,
  confidence double precision NOT NULL,
  examples text NOT NULL,
  learned_at bigint NOT NULL
);
CREATE UNIQUE INDEX url_patterns_once ON url_patterns (host, digest_of(pattern));

CREATE TABLE hub_verdicts (
  host text COLLATE "C" NOT NULL,
  url text COLLATE "C" NOT NULL,
  pattern text COLLATE "C" NOT NULL,
  place_id bigint,
  place_slug text COLLATE "C",
  place_kind text COLLATE "C",
  origin text NOT NULL CHECK (origin IN ('guessed', 'listed')),
  state text COLLATE "C" NOT NULL CHECK (state IN ('confirmed', 'missing', 'rejected')),
  status integer,
  title text,
  nav_links integer NOT NULL,
  article_links integer NOT NULL,
  checked_at bigint NOT NULL
);
CREATE UNIQUE INDEX hub_verdicts_once ON hub_verdicts (host, digest_of(url));
CREATE INDEX hub_verdicts_by_state ON hub_verdicts (host, state, checked_at);

CREATE TABLE reached_milestones (
  crawl_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  PRIMARY KEY (crawl_id, kind)
);

CREATE TABLE domains (
  host text COLLATE "C" PRIMARY KEY,
  pages bigint NOT NULL,
  articles bigint NOT NULL,
  sections bigint NOT NULL,
  dated_ratio double precision NOT NULL,
  score double precision NOT NULL,
  is_news boolean NOT NULL,
  rate_limited_15 bigint NOT NULL,
  rate_limited_60 bigint NOT NULL,
  analysed_at bigint NOT NULL
);

CREATE TABLE analysis_runs (
  id text COLLATE "C" PRIMARY KEY,
  number bigint GENERATED ALWAYS AS IDENTITY,
  started_at bigint NOT NULL,
  ended_at bigint,
  status text COLLATE "C" NOT NULL,
  stage text NOT NULL,
  analysis_version integer NOT NULL,
  page_limit bigint,
  domain_limit bigint,
  skip_pages boolean NOT NULL,
  skip_domains boolean NOT NULL,
  dry_run boolean NOT NULL,
  is_verbose boolean NOT NULL,
  summary text,
  last_progress text NOT NULL,
  error text,
  runner text,
  heartbeat_at bigint NOT NULL
);
CREATE INDEX analysis_runs_newest ON analysis_runs (started_at DESC, number DESC);
CREATE INDEX analysis_runs_by_status ON analysis_runs (status, started_at DESC);

CREATE TABLE analysis_run_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL,
  ts bigint NOT NULL,
  stage text NOT NULL,
  message text NOT NULL,
  details text
);
CREATE INDEX analysis_run_events_by_run ON analysis_run_events (run_id, ts DESC, id DESC);
`
