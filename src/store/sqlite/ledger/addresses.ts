import { setImmediate as pause } from 'node:timers/promises'
import { PAGE_CLASSES } from '../../../core/model.ts'
import type {
  AddressConditions,
  AddressEntry,
  Addresses,
  AddressQuery,
  HostSummary,
} from '../../../library/ports/addresses.ts'
import { listKeysOf } from '../../../library/sources/address-keys.ts'
import { groupFailures } from '../../../library/sources/group-errors.ts'
import {
  COUNTED_STATES,
  findStart,
  HOST_ROWS,
  type HostColumns,
  hasCounter,
  IS_IN_SCOPE,
  type Lane,
  MAX_HOST_LANES,
  type Order,
  type RowPosition,
  SELECT_ENTRIES,
  toHostParameters,
  toSummary,
} from '../../common/ledger/address-position.ts'
import type { Database } from '../database/database.ts'

/** Batch size for scanning rows when few of them match, because each batch blocks the event loop. */
const ROWS_AT_ONCE = 2000
/** Batch size for reading entries. */
const ENTRIES_AT_ONCE = 500
/** Minimum batch size of a lane. */
const MIN_BATCH = 16
/** How long a list may run before it yields to the event loop. */
const MAX_BLOCKING_MS = 10

/** The named parameters of a lane query. */
type LaneParameters = Record<string, string | number | null>

/** SQL condition for a host and its subdomains. */
const HOST_OR_SUBDOMAIN = '(host = @name OR substr(host, -length(@below)) = @below)'

/** SQL for whether a page has a class; the index avoids reading the wide table. */
function hasClass(which: string): string {
  return `l.page_hash IS NOT NULL AND EXISTS (SELECT 1 FROM page_analyses a INDEXED BY page_analyses_by_kind
    WHERE a.source = l.source AND a.page = l.id AND a.kind ${which})`
}

/** The SQL condition of each filter, besides the position in a lane. */
const TESTS: Readonly<Partial<Record<keyof AddressConditions, string>>> = {
  state: 'l.state = @state',
  reason: 'l.reason = @reason',
  isInScope: IS_IN_SCOPE,
  status: 'l.status = @status',
  minWordCount: 'l.page_hash IS NOT NULL AND l.words >= @minWordCount',
  classification: hasClass('= @classification'),
  minConfidence: hasClass(
    `IN (${PAGE_CLASSES.map((kind) => `'${kind}'`).join(', ')}) AND a.confidence >= @minConfidence`,
  ),
  text: 'instr(lower(l.url), lower(@text)) > 0',
}

const HOSTS = `SELECT h.host, ${COUNTED_STATES.map((state) => `sum(h.${state}_rows) AS "${state}"`).join(', ')},
    sum(h.pages) AS pages, max(h.asked_at) AS lastAt
  FROM sources s CROSS JOIN host_counts h ON h.source = s.id`

