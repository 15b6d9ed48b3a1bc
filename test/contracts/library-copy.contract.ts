import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  COPY_TABLES,
  type CopyRow,
  type CopyTable,
  columnPositions,
  MAX_BATCH_BYTES,
  SOURCES_TABLE,
} from '../../src/library/copy/table-columns.ts'
import type { CopySessionRequest, IdRange, LibraryView } from '../../src/library/ports/library-copy.ts'
import type { DiskStore, LibraryStore } from '../../src/library/ports/library-store.ts'
import { addSourceTo, writePage } from '../embed/filled-store.ts'
import type { SqlAccess } from './page-analyses.contract.ts'

/** A library for one test, SQL access to it, and the columns of its tables. */
export interface CopyableLibrary {
  readonly store: LibraryStore & DiskStore
  readonly sql: SqlAccess
  /** `table.column` */
  listColumns(): Promise<readonly string[]>
}

/** Columns that are not part of the content of a library, with the reason. */
const LEFT_OUT: readonly RegExp[] = [
  // Derived from other columns.
  /^(?:ledger_counts|open_hosts|host_counts|chunk_counts|index_\w+)\./,
  /^(?:ledger\.at|pages\.(?:language|sections))$/,
  // Specific to this database: its identity, its copy sessions, the state of its copy in a service.
  /^(?:schema_version|library_identity|arrivals|copied_vectors)\./,
  // What the last crawl here changed.
  /^(?:earlier_pages\.|crawls\.keeps_earlier$)/,
  // State of running processes, and messages between them.
  /^(?:embedding_lease|workers|crawl_helpers|passed_on)\./,
  /^hosts\.(?:holder|token|leased_until|taken_at|wanted_at)$/,
  /^ledger\.(?:lease|leased_until)$/,
  /^crawls\.shared$/,
  /^crawl_jobs\.(?:worker|holder|asked_end|wants_pause|is_begun)$/,
  // Records only the order of insertion.
  /^crawl_types\.id$/,
  // Set only while a source is being removed or copied.
  /^sources\.is_removed$/,
]

