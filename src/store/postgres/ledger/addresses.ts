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
import type { Database, Sql } from '../database/database.ts'

const HOSTS = `SELECT h.host, ${COUNTED_STATES.map((state) => `sum(h.${state}_rows)::bigint AS "${state}"`).join(', ')},
    sum(h.pages)::bigint AS pages, max(h.asked_at) AS "lastAt"
  FROM sources s JOIN host_counts h ON h.source = s.id WHERE NOT s.is_removed`

/** The conditions for the rows of a lane, with their parameter values. */
interface FilterSql {
  readonly conditions: string
  readonly values: readonly unknown[]
}

/** Queries the addresses of all sources. */
export function createAddresses(db: Database): Addresses {
  const findEntries = async (url: string) => [...(await readById(db, await listByKey(db, url))).values()]
  const listPositions = async (query: AddressQuery): Promise<RowPosition[]> => {
    const { order = 'newest', limit } = query
    const start = await findStart(query, order, findEntries)
    const lanes = await listLanes(db, query)
    return lanes.length === 0 ? [] : listFirstPositions(db, lanes, query, start, limit)
  }
  const readEntries = async (positions: readonly RowPosition[]): Promise<AddressEntry[]> => {
    const found = await readById(db, positions)
    // Entries keep the position at which they were found, because a row may have been requested again or removed since.
    return positions.flatMap(({ id, at }) => {
      const entry = found.get(id)
      return entry === undefined ? [] : [{ ...entry, at }]
    })
  }
  const describe = async (clauses: string, values: readonly unknown[]): Promise<HostSummary[]> =>
    db.snapshot(async (sql) => {
      const hosts = await sql.all<HostColumns>(`${HOSTS} ${clauses}`, values)
      const leased = await sql.all<{ host: string; rows: number }>(
        `SELECT l.host, count(*) AS rows FROM ledger l JOIN sources s ON s.id = l.source
         WHERE l.state = 'leased' AND NOT s.is_removed GROUP BY 1`,
      )
      const counts = new Map(leased.map(({ host, rows }) => [host, rows]))
      return hosts.map((columns) => toSummary(columns, counts.get(columns.host) ?? 0))
    })

  return {
    list: async (query) => readEntries(await listPositions(query)),
    count: async (filter, max) => {
      const lanes = await listLanes(db, filter)
      if (lanes.length === 0) return 0
      if (hasCounter(filter)) return Math.min(max, await sumCounters(db, lanes, filter))
      return countMatching(db, lanes, filter, max)
    },
    find: async (url) => (await findEntries(url)).sort((a, b) => b.at - a.at || b.id - a.id),
    groupErrors: async (rows) => {
      const positions = await listPositions({ state: 'failed', limit: rows })
      return groupFailures(await readEntries(positions))
    },
    listHosts: (limit) =>
      describe(`GROUP BY h.host HAVING ${HOST_ROWS} > 0 ORDER BY max(h.asked_at) DESC NULLS LAST, h.host LIMIT $1`, [
        limit,
      ]),
    describeHost: async (host) =>
      (await describe(`AND h.host = $1 GROUP BY h.host HAVING ${HOST_ROWS} > 0`, [host.toLowerCase()]))[0],
  }
}

async function readById(
  sql: Sql,
  positions: readonly Pick<RowPosition, 'id'>[],
): Promise<ReadonlyMap<number, AddressEntry>> {
  if (positions.length === 0) return new Map()
  const found = await sql.all<AddressEntry>(`${SELECT_ENTRIES} WHERE l.id = ANY ($1)`, [positions.map(({ id }) => id)])
  return new Map(found.map((entry) => [entry.id, entry]))
}

function listByKey(sql: Sql, url: string): Promise<Pick<RowPosition, 'id'>[]> {
  return sql.all<Pick<RowPosition, 'id'>>(
    `SELECT l.id FROM sources s CROSS JOIN unnest($1::text[]) AS k (key)
       JOIN ledger l ON l.source = s.id AND digest_of(l.key) = digest_of(k.key) AND l.key = k.key
     WHERE NOT s.is_removed`,
    [listKeysOf(url)],
  )
}

/** The lanes that may contain matches, judged by the counters of the ledger. */
async function listLanes(sql: Sql, filter: AddressConditions): Promise<Lane[]> {
  const { sourceId = null, host, includeSubdomains, state = null, reason = null } = filter
  const sources = await sql.all<{ source: number }>(
    `SELECT s.id AS source FROM sources s WHERE NOT s.is_removed AND s.uuid = coalesce($1, s.uuid) AND EXISTS (
       SELECT 1 FROM ledger_counts c WHERE c.source = s.id AND c.rows > 0 AND c.state = coalesce($2, c.state)
         AND c.reason = coalesce($3, c.reason))
     ORDER BY 1`,
    [sourceId, state, reason],
  )
  const all = sources.map(({ source }) => ({ source, host: null }))
  if (host === undefined) return all
  const { name, below } = toHostParameters(host)
  if (!includeSubdomains) return sources.map(({ source }) => ({ source, host: name }))
  const hosts = await sql.all<{ source: number; host: string }>(
    `SELECT source, host FROM host_counts
     WHERE source = ANY ($1) AND (host = $2 OR right(host, length($3)) = $3) LIMIT $4`,
    [sources.map(({ source }) => source), name, below, MAX_HOST_LANES + 1],
  )
  return hosts.length > MAX_HOST_LANES ? all : hosts
}

