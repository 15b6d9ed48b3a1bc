/*
 * All data of a library as rows of tables, in a format independent of the store: stores name and pack columns as they like, but read and
 * write rows in this format. Derived data (counts, the chunk index) and local data (leases, the vector copy in a service, the library id)
 * are not included.
 */

/** Type of a column. Hashes are texts in this format, even if a store packs them into bytes. */
export type CellType = 'text' | 'whole' | 'real' | 'boolean' | 'hash' | 'bytes'

/** A value of a row. */
export type Cell = string | number | boolean | Uint8Array | null

/** A row; its values are in the order of the table's columns. */
export type CopyRow = readonly Cell[]

/** A column of a table. */
export interface CopyColumn {
  readonly name: string
  readonly type: CellType
  /** The table whose ids this column contains; a copy into another library may shift these ids. */
  readonly references?: string
}

/**
 * Ownership of rows. `own`: the rows have ids of this library. `shared`: the rows have names valid in every library, so that two libraries
 * may hold the same row. `whole`: the table is usable only as a whole.
 */
export type RowOwnership = 'own' | 'shared' | 'whole'

/** Groups of tables that are copied or skipped together. `understanding` holds analyses; `placed` holds rows that refer to places. */
export type CopyGroup = 'content' | 'hosts' | 'history' | 'understanding' | 'places' | 'placed' | 'vectors'

/** A table of a library. */
export interface CopyTable {
  readonly name: string
  /** Singular label of a row, for messages. */
  readonly label: string
  readonly group: CopyGroup
  readonly ownership: RowOwnership
  readonly columns: readonly CopyColumn[]
  /** Columns that identify a row and define the read order. */
  readonly key: readonly string[]
  /** Column with the row id that is assigned on write. */
  readonly idColumn?: string
  /** Column that links a row to its source, directly or through the ledger. */
  readonly owner?: { readonly column: string; readonly of: 'sources' | 'ledger' }
  /** Maximum number of rows per batch; small for tables with large rows. */
  readonly batchSize: number
}

/** Approximate maximum size of a batch in bytes, because a single page may have many megabytes. */
export const MAX_BATCH_BYTES = 8_000_000

type ColumnType = Omit<CopyColumn, 'name'>

const TEXT = { type: 'text' } as const
const WHOLE = { type: 'whole' } as const
const REAL = { type: 'real' } as const
const BOOLEAN = { type: 'boolean' } as const
const HASH = { type: 'hash' } as const
const BYTES = { type: 'bytes' } as const
const SOURCE = { type: 'whole', references: 'sources' } as const satisfies ColumnType
const CRAWL = { type: 'whole', references: 'crawl_ids' } as const satisfies ColumnType
const ROW = { type: 'whole', references: 'ledger' } as const satisfies ColumnType
const CHUNK = { type: 'whole', references: 'chunks' } as const satisfies ColumnType

/** Identity and grouping of a table, apart from its columns. */
type TableFacts = Pick<CopyTable, 'label' | 'group' | 'ownership' | 'key'> &
  Partial<Pick<CopyTable, 'idColumn' | 'owner' | 'batchSize'>>

const BY_SOURCE = { owner: { column: 'source', of: 'sources' } } as const
const CONTENT = { group: 'content', ownership: 'own' } as const
const HISTORY = { group: 'history', ownership: 'own' } as const
const PLACES = { group: 'places', ownership: 'whole' } as const

function define(name: string, facts: TableFacts, columns: Readonly<Record<string, ColumnType>>): CopyTable {
  return {
    name,
    batchSize: 1000,
    ...facts,
    columns: Object.entries(columns).map(([column, type]) => ({ name: column, ...type })),
  }
}

const NOTE_COLUMNS = {
  job_id: TEXT,
  ts: WHOLE,
  kind: TEXT,
  scope: TEXT,
  target: TEXT,
  message: TEXT,
  details: TEXT,
} as const

