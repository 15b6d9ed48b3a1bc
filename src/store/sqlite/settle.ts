import { preferKey } from '../../core/url/prefer.ts'
import {
  type Adoption,
  type LedgerState,
  overflowed,
  type PageRecord,
  type Reason,
  type Settled,
  type Settlement,
} from '../../crawl/ledger.ts'
import { applyFind, countAttempts, type LedgerAction, nextState } from '../../crawl/transitions.ts'
import type { Aliases } from './aliases.ts'
import type { Content } from './content.ts'
import type { Database } from './database.ts'
import type { CrawlOf, Finds } from './finds.ts'
import { packHash, type StoredHash } from './hash.ts'

/** Writes what became of addresses. Everything here runs inside the transaction of the caller. */
export interface Settling {
  /** Writes nothing when the visit has lost its row. */
  settle(source: number, crawl: () => CrawlOf, settlement: Settlement): Settled
  adopt(source: number, crawl: CrawlOf, adoption: Adoption): Settled
}

/** A row while it is settled: the columns that are written back at the end. */
interface Draft {
  readonly id: number
  readonly key: string
  readonly url: string
  state: LedgerState
  reason: Reason | null
  pattern: string | null
  target: string | null
  status: number | null
  detail: string | null
  etag: string | null
  lastModified: string | null
  contentUrl: string | null
  isShell: number
  contentHash: StoredHash | null
  pageHash: StoredHash | null
  words: number | null
  attempts: number
  readonly checkedBefore: number | null
  changedAt: number | null
  dueAt: number | null
  isFinal: number
  awaitsConfirmation: number
  provenCrawl: number | null
  readonly depth: number
  readonly crawl: number | null
  readonly lease: string | null
}

interface Holder {
  readonly id: number
  readonly key: string
  readonly url: string
  readonly state: LedgerState
}

