import { createHash, randomUUID } from 'node:crypto'
import type { FoundAddress, LeaseRequest, Visit } from '../../src/crawl/ledger.ts'
import type { PageRecord, Settlement, SettlementResult } from '../../src/crawl/settlement.ts'
import type { CrawlRef } from '../../src/store/common/ledger/crawl-ref.ts'
import { type Database, openDatabase, type Sql } from '../../src/store/postgres/database/database.ts'
import { lockSource } from '../../src/store/postgres/database/lock-source.ts'
import { recordFoundAddresses } from '../../src/store/postgres/ledger/found-addresses.ts'
import { countOpen, lease, release } from '../../src/store/postgres/ledger/frontier.ts'
import { HostHolder } from '../../src/store/postgres/ledger/host-holder.ts'
import type { HolderRequest } from '../../src/store/postgres/ledger/lease-context.ts'
import { settle } from '../../src/store/postgres/ledger/settle.ts'
import { closeLater } from '../close-later.ts'

/** Opens a library as another process would: over connections of its own. */
export async function connect(address: string): Promise<Database> {
  const db = await openDatabase(address)
  closeLater(() => db.close())
  return db
}

/** All ledgers of a test belong to one process by default. */
const HOLDER = new HostHolder('tests')

/** A request for visits, as a process makes it. */
export function holderRequestOf(request: LeaseRequest, holder: HostHolder = HOLDER): HolderRequest {
  return { request, holder, id: randomUUID() }
}

/** A source with a crawl, written to over one connection. */
export interface TestLedger {
  readonly source: number
  readonly crawl: CrawlRef
  /** Runs work in a transaction like every write to a source, and counts in `runs` how often it started and completed. */
  write<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  offer(paths: readonly string[], more?: Partial<FoundAddress>): Promise<unknown>
  lease(more?: Partial<LeaseRequest>): Promise<Visit[]>
  settle(visit: Visit, more: Partial<Settlement> & Pick<Settlement, 'state'>): Promise<SettlementResult>
  release(visits: readonly Visit[]): Promise<void>
  isDone(): Promise<boolean>
  readonly runs: { begun: number; done: number }
}

/** Adds a source with a crawl, and returns a ledger for it. */
export async function addLedger(db: Database, name: string): Promise<TestLedger> {
  const source = await db.get<{ id: number }>(
    `INSERT INTO sources (uuid, name, url, site_url, scope, settings, created_at)
     VALUES ($1, $1, 'https://x.test/', 'https://x.test/', '{}', '{}', 1) RETURNING id`,
    [name],
  )
  const crawl = await db.get<{ id: number }>('INSERT INTO crawl_ids (uuid, source) VALUES ($1, $2) RETURNING id', [
    `crawl of ${name}`,
    source?.id,
  ])
  if (source === undefined || crawl === undefined) throw new Error(`${name} was not added`)
  return ledgerOver(db, source.id, { id: `crawl of ${name}`, number: crawl.id })
}

/** Creates a ledger for an existing source and crawl over the given connection. */
export function ledgerOver(db: Database, source: number, crawl: CrawlRef): TestLedger {
  const runs = { begun: 0, done: 0 }
  const write = async <T>(work: (sql: Sql) => Promise<T>): Promise<T> => {
    const result = await db.transaction(async (sql) => {
      runs.begun++
      await lockSource(sql, source)
      return work(sql)
    })
    runs.done++
    return result
  }
  return {
    source,
    crawl,
    runs,
    write,
    offer: (paths, more) =>
      write((sql) =>
        recordFoundAddresses(
          sql,
          source,
          crawl,
          paths.map((path) => foundAddressOf(path, more)),
          100,
        ),
      ),
    lease: (more) =>
      write(async (sql) => {
        const request = {
          sourceId: 'any',
          limit: 10,
          now: 200,
          until: 10_000,
          horizon: 1_000_000,
          isBreadthFirst: false,
        }
        return (await lease(sql, source, holderRequestOf({ ...request, ...more }))).visits
      }),
    settle: (visit, more) =>
      write((sql) => settle(sql, source, crawl, { visit, crawlId: crawl.id, now: 300, ...more })),
    release: (visits) => write((sql) => release(sql, source, visits)),
    isDone: async () => {
      const { pending, leased } = await countOpen(db, source, 300, HOLDER)
      return pending + leased === 0
    },
  }
}

export function foundAddressOf(path: string, more: Partial<FoundAddress> = {}): FoundAddress {
  const { host = 'x.test' } = more
  const url = `https://${host}${path}`
  return { key: url, url, host, depth: 1, foundOn: null, discovery: 'link', refusal: null, ...more }
}

/** A page with one chunk. */
export function recordOf(url: string, text: string, links: readonly string[] = []): PageRecord {
  const hash = (value: string) => createHash('sha256').update(value).digest('hex')
  const id = hash(url + text)
  return {
    page: {
      url,
      title: text,
      description: null,
      author: null,
      publishedAt: null,
      modifiedAt: null,
      language: null,
      canonical: null,
      alternates: [],
      robots: { index: true, follow: true },
      generator: null,
      markdown: text,
      sections: [],
      links: [],
      wordCount: 1,
      contentHash: hash(text),
      hiddenChars: 0,
    },
    chunks: [
      {
        id,
        shortId: id.slice(0, 12),
        slug: 'slug',
        path: url,
        kind: 'markdown',
        chunkIndex: 0,
        startLine: 1,
        endLine: 1,
        content: text,
        contentHash: hash(text),
        tokenEstimate: 1,
        headingPath: [],
        symbol: null,
        address: null,
        assetPath: null,
      },
    ],
    links,
  }
}

/** Lists the counters, which triggers maintain, that differ from the rows they count. */
export async function listMiscounts(db: Database): Promise<unknown[]> {
  const differ = (counted: string, kept: string) =>
    `((${counted}) EXCEPT ALL (${kept})) UNION ALL ((${kept}) EXCEPT ALL (${counted}))`
  const countState = (state: string) => `count(*) FILTER (WHERE state IN (${state}))`
  const states = [`'pending', 'leased'`, `'indexed'`, `'unchanged'`, `'skipped'`, `'failed'`, `'gone'`]
  const checks = [
    differ(
      `SELECT source, state, coalesce(reason, ''), count(*) FROM ledger GROUP BY 1, 2, 3`,
      'SELECT source, state, reason, rows FROM ledger_counts WHERE rows <> 0',
    ),
    differ(
      `SELECT source, awaits_confirmation, host, count(*) FILTER (WHERE due_at IS NULL), count(due_at) FROM ledger
       WHERE state = 'pending' GROUP BY 1, 2, 3`,
      'SELECT source, awaits_confirmation, host, ready, waiting FROM open_hosts',
    ),
    differ(
      `SELECT source, host, ${states.map(countState).join(', ')}, count(page_hash), max(checked_at) FROM ledger GROUP BY 1, 2`,
      `SELECT source, host, pending_rows, indexed_rows, unchanged_rows, skipped_rows, failed_rows, gone_rows, pages, asked_at
       FROM host_counts`,
    ),
    differ(
      ['chunks', 'vectors', 'refused_chunks', 'copied_vectors']
        .map((table) => `SELECT source, '${table}', count(*) FROM ${table} GROUP BY 1`)
        .join(' UNION ALL '),
      'SELECT source, of_table, rows FROM chunk_counts WHERE rows <> 0',
    ),
  ]
  return (await Promise.all(checks.map((check) => db.all(check)))).flat()
}
