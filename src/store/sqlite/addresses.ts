import { setImmediate as pause } from 'node:timers/promises'
import { compareUtf8 } from '../../core/text/order.ts'
import type { LedgerState } from '../../crawl/ledger.ts'
import { isHostOf, listKeysOf } from '../../library/address-keys.ts'
import type { AddressEntry, Addresses, AddressFilter, AddressQuery, HostSummary } from '../../library/addresses.ts'
import { groupFailures } from '../../library/group-errors.ts'
import type { Database } from './database.ts'
import { noCounts } from './rows.ts'

/** So many rows are looked at in one go when most of them may not pass: everything else in the process waits that long. */
const ROWS_AT_ONCE = 2000
/** So many entries are read in one go. */
const ENTRIES_AT_ONCE = 500

/** A row in the order of the list. */
interface Place {
  readonly id: number
  readonly at: number
  readonly url: string
}

/** A part of the ledger that an index holds in the order of the list: rows of a source, or those of one of its hosts. */
interface Lane {
  readonly source: number
  readonly sourceId: string
  readonly host: string | null
}

/** Where in a lane it goes on, and whether with that place itself. */
interface Edge {
  readonly at: number
  readonly url: string
  readonly isIncluded: boolean
}

type Order = 'newest' | 'oldest'

/** The values that a query on a lane may name. */
type Asked = Record<string, string | number | null>

/** What is asked of rows besides where they stand in a lane: SQL for each filter that is given. */
const TESTS: Readonly<Partial<Record<keyof AddressFilter, string>>> = {
  state: 'l.state = @state',
  reason: 'l.reason = @reason',
  status: 'l.status = @status',
  minWordCount: 'l.page_hash IS NOT NULL AND l.words >= @minWordCount',
  text: 'instr(lower(l.url), lower(@text)) > 0',
}

const ENTRIES = `SELECT l.id, s.uuid AS sourceId, l.key, l.url, l.host, l.state, l.reason, l.pattern, l.status, l.detail, l.depth,
    l.found_on AS foundOn, l.at, l.first_seen_at AS firstSeenAt, l.checked_at AS checkedAt, l.changed_at AS changedAt,
    p.title, iif(p.id IS NULL, NULL, l.words) AS wordCount, p.chunk_count AS chunks
  FROM ledger l JOIN sources s ON s.id = l.source LEFT JOIN pages p ON p.id = l.id`

