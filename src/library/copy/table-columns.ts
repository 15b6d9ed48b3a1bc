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

/** Identity and grouping of a table, apart from its columns. */
type TableFacts = Pick<CopyTable, 'label' | 'group' | 'ownership' | 'key'> &
  Partial<Pick<CopyTable, 'idColumn' | 'owner' | 'batchSize'>>

const BY_SOURCE = { owner: { column: 'source', of: 'sources' } } as const
const CONTENT = { group: 'content', ownership: 'own' } as const
const HISTORY = { group: 'history', ownership: 'own' } as const
const PLACES = { group: 'places', ownership: 'whole' } as const

/**
 * Defines a table. `columns` lists names with their types: `name` is a text, `name:whole` has the type after the colon, and `name@table` is
 * a whole number, the id of a row of that table.
 */
function define(name: string, facts: TableFacts, columns: string): CopyTable {
  return { name, batchSize: 1000, ...facts, columns: columns.split(/\s+/).map(parseColumn) }
}

function parseColumn(text: string): CopyColumn {
  const [, name = '', type = 'text', references] =
    /^(\w+)(?::(whole|real|boolean|hash|bytes)|@(\w+))?$/.exec(text) ?? []
  if (name === '') throw new TypeError(`Expected a column, got ${text}`)
  return references === undefined ? { name, type: type as CellType } : { name, type: 'whole', references }
}

/** Table of sources. It is written before all others, and its rows stay hidden until the other tables are complete. */
export const SOURCES_TABLE: CopyTable = define(
  'sources',
  { ...CONTENT, label: 'source', key: ['id'], idColumn: 'id', owner: { column: 'id', of: 'sources' } },
  'id@sources uuid name version url site_url scope settings created_at:whole refresh',
)

