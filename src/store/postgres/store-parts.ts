import { PharosError } from '../../core/errors.ts'
import { Semaphore } from '../../crawl/semaphore.ts'
import { causeOf } from '../../crawl/store-retry.ts'
import type { CrawlRef } from '../common/ledger/crawl-ref.ts'
import type { Database, Sql } from './database/database.ts'
import { type LockedSource, lockForCrawl } from './database/lock-for-crawl.ts'
import { createSearch, type Search } from './index/search.ts'
import type { Helper } from './ledger/crawl-sharing.ts'
import type { CrawlTerms } from './ledger/crawls.ts'
import type { HostHolder } from './ledger/host-holder.ts'
import * as sources from './sources.ts'

/** The parts of a store, and how they write. */
export class StoreParts {
  readonly db: Database
  readonly holder: HostHolder
  readonly terms: CrawlTerms = new Map()
  /** Crawls that this process has only joined. */
  readonly joined: Set<string> = new Set()
  /** Semaphores for writes to a source, by source id. */
  readonly #semaphores = new Map<string, Semaphore<symbol>>()
  readonly search: Search

  constructor(db: Database, holder: HostHolder) {
    this.db = db
    this.holder = holder
    this.search = createSearch(db)
  }

  /** Queries a source; an unknown source gives `nothing`. */
  readonly within = async <T>(sourceId: string, nothing: T, query: (source: number) => Promise<T>): Promise<T> => {
    const source = await sources.numberOf(this.db, sourceId)
    return source === undefined ? nothing : query(source)
  }

  /** Runs a transaction that writes to a source, within the semaphore of this process. */
  readonly #writeInTurn = async <T>(sourceId: string, work: (sql: Sql) => Promise<T>): Promise<T> => {
    const semaphore = this.#semaphores.get(sourceId) ?? new Semaphore<symbol>(MAX_LOCK_WAITERS)
    this.#semaphores.set(sourceId, semaphore)
    const permit = Symbol()
    await semaphore.acquire(permit)
    try {
      return await this.db.transaction(work)
    } finally {
      semaphore.release(permit)
    }
  }

  /** Writes to a source on behalf of a crawl; returns `nothing` when the source does not exist or the crawl may no longer write. */
  readonly write = <T>(
    sourceId: string,
    crawlId: string | undefined,
    nothing: T,
    work: (sql: Sql, locked: LockedSource) => Promise<T>,
  ): Promise<T> =>
    this.#writeInTurn(sourceId, async (sql) => {
      const locked = await lockForCrawl(sql, sourceId, crawlId, this.terms)
      return locked?.mayWrite ? work(sql, locked) : nothing
    })

  /** Like `write`, but throws when the source does not exist. */
  readonly writeFor = <T>(
    sourceId: string,
    crawlId: string,
    nothing: T,
    work: (sql: Sql, source: number, crawl: CrawlRef) => Promise<T>,
  ): Promise<T> =>
    this.#writeInTurn(sourceId, async (sql) => {
      const locked = await lockForCrawl(sql, sourceId, crawlId, this.terms)
      if (locked === undefined) throw new PharosError('SOURCE_UNKNOWN', { source: sourceId, library: this.db.location })
      return locked.mayWrite ? work(sql, locked.source, await toCrawlRef(sql, locked, crawlId)) : nothing
    })

  /** Deletes the data of removed sources, including leftovers of a killed process. */
  readonly clearRemoved = async (): Promise<void> => {
    while (await this.db.transaction(sources.clearHidden));
  }

  /** This process as a helper, when it has only joined the crawl. */
  readonly helperOf = ({ id, number }: CrawlRef): Helper | undefined =>
    this.joined.has(id) ? { crawl: number, name: this.holder.name } : undefined

  /** Merges the index. If it cannot be written now, the next index update does the work. */
  readonly tidyIndex = (): Promise<void> =>
    this.search.maintain().catch((error: unknown) => {
      if (causeOf(error) === undefined) throw error
    })
}

/** The crawl in a locked source. */
export async function toCrawlRef(sql: Sql, { source, crawl }: LockedSource, id: string): Promise<CrawlRef> {
  return { id, number: crawl ?? (await sources.crawlNumber(sql, source, id)) }
}

/**
 * Transactions of this process that may wait at the lock of a source: the holder and the next one. If the process stalls, each of them
 * blocks all other writers in turn until the server ends it.
 */
const MAX_LOCK_WAITERS = 2