/** The first positions after a given one, merged from several lanes. */
function listFirstPositions(
  sql: Sql,
  lanes: readonly Lane[],
  query: AddressQuery,
  start: RowPosition,
  limit: number,
): Promise<RowPosition[]> {
  const { order = 'newest' } = query
  const direction = order === 'newest' ? 'DESC' : 'ASC'
  const { text, values } = writeLanes(lanes, query, order, start)
  return sql.all<RowPosition>(`SELECT id, at FROM ${text} ORDER BY at ${direction}, id ${direction} LIMIT $1`, [
    limit,
    ...values,
  ])
}

async function countMatching(
  sql: Sql,
  lanes: readonly Lane[],
  filter: AddressConditions,
  max: number,
): Promise<number> {
  const start = await findStart(filter, 'newest', async () => [])
  const { text, values } = writeLanes(lanes, filter, 'newest', start)
  const found = await sql.get<{ rows: number }>(`SELECT count(*) AS rows FROM (SELECT 1 FROM ${text} LIMIT $1) p`, [
    max,
    ...values,
  ])
  return found?.rows ?? 0
}

async function sumCounters(sql: Sql, lanes: readonly Lane[], { state, reason }: AddressConditions): Promise<number> {
  const found = await sql.get<{ rows: number }>(
    `SELECT coalesce(sum(rows), 0)::bigint AS rows FROM ledger_counts WHERE source = ANY ($1)
       AND state = coalesce($2, state) AND reason = coalesce($3, reason)`,
    [lanes.map(({ source }) => source), state ?? null, reason ?? null],
  )
  return found?.rows ?? 0
}

/** SQL for the rows of all lanes after a position, each lane in list order; `$1` limits the rows per lane. */
function writeLanes(
  lanes: readonly Lane[],
  filter: AddressConditions,
  order: Order,
  start: RowPosition,
): { readonly text: string; readonly values: readonly unknown[] } {
  const [comparison, direction] = order === 'newest' ? ['<', 'DESC'] : ['>', 'ASC']
  const hasHostLanes = lanes.some(({ host }) => host !== null)
  const { conditions, values } = writeFilter(filter, hasHostLanes)
  const end = order === 'newest' ? 'l.at >= $6' : 'l.at <= $6'
  const endAt = order === 'newest' ? (filter.from ?? Number.MIN_SAFE_INTEGER) : (filter.to ?? Number.MAX_SAFE_INTEGER)
  return {
    text: `unnest($2::bigint[], $3::text[]) AS n (source, host) CROSS JOIN LATERAL (
      SELECT l.id, l.at FROM ledger l WHERE l.source = n.source ${hasHostLanes ? 'AND l.host = n.host' : ''}
        AND (l.at, l.id) ${comparison} ($4, $5) AND ${end} ${conditions}
      ORDER BY l.at ${direction}, l.id ${direction} LIMIT $1) l`,
    values: [lanes.map(({ source }) => source), lanes.map(({ host }) => host), start.at, start.id, endAt, ...values],
  }
}

const HAS_CLASS =
  'l.page_hash IS NOT NULL AND EXISTS (SELECT 1 FROM page_analyses a WHERE a.source = l.source AND a.page = l.id AND a.kind'
const KINDS = PAGE_CLASSES.map((kind) => `'${kind}'`).join(', ')

/** The SQL condition of each filter; `?` stands for its value. */
const TESTS: Readonly<Partial<Record<keyof AddressConditions, string>>> = {
  state: 'l.state = ?',
  reason: 'l.reason = ?',
  isInScope: IS_IN_SCOPE,
  status: 'l.status = ?',
  minWordCount: 'l.page_hash IS NOT NULL AND l.words >= ?',
  classification: `${HAS_CLASS} = ?)`,
  minConfidence: `${HAS_CLASS} IN (${KINDS}) AND a.confidence >= ?)`,
  // Ignores the case of A to Z only, as all stores do.
  text: `strpos(lower(l.url), lower(?::text COLLATE "C")) > 0`,
}

/** The first parameter after those that every list query has. */
const FIRST_VALUE = 7

function writeFilter(filter: AddressConditions, hasHostLanes: boolean): FilterSql {
  const values: unknown[] = []
  const addValue = (value: unknown) => `$${FIRST_VALUE - 1 + values.push(value)}`
  const tests = Object.entries(TESTS).flatMap(([field, test]) => {
    const value = filter[field as keyof AddressConditions]
    return value === undefined ? [] : [test.replace('?', () => addValue(value))]
  })
  if (filter.host !== undefined && !hasHostLanes) {
    const { name: host, below } = toHostParameters(filter.host)
    const suffix = addValue(below)
    tests.push(`(l.host = ${addValue(host)} OR right(l.host, length(${suffix})) = ${suffix})`)
  }
  return { conditions: tests.map((test) => `AND ${test}`).join(' '), values }
}
