import { compareUtf8 } from '../../src/core/text/order.ts'
import type { LedgerCounts, ListedPage, ListRecord, RowFilter, SettledCounts } from '../../src/crawl/ledger.ts'
import { isExistingAddress } from '../../src/crawl/ledger.ts'
import type { Discovery, LedgerState, Reason } from '../../src/crawl/ledger-reasons.ts'
import { LEDGER_STATES } from '../../src/crawl/ledger-reasons.ts'
import type { Alias } from '../../src/crawl/settlement.ts'
import { listKeysOf } from '../../src/library/sources/address-keys.ts'
import type { ChunkIndex } from './chunk-index.ts'
import { NO_PENDING_WORK, type NumberedRow, type Row } from './row.ts'

/**
 * All rows of one source, with their content and aliases. Every change goes through `put`, which updates the derived data: the chunk index,
 * and which row holds which content.
 */
export class SourceLedger {
  readonly sourceId: string
  readonly #index: ChunkIndex
  /** In the order of first finds: a replaced row keeps its place, and only `clear` deletes rows. */
  readonly #rows = new Map<string, Row>()
  /** Maps the content hash of a stored page to the keys of its rows. There are several only while all but one are about to be removed. */
  readonly #holders = new Map<string, Set<string>>()
  readonly #aliases = new Map<string, Alias>()
  readonly #lists = new Map<string, ListRecord>()
  readonly #numbers = new Map<string, number>()
  readonly #issueNumber: () => number

  constructor(sourceId: string, index: ChunkIndex, issueNumber: () => number) {
    this.sourceId = sourceId
    this.#index = index
    this.#issueNumber = issueNumber
  }