/** Creates the address queries over all sources. */
export function createAddresses(db: Database): Addresses {
  const sql = prepareAddresses(db)
  const prepare = createStatementCache(db)

  const listByKey = (url: string): number[] => {
    const keys = JSON.stringify(listKeysOf(url))
    return sql.selectSources.all().flatMap(({ number }) => sql.selectByKey.all(number, keys))
  }
  const findEntries = async (url: string) => sql.selectEntries.all(JSON.stringify(listByKey(url)))

  /** The first positions of several lanes, merged. */
  const listPositions = async (query: AddressQuery): Promise<RowPosition[]> => {
    const { limit, order = 'newest' } = query
    const start = await findStart(query, order, findEntries)
    const lanes = listLanes(sql, query)
    const batch = Math.min(limit, Math.max(MIN_BATCH, Math.ceil((2 * limit) / Math.max(1, lanes.length))))
    const takeBreak = createYielder()
    /** Lanes with more rows; the last one has the next position. */
    const cursors: LaneCursor[] = []
    for (const lane of lanes) {
      const cursor = createLaneCursor(walkLane(prepare, lane, query, start, batch), takeBreak)
      await cursor.advance()
      enqueue(cursors, cursor, order)
    }
    const positions: RowPosition[] = []
    while (positions.length < limit) {
      const cursor = cursors.pop()
      if (cursor?.position === undefined) break
      positions.push(cursor.position)
      await cursor.advance()
      enqueue(cursors, cursor, order)
    }
    return positions
  }
  const count = async (filter: AddressConditions, max: number): Promise<number> => {
    const lanes = listLanes(sql, filter)
    if (hasCounter(filter)) {
      const rows = lanes.reduce((sum, { source }) => sum + countRows(sql, source, filter), 0)
      return Math.min(rows, max)
    }
    const start = await findStart(filter, 'newest', findEntries)
    const takeBreak = createYielder()
    let matched = 0
    for (const lane of lanes) {
      for (const positions of walkLane(prepare, lane, { ...filter, limit: max }, start, ROWS_AT_ONCE)) {
        matched += positions.length
        if (matched >= max) return max
        await takeBreak()
      }
    }
    return matched
  }

  // One transaction keeps the leased count consistent with the other counts.
  const describe = db.transaction((list: () => HostColumns[]): HostSummary[] => {
    const hosts = list()
    const leased = new Map<string, number>()
    for (const host of sql.selectLeased.all()) leased.set(host, (leased.get(host) ?? 0) + 1)
    return hosts.map((columns) => toSummary(columns, leased.get(columns.host) ?? 0))
  })

  return {
    list: async (query) => readEntries(sql, await listPositions(query)),
    count,
    find: async (url) => (await findEntries(url)).sort((a, b) => b.at - a.at || b.id - a.id),
    groupErrors: async (rows) => {
      const positions = await listPositions({ state: 'failed', limit: rows })
      return groupFailures(await readEntries(sql, positions))
    },
    listHosts: async (limit) => describe(() => sql.selectLastAsked.all(limit)),
    describeHost: async (host) => describe(() => sql.selectHost.all(host.toLowerCase()))[0],
  }
}

type Statements = ReturnType<typeof prepareAddresses>

function countRows(sql: Statements, source: number, { state, reason }: AddressConditions): number {
  return sql.selectCount.get({ source, state: state ?? null, reason: reason ?? null }) ?? 0
}

function listLanes(sql: Statements, filter: AddressConditions): Lane[] {
  const { sourceId, host, includeSubdomains } = filter
  // Skips sources whose counters show no matching rows.
  const sources = sql.selectSources
    .all()
    .filter(({ number, id }) => (sourceId === undefined || id === sourceId) && countRows(sql, number, filter) > 0)
  return sources.flatMap(({ number: source }): Lane[] => {
    if (host === undefined) return [{ source, host: null }]
    if (!includeSubdomains) return [{ source, host: host.toLowerCase() }]
    const hosts = sql.selectHosts.all({ source, ...toHostParameters(host), limit: MAX_HOST_LANES + 1 })
    return hosts.length > MAX_HOST_LANES ? [{ source, host: null }] : hosts.map((name) => ({ source, host: name }))
  })
}

/** Walks a lane and yields matching rows in batches, which may be empty. */
function* walkLane(
  prepare: ReturnType<typeof createStatementCache>,
  lane: Lane,
  query: AddressQuery,
  start: RowPosition,
  batch: number,
): Generator<readonly RowPosition[], void> {
  const { order = 'newest' } = query
  const laneQuery = createLaneQuery(lane, query)
  const parameters = toLaneParameters(lane, query)
  const batchSize = laneQuery.tests.length > 0 ? ROWS_AT_ONCE : batch
  for (let position: RowPosition | undefined = start; position !== undefined; ) {
    const from: LaneParameters = { ...parameters, at: position.at, id: position.id }
    const found = prepare(laneQuery, order, 'moment').all({ ...from, limit: batchSize })
    const left = batchSize - found.length
    if (left > 0) found.push(...prepare(laneQuery, order, 'later').all({ ...from, limit: left }))
    yield found.filter(({ passes }) => passes === 1)
    position = found.length < batchSize ? undefined : found.at(-1)
  }
}