/** Prepares what is done to rows that are settled. */
export function createSettling(db: Database, finds: Finds, content: Content, aliases: Aliases): Settling {
  const select = db.prepare<[number, string], Draft>(
    `SELECT id, key, url, state, reason, pattern, target, status, detail, etag, last_modified AS lastModified,
       content_url AS contentUrl, is_shell AS isShell, content_hash AS contentHash, page_hash AS pageHash, words, attempts,
       checked_at AS checkedBefore, changed_at AS changedAt, due_at AS dueAt,
       is_final AS isFinal, awaits_confirmation AS awaitsConfirmation, proven_crawl AS provenCrawl, depth, crawl, lease
     FROM ledger WHERE source = ? AND key = ?`,
  )
  const update = db.prepare<[Draft & { checkedAt: number | null }]>(
    `UPDATE ledger SET state = @state, reason = @reason, pattern = @pattern, target = @target, status = @status,
       detail = @detail, etag = @etag, last_modified = @lastModified, content_url = @contentUrl, is_shell = @isShell,
       content_hash = @contentHash, page_hash = @pageHash, words = @words, attempts = @attempts, changed_at = @changedAt, due_at = @dueAt, is_final = @isFinal,
       awaits_confirmation = @awaitsConfirmation, proven_crawl = @provenCrawl, checked_at = @checkedAt, crawl = @crawl,
       lease = NULL, leased_until = NULL
     WHERE id = @id`,
  )
  const insertAdopted = db.prepare<unknown[]>(
    `INSERT INTO ledger (source, state, depth, key, url, host, discovery, found_on, first_seen_at)
     VALUES (?, 'leased', ?, ?, ?, ?, ?, ?, ?)`,
  )
  const updateAdopted = db.prepare<[number, string, string | null, number]>(
    'UPDATE ledger SET depth = ?, discovery = ?, found_on = ? WHERE id = ?',
  )
  // The `+` keeps SQLite from walking the whole source in the order of keys to save the sorting of one or two rows.
  const selectHolder = db.prepare<[number, StoredHash, number, number], Holder>(
    `SELECT id, key, url, state FROM ledger
     WHERE source = ? AND page_hash = ? AND id <> ? AND proven_crawl IS NOT ? ORDER BY +key LIMIT 1`,
  )
  const demote = db.prepare<[LedgerState, string, StoredHash, number]>(
    `UPDATE ledger SET state = ?, reason = 'duplicate', pattern = NULL, target = ?, content_hash = ?, page_hash = NULL
     WHERE id = ?`,
  )
  const empty = db.prepare<[number]>('UPDATE ledger SET page_hash = NULL WHERE id = ?')
  /** Another row that holds a content and is to keep it: not one that the same crawl proved gone. */
  const findHolder = (source: number, hash: StoredHash | null, id: number, crawl: number): Holder | undefined =>
    hash === null ? undefined : selectHolder.get(source, hash, id, crawl)

  const save = (row: Draft, crawl: number, checkedAt: number | null): void => {
    update.run({ ...row, crawl, checkedAt })
  }

  /**
   * A content is stored once a source: under the better of two addresses that answer with it. Tells whether that is this row;
   * if not, it has become one that repeats the other.
   */
  const claim = (source: number, row: Draft, hash: StoredHash, now: number, crawl: number): boolean => {
    const other = findHolder(source, hash, row.id, crawl)
    row.contentHash = hash
    if (other === undefined) return true
    aliases.write(source, { url: row.url, aliasUrl: other.url, classification: 'same-content', reason: null }, now)
    if (preferKey(other.key, row.key) < 0) {
      repeat(row, other.key)
      if (row.pageHash === null) return false
      if (isSameHash(row.pageHash, hash)) {
        content.remove(row.id)
        row.pageHash = null
      } else {
        // Other content is lost with it, so that it goes as every loss does: at the end, if that is not too much.
        row.provenCrawl = crawl
      }
      return false
    }
    content.remove(other.id)
    // One that is to be fetched anyway only loses its page.
    const state = nextState(other.state, 'demote')
    if (state === undefined) empty.run(other.id)
    else demote.run(state, row.key, hash, other.id)
    return true
  }

  const storePage = (source: number, row: Draft, record: PageRecord, now: number, crawl: number): void => {
    const hash = packHash(record.page.contentHash)
    content.writeLinks(row.id, record.links)
    if (!claim(source, row, hash, now, crawl)) return
    content.write(source, row.id, record)
    row.pageHash = hash
    row.words = record.page.wordCount
    row.changedAt = now
    move(row, 'index')
  }

  /** Nothing changed, but there is nothing here: another row holds the content, or it has to be fetched after all. */
  const confirmNothing = (source: number, row: Draft, crawl: number): void => {
    const holder = findHolder(source, row.contentHash, row.id, crawl)
    if (holder !== undefined) {
      repeat(row, holder.key)
      return
    }
    row.reason = null
    row.pattern = null
    row.target = null
    row.isFinal = 1
    move(row, 'postpone')
  }

  const conclude = (source: number, row: Draft, settlement: Settlement, crawl: number): void => {
    const { state, record, links = record?.links, now } = settlement
    if (links !== undefined) content.writeLinks(row.id, links)
    if (state === 'indexed' && record === undefined) {
      throw new TypeError(`Expected \`record\` to settle ${row.url} as indexed, got none`)
    }
    const isKept = state === 'unchanged' && (record === undefined || isHeld(row, record))
    if (record !== undefined && !isKept) {
      storePage(source, row, record, now, crawl)
    } else if (state === 'unchanged' && row.pageHash === null) {
      confirmNothing(source, row, crawl)
    } else if (state === 'unchanged' && row.pageHash !== null) {
      // Two may hold it after a crawl that proved one of them gone and stopped at the gate.
      if (!claim(source, row, row.pageHash, now, crawl)) return
      if (record !== undefined) content.describe(source, row.id, record)
      move(row, 'confirm')
    } else if (state !== 'indexed') {
      move(row, ACTIONS[state])
    }
  }

  return {
    settle: (source, crawlOf, settlement) => {
      const { visit, now, checkedAt = now } = settlement
      const row = select.get(source, visit.key)
      if (row?.state !== 'leased' || row.lease !== visit.lease) return lost(row)
      const crawl = crawlOf()
      recordAnswer(row, settlement, crawl.number)
      conclude(source, row, settlement, crawl.number)
      save(row, crawl.number, isLeftBehind(row) ? row.checkedBefore : checkedAt)
      for (const alias of settlement.aliases ?? []) aliases.write(source, alias, now)
      return report(row, finds.offer(source, crawl, settlement.finds ?? [], now, settlement.maxRows))
    },
    adopt: (source, crawl, adoption) => {
      const { now, find, record, maxRows } = adoption
      const { key, url, host, discovery, foundOn } = find
      const known = select.get(source, key)
      if (known === undefined && !finds.hasRoom(source, maxRows)) {
        return overflowed(finds.offer(source, crawl, adoption.finds, now, maxRows))
      }
      if (known === undefined) insertAdopted.run(source, find.depth, key, url, host, discovery, foundOn, now)
      else updateAdopted.run(meetAgain(known, adoption, crawl), discovery, foundOn, known.id)
      const isNew = known?.state === 'indexed' && known.crawl === crawl.number
      const row = known ?? select.get(source, key)
      if (row === undefined) throw new TypeError(`the row of ${key} was not written`)
      // As every row that is about to be settled; whoever had it has lost it.
      row.state = 'leased'
      recordAnswer(row, NO_ANSWER, crawl.number)
      const hash = packHash(record.page.contentHash)
      if (row.pageHash !== null && isSameHash(row.pageHash, hash)) {
        content.writeLinks(row.id, record.links)
        content.classify(source, row.id, record)
        row.contentHash = hash
        // A list that is read again, because the crawl was interrupted, brings no news.
        move(row, isNew ? 'index' : 'confirm')
      } else {
        storePage(source, row, record, now, crawl.number)
      }
      save(row, crawl.number, isLeftBehind(row) ? row.checkedBefore : now)
      return report(row, finds.offer(source, crawl, adoption.finds, now, maxRows))
    },
  }
}