  /** How many rows there are. */
  get size(): number {
    return this.#rows.size
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key)
  }

  /** A snapshot of all rows, oldest first. */
  rows(): Row[] {
    return [...this.#rows.values()]
  }

  /** A snapshot of all rows with their numbers. */
  numberedRows(): NumberedRow[] {
    return this.rows().flatMap((row) => {
      const id = this.#numbers.get(row.key)
      return id === undefined ? [] : { ...row, id }
    })
  }

  /** Adds a row, or replaces the one with its key. */
  put(row: Row): Row {
    const before = this.#rows.get(row.key)
    const after = { ...row, hasPage: row.record !== null }
    this.#rows.set(row.key, after)
    if (before === undefined) this.#numbers.set(row.key, this.#issueNumber())
    if (!isSameContent(before, after)) this.#replaceContent(before, after)
    return after
  }

  /** Applies a change to every matching row, and returns their number. */
  putEach(matches: (row: Row) => boolean, change: (row: Row) => Row): number {
    const matching = this.rows().filter(matches)
    for (const row of matching) this.put(change(row))
    return matching.length
  }

  /** A row other than `except` that holds this content and was not proven gone by the crawl of `except`. */
  findHolder(contentHash: string | null, except: Row): Row | undefined {
    return this.listHolders(contentHash)
      .filter((key) => key !== except.key)
      .map((key) => this.#rows.get(key))
      .find((row) => row !== undefined && (row.provenCrawl === null || row.provenCrawl !== except.crawlId))
  }

  /** Sorted keys of the rows that hold this content. */
  listHolders(contentHash: string | null): string[] {
    return contentHash === null ? [] : [...(this.#holders.get(contentHash) ?? [])].sort(compareUtf8)
  }

  /** Whether the row with this key holds a page, or holds this content. */
  holds(key: string | null, contentHash?: string | null): boolean {
    const record = key === null ? undefined : this.#rows.get(key)?.record
    if (!record) return false
    return contentHash === undefined || record.page.contentHash === contentHash
  }

  /** Rows in the order of keys. */
  list(filter: RowFilter): Row[] {
    const { state, reason, after, before, limit } = filter
    return this.rows()
      .filter((row) => state === undefined || row.state === state)
      .filter((row) => reason === undefined || row.reason === reason)
      .filter((row) => after === undefined || compareUtf8(row.key, after) > 0)
      .filter((row) => before === undefined || compareUtf8(row.key, before) < 0)
      .sort((a, b) => compareUtf8(a.key, b.key))
      .slice(0, limit)
  }

  /** Counts the addresses that a crawl has settled. */
  countSettled(crawlId: string): SettledCounts {
    const rows = this.rows().filter((row) => row.crawlId === crawlId)
    const count = (wanted: LedgerState) => rows.filter(({ state }) => state === wanted).length
    return { indexed: count('indexed'), unchanged: count('unchanged'), failed: count('failed') }
  }

  /** The first row that a crawl settled for one of these reasons and whose stored links are missing or incomplete. */
  findUnread(crawlId: string, reasons: readonly Reason[]): Row | undefined {
    return this.rows()
      .filter((row) => row.crawlId === crawlId && row.reason !== null && reasons.includes(row.reason))
      .filter(({ state, links }) => {
        if (state === 'indexed' || state === 'unchanged') return true
        return (state === 'skipped' || state === 'failed') && links === null
      })
      .sort((a, b) => compareUtf8(a.key, b.key))[0]
  }

  readList(url: string): ListRecord | undefined {
    return this.#lists.get(url)
  }

  writeList(record: ListRecord): void {
    this.#lists.set(record.url, { ...record, named: [...record.named] })
  }

  /** Pages that came from an llms-full.txt file, and the page of the file itself, in the order of keys. */
  listPagesOf(url: string, key: string): ListedPage[] {
    const pages = this.rows().filter((row) => isPageOfList(row, url, key))
    return pages.map((row) => ({ key: row.key, url: row.url })).sort((a, b) => compareUtf8(a.key, b.key))
  }

  /** Confirms the pages of a list. Pages that the same crawl stored stay new. */
  confirmPagesOf(crawlId: string, url: string, key: string, now: number): number {
    return this.putEach(
      (row) => isPageOfList(row, url, key),
      (row) => ({
        ...row,
        ...NO_PENDING_WORK,
        state: row.state === 'indexed' && row.crawlId === crawlId ? 'indexed' : 'unchanged',
        reason: null,
        pattern: null,
        target: null,
        detail: null,
        provenCrawl: null,
        depth: 0,
        checkedAt: now,
        crawlId,
      }),
    )
  }

  /** The lists of one kind with at least one row that has content or a target and that the crawl has not seen. */
  listUnseenLists(crawlId: string, discovery: Discovery): string[] {
    const unseen = this.rows().filter(
      (row) => row.discovery === discovery && row.crawlId !== crawlId && (row.record !== null || row.target !== null),
    )
    return [...new Set(unseen.flatMap(({ foundOn }) => foundOn ?? []))].sort(compareUtf8)
  }

  /** Counts the rows by state and reason. */
  count(): LedgerCounts {
    const states = Object.fromEntries(LEDGER_STATES.map((state) => [state, 0])) as Record<LedgerState, number>
    const reasons: Record<string, number> = {}
    for (const { state, reason } of this.#rows.values()) {
      states[state]++
      if (reason !== null) reasons[`${state}/${reason}`] = (reasons[`${state}/${reason}`] ?? 0) + 1
    }
    return { total: this.#rows.size, states, reasons }
  }

  /** Records an alias: replaces the classification of the same pair of addresses, and keeps the facts of earlier checks. */
  putAlias({ url, aliasUrl, classification, reason }: Alias): void {
    const id = JSON.stringify([url, aliasUrl])
    this.#aliases.set(id, { ...this.#aliases.get(id), url, aliasUrl, classification, reason })
  }

  /** Checks the targets of all aliases, and returns their number. */
  checkAliases(now: number): number {
    for (const [id, alias] of this.#aliases) {
      // When the query or session of an address matters, the address has a more specific row, which takes precedence.
      const key = listKeysOf(alias.aliasUrl).findLast((candidate) => this.#rows.has(candidate))
      const row = key === undefined ? undefined : this.#rows.get(key)
      const { state = null, reason = null, status = null, record } = row ?? {}
      const kind = record?.classification?.kind ?? null
      const metadata = { state, reason, status, kind, ...(record ? { title: record.page.title } : {}) }
      this.#aliases.set(id, { ...alias, exists: row ? isExistingAddress(row) : null, checkedAt: now, metadata })
    }
    return this.#aliases.size
  }

  listAliases(url: string): Alias[] {
    const matching = [...this.#aliases.values()].filter((alias) => alias.url === url || alias.aliasUrl === url)
    return matching
      .map((alias) => ({ ...alias }))
      .sort((a, b) => compareUtf8(a.url, b.url) || compareUtf8(a.aliasUrl, b.aliasUrl))
  }

  /** Deletes all rows, and removes their content from the index. */
  clear(): void {
    for (const row of this.#rows.values()) this.#replaceContent(row, { ...row, record: null })
    this.#rows.clear()
  }

  #replaceContent(before: Row | undefined, after: Row): void {
    if (before?.record) {
      const { contentHash } = before.record.page
      const holders = this.#holders.get(contentHash)
      holders?.delete(before.key)
      if (holders?.size === 0) this.#holders.delete(contentHash)
      this.#index.remove(before)
    }
    if (after.record) {
      const { contentHash } = after.record.page
      this.#holders.set(contentHash, (this.#holders.get(contentHash) ?? new Set()).add(after.key))
      this.#index.add(after)
    }
  }
}

/** Whether a row holds a page that came from a list. A page that was fetched since has an HTTP status and does not count. */
function isPageOfList(row: Row, url: string, key: string): boolean {
  const isListed = row.discovery === 'llms-full' && (row.foundOn === url || row.key === key)
  return isListed && row.record !== null && row.status === null
}

/** Whether two versions of a row have the same indexed content, whatever their states and links. */
function isSameContent(before: Row | undefined, after: Row): boolean {
  const { page, chunks } = before?.record ?? {}
  return page === after.record?.page && chunks === after.record?.chunks && before?.url === after.url
}