async function readEntries(sql: Statements, positions: readonly RowPosition[]): Promise<AddressEntry[]> {
  const entries: AddressEntry[] = []
  for (let done = 0; done < positions.length; done += ENTRIES_AT_ONCE) {
    if (done > 0) await pause()
    const batch = positions.slice(done, done + ENTRIES_AT_ONCE)
    const found = new Map(
      sql.selectEntries.all(JSON.stringify(batch.map(({ id }) => id))).map((entry) => [entry.id, entry]),
    )
    for (const { id, at } of batch) {
      const entry = found.get(id)
      // An entry keeps the position at which it was found, because the row may have been requested again or removed since.
      if (entry !== undefined) entries.push({ ...entry, at })
    }
  }
  return entries
}

/** The statements of the address queries. */
function prepareAddresses(db: Database) {
  return {
    selectSources: db.prepare<[], { number: number; id: string }>(
      'SELECT id AS number, uuid AS id FROM sources WHERE is_removed = 0',
    ),
    selectHosts: db
      .prepare<[{ source: number; name: string; below: string; limit: number }], string>(
        `SELECT host FROM host_counts WHERE source = @source AND ${HOST_OR_SUBDOMAIN} LIMIT @limit`,
      )
      .pluck(),
    selectCount: db
      .prepare<[{ source: number; state: string | null; reason: string | null }], number | null>(
        `SELECT sum(rows) FROM ledger_counts WHERE source = @source AND state = ifnull(@state, state)
           AND reason = ifnull(@reason, reason)`,
      )
      .pluck(),
    selectEntries: db.prepare<[string], AddressEntry>(
      `${SELECT_ENTRIES} WHERE l.id IN (SELECT value FROM json_each(?))`,
    ),
    selectByKey: db
      .prepare<[number, string], number>(
        'SELECT id FROM ledger WHERE source = ? AND key IN (SELECT value FROM json_each(?))',
      )
      .pluck(),
    selectLastAsked: db.prepare<[number], HostColumns>(
      `${HOSTS} WHERE s.is_removed = 0 GROUP BY h.host HAVING ${HOST_ROWS} > 0
       ORDER BY max(h.asked_at) DESC NULLS LAST, h.host LIMIT ?`,
    ),
    selectHost: db.prepare<[string], HostColumns>(
      `${HOSTS} AND h.host = ? WHERE s.is_removed = 0 GROUP BY h.host HAVING ${HOST_ROWS} > 0`,
    ),
    selectLeased: db
      .prepare<[], string>(
        `SELECT l.host FROM sources s CROSS JOIN ledger l INDEXED BY ledger_leased ON l.source = s.id AND l.state = 'leased'
         WHERE s.is_removed = 0`,
      )
      .pluck(),
  }
}

/** Creates a function that yields to the event loop when it was blocked for a while. */
function createYielder(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < MAX_BLOCKING_MS) return
    await pause()
    since = performance.now()
  }
}

/** How a lane is walked: its index, the condition of the lane, and the filter conditions. */
interface LaneQuery {
  readonly index: string
  readonly lane: string
  readonly tests: readonly string[]
}