/** Contract of every library that can be copied as a whole. */
export function describeLibraryCopy(open: () => Promise<CopyableLibrary>): void {
  let library: CopyableLibrary
  let store: LibraryStore & DiskStore
  beforeEach(async () => {
    library = await open()
    ;({ store } = library)
  })
  afterEach(async () => {
    await library.sql.close()
    await store.close()
  })

  const read = async (view: LibraryView, table: CopyTable, range?: IdRange): Promise<CopyRow[]> => {
    const rows: CopyRow[] = []
    for await (const some of view.read(table, range)) rows.push(...some)
    return rows
  }
  const readNow = (table: CopyTable, range?: IdRange) => store.libraryCopy.view((view) => read(view, table, range))
  const names = async () => (await store.listSources()).map(({ name }) => name)
  const requestOf = (more: Partial<CopySessionRequest> = {}): CopySessionRequest => ({
    origin: 'origin',
    location: '/somewhere.db',
    holder: 'me',
    now: 100,
    highest: { sources: 2, ledger: 10, chunks: 20 },
    last: new Map(),
    sources: [sourceRow(1, 'one'), sourceRow(2, 'two')],
    ...more,
  })
  const begin = (more: Partial<CopySessionRequest> = {}) =>
    store.libraryCopy.sessions.begin({ ...requestOf(more), wasTargetEmpty: true, skipped: [] })
  const CLAIM = { origin: 'origin', holder: 'me', now: 200 }

  test('every column is copied, or has a reason for being left out', async () => {
    const copied = new Set(
      [...COPY_TABLES, SOURCES_TABLE].flatMap(({ name, columns }) => columns.map((c) => `${name}.${c.name}`)),
    )
    const columns = await library.listColumns()
    expect(columns.filter((column) => !copied.has(column) && !LEFT_OUT.some((rule) => rule.test(column)))).toEqual([])
    expect([...copied].filter((column) => !columns.includes(column))).toEqual(['canonical_names.id'])
  })

  test('long rows are read a few at a time', async () => {
    const body = 'x'.repeat(MAX_BATCH_BYTES / 2 + 1)
    for (const name of ['a', 'b', 'c']) {
      await store.writeRobots({ origin: `https://${name}.test`, fetchedAt: 1, type: 'rules', status: 200, body })
    }
    const [robots] = COPY_TABLES.filter(({ name }) => name === 'robots')
    const counts = await store.libraryCopy.view(async (view) => {
      const found: number[] = []
      if (robots !== undefined) for await (const rows of view.read(robots)) found.push(rows.length)
      return found
    })
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3)
    expect(Math.max(...counts)).toBeLessThan(3)
  })

  test('unfinished copy sessions are listed', async () => {
    await begin()
    const { sessions } = store.libraryCopy
    expect(await sessions.listOpen()).toMatchObject([{ origin: 'origin', plan: { place: '/somewhere.db' } }])
    await sessions.end(CLAIM, requestOf().sources)
    expect(await sessions.listOpen()).toEqual([])
  })

  test('the library id is the same as that of the vectors', async () => {
    expect(await store.libraryCopy.readLibraryId()).toBe(await store.vectors.readLibraryId())
  })

  describe('a view', () => {
    test('returns rows in batches ordered by key, and knows the last one', async () => {
      await addSourceTo(store, 'docs')
      for (const path of ['/b', '/a', '/c']) await writePage(store, 'docs', path, `text of ${path}`)
      await store.libraryCopy.view(async (view) => {
        const few = { ...tableOf('ledger'), batchSize: 2 }
        const batches: number[] = []
        for await (const rows of view.read(few)) batches.push(rows.length)
        expect(batches.toSorted((a, b) => a - b)).toEqual([1, 2])
        const rows = await read(view, few)
        expect(rows.map((row) => cell(few, row, 'url'))).toEqual(
          ['/b', '/a', '/c'].map((path) => `https://docs.test${path}`),
        )
        expect(await view.count(few)).toBe(3)
        expect(await view.readLast(few)).toEqual(rows.at(-1))
        expect(await view.has(few)).toBe(true)
        const [first] = rows
        const id = Number(first?.[0])
        expect(await read(view, few, { after: id, upTo: id + 1 })).toEqual([rows[1]])
        expect(await view.has(few, { after: id + 100, upTo: id + 200 })).toBe(false)
      })
    })

    test('returns texts in byte order, and values of the same types as every store', async () => {
      const hosts = ['z.test', 'a.test', 'ß.test', '😀.test', '！.test', 'B.test']
      for (const host of hosts) await store.changeClock(host, 5, (clock) => ({ ...clock, nextAt: 1.5 }))
      const rows = await readNow({ ...tableOf('hosts'), batchSize: 2 })
      expect(rows.map(([host]) => host)).toEqual(['B.test', 'a.test', 'z.test', 'ß.test', '！.test', '😀.test'])
      expect(rows[0]?.slice(0, 2)).toEqual(['B.test', 1.5])
      await addSourceTo(store, 'docs')
      const [id] = await writePage(store, 'docs', '/a', 'text')
      const [row] = await readNow(tableOf('ledger'))
      expect(cell(tableOf('ledger'), row, 'page_hash')).toMatch(/^[0-9a-f]{64}$/)
      expect(cell(tableOf('ledger'), row, 'is_shell')).toBe(false)
      const [chunk] = await readNow(tableOf('chunks'))
      expect(cell(tableOf('chunks'), chunk, 'chunk_id')).toBe(id)
    })

    test('shows the library as it was, despite concurrent writes', async () => {
      await addSourceTo(store, 'docs')
      await store.libraryCopy.view(async (view) => {
        expect(await view.count(SOURCES_TABLE)).toBe(1)
        await addSourceTo(store, 'more')
        expect(await view.count(SOURCES_TABLE)).toBe(1)
      })
      expect((await readNow(SOURCES_TABLE)).length).toBe(2)
    })
  })

  describe('a copy session', () => {
    test('gets row numbers after all earlier ones, and later rows get numbers after these', async () => {
      await addSourceTo(store, 'docs')
      await writePage(store, 'docs', '/a', 'text')
      const lastLedgerId = Number((await readNow(tableOf('ledger'))).at(-1)?.[0])
      const ledger = tableOf('ledger')
      const session = await begin({ last: new Map([[ledger, ledgerRow(10, 1, '/last')]]) })
      expect(session).toMatchObject({ origin: 'origin', endedAt: null, holder: 'me', beganAt: 100, touchedAt: 100 })
      expect(session.plan.offsets['ledger']).toBe(lastLedgerId)
      expect(session.plan.kept['ledger']).toBe(10)
      await writePage(store, 'docs', '/b', 'text')
      const numbers = (await readNow(ledger)).map(([id]) => Number(id))
      expect(numbers).toEqual([lastLedgerId, lastLedgerId + 11])
      expect(await store.libraryCopy.sessions.find('origin')).toEqual(session)
      expect(await store.libraryCopy.sessions.find('nobody')).toBeUndefined()
    })

    test('is begun by only one of two concurrent callers, and can be begun again when it has ended', async () => {
      const [one, other] = await Promise.allSettled([begin(), begin({ holder: 'you' })])
      expect(new Set([one?.status, other?.status])).toEqual(new Set(['fulfilled', 'rejected']))
      const begun = await store.libraryCopy.sessions.find('origin')
      await expect(begin()).rejects.toMatchObject({ code: 'COPY_RUNNING' })
      const offset = begun?.plan.offsets['sources'] ?? 0
      const rows = [sourceRow(offset + 1, 'one'), sourceRow(offset + 2, 'two')]
      expect(await store.libraryCopy.sessions.end({ ...CLAIM, holder: begun?.holder ?? '' }, rows)).toBe(true)
      expect((await begin()).plan.offsets['sources']).toBe(offset + 2)
    })

    test('keeps its sources hidden until it ends, and the deletion of removed sources leaves them alone', async () => {
      await addSourceTo(store, 'docs')
      const { plan } = await begin()
      const offset = plan.offsets['sources'] ?? 0
      await addSourceTo(store, 'other')
      await store.removeSource('other')
      expect(await names()).toEqual(['docs'])
      expect(await store.stats()).toMatchObject({ sources: 1 })
      const rows = [sourceRow(offset + 1, 'one'), sourceRow(offset + 2, 'two')]
      expect(await store.libraryCopy.sessions.end(CLAIM, rows)).toBe(true)
      expect(new Set(await names())).toEqual(new Set(['docs', 'one', 'two']))
      expect(await store.libraryCopy.sessions.find('origin')).toMatchObject({ endedAt: 200 })
      expect(
        await store.libraryCopy.sessions.write(CLAIM, SOURCES_TABLE, { added: [], changed: [], removed: [] }),
      ).toBe(false)
    })

    test('cannot end while another source has the name of one of its sources', async () => {
      const { plan } = await begin()
      const offset = plan.offsets['sources'] ?? 0
      await addSourceTo(store, 'two')
      const rows = [sourceRow(offset + 1, 'one'), sourceRow(offset + 2, 'two')]
      await expect(store.libraryCopy.sessions.end(CLAIM, rows)).rejects.toMatchObject({
        code: 'SOURCE_EXISTS',
        details: { source: 'two' },
      })
      expect(await names()).toEqual(['two'])
    })

    test('adds, changes and removes rows, but only for its holder', async () => {
      const { plan } = await begin()
      const table = tableOf('url_aliases')
      const source = (plan.offsets['sources'] ?? 0) + 1
      const rowOf = (url: string, isThere: boolean | null): CopyRow => [
        source,
        url,
        'x',
        'redirect',
        null,
        isThere,
        7,
        null,
      ]
      const { sessions } = store.libraryCopy
      const range = { after: source - 1, upTo: source }
      const none = { added: [], changed: [], removed: [] }
      expect(await sessions.write(CLAIM, table, { ...none, added: [rowOf('a', true), rowOf('b', null)] })).toBe(true)
      expect(await readNow(table, range)).toEqual([rowOf('a', true), rowOf('b', null)])
      expect(await readNow(table)).toEqual([])
      const change = { added: [rowOf('c', false)], changed: [rowOf('a', false)], removed: [rowOf('b', null)] }
      expect(await sessions.write({ ...CLAIM, holder: 'other' }, table, change)).toBe(false)
      expect(await sessions.touch({ ...CLAIM, holder: 'other' })).toBe(false)
      expect(await sessions.write(CLAIM, table, change)).toBe(true)
      expect(await readNow(table, range)).toEqual([rowOf('a', false), rowOf('c', false)])
    })

    test('can be taken over, and then drops sources that the origin no longer has', async () => {
      const { plan } = await begin()
      const offset = plan.offsets['sources'] ?? 0
      const { sessions } = store.libraryCopy
      const request = requestOf({ holder: 'you', now: 300, highest: { sources: 3, ledger: 12, chunks: 20 } })
      const resumed = await sessions.resume({ ...request, sources: [sourceRow(1, 'one'), sourceRow(3, 'three')] })
      expect(resumed).toMatchObject({ holder: 'you', touchedAt: 300, plan: { kept: { sources: 3, ledger: 12 } } })
      expect(await sessions.touch(CLAIM)).toBe(false)
      const hidden = await readNow(SOURCES_TABLE, { after: offset, upTo: offset + 3 })
      expect(hidden.map(([id]) => id)).toEqual([offset + 1, offset + 3])
    })

    test('cannot be resumed if other rows have the numbers that it needs, and can be discarded without a trace', async () => {
      const { plan } = await begin()
      const { sessions } = store.libraryCopy
      const events = tableOf('queue_events')
      await sessions.resume(requestOf({ highest: { ...plan.kept, queue_events: 3 } }))
      const event = (plan.offsets['queue_events'] ?? 0) + 3
      const added: CopyRow[] = [[event, 'job', 1, 'drop', 'https://a.test/', null, null, null, 0, null]]
      expect(await sessions.write(CLAIM, events, { added, changed: [], removed: [] })).toBe(true)
      await addSourceTo(store, 'docs')
      const request = requestOf({ highest: { ...plan.kept, sources: 3 } })
      expect(await sessions.resume(request)).toBeUndefined()
      await sessions.discard('origin')
      expect(await sessions.find('origin')).toBeUndefined()
      expect(await readNow(events)).toEqual([])
      const all = (await library.sql.all('SELECT name FROM sources')) as { name: string }[]
      expect(all.map(({ name }) => name)).toEqual(['docs'])
    })
  })
}

function tableOf(name: string): CopyTable {
  const found = COPY_TABLES.find((table) => table.name === name)
  if (found === undefined) throw new Error(`there is no table ${name}`)
  return found
}

function cell(table: CopyTable, row: CopyRow | undefined, name: string): unknown {
  const [position = -1] = columnPositions(table, [name])
  return row?.[position]
}

function sourceRow(id: number, name: string): CopyRow {
  return [id, name, name, null, `https://${name}.test/`, `https://${name}.test/`, '{}', '{}', 1, null]
}

/** A ledger row with only the required values. */
function ledgerRow(id: number, source: number, path: string): CopyRow {
  const url = `https://one.test${path}`
  const facts: Readonly<Record<string, CopyRow[number]>> = {
    ...{ id, source, state: 'pending', depth: 1, weight: 0, key: url, url, host: 'one.test', discovery: 'link' },
    ...{ attempts: 0, first_seen_at: 1, is_shell: false, is_final: false, awaits_confirmation: false },
  }
  return tableOf('ledger').columns.map(({ name }) => facts[name] ?? null)
}