/** What each state of a settlement does to a row, where nothing is stored. */
const ACTIONS = { unchanged: 'confirm', skipped: 'skip', failed: 'fail', pending: 'postpone' } as const

/** What a settlement says of the answer itself. */
type Answer = Omit<Settlement, 'visit' | 'crawlId' | 'now'>

/** What is said of a page that came without one. */
const NO_ANSWER: Answer = { state: 'indexed', isShell: false }

/** What every settlement writes, whatever the state it leads to. */
function recordAnswer(row: Draft, answer: Answer, crawl: number): void {
  const { state, contentHash } = answer
  const isPending = state === 'pending'
  const isNothing = state === 'skipped' || state === 'failed'
  row.reason = answer.reason ?? null
  row.pattern = answer.pattern ?? null
  row.target = answer.target ?? null
  row.status = answer.status ?? null
  row.detail = answer.detail ?? null
  if (answer.etag !== undefined) row.etag = answer.etag
  if (answer.lastModified !== undefined) row.lastModified = answer.lastModified
  if (answer.contentUrl !== undefined) row.contentUrl = answer.contentUrl
  if (answer.isShell !== undefined) row.isShell = Number(answer.isShell)
  if (isNothing && typeof contentHash === 'string') row.contentHash = packHash(contentHash)
  row.attempts = countAttempts(row.attempts, answer)
  row.dueAt = isPending ? (answer.dueAt ?? null) : null
  row.awaitsConfirmation = isPending && answer.awaitsConfirmation === true ? 1 : 0
  if (!isPending) row.isFinal = 0
  row.provenCrawl = isNothing && answer.isProvenGone === true ? crawl : null
}

function move(row: Draft, action: LedgerAction): void {
  row.state = nextState(row.state, action) ?? row.state
}

/** Makes a row one that only repeats the content of another. */
function repeat(row: Draft, target: string): void {
  row.reason = 'duplicate'
  row.pattern = null
  row.target = target
  move(row, 'skip')
}

/** The depth of a row that is adopted. */
function meetAgain(row: Draft, { find, crawlId }: Adoption, crawl: CrawlOf): number {
  const { state, reason, depth } = row
  const found = {
    state,
    reason,
    depth,
    weight: 0,
    crawlId: row.crawl === crawl.number ? crawlId : null,
    hasPage: row.pageHash !== null,
  }
  return applyFind(found, { ...find, refusal: null }, crawlId).depth
}

/** Whether a row holds the content of a record. */
function isHeld(row: Draft, { page }: PageRecord): boolean {
  return row.pageHash !== null && isSameHash(row.pageHash, packHash(page.contentHash))
}

/** Whether a row still holds a page although it answered with the content of another: of what it holds nothing was told. */
function isLeftBehind({ reason, pageHash, provenCrawl }: Draft): boolean {
  return reason === 'duplicate' && pageHash !== null && provenCrawl !== null
}

function isSameHash(a: StoredHash, b: StoredHash): boolean {
  return typeof a === 'string' || typeof b === 'string' ? a === b : Buffer.compare(a, b) === 0
}

function report(row: Draft, finds: Settled['finds']): Settled {
  const { state, reason, target } = row
  return { type: 'settled', state, reason, target, finds }
}

function lost(row: Draft | undefined): Settled {
  const { state = 'gone', reason = null, target = null } = row ?? {}
  return { type: 'lost', state, reason, target, finds: [] }
}