function createLaneQuery(lane: Lane, filter: AddressConditions): LaneQuery {
  const tests = Object.entries(TESTS).filter(([name]) => filter[name as keyof AddressConditions] !== undefined)
  const conditions = tests.map(([, test]) => test)
  const source = 'l.source = @source'
  if (lane.host !== null) return { index: 'ledger_by_host', lane: `${source} AND l.host = @host`, tests: conditions }
  if (filter.host !== undefined) conditions.push(HOST_OR_SUBDOMAIN)
  if (filter.state !== 'failed') return { index: 'ledger_by_time', lane: source, tests: conditions }
  const others = conditions.filter((test) => test !== TESTS.state)
  return { index: 'ledger_failed', lane: `${source} AND l.state = 'failed'`, tests: others }
}

function toLaneParameters({ source, host }: Lane, filter: AddressConditions): LaneParameters {
  const { state = null, reason = null, status = null, minWordCount = null, text = null } = filter
  const { classification = null, minConfidence = null } = filter
  const { from = Number.MIN_SAFE_INTEGER, to = Number.MAX_SAFE_INTEGER } = filter
  return {
    source,
    host,
    ...toHostParameters(filter.host ?? ''),
    state,
    reason,
    status,
    minWordCount,
    classification,
    minConfidence,
    text,
    from,
    to,
  }
}

/** Rows after a position: those with the same timestamp, or later ones in list order. */
type QueryPart = 'moment' | 'later'

/** Prepares the queries of lanes, each of the few variants once. */
function createStatementCache(db: Database) {
  const prepared = new Map<string, ReturnType<typeof prepareOne>>()
  const prepareOne = (sql: string) => db.prepare<[LaneParameters], RowPosition & { passes: 0 | 1 | null }>(sql)
  return (laneQuery: LaneQuery, order: Order, part: QueryPart) => {
    const sql = writeQuery(laneQuery, order, part)
    const statement = prepared.get(sql) ?? prepareOne(sql)
    prepared.set(sql, statement)
    return statement
  }
}

/**
 * SQL for a batch of rows of a lane, and whether they match. Two queries replace `(at, id) < (@at, @id)`, for which SQLite would use only
 * the timestamp and scan all its rows for every batch.
 */
function writeQuery({ index, lane, tests }: LaneQuery, order: Order, part: QueryPart): string {
  const [comparison, direction] = order === 'newest' ? ['<', 'DESC'] : ['>', 'ASC']
  const afterPosition = part === 'moment' ? `l.at = @at AND l.id ${comparison} @id` : `l.at ${comparison} @at`
  const end = order === 'newest' ? 'l.at >= @from' : 'l.at <= @to'
  return `SELECT l.id, l.at, ${tests.join(' AND ') || '1'} AS passes FROM ledger l INDEXED BY ${index}
    WHERE ${lane} AND ${afterPosition} AND ${end} ORDER BY l.at ${direction}, l.id ${direction} LIMIT @limit`
}

/** The next matching position of a lane; undefined before the first advance and at the end. */
interface LaneCursor {
  readonly position: RowPosition | undefined
  advance(): Promise<void>
}

function createLaneCursor(steps: Generator<readonly RowPosition[], void>, takeBreak: () => Promise<void>): LaneCursor {
  let batch: readonly RowPosition[] = []
  let next = -1
  return {
    get position() {
      return batch[next]
    },
    async advance() {
      next++
      while (next >= batch.length) {
        await takeBreak()
        const step = steps.next()
        batch = step.value ?? []
        next = 0
        if (step.done) return
      }
    },
  }
}

/** Inserts a lane so that the lane with the next position is last; leaves it out if it has no more rows. */
function enqueue(cursors: LaneCursor[], cursor: LaneCursor, order: Order): void {
  const { position } = cursor
  if (position === undefined) return
  let [low, high] = [0, cursors.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const other = cursors[middle]?.position
    if (other !== undefined && isBefore(position, other, order)) low = middle + 1
    else high = middle
  }
  cursors.splice(low, 0, cursor)
}

function isBefore(a: RowPosition, b: RowPosition, order: Order): boolean {
  const difference = a.at - b.at || a.id - b.id
  return order === 'newest' ? difference > 0 : difference < 0
}