/** Prepares what is asked about the addresses of all sources. */
export function createAddresses(db: Database): Addresses {
  const selectSources = db.prepare<[], { number: number; id: string }>(
    'SELECT id AS number, uuid AS id FROM sources WHERE is_removed = 0',
  )
  const selectHosts = db
    .prepare<[number], string>('SELECT DISTINCT host FROM host_counts WHERE source = ? AND rows > 0')
    .pluck()
  const selectCount = db
    .prepare<[{ source: number; state: string | null; reason: string | null }], number | null>(
      `SELECT sum(rows) FROM ledger_counts WHERE source = @source AND state = ifnull(@state, state)
         AND reason = ifnull(@reason, reason)`,
    )
    .pluck()
  const selectEntries = db.prepare<[string], AddressEntry & { id: number }>(
    `${ENTRIES} WHERE l.id IN (SELECT value FROM json_each(?))`,
  )
  const selectByKey = db
    .prepare<[number, string], number>(
      'SELECT id FROM ledger WHERE source = ? AND key IN (SELECT value FROM json_each(?))',
    )
    .pluck()
  const visible = 'host_counts h JOIN sources s ON s.id = h.source AND s.is_removed = 0'
  const selectLastAsked = db
    .prepare<[number], string>(
      `SELECT h.host FROM ${visible} GROUP BY h.host HAVING sum(h.rows) > 0
       ORDER BY max(h.asked_at) DESC NULLS LAST, h.host LIMIT ?`,
    )
    .pluck()
  const selectHost = db.prepare<[string], { state: LedgerState; rows: number; pages: number; askedAt: number | null }>(
    `SELECT h.state, sum(h.rows) AS rows, sum(h.pages) AS pages, max(h.asked_at) AS askedAt FROM sources s
       JOIN host_counts h ON h.source = s.id AND h.host = ? WHERE s.is_removed = 0 GROUP BY h.state`,
  )
  const prepare = createPreparing(db)

  const countRows = (source: number, { state, reason }: AddressFilter): number =>
    selectCount.get({ source, state: state ?? null, reason: reason ?? null }) ?? 0
  const listLanes = (filter: AddressFilter): Lane[] => {
    const { sourceId, host, includeSubdomains } = filter
    // What the ledger has none of need not be looked for.
    const sources = selectSources
      .all()
      .filter(({ number, id }) => (sourceId === undefined || id === sourceId) && countRows(number, filter) > 0)
    return sources.flatMap(({ number, id }): Lane[] => {
      if (host === undefined) return [{ source: number, sourceId: id, host: null }]
      const hosts = includeSubdomains
        ? selectHosts.all(number).filter((one) => isHostOf(one, host, true))
        : [host.toLowerCase()]
      return hosts.map((one) => ({ source: number, sourceId: id, host: one }))
    })
  }

  /** Walks a lane from an edge on and gives the rows that pass, some at a time; there may be none of them in a step. */
  async function* walk(lane: Lane, query: AddressQuery, batch: number): AsyncGenerator<readonly Place[], void> {
    const { order = 'newest' } = query
    const form = formOf(lane, query)
    const asked = askedOf(lane, query)
    const isSifted = form.tests.length > 0
    for (let edge = firstEdge(lane, query, order); ; ) {
      const from = { ...asked, at: edge.at, url: edge.url }
      const end = isSifted
        ? prepare(form, order, edge.isIncluded, 'end').get({ ...from, limit: ROWS_AT_ONCE - 1 })
        : undefined
      const until = end && { untilAt: end.at, untilUrl: end.url }
      const limit = isSifted ? ROWS_AT_ONCE : batch
      const statement = prepare(form, order, edge.isIncluded, until === undefined ? 'rest' : 'part')
      const found = statement.all({ ...from, ...until, limit })
      yield found
      const last = end ?? (isSifted || found.length < limit ? undefined : found.at(-1))
      if (last === undefined) return
      edge = { at: last.at, url: last.url, isIncluded: false }
      if (isSifted) await pause()
    }
  }

  /** The first places of several lanes, in one order. */
  const listPlaces = async (query: AddressQuery): Promise<Place[]> => {
    const { limit, order = 'newest' } = query
    const lanes = listLanes(query)
    const batch = Math.min(limit, Math.max(LEAST_BATCH, Math.ceil((2 * limit) / Math.max(1, lanes.length))))
    const heads = await Promise.all(lanes.map((lane) => createHead(lane, walk(lane, query, batch))))
    const places: Place[] = []
    while (places.length < limit) {
      const next = pickFirst(heads, order)
      if (next === undefined) break
      places.push(next.place)
      await next.head.advance()
    }
    return places
  }
  const readEntries = async (places: readonly Place[]): Promise<AddressEntry[]> => {
    const entries: AddressEntry[] = []
    for (let done = 0; done < places.length; done += ENTRIES_AT_ONCE) {
      if (done > 0) await pause()
      const some = places.slice(done, done + ENTRIES_AT_ONCE)
      const found = new Map(
        selectEntries.all(JSON.stringify(some.map(({ id }) => id))).map((entry) => [entry.id, entry]),
      )
      for (const { id, at, url } of some) {
        const entry = found.get(id)
        // It stands where it was found: it may have been asked again since, or be gone.
        if (entry !== undefined) entries.push({ ...withoutId(entry), at, url })
      }
    }
    return entries
  }

  const count = async (filter: AddressFilter, most: number): Promise<number> => {
    const lanes = listLanes(filter)
    if (isCounted(filter)) {
      const rows = lanes.reduce((sum, { source }) => sum + countRows(source, filter), 0)
      return Math.min(rows, most)
    }
    let passed = 0
    for (const lane of lanes) {
      for await (const places of walk(lane, { ...filter, limit: most }, ROWS_AT_ONCE)) {
        passed += places.length
        if (passed >= most) return most
        await pause()
      }
    }
    return passed
  }

  const describeHost = (host: string): HostSummary | undefined => {
    const states: Record<LedgerState, number> = { ...noCounts().states }
    let pages = 0
    let addresses = 0
    let lastAt: number | null = null
    for (const found of selectHost.all(host)) {
      states[found.state] += found.rows
      addresses += found.rows
      pages += found.pages
      if (found.askedAt !== null) lastAt = Math.max(lastAt ?? found.askedAt, found.askedAt)
    }
    return addresses === 0 ? undefined : { host, addresses, pages, failed: states.failed, lastAt, states }
  }

  return {
    list: async (query) => readEntries(await listPlaces(query)),
    count,
    find: async (url) => {
      const keys = JSON.stringify(listKeysOf(url))
      const ids = selectSources.all().flatMap(({ number }) => selectByKey.all(number, keys))
      return selectEntries
        .all(JSON.stringify(ids))
        .map(withoutId)
        .sort((a, b) => b.at - a.at || compareUtf8(b.url, a.url) || compareUtf8(b.sourceId, a.sourceId))
    },
    groupErrors: async (rows) => {
      const places = await listPlaces({ state: 'failed', limit: rows })
      return groupFailures(await readEntries(places))
    },
    listHosts: async (limit) => selectLastAsked.all(limit).flatMap((host) => describeHost(host) ?? []),
    describeHost: async (host) => describeHost(host.toLowerCase()),
  }
}

/** The fewest rows of a lane that are read at once. */
const LEAST_BATCH = 16

/** How a lane is walked: by which index, what has to hold of all its rows, and what of those that pass. */
interface Form {
  readonly index: string
  readonly lane: string
  readonly tests: readonly string[]
}