/** Table of sources. It is written before all others, and its rows stay hidden until the other tables are complete. */
export const SOURCES_TABLE: CopyTable = define(
  'sources',
  { ...CONTENT, label: 'source', key: ['id'], idColumn: 'id', owner: { column: 'id', of: 'sources' } },
  {
    id: SOURCE,
    uuid: TEXT,
    name: TEXT,
    version: TEXT,
    url: TEXT,
    site_url: TEXT,
    scope: TEXT,
    settings: TEXT,
    created_at: WHOLE,
  },
)

/** All other tables, ordered so that referenced rows are written first. */
export const COPY_TABLES: readonly CopyTable[] = [
  define(
    'crawl_ids',
    { ...CONTENT, ...BY_SOURCE, label: 'crawl id', key: ['id'], idColumn: 'id' },
    { id: CRAWL, uuid: TEXT, source: SOURCE },
  ),
  define(
    'crawls',
    { ...CONTENT, ...BY_SOURCE, label: 'crawl', key: ['id'] },
    {
      id: CRAWL,
      source: SOURCE,
      kind: TEXT,
      state: TEXT,
      options: TEXT,
      runner: TEXT,
      term: WHOLE,
      started_at: WHOLE,
      heartbeat_at: WHOLE,
      ended_at: WHOLE,
      summary: TEXT,
    },
  ),
  define(
    'ledger',
    { ...CONTENT, ...BY_SOURCE, label: 'address', key: ['id'], idColumn: 'id' },
    {
      id: ROW,
      source: SOURCE,
      state: TEXT,
      reason: TEXT,
      depth: WHOLE,
      weight: WHOLE,
      crawl: CRAWL,
      page_hash: HASH,
      key: TEXT,
      url: TEXT,
      host: TEXT,
      discovery: TEXT,
      found_on: TEXT,
      pattern: TEXT,
      target: TEXT,
      etag: TEXT,
      last_modified: TEXT,
      content_url: TEXT,
      content_hash: HASH,
      words: WHOLE,
      attempts: WHOLE,
      status: WHOLE,
      detail: TEXT,
      first_seen_at: WHOLE,
      checked_at: WHOLE,
      changed_at: WHOLE,
      due_at: REAL,
      is_shell: BOOLEAN,
      is_final: BOOLEAN,
      awaits_confirmation: BOOLEAN,
      final_crawl: CRAWL,
      proven_crawl: CRAWL,
    },
  ),
  define(
    'pages',
    { ...CONTENT, label: 'page', key: ['id'], owner: { column: 'id', of: 'ledger' }, batchSize: 100 },
    { id: ROW, first_chunk: CHUNK, chunk_count: WHOLE, title: TEXT, meta: TEXT, markdown: TEXT, layout: TEXT },
  ),
  define(
    'likenesses',
    { ...CONTENT, label: 'page signature', key: ['page'], owner: { column: 'page', of: 'ledger' } },
    { page: ROW, fingerprint: TEXT, language: TEXT, family: TEXT },
  ),
  define(
    'links',
    { ...CONTENT, label: 'link list', key: ['id'], owner: { column: 'id', of: 'ledger' }, batchSize: 200 },
    { id: ROW, links: TEXT },
  ),
  define(
    'chunks',
    { ...CONTENT, ...BY_SOURCE, label: 'chunk', key: ['id'], idColumn: 'id' },
    {
      id: CHUNK,
      source: SOURCE,
      page: ROW,
      chunk_id: HASH,
      content_hash: HASH,
      position: WHOLE,
      kind: TEXT,
      start_line: WHOLE,
      end_line: WHOLE,
      token_estimate: WHOLE,
      slug: TEXT,
      path: TEXT,
      heading_path: TEXT,
      symbol: TEXT,
      address: TEXT,
      asset_path: TEXT,
      content: TEXT,
    },
  ),
  define(
    'url_aliases',
    { ...CONTENT, ...BY_SOURCE, label: 'alias', key: ['source', 'url', 'alias_url'] },
    {
      source: SOURCE,
      url: TEXT,
      alias_url: TEXT,
      classification: TEXT,
      reason: TEXT,
      is_there: BOOLEAN,
      checked_at: WHOLE,
      metadata: TEXT,
    },
  ),
  define(
    'lists',
    { ...CONTENT, ...BY_SOURCE, label: 'list', key: ['source', 'url'], batchSize: 20 },
    {
      source: SOURCE,
      url: TEXT,
      etag: TEXT,
      last_modified: TEXT,
      content_hash: TEXT,
      context_hash: TEXT,
      pages: WHOLE,
      named: TEXT,
    },
  ),
  define(
    'page_analyses',
    { ...CONTENT, ...BY_SOURCE, group: 'understanding', label: 'analysis', key: ['page'] },
    {
      page: ROW,
      source: SOURCE,
      kind: TEXT,
      confidence: REAL,
      hint: TEXT,
      hint_confidence: REAL,
      classification: TEXT,
      analysis_version: WHOLE,
      gazetteer_revision: TEXT,
      analysed_at: WHOLE,
      published_at: TEXT,
      language: TEXT,
      analysis: TEXT,
    },
  ),
  define(
    'hosts',
    { group: 'hosts', ownership: 'shared', label: 'host clock', key: ['host'] },
    {
      host: TEXT,
      next_at: REAL,
      interval_ms: REAL,
      floor_ms: REAL,
      held_until: REAL,
      slowed_at: REAL,
      strikes: WHOLE,
    },
  ),
  define(
    'robots',
    { group: 'hosts', ownership: 'shared', label: 'robots.txt', key: ['origin'], batchSize: 100 },
    { origin: TEXT, fetched_at: WHOLE, type: TEXT, status: WHOLE, body: TEXT },
  ),
  define(
    'vector_space',
    { group: 'vectors', ownership: 'shared', label: 'vector space', key: ['id'] },
    { id: WHOLE, model: TEXT, fingerprint: TEXT, dimensions: WHOLE },
  ),
  define(
    'vectors',
    { ...BY_SOURCE, group: 'vectors', ownership: 'own', label: 'vector', key: ['chunk'], idColumn: 'number' },
    { chunk: CHUNK, number: { type: 'whole', references: 'vectors' }, source: SOURCE, vector: BYTES },
  ),
  define(
    'refused_chunks',
    { ...BY_SOURCE, group: 'vectors', ownership: 'own', label: 'chunk without a vector', key: ['chunk'] },
    { chunk: CHUNK, source: SOURCE, problem: TEXT },
  ),
  define(
    'crawl_jobs',
    { group: 'history', ownership: 'shared', label: 'job', key: ['id'], idColumn: 'number' },
    {
      id: TEXT,
      number: { type: 'whole', references: 'crawl_jobs' },
      url: TEXT,
      args: TEXT,
      pid: WHOLE,
      started_at: WHOLE,
      ended_at: WHOLE,
      status: TEXT,
      process_began: TEXT,
      created_at: WHOLE,
      crawl_id: TEXT,
      source_id: TEXT,
      restarts: WHOLE,
      progress: TEXT,
      problem: TEXT,
      events: WHOLE,
      last_event_at: WHOLE,
    },
  ),
  define(
    'queue_events',
    { ...HISTORY, label: 'event', key: ['id'], idColumn: 'id', batchSize: 2000 },
    {
      id: { type: 'whole', references: 'queue_events' },
      job_id: TEXT,
      ts: WHOLE,
      action: TEXT,
      url: TEXT,
      depth: WHOLE,
      host: TEXT,
      reason: TEXT,
      queue_size: WHOLE,
      alias: TEXT,
    },
  ),
  define(
    'crawl_problems',
    { ...HISTORY, label: 'problem', key: ['id'], idColumn: 'id' },
    { id: { type: 'whole', references: 'crawl_problems' }, ...NOTE_COLUMNS },
  ),
  define(
    'crawl_milestones',
    { ...HISTORY, label: 'milestone', key: ['id'], idColumn: 'id' },
    { id: { type: 'whole', references: 'crawl_milestones' }, ...NOTE_COLUMNS },
  ),
  define(
    'crawl_types',
    { group: 'history', ownership: 'shared', label: 'crawl type', key: ['name'] },
    { name: TEXT, description: TEXT, declaration: TEXT },
  ),
  define(
    'analysis_runs',
    { group: 'history', ownership: 'shared', label: 'analysis run', key: ['id'], idColumn: 'number' },
    {
      id: TEXT,
      number: { type: 'whole', references: 'analysis_runs' },
      started_at: WHOLE,
      ended_at: WHOLE,
      status: TEXT,
      stage: TEXT,
      analysis_version: WHOLE,
      page_limit: WHOLE,
      domain_limit: WHOLE,
      skip_pages: BOOLEAN,
      skip_domains: BOOLEAN,
      dry_run: BOOLEAN,
      is_verbose: BOOLEAN,
      summary: TEXT,
      last_progress: TEXT,
      error: TEXT,
      runner: TEXT,
      heartbeat_at: WHOLE,
    },
  ),
  define(
    'analysis_run_events',
    { ...HISTORY, label: 'analysis event', key: ['id'], idColumn: 'id' },
    {
      id: { type: 'whole', references: 'analysis_run_events' },
      run_id: TEXT,
      ts: WHOLE,
      stage: TEXT,
      message: TEXT,
      details: TEXT,
    },
  ),
  define(
    'reached_milestones',
    { group: 'history', ownership: 'shared', label: 'reached milestone', key: ['crawl_id', 'kind'] },
    { crawl_id: TEXT, kind: TEXT },
  ),
  define(
    'domains',
    { group: 'understanding', ownership: 'shared', label: 'host analysis', key: ['host'] },
    {
      host: TEXT,
      pages: WHOLE,
      articles: WHOLE,
      sections: WHOLE,
      dated_ratio: REAL,
      score: REAL,
      is_news: BOOLEAN,
      rate_limited_15: WHOLE,
      rate_limited_60: WHOLE,
      analysed_at: WHOLE,
    },
  ),
  define(
    'url_patterns',
    { group: 'understanding', ownership: 'shared', label: 'pattern', key: ['host', 'pattern'] },
    {
      host: TEXT,
      pattern: TEXT,
      role: TEXT,
      seen: WHOLE,
      hits: WHOLE,
      misses: WHOLE,
      confidence: REAL,
      examples: TEXT,
      learned_at: WHOLE,
    },
  ),
  // Places are written before their names; `canonical_names` then links each place to one of its names.
  define(
    'places',
    { ...PLACES, label: 'place', key: ['id'] },
    {
      id: WHOLE,
      ref: TEXT,
      kind: TEXT,
      country_code: TEXT,
      adm1_code: TEXT,
      adm2_code: TEXT,
      population: WHOLE,
      timezone: TEXT,
      lat: REAL,
      lng: REAL,
      bbox: TEXT,
      source: TEXT,
      extra: TEXT,
      status: TEXT,
      valid_from: TEXT,
      valid_to: TEXT,
      sort_name: TEXT,
      digest: BYTES,
    },
  ),
  define(
    'place_names',
    { ...PLACES, label: 'place name', key: ['id'] },
    {
      id: WHOLE,
      place_id: WHOLE,
      name: TEXT,
      normalized: TEXT,
      lang: TEXT,
      script: TEXT,
      name_kind: TEXT,
      is_preferred: BOOLEAN,
      is_official: BOOLEAN,
      source: TEXT,
    },
  ),
  define(
    'canonical_names',
    { ...PLACES, label: 'canonical name', key: ['id'] },
    { id: WHOLE, canonical_name_id: WHOLE },
  ),
  define(
    'place_words',
    { ...PLACES, label: 'word of a place name', key: ['word', 'place_id'] },
    { word: TEXT, place_id: WHOLE },
  ),
  define(
    'place_hierarchy',
    { ...PLACES, label: 'place hierarchy', key: ['parent', 'child', 'relation'] },
    { parent: WHOLE, child: WHOLE, relation: TEXT, depth: WHOLE },
  ),
  define(
    'place_external_ids',
    { ...PLACES, label: 'external place id', key: ['source', 'ext_id'] },
    { source: TEXT, ext_id: TEXT, place_id: WHOLE },
  ),
  define(
    'domain_locales',
    { group: 'understanding', ownership: 'shared', label: 'host country', key: ['host'] },
    { host: TEXT, country_code: TEXT, primary_langs: TEXT, confidence: REAL },
  ),
  define(
    'place_sources',
    { ...PLACES, label: 'place data set', key: ['name'], idColumn: 'number' },
    {
      name: TEXT,
      number: { type: 'whole', references: 'place_sources' },
      version: TEXT,
      license: TEXT,
      attribution: TEXT,
      url: TEXT,
      imported_at: WHOLE,
      places: WHOLE,
    },
  ),
  // This row marks the gazetteer as complete, so it comes last.
  define(
    'gazetteer_state',
    { ...PLACES, label: 'gazetteer state', key: ['id'] },
    { id: WHOLE, revision: TEXT, name_index: BYTES },
  ),
  define(
    'article_places',
    {
      group: 'placed',
      ownership: 'own',
      label: 'article place',
      key: ['page', 'source', 'offset_start', 'offset_end', 'place_id'],
      owner: { column: 'page', of: 'ledger' },
    },
    {
      page: ROW,
      article_url: TEXT,
      place_id: WHOLE,
      place: TEXT,
      place_kind: TEXT,
      method: TEXT,
      source: TEXT,
      offset_start: WHOLE,
      offset_end: WHOLE,
      context: TEXT,
      first_seen_at: WHOLE,
    },
  ),
  define(
    'place_hubs',
    { group: 'placed', ownership: 'shared', label: 'hub', key: ['url'], idColumn: 'id' },
    {
      id: { type: 'whole', references: 'place_hubs' },
      host: TEXT,
      url: TEXT,
      place_id: WHOLE,
      place_slug: TEXT,
      place_kind: TEXT,
      topic_slug: TEXT,
      topic_label: TEXT,
      topic_kind: TEXT,
      title: TEXT,
      first_seen_at: WHOLE,
      last_seen_at: WHOLE,
      nav_links_count: WHOLE,
      article_links_count: WHOLE,
      evidence: TEXT,
    },
  ),
  define(
    'hub_verdicts',
    { group: 'placed', ownership: 'shared', label: 'verdict', key: ['host', 'url'] },
    {
      host: TEXT,
      url: TEXT,
      pattern: TEXT,
      place_id: WHOLE,
      place_slug: TEXT,
      place_kind: TEXT,
      origin: TEXT,
      state: TEXT,
      status: WHOLE,
      title: TEXT,
      nav_links: WHOLE,
      article_links: WHOLE,
      checked_at: WHOLE,
    },
  ),
]

/** Returns the positions of columns in the rows of a table. */
export function columnPositions({ columns }: CopyTable, names: readonly string[]): number[] {
  return names.map((name) => columns.findIndex((column) => column.name === name))
}

/** Returns the table without an id column that only defines the order of rows. */
export function withoutIdColumn(table: CopyTable): CopyTable {
  const { idColumn, ...rest } = table
  if (idColumn === undefined || table.key.includes(idColumn)) return table
  return { ...rest, columns: table.columns.filter(({ name }) => name !== idColumn) }
}