/** All other tables, ordered so that referenced rows are written first. */
export const COPY_TABLES: readonly CopyTable[] = [
  define(
    'crawl_ids',
    { ...CONTENT, ...BY_SOURCE, label: 'crawl id', key: ['id'], idColumn: 'id' },
    'id@crawl_ids uuid source@sources',
  ),
  define(
    'crawls',
    { ...CONTENT, ...BY_SOURCE, label: 'crawl', key: ['id'] },
    `id@crawl_ids source@sources kind state options runner term:whole started_at:whole heartbeat_at:whole
    ended_at:whole summary`,
  ),
  define(
    'ledger',
    { ...CONTENT, ...BY_SOURCE, label: 'address', key: ['id'], idColumn: 'id' },
    `id@ledger source@sources state reason depth:whole weight:whole crawl@crawl_ids page_hash:hash key url host
    discovery found_on pattern target etag last_modified content_url content_hash:hash words:whole
    attempts:whole status:whole detail first_seen_at:whole checked_at:whole changed_at:whole due_at:real
    is_shell:boolean is_final:boolean awaits_confirmation:boolean final_crawl@crawl_ids proven_crawl@crawl_ids`,
  ),
  define(
    'pages',
    { ...CONTENT, label: 'page', key: ['id'], owner: { column: 'id', of: 'ledger' }, batchSize: 100 },
    'id@ledger first_chunk@chunks chunk_count:whole title meta markdown layout',
  ),
  define(
    'likenesses',
    { ...CONTENT, label: 'page signature', key: ['page'], owner: { column: 'page', of: 'ledger' } },
    'page@ledger fingerprint language family',
  ),
  define(
    'links',
    { ...CONTENT, label: 'link list', key: ['id'], owner: { column: 'id', of: 'ledger' }, batchSize: 200 },
    'id@ledger links',
  ),
  define(
    'chunks',
    { ...CONTENT, ...BY_SOURCE, label: 'chunk', key: ['id'], idColumn: 'id' },
    `id@chunks source@sources page@ledger chunk_id:hash content_hash:hash position:whole kind start_line:whole
    end_line:whole token_estimate:whole slug path heading_path symbol address asset_path content`,
  ),
  define(
    'url_aliases',
    { ...CONTENT, ...BY_SOURCE, label: 'alias', key: ['source', 'url', 'alias_url'] },
    'source@sources url alias_url classification reason is_there:boolean checked_at:whole metadata',
  ),
  define(
    'lists',
    { ...CONTENT, ...BY_SOURCE, label: 'list', key: ['source', 'url'], batchSize: 20 },
    'source@sources url etag last_modified content_hash context_hash pages:whole named',
  ),
  define(
    'page_analyses',
    { ...CONTENT, ...BY_SOURCE, group: 'understanding', label: 'analysis', key: ['page'] },
    `page@ledger source@sources kind confidence:real classification
    analysis_version:whole gazetteer_revision analysed_at:whole published_at language analysis`,
  ),
  define(
    'hosts',
    { group: 'hosts', ownership: 'shared', label: 'host clock', key: ['host'] },
    'host next_at:real interval_ms:real floor_ms:real held_until:real slowed_at:real strikes:whole',
  ),
  define(
    'robots',
    { group: 'hosts', ownership: 'shared', label: 'robots.txt', key: ['origin'], batchSize: 100 },
    'origin fetched_at:whole type status:whole body',
  ),
  define(
    'vector_space',
    { group: 'vectors', ownership: 'shared', label: 'vector space', key: ['id'] },
    'id:whole model fingerprint dimensions:whole',
  ),
  define(
    'vectors',
    { ...BY_SOURCE, group: 'vectors', ownership: 'own', label: 'vector', key: ['chunk'], idColumn: 'number' },
    'chunk@chunks number@vectors source@sources vector:bytes',
  ),
  define(
    'refused_chunks',
    { ...BY_SOURCE, group: 'vectors', ownership: 'own', label: 'chunk without a vector', key: ['chunk'] },
    'chunk@chunks source@sources problem',
  ),
  define(
    'crawl_jobs',
    { group: 'history', ownership: 'shared', label: 'job', key: ['id'], idColumn: 'number' },
    `id number@crawl_jobs url args pid:whole started_at:whole ended_at:whole status process_began
    created_at:whole crawl_id source_id restarts:whole progress problem code:whole signal events:whole last_event_at:whole`,
  ),
  define(
    'queue_events',
    { ...HISTORY, label: 'event', key: ['id'], idColumn: 'id', batchSize: 2000 },
    'id@queue_events job_id ts:whole action url depth:whole host reason queue_size:whole alias',
  ),
  define(
    'crawl_problems',
    { ...HISTORY, label: 'problem', key: ['id'], idColumn: 'id' },
    'id@crawl_problems job_id ts:whole kind scope target message details',
  ),
  define(
    'crawl_milestones',
    { ...HISTORY, label: 'milestone', key: ['id'], idColumn: 'id' },
    'id@crawl_milestones job_id ts:whole kind scope target message details',
  ),
  define(
    'crawl_types',
    { group: 'history', ownership: 'shared', label: 'crawl type', key: ['name'] },
    'name description declaration',
  ),
  define(
    'analysis_runs',
    { group: 'history', ownership: 'shared', label: 'analysis run', key: ['id'], idColumn: 'number' },
    `id number@analysis_runs started_at:whole ended_at:whole status stage analysis_version:whole page_limit:whole
    domain_limit:whole skip_pages:boolean skip_domains:boolean dry_run:boolean is_verbose:boolean summary
    last_progress error runner heartbeat_at:whole`,
  ),
  define(
    'analysis_run_events',
    { ...HISTORY, label: 'analysis event', key: ['id'], idColumn: 'id' },
    'id@analysis_run_events run_id ts:whole stage message details',
  ),
  define(
    'reached_milestones',
    { group: 'history', ownership: 'shared', label: 'reached milestone', key: ['crawl_id', 'kind'] },
    'crawl_id kind',
  ),
  define(
    'domains',
    { group: 'understanding', ownership: 'shared', label: 'host analysis', key: ['host'] },
    `host pages:whole articles:whole sections:whole dated_ratio:real score:real is_news:boolean
    rate_limited_15:whole rate_limited_60:whole analysed_at:whole`,
  ),
  define(
    'url_patterns',
    { group: 'understanding', ownership: 'shared', label: 'pattern', key: ['host', 'pattern'] },
    'host pattern role seen:whole hits:whole misses:whole confidence:real examples learned_at:whole',
  ),
  // Places are written before their names; `canonical_names` then links each place to one of its names.
  define(
    'places',
    { ...PLACES, label: 'place', key: ['id'] },
    `id:whole ref kind country_code adm1_code adm2_code population:whole timezone lat:real lng:real bbox source
    extra status valid_from valid_to sort_name digest:bytes`,
  ),
  define(
    'place_names',
    { ...PLACES, label: 'place name', key: ['id'] },
    `id:whole place_id:whole name normalized lang script name_kind is_preferred:boolean is_official:boolean
    source`,
  ),
  define('canonical_names', { ...PLACES, label: 'canonical name', key: ['id'] }, 'id:whole canonical_name_id:whole'),
  define('place_words', { ...PLACES, label: 'word of a place name', key: ['word', 'place_id'] }, 'word place_id:whole'),
  define(
    'place_hierarchy',
    { ...PLACES, label: 'place hierarchy', key: ['parent', 'child', 'relation'] },
    'parent:whole child:whole relation depth:whole',
  ),
  define(
    'place_external_ids',
    { ...PLACES, label: 'external place id', key: ['source', 'ext_id'] },
    'source ext_id place_id:whole',
  ),
  define(
    'domain_locales',
    { group: 'understanding', ownership: 'shared', label: 'host country', key: ['host'] },
    'host country_code primary_langs confidence:real',
  ),
  define(
    'place_sources',
    { ...PLACES, label: 'place data set', key: ['name'], idColumn: 'number' },
    'name number@place_sources version license attribution url imported_at:whole places:whole',
  ),
  // This row marks the gazetteer as complete, so it comes last.
  define('gazetteer_state', { ...PLACES, label: 'gazetteer state', key: ['id'] }, 'id:whole revision name_index:bytes'),
  define(
    'article_places',
    {
      group: 'placed',
      ownership: 'own',
      label: 'article place',
      key: ['page', 'source', 'offset_start', 'offset_end', 'place_id'],
      owner: { column: 'page', of: 'ledger' },
    },
    `page@ledger article_url place_id:whole place place_kind method source offset_start:whole offset_end:whole
    context first_seen_at:whole`,
  ),
  define(
    'place_hubs',
    { group: 'placed', ownership: 'shared', label: 'hub', key: ['url'], idColumn: 'id' },
    `id@place_hubs host url place_id:whole place_slug place_kind topic_slug topic_label topic_kind title
    first_seen_at:whole last_seen_at:whole nav_links_count:whole article_links_count:whole evidence`,
  ),
  define(
    'hub_verdicts',
    { group: 'placed', ownership: 'shared', label: 'verdict', key: ['host', 'url'] },
    `host url pattern place_id:whole place_slug place_kind origin state status:whole title nav_links:whole
    article_links:whole checked_at:whole`,
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