function formOf(lane: Lane, filter: AddressFilter): Form {
  const tests = Object.entries(TESTS).filter(([name]) => filter[name as keyof AddressFilter] !== undefined)
  const sifting = tests.map(([, test]) => test)
  const source = 'l.source = @source'
  if (lane.host !== null) return { index: 'ledger_by_host', lane: `${source} AND l.host = @host`, tests: sifting }
  if (filter.state !== 'failed') return { index: 'ledger_by_time', lane: source, tests: sifting }
  const others = sifting.filter((test) => test !== TESTS.state)
  return { index: 'ledger_failed', lane: `${source} AND l.state = 'failed'`, tests: others }
}

function askedOf({ source, host }: Lane, filter: AddressFilter): Asked {
  const { state = null, reason = null, status = null, minWordCount = null, text = null } = filter
  const { from = Number.MIN_SAFE_INTEGER, to = Number.MAX_SAFE_INTEGER } = filter
  return { source, host, state, reason, status, minWordCount, text, from, to }
}

/** Prepares the queries on a lane. There are few forms of them, and each is prepared once. */
function createPreparing(db: Database) {
  const prepared = new Map<string, ReturnType<typeof prepareOne>>()
  const prepareOne = (sql: string) => db.prepare<[Asked], Place>(sql)
  return (form: Form, order: Order, isIncluded: boolean, what: 'part' | 'rest' | 'end') => {
    const sql = writeQuery(form, order, isIncluded, what)
    const statement = prepared.get(sql) ?? prepareOne(sql)
    prepared.set(sql, statement)
    return statement
  }
}

/** Rows of a lane from a place on: those that pass, up to another place or to the end; or the last one of so many, whatever it is. */
function writeQuery(form: Form, order: Order, isIncluded: boolean, what: 'part' | 'rest' | 'end'): string {
  const isNewest = order === 'newest'
  const direction = isNewest ? 'DESC' : 'ASC'
  const conditions = [
    form.lane,
    `(l.at, l.url) ${isNewest ? '<' : '>'}${isIncluded ? '=' : ''} (@at, @url)`,
    // One bound only: with two on the same side SQLite takes the wider one, and looks at all that follows with every part.
    ...(what === 'part'
      ? [`(l.at, l.url) ${isNewest ? '>=' : '<='} (@untilAt, @untilUrl)`]
      : [isNewest ? 'l.at >= @from' : 'l.at <= @to']),
    ...(what === 'end' ? [] : form.tests),
  ]
  return `SELECT l.id, l.at, l.url FROM ledger l INDEXED BY ${form.index} WHERE ${conditions.join(' AND ')}
    ORDER BY l.at ${direction}, l.url ${direction} LIMIT ${what === 'end' ? '1 OFFSET @limit' : '@limit'}`
}

/** Where a lane begins. */
function firstEdge({ sourceId }: Lane, { cursor, from, to }: AddressQuery, order: Order): Edge {
  const isNewest = order === 'newest'
  const isWithin =
    cursor !== undefined && (isNewest ? cursor.at <= (to ?? cursor.at) : cursor.at >= (from ?? cursor.at))
  if (isWithin) {
    // Of those that are at the same place, the sources after that of the cursor are still to come.
    const ahead = cursor.sourceId === undefined ? 0 : compareUtf8(sourceId, cursor.sourceId)
    return { at: cursor.at, url: cursor.url, isIncluded: isNewest ? ahead < 0 : ahead > 0 }
  }
  // No address is empty.
  if (isNewest) return { at: (to ?? Number.MAX_SAFE_INTEGER - 1) + 1, url: '', isIncluded: false }
  return { at: from ?? Number.MIN_SAFE_INTEGER, url: '', isIncluded: false }
}

/** Whether the ledger keeps the figure that is asked for. */
function isCounted(filter: AddressFilter): boolean {
  const { sourceId, state, reason, includeSubdomains, ...others } = filter
  return Object.values(others).every((value) => value === undefined)
}

/** The next place of a lane that passes. */
interface Head {
  readonly lane: Lane
  readonly place: Place | undefined
  advance(): Promise<void>
}

async function createHead(lane: Lane, steps: AsyncGenerator<readonly Place[], void>): Promise<Head> {
  let batch: readonly Place[] = []
  let next = 0
  const advance = async (): Promise<void> => {
    next++
    while (next >= batch.length) {
      const step = await steps.next()
      batch = step.value ?? []
      next = 0
      if (step.done) return
    }
  }
  await advance()
  return {
    lane,
    get place() {
      return batch[next]
    },
    advance,
  }
}

/** The lane that is to give the next place. */
function pickFirst(heads: readonly Head[], order: Order): { head: Head; place: Place } | undefined {
  let first: { head: Head; place: Place } | undefined
  for (const head of heads) {
    const { place } = head
    if (place === undefined) continue
    if (first === undefined || isBefore(place, head.lane, first.place, first.head.lane, order)) first = { head, place }
  }
  return first
}

function isBefore(a: Place, laneA: Lane, b: Place, laneB: Lane, order: Order): boolean {
  const difference = a.at - b.at || compareUtf8(a.url, b.url) || compareUtf8(laneA.sourceId, laneB.sourceId)
  return order === 'newest' ? difference > 0 : difference < 0
}

function withoutId({ id, ...entry }: AddressEntry & { readonly id: number }): AddressEntry {
  return entry
}
